"""What the papers print, against what the library gives.

python -m benchmarks.papers.havens2011      Table II: akFCM on 500,000 mammals and on covtype
"""
