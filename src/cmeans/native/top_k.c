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

struct candidate {
    real d2;
    whole number;
};

struct nearest_clusters {
    int64_t most;
    struct candidate *heap;  /* (TILE, most) of each row, the farthest first: those kept so far, padded with infinite distances */
    real *limit;             /* (TILE,) the distances of the farthest */
    whole *number;           /* (most, TILE) clusters, the nearest first */
    void *memory;
};

static int new_nearest(struct nearest_clusters *kept, int64_t most) {
    const size_t candidates = TILE * (size_t)most * sizeof(struct candidate), lines = TILE * (size_t)(most + 1) * sizeof(real);
    kept->most = most;
    kept->memory = malloc(candidates + lines + LINE);
    if (kept->memory == NULL)
        return 0;
    kept->limit = aligned_to_line(kept->memory);
    kept->number = (whole *)(kept->limit + TILE);
    kept->heap = (struct candidate *)(kept->number + TILE * most);
    return 1;
}

/* Of two at the same distance, the one of the larger number is farther. */
INLINE int is_farther(struct candidate a, struct candidate b) { return a.d2 > b.d2 || (a.d2 == b.d2 && a.number > b.number); }

/* Puts a candidate in the place of the first of a heap of `count`, and what is then farthest first. */
INLINE void replace_first(struct candidate *heap, int64_t count, struct candidate one) {
    int64_t place = 0;
    for (int64_t child = 1; child < count; child = 2 * place + 1) {
        child += child + 1 < count && is_farther(heap[child + 1], heap[child]);
        if (!is_farther(heap[child], one))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = one;
}

/* Compares the rows with centres `first` ... of the tile's distances; returns the sum of these times the factors (TILE,). */
static double keep_nearest(const struct tile *tile, struct nearest_clusters *kept, int64_t first, int64_t clusters, const real *factor) {
    lanes total = all(0);
    ACROSS(t) {
        const lanes by = load(factor + t);
        for (int64_t j = 0; j < clusters; j++) {
            const real *d2 = tile->d2 + j * TILE + t;
            const lanes here = load(d2);
            total = fused(here, by, total);
            if (all_set(at_least(here, load(kept->limit + t))))
                continue;
            for (int i = 0; i < LANES; i++)
                if (d2[i] < kept->limit[t + i]) {
                    struct candidate *heap = kept->heap + (t + i) * kept->most;
                    replace_first(heap, kept->most, (struct candidate){d2[i], (whole)(first + j)});
                    kept->limit[t + i] = heap[0].d2;
                }
        }
    }
    return sum(total);
}

/* The tile becomes that of the nearest clusters, the nearest first. */
static void sort_nearest(struct tile *tile, struct nearest_clusters *kept) {
    for (int t = 0; t < TILE; t++) {
        struct candidate *heap = kept->heap + t * kept->most;
        for (int64_t rank = kept->most - 1; rank >= 0; rank--) {
            const struct candidate farthest = heap[0];
            tile->d2[rank * TILE + t] = farthest.d2;
            kept->number[rank * TILE + t] = farthest.number;
            replace_first(heap, rank, heap[rank]);
        }
        tile->low[t] = tile->d2[t];
    }
}

/* The nearest centres of the rows from number `start` on; returns the sum of all distances times the rows' weights, or times zero. */
static double find_nearest_clusters(struct tile *tile, struct nearest_clusters *kept, const struct rows *rows, const struct centres *centres,
                                    int64_t start, int weighted) {
    static const real ZERO[TILE] __attribute__((aligned(LINE)));
    double total = 0;
    load_tile(tile, rows, start);
    for (int64_t i = 0; i < TILE * kept->most; i++)
        kept->heap[i] = (struct candidate){(real)INFINITY, (whole)(kept->most - 1 - i % kept->most)};
    ACROSS(t) store(kept->limit + t, all((real)INFINITY));
    for (int64_t first = 0; first < centres->clusters; first += TOGETHER) {
        struct centres some = *centres;
        some.values += first * rows->columns;
        some.norms += first;
        some.clusters = at_most(TOGETHER, centres->clusters - first);
        ACROSS(t) store(tile->low + t, all((real)INFINITY));
        distances(tile, rows, &some);
        total += keep_nearest(tile, kept, first, some.clusters, weighted ? tile->weight : ZERO);
    }
    sort_nearest(tile, kept);
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
