/* Passes in which a row has memberships in its nearest clusters alone, `most` of them.
 *
 * The nearest clusters of each row become a tile of their own, (most, TILE), of which the rules make memberships as of any other. */
#include "moments.h"
#include "nearest_clusters.h"
#include "passes.h"
#include "rules.h"

#define SUMMED 16 /* tiles whose sums are taken in the rows' precision, before they are added in float64: SUMMED_ROWS in native_rows.py */
#define ABREAST_SUMS (WIDTH == 64 ? 8 : 4) /* vectors of a cluster's sum at a time, as many as the machine has registers for */
#define NO_RULE -2

/* Weights of rows in clusters, of SUMMED tiles. */
struct weights {
    int64_t count;
    int32_t *row, *cluster;         /* (room,) row numbers, ascending, and clusters */
    real *weight;                   /* (room,) */
    int32_t *order;                 /* (room,) by clusters */
    int64_t *first;                 /* (clusters + 1,) place of each cluster's first in `order` */
    void *memory;
};

static int new_weights(struct weights *w, int64_t most, int64_t clusters) {
    const size_t room = (size_t)(SUMMED * TILE * most);
    w->count = 0;
    w->memory = malloc((size_t)(clusters + 1) * sizeof(int64_t) + room * (sizeof(real) + 3 * sizeof(int32_t)));
    if (w->memory == NULL)
        return 0;
    w->first = w->memory;
    w->weight = (real *)(w->first + clusters + 1);
    w->row = (int32_t *)(w->weight + room);
    w->cluster = w->row + room;
    w->order = w->cluster + room;
    return 1;
}

/* By clusters, the rows of each ascending. */
static void put_in_order(struct weights *w, int64_t clusters) {
    memset(w->first, 0, (size_t)(clusters + 1) * sizeof(int64_t));
    for (int64_t k = 0; k < w->count; k++)
        w->first[w->cluster[k] + 1]++;
    for (int64_t j = 0; j < clusters; j++)
        w->first[j + 1] += w->first[j];
    for (int64_t k = 0; k < w->count; k++)
        w->order[w->first[w->cluster[k]]++] = (int32_t)k;
    for (int64_t j = clusters; j > 0; j--)
        w->first[j] = w->first[j - 1];
    w->first[0] = 0;
}

/* moment += sum of weight x over some rows, for some vectors of columns from f on, of which the first `skipped` are not used. */
INLINE void add_of_columns(const struct rows *rows, const struct weights *w, int64_t start, int64_t stop, int64_t f, int abreast, int64_t skipped,
                        double *moment) {
    real line[ABREAST_SUMS * LANES] __attribute__((aligned(LINE)));
    lanes sums[ABREAST_SUMS], shift[ABREAST_SUMS];
    for (int v = 0; v < abreast; v++)
        sums[v] = all(0), shift[v] = rows->shift == NULL ? all(0) : load_loose(rows->shift + f + v * LANES);
    for (int64_t k = start; k < stop; k++) {
        const real *row = rows->values + w->row[w->order[k]] * rows->pitch + f;
        const lanes weight = all(w->weight[w->order[k]]);
        for (int v = 0; v < abreast; v++)
            sums[v] = fused(weight, subtract(load_loose(row + v * LANES), shift[v]), sums[v]);
    }
    for (int v = 0; v < abreast; v++)
        store(line + v * LANES, sums[v]);
    for (int64_t k = skipped; k < abreast * LANES; k++)
        moment[f + k] += line[k];
}

/* moment += weight x over CSR rows, which lies column by column. */
static void add_csr_moments(const struct rows *rows, struct weights *w, int64_t pitch, double *moment) {
    for (int64_t i = 0; i < w->count; i++) {
        double *to = moment + w->cluster[i];
        for (int64_t k = rows->first[w->row[i]]; k < rows->first[w->row[i] + 1]; k++)
            to[rows->column[k] * pitch] += (double)w->weight[i] * (double)rows->values[k];
    }
    w->count = 0;
}

/* The weights' sums over the rows, in the rows' precision, go to the moments; the columns some at a time, so that the rows stay near. */
static void add_moments(const struct rows *rows, struct weights *w, double *moment, int64_t clusters) {
    const int64_t columns = rows->columns;
    put_in_order(w, clusters);
    w->count = 0;
    int64_t f = 0;
#define FOR_CLUSTERS(from, abreast, skipped)                                                                                                 for (int64_t j = 0; j < clusters; j++)                                                                                                   add_of_columns(rows, w, w->first[j], w->first[j + 1], from, abreast, skipped, moment + j * columns)
    for (; f + ABREAST_SUMS * LANES <= columns; f += ABREAST_SUMS * LANES)
        FOR_CLUSTERS(f, ABREAST_SUMS, 0);
    for (; f + LANES <= columns; f += LANES)
        FOR_CLUSTERS(f, 1, 0);
    if (f < columns && columns >= LANES)
        FOR_CLUSTERS(columns - LANES, 1, f - (columns - LANES));
#undef FOR_CLUSTERS
    for (; columns < LANES && f < columns; f++)
        for (int64_t j = 0; j < clusters; j++) {
            real total = 0;
            for (int64_t k = w->first[j]; k < w->first[j + 1]; k++) {
                const real x = rows->values[w->row[w->order[k]] * rows->pitch + f];
                total = fused_one(w->weight[w->order[k]], rows->shift == NULL ? x : x - rows->shift[f], total);
            }
            moment[j * columns + f] += total;
        }
}

/* A rule, a tile, the nearest clusters of its rows and sums over them that only the rule asks for. */
struct work {
    const struct rule *rule;
    struct tile tile;
    struct nearest_clusters kept;
    struct centres few;   /* what the rule reads of `most` clusters: it has no scales but zeros */
    double *by_rank;      /* (2, most) */
    struct weights weights;
    const struct search *search; /* or nothing: distances to all centres are compared */
    struct searched searched;
};

static void end_work(struct work *w) {
    free(w->searched.memory);
    free(w->weights.memory);
    free(w->by_rank);
    free(w->kept.memory);
    free(w->tile.memory);
}

static int begin_work(struct work *w, const struct rows *rows, const struct centres *centres, const char *rule_name, int64_t most,
                      const struct search *search, real *coordinates) {
    const int64_t together = search != NULL ? most : at_most(COMPARED, centres->clusters);
    memset(w, 0, sizeof *w);
    w->rule = rule_named(rule_name);
    w->few = *centres;
    w->few.clusters = most;
    w->search = search;
    if (w->rule == NULL)
        return NO_RULE;
    w->by_rank = malloc(2 * (size_t)most * sizeof(double));
    if (w->by_rank != NULL && new_tile(&w->tile, most > together ? most : together) && new_nearest(&w->kept, most) &&
        new_weights(&w->weights, most, centres->clusters) && (search == NULL || new_search(&w->searched, search))) {
        w->searched.rows = rows, w->searched.coordinates = coordinates;
        return 0;
    }
    end_work(w);
    return NO_MEMORY;
}

/* The nearest clusters of the rows from number `start` on become the tile's. Returns the sum of all distances, by a search that of k(x, x),
 * times the rows' weights, or times zero. */
static double find_nearest_clusters(struct work *w, const struct rows *rows, const struct centres *centres, int64_t start, int weighted,
                                    double *moment) {
    static const real ZERO[TILE] __attribute__((aligned(LINE)));
    const real *factor = weighted ? w->tile.weight : ZERO;
    double total;
    load_tile(&w->tile, rows, start);
    if (w->search == NULL)
        total = compare_all(&w->tile, &w->kept, rows, centres, factor);
    else
        total = search_for_all(&w->searched, w->search, &w->kept, start, w->tile.count, factor, moment);
    memcpy(w->tile.d2, w->kept.d2, TILE * (size_t)w->kept.most * sizeof(real));
    memcpy(w->tile.low, w->kept.d2, TILE * sizeof(real));
    return total;
}

/* The memberships of the tile that begins with row number `start` become weights, which are added to the masses and kept for the moments;
 * returns the penalty. */
static double add_sums(struct work *w, int64_t start, double *mass, double *spread) {
    const int64_t most = w->kept.most;
    struct weights *to = &w->weights;
    memset(w->by_rank, 0, 2 * (size_t)most * sizeof(double));
    const double penalty = w->rule->sums(&w->tile, &w->few, w->by_rank, w->by_rank + most);
    for (int64_t rank = 0; rank < most; rank++)
        for (int64_t t = 0; t < w->tile.count; t++) {
            const int64_t i = rank * TILE + t, j = w->kept.number[i];
            mass[j] += (double)w->tile.u[i];
            spread[j] += (double)w->tile.u[i] * (double)w->tile.d2[i];
        }
    for (int64_t t = 0; t < w->tile.count; t++)
        for (int64_t rank = 0; rank < most; rank++, to->count++) {
            to->row[to->count] = (int32_t)(start + t);
            to->cluster[to->count] = (int32_t)w->kept.number[rank * TILE + t];
            to->weight[to->count] = w->tile.u[rank * TILE + t];
        }
    return penalty;
}

/* The sums of one sweep, as of `sweep` without labels. */
int EXPORTED(sweep_top_k)(const struct rows *rows, const struct centres *centres, const char *rule_name, int64_t most,
                          const struct search *search, real *coordinates, const struct sums *sums) {
    struct work w;
    const int missing = begin_work(&w, rows, centres, rule_name, most, search, coordinates);
    if (missing)
        return missing;
    for (int64_t j = 0; search != NULL && j < search->clusters; j++)
        *sums->penalty += 0 * search->norms[j];
    for (int64_t start = 0, number = 1; start < rows->count; start += TILE, number++) {
        *sums->penalty += find_nearest_clusters(&w, rows, centres, start, 0, NULL); /* nothing, unless a distance is no number */
        w.rule->memberships(&w.tile, &w.few);
        *sums->penalty += add_sums(&w, start, sums->mass, sums->spread);
        if (rows->column != NULL)
            add_csr_moments(rows, &w.weights, centres->pitch, sums->moment);
        else if (number % SUMMED == 0 || start + TILE >= rows->count)
            add_moments(rows, &w.weights, sums->moment, centres->clusters);
    }
    end_work(&w);
    return 0;
}

struct top_assignment {
    int64_t *labels;    /* (count,) the cluster of the largest membership; -1 where noise has a larger one */
    int32_t *clusters;  /* (count, most) those of the largest memberships, which fall; equal ones in the order of their numbers at the top */
    real *memberships;  /* (count, most) */
    double *nearest;    /* (count,) squared distance to the centre of the label, to the nearest where there is none */
    double *mass;       /* (clusters,) sum of sample weight times membership, added to */
    double *spread;     /* (clusters,) sum of w d2, added to */
    double *totals;     /* (2,) the penalty and the sum of sample weight times d2, or by a search times k(x, x), added to */
    double *moment;     /* (columns,) by a search: sum of sample weight times x, added to */
};

/* Of clusters that share the largest membership of a row, as rounding may have it, the lowest number comes first. */
static void order_largest(struct work *w, int64_t t) {
    real *u = w->tile.u + t, *d2 = w->tile.d2 + t;
    whole *number = w->kept.number + t;
    for (int64_t rank = 1; rank < w->kept.most && u[rank * TILE] == u[0]; rank++)
        for (int64_t i = rank * TILE; i > 0 && number[i] < number[i - TILE]; i -= TILE) {
            const whole other = number[i];
            const real distance = d2[i];
            number[i] = number[i - TILE], d2[i] = d2[i - TILE];
            number[i - TILE] = other, d2[i - TILE] = distance;
        }
}

/* The last pass: labels, memberships and distances of the rows. */
int EXPORTED(assign_top_k)(const struct rows *rows, const struct centres *centres, const char *rule_name, int64_t most,
                           const struct search *search, real *coordinates, const struct top_assignment *to) {
    const real noise = noise_distance(centres);
    struct work w;
    const int missing = begin_work(&w, rows, centres, rule_name, most, search, coordinates);
    if (missing)
        return missing;
    for (int64_t start = 0; start < rows->count; start += TILE) {
        to->totals[1] += find_nearest_clusters(&w, rows, centres, start, 1, to->moment);
        w.rule->memberships(&w.tile, &w.few);
        for (int64_t t = 0; t < w.tile.count; t++) {
            order_largest(&w, t);
            for (int64_t rank = 0; rank < most; rank++) {
                const int64_t i = rank * TILE + t, at = (start + t) * most + rank;
                const real u = w.tile.u[i] * w.tile.factor[t];
                to->clusters[at] = (int32_t)w.kept.number[i];
                to->memberships[at] = u;
                to->mass[w.kept.number[i]] += (double)w.tile.weight[t] * (double)u;
            }
            to->labels[start + t] = noise < w.tile.low[t] ? -1 : w.kept.number[t];
            to->nearest[start + t] = noise < w.tile.low[t] ? w.tile.low[t] : w.tile.d2[t];
        }
        memset(w.by_rank, 0, 2 * (size_t)most * sizeof(double));
        to->totals[0] += w.rule->sums(&w.tile, &w.few, w.by_rank, w.by_rank + most);
        for (int64_t rank = 0; rank < most; rank++)
            *to->spread += w.by_rank[most + rank];
    }
    end_work(&w);
    return 0;
}

/* The `most` clusters that have each row for least, squared distances less prices, the cheapest first (count, most), and the distances. */
int EXPORTED(find_few)(const struct rows *rows, const struct centres *centres, int64_t most, const real *prices, int32_t *clusters, real *d2) {
    struct tile tile;
    struct nearest_clusters kept;
    if (!new_nearest(&kept, most))
        return NO_MEMORY;
    if (!new_tile_for(&tile, rows, centres)) {
        free(kept.memory);
        return NO_MEMORY;
    }
    for (int64_t start = 0; start < rows->count; start += TILE) {
        load_tile(&tile, rows, start);
        distances(&tile, rows, centres);
        clear_nearest(&kept);
        for (int64_t j = 0; j < centres->clusters; j++)
            ACROSS(t) {
                const lanes net = subtract(load(tile.d2 + j * TILE + t), all(prices[j]));
                if (!all_set(at_least(net, load(kept.d2 + (most - 1) * TILE + t))))
                    put_in_place(&kept, t, net, (whole)j);
            }
        for (int64_t t = 0; t < tile.count; t++)
            for (int64_t rank = 0; rank < most; rank++) {
                const int64_t at = (start + t) * most + rank, j = kept.number[rank * TILE + t];
                clusters[at] = (int32_t)j;
                d2[at] = tile.d2[j * TILE + t];
            }
    }
    free(tile.memory);
    free(kept.memory);
    return 0;
}
