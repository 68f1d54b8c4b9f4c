"""Sizes by which work is divided, and from which inputs are sampled or left on the disk."""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_COPIES = 1e70  # that a weight counts as, where products of four are to be numbers


@dataclass(frozen=True)
class Limits:
    """Sizes that a fit or a prediction keeps to. They depend on no machine, so that results do not
    either; tests take smaller ones."""

    # Blocks and tasks
    block_rows: int = 1024  # rows of a block at most
    # rows of a block with few columns, where the fixed cost of a block is large against that of its
    # rows
    narrow_block_rows: int = 4096
    narrow_columns: int = 128  # columns up to which blocks are larger
    least_blocks: int = 16  # blocks at least, so that many threads have work
    # kernel values of one block, so that a basis of 70,000 rows still makes blocks of 32 MB
    block_values: int = 2**22
    # rows times columns of a task at least: handing less to a thread takes longer than the work
    task_values: int = 2**15
    # stored numbers of CSR rows in a task at least for each column of its sums, which are dense: to
    # add these up takes longer otherwise than the rows
    summed_values: int = 32
    least_task_rows: int = 512  # rows of a task at least, for matrix products
    tasks: int = 64  # tasks of a large input: enough for any number of threads
    # rows of a task at most: results by row are kept until all tasks before it are done
    task_rows: int = 65_536
    # rows whose labels or memberships are handled together outside tasks, in little memory
    rows_at_once: int = 65_536

    # Rows outside memory
    loaded_bytes: int = 2**24  # bytes up to which stored rows are read into memory
    array_bytes: int = 2**26  # bytes of an array up to which it is in memory, for rows that are not
    # bytes of bounds that hard sweeps keep of stored rows where no memory_budget is given
    bounds_bytes: int = 2**30
    read_rows: int = 65_536  # rows that are read at once where only some of them are needed
    cached_rows: int = 2_048  # rows of a cached sample at most
    partition_rows: int = 2**18  # rows of files that become one partition on Dask workers

    # Trees of connected pieces
    tree_rows: int = 100_000  # rows up to which "auto" takes all of them, and no landmarks

    # Communities
    community_nodes: int = 20_000  # nodes up to which levels are compared among all of them

    # Landmark graphs
    # bytes of all rows' weights at landmarks and features up to which they are found once for a fit
    neighbour_bytes: int = 2**27

    # Samples
    # inputs up to this size are represented by their distinct rows in a canonical order
    canonical_rows: int = 2000
    fixed_rows: int = 1000  # rows of the sample that decides a kernel's width and m
    # of these at least judge a kernel and its landmarks, where a fit takes little time itself
    least_judged_rows: int = 300
    drawn_rows: int = 2**17  # rows whose random keys are drawn together: few, to save memory
    seeding_rows: int = 20_000  # rows that k-means++ draws from: a fair sample of a larger input
    # of these for each cluster at least: half as many end 3 percent higher (benchmarks/seeding.py)
    cluster_rows: int = 20
    subsampled_above: int = 25_000  # rows above which fits on samples first pay
    # rows of the last of these samples at most: what they leave open is a few sweeps' work
    last_sample_rows: int = 2**22
    # adaptive clusters of larger inputs are sought on a fair sample, then refined on all rows
    adaptive_rows: int = 20_000
    spaced_rows: int = 5000  # rows of which all pairs' distances are computed

    # rows for each cluster in the sample that decides m: with a fifth, every row has a direction of
    # its own
    hard_cluster_rows: int = 50
    most_fuzzifier_rows: int = 2000  # rows of that sample at most

    # Landmarks
    # rows up to which "auto" takes no landmarks: of `canonical_rows` at most, which are in memory
    exact_rows: int = 2000
    # rows above which an exact fit tests if a few of them span all: of fewer the test takes as long
    # as it saves
    spanned_above: int = 400
    most_landmarks: int = 2048  # landmarks, where their number is not given
    # rows up to which every residual is measured; beyond, only the fixed sample's, so that
    # certificates compare
    certified_rows: int = 1000

    def judged_rows_for(self, n_rows: int, columns: int) -> int:
        """Number of rows on which a kernel is judged: their kernel matrix is a quarter of that of
        all rows with these columns."""
        return min(max(math.isqrt(n_rows * columns) // 2, self.least_judged_rows), self.fixed_rows)

    def fuzzifier_rows_for(self, judged_rows: int, n_clusters: int) -> int:
        """Number of rows that decide m, where so many judge the kernel."""
        return min(max(judged_rows, self.hard_cluster_rows * n_clusters), self.most_fuzzifier_rows)

    def seeding_rows_for(self, n_clusters: int) -> int:
        """Number of rows from which k-means++ draws that many initial centres."""
        return max(self.seeding_rows, self.cluster_rows * n_clusters)


DEFAULT = Limits()
