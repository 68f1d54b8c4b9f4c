/* Passes in which a row has memberships in its nearest clusters alone, `most` of them.
 *
 * The centres are compared with a tile of rows some at a time, so that the distances of all are never there together. The nearest ones
 * of each row become a tile of their own, (most, TILE), of which the rules make memberships as of any other. */
#include "moments.h"
#include "passes.h"
#include "rules.h"

#define TOGETHER 256 /* centres that a tile is compared with: their distances stay in the second-level cache */
#define SUMMED 16    /* tiles whose sums are taken in the rows' precision, before they are added in float64: SUMMED_ROWS in native_rows.py */
#define NO_RULE -2

struct nearest_clusters {
    int64_t most;
    real *d2;       /* (most, TILE) squared distances, the smallest first; infinite where there is no cluster yet */
    whole *number;  /* (most, TILE) the clusters, of equal distances the lowest number first */
    void *memory;
};

static int new_nearest(struct nearest_clusters *kept, int64_t most) {
    kept->most = most;
    kept->memory = malloc(2 * TILE * (size_t)most * sizeof(real) + LINE);
    if (kept->memory == NULL)
        return 0;
    kept->d2 = aligned_to_line(kept->memory);
    kept->number = (whole *)(kept->d2 + TILE * most);
    return 1;
}

static void clear_nearest(struct nearest_clusters *kept) {
    for (int64_t rank = 0; rank < kept->most; rank++)
        ACROSS(t) {
            store(kept->d2 + rank * TILE + t, all((real)INFINITY));
            store_whole(kept->number + rank * TILE + t, all_whole((whole)rank));
        }
}

/* A cluster of a higher number than those before takes its place in the lanes of some rows: from the last place on, farther ones move down. */
INLINE void put_in_place(struct nearest_clusters *kept, int t, lanes d2, whole number) {
    int64_t i = (kept->most - 1) * TILE + t;
    mask closer = less(d2, load(kept->d2 + i));
    for (; i >= TILE; i -= TILE) {
        const lanes before = load(kept->d2 + i - TILE);
        const mask moves = less(d2, before);
        const mask own = where_whole(closer, all_whole(number), load_whole(kept->number + i));
        store(kept->d2 + i, where(moves, before, where(closer, d2, load(kept->d2 + i))));
        store_whole(kept->number + i, where_whole(moves, load_whole(kept->number + i - TILE), own));
        closer = moves;
        if (all_set(at_least(d2, before)))
            return;
    }
    store(kept->d2 + i, where(closer, d2, load(kept->d2 + i)));
    store_whole(kept->number + i, where_whole(closer, all_whole(number), load_whole(kept->number + i)));
}

/* Compares the rows with centres `first` ... of the tile's distances; returns the sum of these times the factors (TILE,). */
static double keep_nearest(const struct tile *tile, struct nearest_clusters *kept, int64_t first, int64_t clusters, const real *factor) {
    const real *farthest = kept->d2 + (kept->most - 1) * TILE;
    lanes total = all(0);
    ACROSS(t) {
        const lanes by = load(factor + t);
        for (int64_t j = 0; j < clusters; j++) {
            const lanes d2 = load(tile->d2 + j * TILE + t);
            total = fused(d2, by, total);
            if (!all_set(at_least(d2, load(farthest + t))))
                put_in_place(kept, t, d2, (whole)(first + j));
        }
    }
    return sum(total);
}

/* The nearest centres of the rows from number `start` on; returns the sum of all distances times the rows' weights, or times zero. */
static double find_nearest_clusters(struct tile *tile, struct nearest_clusters *kept, const struct rows *rows, const struct centres *centres,
                                    int64_t start, int weighted) {
    static const real ZERO[TILE] __attribute__((aligned(LINE)));
    double total = 0;
    load_tile(tile, rows, start);
    clear_nearest(kept);
    for (int64_t first = 0; first < centres->clusters; first += TOGETHER) {
        struct centres some = *centres;
        some.values += first * rows->columns;
        some.norms += first;
        some.clusters = at_most(TOGETHER, centres->clusters - first);
        ACROSS(t) store(tile->low + t, all((real)INFINITY));
        distances(tile, rows, &some);
        total += keep_nearest(tile, kept, first, some.clusters, weighted ? tile->weight : ZERO);
    }
    memcpy(tile->d2, kept->d2, TILE * (size_t)kept->most * sizeof(real));
    memcpy(tile->low, kept->d2, TILE * sizeof(real));
    return total;
}

/* A rule, a tile, the nearest clusters of its rows and sums over them that only the rule asks for. */
struct work {
    const struct rule *rule;
    struct tile tile;
    struct nearest_clusters kept;
    struct centres few;   /* what the rule reads of `most` clusters: it has no scales but zeros */
    double *by_rank;      /* (2, most) */
    real *total;          /* (clusters, total_pitch) moments */
};

static void end_work(struct work *w) {
    free(w->total);
    free(w->by_rank);
    free(w->kept.memory);
    free(w->tile.memory);
}

static int begin_work(struct work *w, const struct rows *rows, const struct centres *centres, const char *rule_name, int64_t most) {
    const int64_t widest = at_most(TOGETHER, centres->clusters);
    memset(w, 0, sizeof *w);
    w->rule = rule_named(rule_name);
    w->few = *centres;
    w->few.clusters = most;
    if (w->rule == NULL)
        return NO_RULE;
    w->total = calloc((size_t)(centres->clusters * total_pitch(rows->columns)), sizeof(real));
    w->by_rank = malloc(2 * (size_t)most * sizeof(double));
    if (w->total != NULL && w->by_rank != NULL && new_tile(&w->tile, most > widest ? most : widest) && new_nearest(&w->kept, most))
        return 0;
    end_work(w);
    return NO_MEMORY;
}

/* The tile's memberships become weights, which are added to the sums of the clusters; returns the penalty. */
static double add_sums(struct work *w, double *mass, double *spread) {
    const int64_t most = w->kept.most;
    memset(w->by_rank, 0, 2 * (size_t)most * sizeof(double));
    const double penalty = w->rule->sums(&w->tile, &w->few, w->by_rank, w->by_rank + most);
    for (int64_t rank = 0; rank < most; rank++)
        for (int64_t t = 0; t < w->tile.count; t++) {
            const int64_t i = rank * TILE + t, j = w->kept.number[i];
            mass[j] += (double)w->tile.u[i];
            spread[j] += (double)w->tile.u[i] * (double)w->tile.d2[i];
        }
    return penalty;
}

/* The sums of one sweep, as of `sweep` without labels. */
int EXPORTED(sweep_top_k)(const struct rows *rows, const struct centres *centres, const char *rule_name, int64_t most, const struct sums *sums) {
    const int64_t columns = rows->columns, pitch = total_pitch(columns);
    struct work w;
    const int missing = begin_work(&w, rows, centres, rule_name, most);
    if (missing)
        return missing;
    for (int64_t start = 0, number = 1; start < rows->count; start += TILE, number++) {
        *sums->penalty += find_nearest_clusters(&w.tile, &w.kept, rows, centres, start, 0); /* nothing, unless a distance is no number */
        w.rule->memberships(&w.tile, &w.few);
        *sums->penalty += add_sums(&w, sums->mass, sums->spread);
        for (int64_t t = 0; t < w.tile.count; t++)
            for (int64_t rank = 0; rank < most; rank++) {
                const int64_t i = rank * TILE + t;
                add_row(w.total + w.kept.number[i] * pitch, w.tile.row[t], rows->shift, columns, w.tile.u[i]);
            }
        if (number % SUMMED == 0 || start + TILE >= rows->count)
            move_totals(w.total, sums->moment, centres->clusters, columns);
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
    double *totals;     /* (2,) the penalty and the sum of sample weight times d2, added to */
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
                           const struct top_assignment *to) {
    const real noise = noise_distance(centres);
    struct work w;
    const int missing = begin_work(&w, rows, centres, rule_name, most);
    if (missing)
        return missing;
    for (int64_t start = 0; start < rows->count; start += TILE) {
        to->totals[1] += find_nearest_clusters(&w.tile, &w.kept, rows, centres, start, 1);
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
