/* The clusters of the nearest centres of each row, `most` of them, of all centres or of those that a search leaves. */
#ifndef CMEANS_NEAREST_CLUSTERS_H
#define CMEANS_NEAREST_CLUSTERS_H

#include "search.h"

#define COMPARED 256 /* centres that a tile is compared with at once: their distances stay in the second-level cache */

struct nearest_clusters {
    int64_t most;
    real *d2;       /* (most, TILE) squared distances, the smallest first; infinite where there is no cluster yet */
    whole *number;  /* (most, TILE) the clusters, of equal distances the lowest number first */
    real *row_d2;   /* (TILE, most) the same while rows are searched, one by one */
    whole *row_number;
    void *memory;
};

static int new_nearest(struct nearest_clusters *kept, int64_t most) {
    kept->most = most;
    kept->memory = malloc(4 * TILE * (size_t)most * sizeof(real) + LINE);
    if (kept->memory == NULL)
        return 0;
    kept->d2 = aligned_to_line(kept->memory);
    kept->number = (whole *)(kept->d2 + TILE * most);
    kept->row_d2 = (real *)(kept->number + TILE * most);
    kept->row_number = (whole *)(kept->row_d2 + TILE * most);
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

/* The nearest centres of a tile's rows, by the distances to all; returns the sum of these times the factors (TILE,). */
static double compare_all(struct tile *tile, struct nearest_clusters *kept, const struct rows *rows, const struct centres *centres,
                          const real *factor) {
    double total = 0;
    clear_nearest(kept);
    for (int64_t first = 0; first < centres->clusters; first += COMPARED) {
        struct centres some = *centres;
        some.values += rows->column != NULL ? first : first * rows->columns;
        some.norms += first;
        some.clusters = at_most(COMPARED, centres->clusters - first);
        ACROSS(t) store(tile->low + t, all((real)INFINITY));
        distances(tile, rows, &some);
        total += keep_nearest(tile, kept, first, some.clusters, factor);
    }
    return total;
}

/* --------------------------------------------------------------------------------------------------------- searching */

/* Centre j, at d2 or at least so far, takes its place among the nearest of row t. */
INLINE void put_one(struct nearest_clusters *kept, int64_t t, real d2, whole j) {
    real *to = kept->row_d2 + t * kept->most;
    whole *number = kept->row_number + t * kept->most;
    int64_t i = kept->most - 1;
    if (!(d2 < to[i] || (d2 == to[i] && j < number[i])))
        return;
    for (; i > 0 && (d2 < to[i - 1] || (d2 == to[i - 1] && j < number[i - 1])); i--)
        to[i] = to[i - 1], number[i] = number[i - 1];
    to[i] = d2, number[i] = j;
}

INLINE real farthest_of(const struct nearest_clusters *kept, int64_t t) { return kept->row_d2[(t + 1) * kept->most - 1]; }

/* At least the `most`-th smallest of a row's numbers: the largest of so many of which each is the smallest of some. */
static real limit_of(const real *low, int64_t clusters, int64_t most) {
    const int64_t step = in_lines(most);
    real line[LANES] __attribute__((aligned(LINE))), limit = -(real)INFINITY;
    for (int64_t first = 0; first < step; first += LANES) {
        lanes least = all((real)INFINITY);
        for (int64_t j = first; j < clusters; j += step)
            least = smaller(load(low + j), least);
        store(line, least);
        for (int i = 0; i < LANES; i++)
            limit = line[i] > limit ? line[i] : limit;
    }
    return limit;
}

/* The nearest of row t by distances to all, or by what these are at least. */
static void keep_smallest(struct nearest_clusters *kept, int64_t t, const real *low, int64_t clusters) {
    const lanes limit = all(limit_of(low, clusters, kept->most));
    for (int64_t rank = 0; rank < kept->most; rank++)
        kept->row_d2[t * kept->most + rank] = (real)INFINITY, kept->row_number[t * kept->most + rank] = (whole)rank;
    for (int64_t j = 0; j < clusters; j += LANES)
        for (uint64_t left = bits_of(less(limit, load(low + j))) ^ ALL_LANES; left != 0; left &= left - 1) {
            const int64_t k = j + __builtin_ctzll(left);
            put_one(kept, t, low[k], (whole)k);
        }
}

/* The nearest of row i of the search, t of the tile, among those of the least bounds. Returns how many others may be nearer. */
static int64_t begin_nearest(struct searched *s, const struct search *search, struct nearest_clusters *kept, int64_t i, int64_t t) {
    const int64_t most = kept->most;
    real *low = s->low + i * s->width;
    keep_smallest(kept, t, low, s->clusters);
    load_row(s, search, i);
    for (int64_t rank = 0; rank < most; rank++) {
        s->found[rank] = (int32_t)kept->row_number[t * most + rank];
        low[s->found[rank]] = kept->row_d2[t * most + rank] = (real)INFINITY;
    }
    for (int64_t k = 0; k < most; k += AFEW) {
        real d2[AFEW];
        const int64_t count = at_most(AFEW, most - k);
        distances_to_some(s, search, i, s->found + k, count, d2);
        for (int64_t p = 0; p < count; p++)
            put_one(kept, t, d2[p], (whole)s->found[k + p]);
    }
    return within(s, i, -1, farthest_of(kept, t) + margin_of(s, search, i), s->found);
}

/* The others that may be nearer are measured too. */
static void finish_nearest(struct searched *s, const struct search *search, struct nearest_clusters *kept, int64_t i, int64_t t) {
    const real *low = s->low + i * s->width, margin = margin_of(s, search, i);
    const int64_t count = within(s, i, -1, farthest_of(kept, t) + margin, s->found);
    int32_t next[AFEW], wanted = 0;
    for (int64_t k = 0; k <= count; k++) {
        if (k < count && !(farthest_of(kept, t) + margin < low[s->found[k]]))
            next[wanted++] = s->found[k];
        if (wanted == AFEW || (k == count && wanted > 0)) {
            real d2[AFEW];
            distances_to_some(s, search, i, next, wanted, d2);
            for (int64_t p = 0; p < wanted; p++)
                put_one(kept, t, d2[p], (whole)next[p]);
            wanted = 0;
        }
    }
}

/* The nearest centres of the first `count` rows of a search, rows `first` ... of the tile. */
static void search_some(struct searched *s, const struct search *search, struct nearest_clusters *kept, int64_t count, int64_t first) {
    int64_t left[TILE], total = count * kept->most;
    if (bounds_are_tried(s, search, count)) {
        for (int64_t i = 0; i < count; i++)
            total += left[i] = begin_nearest(s, search, kept, i, first + i);
        if (bounds_pay(s, total, count)) {
            for (int64_t i = 0; i < count; i++)
                if (left[i] > 0)
                    finish_nearest(s, search, kept, i, first + i);
            return;
        }
    }
    all_distances(s, search, count);
    for (int64_t i = 0; i < count; i++)
        keep_smallest(kept, first + i, s->low + i * s->width, s->clusters);
}

/* The nearest centres of a tile's rows, from number `start` on, by a search; returns the sum of k(x, x) times the factors (TILE,), and adds
 * that of weight x to the moment (columns,), if there is one. */
static double search_for_all(struct searched *s, const struct search *search, struct nearest_clusters *kept, int64_t start, int64_t count,
                             const real *factor, double *moment) {
    const int64_t last = s->rows->count - 1;
    double total = 0;
    for (int64_t first = 0; first < count; first += s->room) {
        const int64_t here = at_most(s->room, count - first);
        for (int64_t i = 0; i < here; i++)
            begin_row(s, i, start + first + i, at_most(start + first + i + ROWS_AHEAD, last), -1, (real)INFINITY);
        search_some(s, search, kept, here, first);
        for (int64_t i = 0; i < here; i++)
            total += (double)factor[first + i] * (double)*kxx_of(s, search, i);
        if (moment != NULL)
            add_rows(s, search, here, moment);
    }
    for (int64_t t = 0; t < TILE; t++)
        for (int64_t rank = 0; rank < kept->most; rank++) {
            const int64_t from = at_most(t, count - 1) * kept->most + rank; /* the last row pads the tile */
            kept->d2[rank * TILE + t] = kept->row_d2[from], kept->number[rank * TILE + t] = kept->row_number[from];
        }
    return total;
}

#endif
