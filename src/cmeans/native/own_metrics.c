/* Rows of a stream and its clusters, each with a metric of its own: squared distances, and the sums of a step's rows.
 *
 * streaming/metrics.py has the same distances in Python, bit by bit; streaming/step_sums.py has the sums, to rounding. */
#include "elementary.h"

#include <string.h>

#if BITS == 64 /* there are no others */

#define TILE 64 /* rows that are looked at together */

struct metrics {
    const double *mean;   /* (clusters, columns) */
    const double *factor; /* (clusters, columns, columns), lower triangles; (clusters, columns) where they are diagonal */
    int64_t clusters, columns, full;
};

/* Columns (columns, TILE) of n rows, zeros beyond them. */
INLINE void turn_rows(const double *x, int64_t n, int64_t d, double *columns) {
    for (int64_t l = 0; l < d; l++)
        for (int64_t i = 0; i < TILE; i++)
            columns[l * TILE + i] = i < n ? x[i * d + l] : 0;
}

/* Differences `e` (columns, TILE) from the mean of a cluster. */
INLINE void differ(const struct metrics *g, int64_t j, const double *columns, double *e) {
    for (int64_t l = 0; l < g->columns; l++)
        for (int64_t i = 0; i < TILE; i++)
            e[l * TILE + i] = columns[l * TILE + i] - g->mean[j * g->columns + l];
}

/* Squared distances (TILE,) of rows that differ by e from the mean of a cluster. */
INLINE void distances_of_tile(const struct metrics *g, int64_t j, const double *e, double *d2) {
    const int64_t d = g->columns;
    for (int64_t i = 0; i < TILE; i++)
        d2[i] = 0;
    for (int64_t k = 0; k < d; k++) {
        double y[TILE] = {0};
        if (g->full)
            for (int64_t l = 0; l <= k; l++)
                for (int64_t i = 0; i < TILE; i++)
                    y[i] += g->factor[(j * d + k) * d + l] * e[l * TILE + i];
        else
            for (int64_t i = 0; i < TILE; i++)
                y[i] = g->factor[j * d + k] * e[k * TILE + i];
        for (int64_t i = 0; i < TILE; i++)
            d2[i] += y[i] * y[i];
    }
}

/* Squared distances d2 (rows, clusters) of rows x; `room` is (2 columns, TILE). */
void EXPORTED(metric_distances)(const struct metrics *g, const double *x, int64_t rows, double *room, double *d2) {
    double *e = room + g->columns * TILE, found[TILE];
    for (int64_t first = 0; first < rows; first += TILE) {
        const int64_t n = rows - first < TILE ? rows - first : TILE;
        turn_rows(x + first * g->columns, n, g->columns, room);
        for (int64_t j = 0; j < g->clusters; j++) {
            differ(g, j, room, e);
            distances_of_tile(g, j, e, found);
            for (int64_t i = 0; i < n; i++)
                d2[(first + i) * g->clusters + j] = found[i];
        }
    }
}

#define FACTS 5 /* numbers of rows that are nearest to a cluster, of those above its median, of those not outlying; and of these the sums of
                 * differences from the median, and of their squares */

struct step {
    const double *log_weight; /* (clusters,) of each cluster's density at its mean */
    const double *median;     /* (clusters,) of cubic roots of distances */
    const double *far;        /* (clusters,) cubic root from which on a row is outlying */
    int64_t *nearest;         /* (rows,) set: the likeliest cluster */
    int64_t *order;           /* (rows,) set: rows by their clusters, outlying ones last */
    int64_t *ends;            /* (clusters + 2,) set: where they end in it; 0 first */
    double *facts;            /* (clusters, FACTS) of distances; as all below 0 at first */
    double *came;             /* (clusters,) sums of posterior probabilities u of rows that are not outlying, */
    double *first;            /* (clusters, columns) of u e, e the difference from the cluster's mean, */
    double *second;           /* (clusters, columns, columns) of u e e', or (clusters, columns) of u e^2 */
};

INLINE lanes cubic_root(lanes x) {
    const lanes one = all(1);
    const mask low = less(x, one);
    lanes scale = where(low, all(1.0 / 3), all(-2.0 / 3)), y = exponential(multiply(logarithm(x), scale));
    y = where(low, y, multiply(y, x));
    lanes y2 = multiply(y, y), off = divide(subtract(multiply(y, y2), x), multiply(y2, all(3))); /* Newton: the power is not exact enough */
    return where(less(x, all(1e-300)), all(0), subtract(y, off));
}

struct likeliest { /* for each row of a tile */
    int64_t which[TILE];                                 /* the likeliest cluster of those that were offered, */
    double most[TILE] __attribute__((aligned(LINE)));    /* the logarithm of its share, */
    double distance[TILE] __attribute__((aligned(LINE))); /* and the squared distance from it */
};

/* Set logarithms (TILE,) of the shares that cluster j has of rows at squared distances; it is remembered where it is the likeliest so far. */
INLINE void offer(struct likeliest *best, int64_t j, double log_weight, const double *d2, double *logs) {
    for (int64_t i = 0; i < TILE; i++) {
        logs[i] = log_weight - d2[i] / 2;
        const int better = j == 0 || logs[i] > best->most[i];
        best->which[i] = better ? j : best->which[i];
        best->most[i] = better ? logs[i] : best->most[i], best->distance[i] = better ? d2[i] : best->distance[i];
    }
}

/* Logarithms of shares become posterior probabilities, which are 0 of all rows that are not `in`. */
INLINE void posteriors(double *logs, int64_t clusters, const double *most, const double *in) {
    for (int64_t i = 0; i < TILE; i += LANES) {
        const lanes top = load(most + i);
        lanes total = all(0);
        for (int64_t j = 0; j < clusters; j++) {
            const lanes share = exponential(subtract(load(logs + j * TILE + i), top));
            store(logs + j * TILE + i, share), total = add(total, share);
        }
        const lanes here = load(in + i), inside = divide(here, total);
        for (int64_t j = 0; j < clusters; j++)
            store(logs + j * TILE + i, where(less(all(0), here), multiply(load(logs + j * TILE + i), inside), all(0)));
    }
}

INLINE double inner(const double *a, const double *b) {
    lanes total = all(0);
    for (int64_t i = 0; i < TILE; i += LANES)
        total = fused(load(a + i), load(b + i), total);
    return sum(total);
}

/* Add what a cluster has of a tile of rows, given their probabilities u (TILE,) and differences e; `ue` is (TILE,). */
INLINE void add_tile(const struct metrics *g, const struct step *s, int64_t j, const double *u, const double *e, double *ue) {
    const int64_t d = g->columns;
    for (int64_t k = 0; k < d; k++) {
        lanes total = all(0);
        for (int64_t i = 0; i < TILE; i += LANES) {
            const lanes part = multiply(load(u + i), load(e + k * TILE + i));
            store(ue + i, part), total = add(total, part);
        }
        s->first[j * d + k] += sum(total);
        if (g->full)
            for (int64_t l = 0; l <= k; l++)
                s->second[(j * d + k) * d + l] += inner(ue, e + l * TILE);
        else
            s->second[j * d + k] += inner(ue, e + k * TILE);
    }
}

/* Count a tile's rows, and say which of them are outlying: `in` (TILE,) is 1 of others. */
INLINE void count_tile(const struct step *s, const double *root, const int64_t *which, int64_t n, double *in) {
    for (int64_t i = 0; i < n; i++) {
        double *facts = s->facts + which[i] * FACTS;
        const double over = root[i] - s->median[which[i]];
        const int near = root[i] <= s->far[which[i]];
        in[i] = near, facts[0] += 1, facts[1] += over > 0, facts[2] += near;
        if (near)
            facts[3] += over, facts[4] += over * over;
    }
}

/* Order rows by clusters, outlying ones last: ends[j + 2] counts those of cluster j first. */
static void order_rows(const struct step *s, const int8_t *outlying, int64_t rows, int64_t clusters) {
    memset(s->ends, 0, (size_t)(clusters + 2) * sizeof *s->ends);
    for (int64_t j = 0; j < clusters; j++)
        s->ends[j + 1] = s->ends[j] + (int64_t)s->facts[j * FACTS + 2];
    for (int64_t i = 0; i < rows; i++)
        s->order[s->ends[outlying[i] ? clusters : s->nearest[i]]++] = i;
    for (int64_t j = clusters + 1; j > 0; j--)
        s->ends[j] = s->ends[j - 1];
    s->ends[0] = 0;
}

/* Sums of a step's rows x. `room` begins a line, and is (2 columns + clusters + 1, TILE); `outlying` is (rows,). */
void EXPORTED(sum_step)(const struct metrics *g, const struct step *s, const double *x, int64_t rows, double *room, int8_t *outlying) {
    const int64_t d = g->columns;
    double *e = room + d * TILE, *ue = e + d * TILE, *logs = ue + TILE;
    double d2[TILE], in[TILE] __attribute__((aligned(LINE)));
    struct likeliest best;
    for (int64_t first = 0; first < rows; first += TILE) {
        const int64_t n = rows - first < TILE ? rows - first : TILE;
        turn_rows(x + first * d, n, d, room);
        for (int64_t j = 0; j < g->clusters; j++) {
            differ(g, j, room, e);
            distances_of_tile(g, j, e, d2);
            offer(&best, j, s->log_weight[j], d2, logs + j * TILE);
        }
        for (int64_t i = 0; i < TILE; i += LANES)
            store(best.distance + i, cubic_root(load(best.distance + i)));
        memset(in, 0, sizeof in);
        count_tile(s, best.distance, best.which, n, in);
        posteriors(logs, g->clusters, best.most, in);
        for (int64_t i = 0; i < n; i++)
            s->nearest[first + i] = best.which[i], outlying[first + i] = in[i] == 0;
        for (int64_t j = 0; j < g->clusters; j++) {
            double here = 0;
            for (int64_t i = 0; i < TILE; i += LANES)
                here += sum(load(logs + j * TILE + i));
            if (here == 0)
                continue;
            s->came[j] += here;
            differ(g, j, room, e);
            add_tile(g, s, j, logs + j * TILE, e, ue);
        }
    }
    for (int64_t j = 0; j < g->clusters && g->full; j++)
        for (int64_t k = 0; k < d; k++)
            for (int64_t l = 0; l < k; l++)
                s->second[(j * d + l) * d + k] = s->second[(j * d + k) * d + l];
    order_rows(s, outlying, rows, g->clusters);
}

#endif
