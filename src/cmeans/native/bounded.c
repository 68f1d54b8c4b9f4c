/* Hard sweeps that leave out the rows whose cluster cannot have changed.
 *
 * Each row has an upper bound of its distance to its own centre and lower bounds of its distances to groups of other centres. When
 * centres move, the bounds are widened by the triangle inequality, which holds in feature space too; a row whose bounds still do not
 * overlap is not read. Sums are kept from the sweep before: only rows that change clusters alter them.
 * (Elkan 2003 keeps a bound for each centre, Hamerly 2010 one for all, Ding et al. 2015, Yinyang k-means, groups.) */
#include "tile.h"

#define AT_ONCE 256 /* rows whose bounds are updated together */

struct bounds {
    int32_t *label;  /* (count,) own cluster, -1 before the first sweep */
    real *upper;     /* (count,) at least the distance to the own centre */
    real *lower;     /* (groups, count) at most the distance to any other centre of each group; centre j is in group j modulo their number */
    int64_t groups;
};

struct drift {
    const real *cluster;  /* (clusters,) how far each centre has moved since the bounds were computed, rounded up */
    const real *group;    /* (groups,) the largest of each group */
};

struct cluster_sums {
    int64_t *count;  /* (clusters,) rows of positive weight */
    double *mass;    /* (clusters,) weights */
    double *kxx;     /* (clusters,) weight k(x, x) */
    double *moment;  /* (clusters, columns) weight x */
};

/* Widens the bounds by the drift of the centres; writes the rows whose bounds overlap to `order`, and returns their number. */
static int64_t rows_to_read(const struct bounds *bounds, const struct drift *drift, int64_t rows, double rounding, int64_t *order) {
    const real more = (real)(1 + rounding), less_than_one = (real)(1 - rounding); /* margins for the rounding of sums and differences */
    real margin[AT_ONCE];
    int64_t count = 0;
    for (int64_t start = 0; start < rows; start += AT_ONCE) {
        const int64_t n = at_most(AT_ONCE, rows - start);
        for (int64_t i = 0; i < n; i++)
            margin[i] = (real)INFINITY;
        for (int64_t h = 0; h < bounds->groups; h++) {
            real *lower = bounds->lower + h * rows + start;
            const real drifted = drift->group[h];
            for (int64_t i = 0; i < n; i++) {
                lower[i] = lower[i] * less_than_one - drifted;
                margin[i] = lower[i] < margin[i] ? lower[i] : margin[i];
            }
        }
        for (int64_t i = start; i < start + n; i++) {
            const int32_t own = bounds->label[i];
            bounds->upper[i] = bounds->upper[i] * more + drift->cluster[own < 0 ? 0 : own];
            order[count] = i;
            count += !(bounds->upper[i] < margin[i - start]);
        }
    }
    return count;
}

/* The smallest squared distance of each row of a tile to a centre of a group, other than its own. */
static void nearest_other(const struct tile *tile, int64_t clusters, int64_t group, int64_t groups, real *other) {
    ACROSS(t) {
        mask own = load_whole(tile->label + t);
        lanes low = all((real)INFINITY);
        for (int64_t j = group; j < clusters; j += groups)
            low = smaller(where(equal_whole(own, all_whole((whole)j)), all((real)INFINITY), load(tile->d2 + j * TILE + t)), low);
        store(other + t, low);
    }
}

static void add_to_cluster(const struct cluster_sums *sums, int64_t j, double weight, double kxx, const real *row, const struct rows *rows) {
    /* In float64, so that a cluster that loses nearly all its rows keeps the digits of the rest. */
    double *moment = sums->moment + j * rows->columns;
    sums->mass[j] += weight;
    sums->kxx[j] += weight * kxx;
    for (int64_t f = 0; f < rows->columns; f++)
        moment[f] += weight * (double)(rows->shift == NULL ? row[f] : row[f] - rows->shift[f]);
}

static void move_row(const struct cluster_sums *sums, int64_t from, int64_t to, double weight, double kxx, const real *row, const struct rows *rows) {
    sums->count[to] += weight > 0;
    add_to_cluster(sums, to, weight, kxx, row, rows);
    if (from >= 0) {
        sums->count[from] -= weight > 0;
        add_to_cluster(sums, from, -weight, kxx, row, rows);
    }
}

/* Sums of clusters without rows are zero, without the rest that rounding leaves. */
static void clear_empty_clusters(const struct cluster_sums *sums, int64_t clusters, int64_t columns) {
    for (int64_t j = 0; j < clusters; j++)
        if (sums->count[j] == 0) {
            sums->mass[j] = sums->kxx[j] = 0;
            memset(sums->moment + j * columns, 0, (size_t)columns * sizeof(double));
        }
}

/* One sweep over the rows whose bounds overlap; returns their number, or what is missing. */
int64_t EXPORTED(sweep_bounded)(const struct rows *rows, const struct centres *centres, const struct drift *drift, const struct bounds *bounds,
                                const struct cluster_sums *sums) {
    const int64_t clusters = centres->clusters;
    struct tile tile;
    int64_t *order = malloc((size_t)(rows->count + 1) * sizeof(int64_t));
    real other[TILE] __attribute__((aligned(LINE))), largest = 0;
    if (order == NULL || !new_tile(&tile, clusters)) {
        free(order);
        return NO_MEMORY;
    }
    struct rows read = *rows;
    read.order = order;
    read.count = rows_to_read(bounds, drift, rows->count, centres->rounding, order);
    for (int64_t j = 0; j < clusters; j++)
        largest = centres->norms[j] > largest ? centres->norms[j] : largest;
    for (int64_t start = 0; start < read.count; start += TILE) {
        load_tile(&tile, &read, start);
        nearest(&tile, &read, centres);
        ACROSS(t) store(tile.spare + t, multiply(all((real)centres->rounding), add(load(tile.kxx + t), all(largest))));
        ACROSS(t) store(tile.factor + t, root(add(load(tile.low + t), load(tile.spare + t))));
        for (int64_t t = 0; t < tile.count; t++)
            bounds->upper[order[start + t]] = tile.factor[t];
        for (int64_t h = 0; h < bounds->groups; h++) {
            nearest_other(&tile, clusters, h, bounds->groups, other);
            ACROSS(t) {
                lanes left = subtract(load(other + t), load(tile.spare + t));
                store(other + t, root(where(less(left, all(0)), all(0), left)));
            }
            for (int64_t t = 0; t < tile.count; t++)
                bounds->lower[h * rows->count + order[start + t]] = other[t];
        }
        for (int64_t t = 0; t < tile.count; t++) {
            const int64_t i = order[start + t];
            if (bounds->label[i] != tile.label[t]) {
                move_row(sums, bounds->label[i], tile.label[t], rows->weight[i * rows->weight_step], (double)tile.kxx[t], tile.row[t], rows);
                bounds->label[i] = (int32_t)tile.label[t];
            }
        }
    }
    clear_empty_clusters(sums, clusters, rows->columns);
    free(tile.memory);
    free(order);
    return read.count;
}
