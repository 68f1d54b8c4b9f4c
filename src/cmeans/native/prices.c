/* Passes from which prices of clusters follow: masses and how they change with prices, and rows that some other cluster would have for
 * little more. */
#include "rules.h"

#define NO_RULE -2
#define NONE 1e-9   /* share of a row's slopes from which on a cluster counts */
#define FEW_SHARE 12 /* clusters that count for a row, on average, up to which they are taken pair by pair */

/* mass_j += sum_t weight_t u_jt. */
static void add_masses(const struct tile *tile, int64_t clusters, double *mass) {
    for (int64_t j = 0; j < clusters; j++) {
        lanes m = all(0);
        ACROSS(t) m = fused(multiply(load(tile->weight + t), load(tile->factor + t)), load(tile->u + j * TILE + t), m);
        mass[j] += sum(m);
    }
}

/* Slopes of a tile's rows, without those that hardly count, and what they are to be multiplied by, weight / sum; how many count. */
static int64_t count_slopes(const struct tile *tile, int64_t clusters, real *slopes, real *share) {
    int64_t count = 0;
    ACROSS(t) {
        lanes total = all(0), weight = load(tile->weight + t);
        for (int64_t j = 0; j < clusters; j++)
            total = add(total, load(slopes + j * TILE + t));
        store(share + t, where(less(all(0), total), divide(weight, where(less(all(0), total), total, all(1))), all(0)));
        total = multiply(total, all((real)NONE));
        for (int64_t j = 0; j < clusters; j++) {
            lanes slope = load(slopes + j * TILE + t);
            store(slopes + j * TILE + t, where(less(total, slope), slope, all(0)));
        }
    }
    for (int64_t j = 0; j < clusters; j++)
        for (int64_t t = 0; t < tile->count; t++)
            count += slopes[j * TILE + t] > 0;
    return count;
}

/* coupling_jk += sum_t share_t slope_jt slope_kt for j < k, over the clusters that count for each row. */
static void add_pairs(const struct tile *tile, int64_t clusters, const real *slopes, const real *share, int64_t *some, double *coupling) {
    for (int64_t t = 0; t < tile->count; t++) {
        int64_t count = 0;
        for (int64_t j = 0; j < clusters; j++) {
            some[count] = j;
            count += slopes[j * TILE + t] > 0;
        }
        for (int64_t a = 0; a < count; a++) {
            const double one = (double)share[t] * (double)slopes[some[a] * TILE + t];
            for (int64_t b = a + 1; b < count; b++)
                coupling[some[a] * clusters + some[b]] += one * (double)slopes[some[b] * TILE + t];
        }
    }
}

/* The same over all clusters. */
static void add_all_pairs(int64_t clusters, const real *slopes, const real *share, double *coupling) {
    for (int64_t j = 0; j < clusters; j++)
        for (int64_t k = j + 1; k < clusters; k++) {
            lanes part = all(0);
            ACROSS(t) part = fused(multiply(load(share + t), load(slopes + j * TILE + t)), load(slopes + k * TILE + t), part);
            coupling[j * clusters + k] += sum(part);
        }
}

/* Sums under prices: the objective (1,), masses (clusters,), and above the diagonal (clusters, clusters) the mass that goes from one cluster to
 * another by a unit of the price. */
int EXPORTED(price)(const struct rows *rows, const struct centres *centres, const char *rule_name, double *cost, double *mass, double *coupling) {
    const int64_t clusters = centres->clusters;
    const struct rule *rule = rule_named(rule_name);
    struct tile tile;
    if (rule == NULL || rule->slopes == NULL)
        return NO_RULE;
    double *unused = calloc((size_t)(2 * clusters), sizeof(double)); /* masses of w, and spreads */
    int64_t *some = malloc((size_t)(clusters + 1) * sizeof(int64_t));
    void *memory = malloc((size_t)(TILE * clusters) * sizeof(real) + LINE);
    if (unused == NULL || some == NULL || memory == NULL || !new_tile_for(&tile, rows, centres)) {
        free(unused), free(some), free(memory);
        return NO_MEMORY;
    }
    real *slopes = aligned_to_line(memory);
    real share[TILE] __attribute__((aligned(LINE)));
    for (int64_t start = 0; start < rows->count; start += TILE) {
        load_tile(&tile, rows, start);
        distances(&tile, rows, centres);
        rule->memberships(&tile, centres);
        add_masses(&tile, clusters, mass);
        rule->slopes(&tile, centres, slopes);
        if (count_slopes(&tile, clusters, slopes, share) <= FEW_SHARE * tile.count)
            add_pairs(&tile, clusters, slopes, share, some, coupling);
        else
            add_all_pairs(clusters, slopes, share, coupling);
        *cost += rule->sums(&tile, centres, unused, unused + clusters);
    }
    for (int64_t j = 0; j < clusters; j++)
        *cost += unused[clusters + j];
    free(tile.memory);
    free(unused), free(some), free(memory);
    return 0;
}

struct margins {
    double *mass;     /* (clusters,) weight of each cluster's rows, added to */
    int64_t *rows;    /* numbers of rows near a border, as many as there are */
    int64_t *labels;  /* and their clusters */
    real *d2;         /* and squared distances, clusters of each */
};

/* Clusters of hard rows by price; the number of those that another cluster would have for less than `width` more. */
int64_t EXPORTED(find_margins)(const struct rows *rows, const struct centres *centres, const char *rule_name, double width, const struct margins *to) {
    const int64_t clusters = centres->clusters;
    const struct rule *rule = rule_named(rule_name);
    struct tile tile;
    real second[TILE] __attribute__((aligned(LINE)));
    int64_t count = 0;
    if (rule == NULL || !rule->one_cluster)
        return NO_RULE;
    if (!new_tile_for(&tile, rows, centres))
        return NO_MEMORY;
    for (int64_t start = 0; start < rows->count; start += TILE) {
        load_tile(&tile, rows, start);
        distances(&tile, rows, centres);
        label_by_price(&tile, centres, second);
        for (int64_t t = 0; t < tile.count; t++) {
            to->mass[tile.label[t]] += tile.weight[t];
            if (!(tile.weight[t] > 0 && (double)(second[t] - tile.spare[t]) < width))
                continue;
            to->rows[count] = start + t, to->labels[count] = tile.label[t];
            for (int64_t j = 0; j < clusters; j++)
                to->d2[count * clusters + j] = tile.d2[j * TILE + t];
            count++;
        }
    }
    free(tile.memory);
    return count;
}
