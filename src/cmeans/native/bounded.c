/* Hard sweeps that leave out the rows whose cluster cannot have changed.
 *
 * Each row has an upper bound of its distance to its own centre and lower bounds of its distances to groups of other centres. When
 * centres move, the bounds are widened by the triangle inequality, which holds in feature space too; a row whose bounds still do not
 * overlap is not read. Sums are kept from the sweep before: only rows that change clusters alter them.
 * (Elkan 2003 keeps a bound for each centre, Hamerly 2010 one for all, Ding et al. 2015, Yinyang k-means, groups.) */
#include "search.h"

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

struct moves {
    int64_t *rows;      /* numbers of the rows that change clusters, ascending */
    int32_t *from, *to; /* their clusters before (-1: none) and after */
    int64_t count;
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

INLINE real root_of(real x) { return x > 0 ? (BITS == 64 ? (real)sqrt((double)x) : (real)sqrtf((float)x)) : x == x ? 0 : x; }

/* The bounds of row t of the tile, number i, from what has been found of its distances. */
static void keep_bounds(struct searched *s, const struct search *search, const struct bounds *bounds, int64_t rows, int64_t t, int64_t i) {
    const real margin = margin_of(s, search, t);
    real *low = s->low + t * s->width, line[LANES] __attribute__((aligned(LINE)));
    const real *nearest = s->clusters == bounds->groups ? low : line; /* of each group */
    low[s->label[t]] = (real)INFINITY;
    if (nearest == line) {
        lanes least = all((real)INFINITY);
        if (LANES % bounds->groups == 0)
            for (int64_t j = 0; j < s->width; j += LANES)
                least = smaller(load(low + j), least);
        store(line, least);
        if (LANES % bounds->groups != 0)
            for (int64_t j = 0, h = 0; j < s->clusters; j++, h = h + 1 < bounds->groups ? h + 1 : 0)
                line[h] = low[j] < line[h] ? low[j] : line[h];
        else
            for (int64_t k = bounds->groups, h = 0; k < LANES; k++, h = h + 1 < bounds->groups ? h + 1 : 0)
                line[h] = line[k] < line[h] ? line[k] : line[h];
    }
    for (int64_t h = 0; h < bounds->groups; h++)
        bounds->lower[h * rows + i] = root_of(nearest[h] - margin);
    if (s->d2[t] < (real)INFINITY) /* or else the bound has been enough */
        bounds->upper[i] = root_of(s->d2[t] + margin);
}

/* One sweep over the rows whose bounds overlap; returns their number, or what is missing. */
int64_t EXPORTED(sweep_bounded)(const struct rows *rows, const struct search *search, const struct drift *drift, const struct bounds *bounds,
                                real *coordinates, struct moves *moves) {
    struct searched s;
    int64_t *order = malloc((size_t)(rows->count + 1) * sizeof(int64_t));
    if (order == NULL || !new_search(&s, search)) {
        free(order);
        return NO_MEMORY;
    }
    const int64_t read = rows_to_read(bounds, drift, rows->count, search->rounding, order);
    s.rows = rows, s.coordinates = coordinates;
    moves->count = 0;
    for (int64_t start = 0; start < read; start += s.room) {
        const int64_t count = at_most(s.room, read - start);
        for (int64_t t = 0; t < count; t++) {
            const int64_t i = order[start + t];
            begin_row(&s, t, i, order[at_most(start + t + ROWS_AHEAD, read - 1)], bounds->label[i], bounds->upper[i] * bounds->upper[i]);
        }
        search_tile(&s, search, count);
        for (int64_t t = 0; t < count; t++) {
            const int64_t i = order[start + t];
            keep_bounds(&s, search, bounds, rows->count, t, i);
            if (bounds->label[i] != s.label[t]) {
                moves->rows[moves->count] = i;
                moves->from[moves->count] = bounds->label[i];
                moves->to[moves->count++] = bounds->label[i] = s.label[t];
            }
        }
    }
    free(s.memory);
    free(order);
    return read;
}

static void add_to_cluster(const struct cluster_sums *sums, int64_t j, double weight, double kxx, const real *row, const struct rows *rows) {
    /* In float64, so that a cluster that loses nearly all its rows keeps the digits of the rest. */
    double *moment = sums->moment + j * rows->columns;
    sums->mass[j] += weight;
    sums->kxx[j] += weight * kxx;
    if (rows->shift == NULL)
        for (int64_t f = 0; f < rows->columns; f++)
            moment[f] += weight * (double)row[f];
    else
        for (int64_t f = 0; f < rows->columns; f++)
            moment[f] += weight * (double)(row[f] - rows->shift[f]);
}

static double sum_of_squares(const real *row, const struct rows *rows) {
    double total[4] = {0, 0, 0, 0};
    for (int64_t f = 0; f < rows->columns; f++) {
        const double x = (double)(rows->shift == NULL ? row[f] : row[f] - rows->shift[f]);
        total[f % 4] += x * x;
    }
    return (total[0] + total[1]) + (total[2] + total[3]);
}

/* The sums of all clusters after some rows have changed them; those of clusters without rows are zero, without the rest that rounding leaves. */
void EXPORTED(move_rows)(const struct rows *rows, const struct moves *moves, const struct cluster_sums *sums, int64_t clusters) {
    int left = 0;
    for (int64_t k = 0; k < moves->count; k++) {
        const int64_t i = moves->rows[k], from = moves->from[k], to = moves->to[k];
        const real *row = rows->values + i * rows->pitch;
        const double weight = rows->weight[i * rows->weight_step], kxx = rows->kxx == NULL ? sum_of_squares(row, rows) : (double)rows->kxx[i];
        sums->count[to] += weight > 0;
        add_to_cluster(sums, to, weight, kxx, row, rows);
        if (from < 0)
            continue;
        left = 1;
        sums->count[from] -= weight > 0;
        add_to_cluster(sums, from, -weight, kxx, row, rows);
    }
    for (int64_t j = 0; left && j < clusters; j++)
        if (sums->count[j] == 0) {
            sums->mass[j] = sums->kxx[j] = 0;
            memset(sums->moment + j * rows->columns, 0, (size_t)rows->columns * sizeof(double));
        }
}
