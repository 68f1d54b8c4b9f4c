/* Clusters that are merged two by two, always the pair whose means are merged at least cost (Ward's method), where each knows a few others. */
#include <string.h>

#include "vectors.h"

#define FEW 16 /* others that a cluster knows at most: NEAR in sampling/merged_draws.py */

struct merging {
    double *means;      /* (clusters, columns) coordinates; changed */
    double *duals;      /* the same, that pair with them to inner products; may be the same array */
    double *mass;       /* (clusters,) all positive; changed */
    int32_t *known;     /* (clusters, few) others that each may be merged with, -1 for none; changed */
    int64_t *root;      /* (clusters,) set: the number of the cluster that each is a part of in the end */
    int32_t *partner;   /* (clusters,) */
    int32_t *stamp;     /* (clusters,) times that each was merged, 0 at first */
    int32_t *met;       /* (clusters,) the stamp of its partner when it was chosen */
    double *tree;       /* (2 leaves,) costs of merging each with its partner, and the least of each two below */
    int64_t clusters, columns, few, leaves, wanted;
};

static int64_t root_of_cluster(const struct merging *m, int64_t j) {
    while (m->root[j] != j)
        j = m->root[j] = m->root[m->root[j]];
    return j;
}

static double merging_cost(const struct merging *m, int64_t i, int64_t j) {
    const double *a = m->means + i * m->columns, *b = m->means + j * m->columns;
    const double *s = m->duals + i * m->columns, *t = m->duals + j * m->columns;
    double sums[8] = {0};
    int64_t k = 0;
    for (; k + 8 <= m->columns; k += 8)
        for (int q = 0; q < 8; q++)
            sums[q] += (a[k + q] - b[k + q]) * (s[k + q] - t[k + q]);
    for (; k < m->columns; k++)
        sums[0] += (a[k] - b[k]) * (s[k] - t[k]);
    const double d2 = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    return m->mass[i] * m->mass[j] / (m->mass[i] + m->mass[j]) * (d2 > 0 ? d2 : 0);
}

static void set_cost(const struct merging *m, int64_t j, double cost) {
    int64_t at = m->leaves + j;
    m->tree[at] = cost;
    for (at /= 2; at > 0; at /= 2)
        m->tree[at] = m->tree[2 * at] <= m->tree[2 * at + 1] ? m->tree[2 * at] : m->tree[2 * at + 1];
}

/* Keep of `count` others, of which some may be merged by now, the FEW that are merged with j at least cost; its partner is the first. */
static void meet(const struct merging *m, int64_t j, const int32_t *others, int64_t count) {
    int32_t kept[FEW];
    double costs[FEW];
    int64_t n = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t other = others[k] < 0 ? j : root_of_cluster(m, others[k]);
        int again = other == j;
        for (int64_t l = 0; l < n; l++)
            again |= kept[l] == other;
        if (again)
            continue;
        const double cost = merging_cost(m, j, other);
        if (n == m->few && cost >= costs[n - 1])
            continue;
        int64_t at = n < m->few ? n++ : n - 1;
        for (; at > 0 && costs[at - 1] > cost; at--)
            costs[at] = costs[at - 1], kept[at] = kept[at - 1];
        costs[at] = cost, kept[at] = (int32_t)other;
    }
    for (int64_t k = 0; k < m->few; k++)
        m->known[j * m->few + k] = k < n ? kept[k] : -1;
    m->partner[j] = n ? kept[0] : -1;
    m->met[j] = n ? m->stamp[kept[0]] : 0;
    set_cost(m, j, n ? costs[0] : (double)INFINITY);
}

static void merge(const struct merging *m, int64_t i, int64_t j) {
    const double total = m->mass[i] + m->mass[j], share = m->mass[j] / total;
    for (int64_t k = 0; k < m->columns; k++) {
        m->means[i * m->columns + k] += share * (m->means[j * m->columns + k] - m->means[i * m->columns + k]);
        if (m->duals != m->means)
            m->duals[i * m->columns + k] += share * (m->duals[j * m->columns + k] - m->duals[i * m->columns + k]);
    }
    m->mass[i] = total, m->root[j] = i, m->stamp[i]++, m->stamp[j]++;
    int32_t both[2 * FEW];
    memcpy(both, m->known + i * m->few, (size_t)m->few * sizeof *both);
    memcpy(both + m->few, m->known + j * m->few, (size_t)m->few * sizeof *both);
    set_cost(m, j, (double)INFINITY);
    meet(m, i, both, 2 * m->few);
}

/* Returns how many clusters there are in the end: `wanted`, or more where none knows another. What a merger costs never falls by other ones,
 * so a cost that was found before its partner was merged is a bound, and is found again when its turn comes. */
int64_t EXPORTED(merge_clusters)(const struct merging *m) {
    int32_t own[FEW];
    for (int64_t at = 0; at < 2 * m->leaves; at++)
        m->tree[at] = (double)INFINITY;
    for (int64_t j = 0; j < m->clusters; j++)
        m->root[j] = j, m->stamp[j] = 0;
    for (int64_t j = 0; j < m->clusters; j++) {
        memcpy(own, m->known + j * m->few, (size_t)m->few * sizeof *own);
        meet(m, j, own, m->few);
    }
    int64_t left = m->clusters;
    while (left > m->wanted && m->tree[1] < (double)INFINITY) {
        int64_t at = 1;
        while (at < m->leaves)
            at = m->tree[2 * at] <= m->tree[2 * at + 1] ? 2 * at : 2 * at + 1;
        const int64_t i = at - m->leaves, j = m->partner[i];
        if (m->stamp[j] == m->met[i]) {
            merge(m, i, j);
            left--;
            continue;
        }
        memcpy(own, m->known + i * m->few, (size_t)m->few * sizeof *own);
        meet(m, i, own, m->few);
    }
    for (int64_t j = 0; j < m->clusters; j++)
        m->root[j] = root_of_cluster(m, j);
    return left;
}
