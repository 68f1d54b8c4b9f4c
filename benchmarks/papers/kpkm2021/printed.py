"""What Liu et al. 2021 say in numbers. The numbers of Tables 2-7 themselves are not in the text at hand, only what is said of them."""

SETS = 10  # UCI sets of Table 4
BEST = {  # on how many of the ten sets each method is best
    "NMI": {"KPKM": 9, "KFCM m=2": None, "KKM": None, "FCM": None, "KM": None},
    "ARI": {"KPKM": 6, "KFCM m=2": 2, "KKM": 1, "FCM": 0, "KM": 1},
    "V-measure": {"KPKM": 7, "KFCM m=2": 0, "KKM": 2, "FCM": 1, "KM": 0},
}
SHARE = (4.22, 27.90)  # FAGP's time in per cent of AGP's
SHORT_SHARE = 10.0  # below which it is on these two
SHORT = ("iris", "seeds")
COMPARED = 6  # sets on which AGP ended
DIGITS = 1000
CLUSTERS = {"KPKM": 10, "KKM": 10, "KFCM m=1.3": 7}  # found among the digits, of Figure 5
