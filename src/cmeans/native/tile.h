/* Tiles: TILE rows at a time, transposed, so that vectors run along the rows.
 *
 * Squared distances and memberships of a tile are arrays (clusters, TILE). */
#ifndef CMEANS_TILE_H
#define CMEANS_TILE_H

#include <stdlib.h>
#include <string.h>

#include "elementary.h"

#define TILE 64
#define CHUNK 32                       /* columns that are transposed together, and stay in the first-level cache */
#define AHEAD 64                       /* numbers by which reading a long row runs ahead of the arithmetic */
#define NEAR 8192                      /* bytes of a tile's rows up to which the next tile's are fetched into the first-level cache meanwhile */
#define FAR 524288                     /* and into the second-level cache */
#define ABREAST (WIDTH == 64 ? 2 : 1)  /* vectors side by side, as many as the machine has registers for */
#define GROUP 4                        /* centres at a time */
#define SIDE 4                         /* vectors side by side where each waits for its own sum */
#define CSR_VECTORS 4               /* vectors of centres that a stored number is multiplied with together */
#define CSR_AHEAD 8                 /* stored numbers by which fetching their centres runs ahead of the arithmetic */
#define NO_MEMORY -1                   /* what passes return where there is none */
#define ACROSS(t) for (int t = 0; t < TILE; t += LANES)

struct rows {
    const real *values;    /* (count, columns), `pitch` numbers from row to row */
    const real *shift;     /* (columns,) taken from every row; or nothing */
    const real *kxx;       /* (count,) k(x, x); nothing: the sum of squares */
    const double *weight;  /* (count,) sample weights, `weight_step` numbers apart: 0 where all are the same */
    const int64_t *order;  /* numbers of the rows to be read, one after the other; none: all rows */
    const int32_t *column; /* of CSR rows, the column of each of `values`; else nothing */
    const int64_t *first;  /* (count + 1,) of CSR rows, where those of each row begin in `values` and `column` */
    int64_t count, columns, pitch, weight_step;
};

struct centres {
    const real *values;  /* (clusters, columns) coefficients a; for CSR rows (columns, pitch), with a line more at the end */
    const real *norms;   /* (clusters,) |v|^2 */
    const real *scales;  /* (k, clusters) the rule's numbers of each cluster */
    int64_t clusters, pitch;
    double m, power, p;  /* the rule's parameters: exponent of memberships, of ratios of squared distances, of the sparsity term or beta */
    double noise;        /* squared distance of the noise cluster from every row; infinite where there is none */
    double rounding;     /* share of k(x, x) + |v|^2 below which a squared distance is zero */
    const real *factors; /* (clusters, numbers) of the clusters' metrics, packed triangles or diagonals (metrics.h); none: the rows' own */
    int64_t diagonal;    /* whether they are diagonals */
};

struct tile {
    int64_t count;          /* rows; the last one pads the tile, with weight zero */
    int64_t number[TILE];   /* of each row */
    const real *row[TILE];  /* where each row begins */
    const real *next[TILE]; /* and each of the tile after it */
    real *x;                /* (CHUNK, TILE) the last columns, transposed: all of them where they are few, or there are metrics */
    real *away;             /* (columns, TILE) the rows less a centre, where there are metrics */
    real *d2;               /* (clusters, TILE) */
    real *u;                /* (clusters, TILE) memberships up to the row's factor; then weights */
    real *low;              /* (TILE,) smallest squared distance */
    real *factor;           /* (TILE,) by which u is to be multiplied */
    real *kxx, *weight;     /* (TILE,) */
    real *spare;            /* (TILE,) for the rules */
    whole *label;           /* (TILE,) number of a cluster */
    void *memory;
};

INLINE int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

INLINE real *aligned_to_line(void *memory) { return (real *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1)); }

/* Memory for a tile, with rows of so many columns and their differences from centres; 0 where there is none. */
static int new_tile_of(struct tile *tile, int64_t clusters, int64_t columns) {
    const int64_t wide = columns > CHUNK ? columns : CHUNK, numbers = TILE * (wide + columns + 2 * clusters + 6);
    tile->memory = malloc((size_t)numbers * sizeof(real) + LINE);
    if (tile->memory == NULL)
        return 0;
    tile->x = aligned_to_line(tile->memory);
    tile->away = tile->x + TILE * wide;
    tile->d2 = tile->away + TILE * columns;
    tile->u = tile->d2 + TILE * clusters;
    tile->low = tile->u + TILE * clusters;
    tile->factor = tile->low + TILE;
    tile->kxx = tile->factor + TILE;
    tile->weight = tile->kxx + TILE;
    tile->spare = tile->weight + TILE;
    tile->label = (whole *)(tile->spare + TILE);
    return 1;
}

/* The same where rows are read some columns at a time. */
__attribute__((unused)) static int new_tile(struct tile *tile, int64_t clusters) { return new_tile_of(tile, clusters, 0); }

/* The same as the centres need it. */
__attribute__((unused)) static int new_tile_for(struct tile *tile, const struct rows *rows, const struct centres *centres) {
    return new_tile_of(tile, centres->clusters, centres->factors == NULL ? 0 : rows->columns);
}

/* The rows from number `start` on: where they are, sample weights, k(x, x) where it is known. */
static void load_tile(struct tile *tile, const struct rows *rows, int64_t start) {
    const int64_t last = rows->count - 1;
    tile->count = at_most(TILE, rows->count - start);
    for (int64_t t = 0; t < TILE; t++) {
        int64_t i = at_most(start + t, last), next = start + TILE + t; /* beyond the last row there may be another block's */
        if (rows->order != NULL)
            i = rows->order[i], next = rows->order[at_most(next, last)];
        tile->number[t] = i;
        tile->row[t] = rows->values + i * rows->pitch;
        tile->next[t] = rows->values + next * rows->pitch;
        tile->kxx[t] = rows->kxx == NULL ? 0 : rows->kxx[i];
        tile->weight[t] = t < tile->count ? (real)rows->weight[i * rows->weight_step] : 0;
        tile->low[t] = (real)INFINITY;
        tile->factor[t] = 1;
    }
}

/* ------------------------------------------------------------------------------------------------------- transposing */

typedef real four __attribute__((vector_size(4 * sizeof(real)), may_alias));
typedef real loose_four __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));
#ifdef __clang__
#define PICKED(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef whole four_whole __attribute__((vector_size(4 * sizeof(real))));
#define PICKED(a, b, i, j, k, l) __builtin_shuffle(a, b, (four_whole){i, j, k, l})
#endif

INLINE void fetch(const real *from, int near) {
    if (near)
        __builtin_prefetch(from, 0, 3);
    else
        __builtin_prefetch(from, 0, 2);
}

/* tile->x (columns, TILE) from columns `first` on of the tile's rows, without the shift. */
static void transpose(const struct tile *tile, const struct rows *rows, int64_t first, int64_t columns) {
    static const real NO_SHIFT[CHUNK];
    const real *shift = rows->shift == NULL ? NO_SHIFT : rows->shift + first;
    const int64_t bytes = TILE * rows->columns * (int64_t)sizeof(real);
    const int near = bytes <= NEAR, beyond = bytes > FAR;
    real *x = tile->x;
    for (int t = 0; t < TILE; t += 4) {
        const real *a = tile->row[t] + first, *b = tile->row[t + 1] + first, *c = tile->row[t + 2] + first, *d = tile->row[t + 3] + first;
        int64_t f = 0;
        for (; f + 4 <= columns; f += 4) {
            if (f % LANES == 0)
                for (int i = 0; i < 4; i++)
                    fetch((beyond ? tile->row[t + i] + AHEAD : tile->next[t + i]) + first + f, near);
            four p = *(const loose_four *)(a + f), q = *(const loose_four *)(b + f);
            four r = *(const loose_four *)(c + f), s = *(const loose_four *)(d + f);
            four pq = PICKED(p, q, 0, 4, 2, 6), rs = PICKED(r, s, 0, 4, 2, 6);
            four pq_odd = PICKED(p, q, 1, 5, 3, 7), rs_odd = PICKED(r, s, 1, 5, 3, 7);
            real *to = x + f * TILE + t;
            *(four *)to = PICKED(pq, rs, 0, 1, 4, 5) - shift[f];
            *(four *)(to + TILE) = PICKED(pq_odd, rs_odd, 0, 1, 4, 5) - shift[f + 1];
            *(four *)(to + 2 * TILE) = PICKED(pq, rs, 2, 3, 6, 7) - shift[f + 2];
            *(four *)(to + 3 * TILE) = PICKED(pq_odd, rs_odd, 2, 3, 6, 7) - shift[f + 3];
        }
        for (; f < columns; f++) {
            real *to = x + f * TILE + t;
            to[0] = a[f] - shift[f], to[1] = b[f] - shift[f], to[2] = c[f] - shift[f], to[3] = d[f] - shift[f];
        }
    }
}

/* k(x, x) grows by the squares of the columns of tile->x; the first ones begin it. */
static void add_squares(struct tile *tile, int64_t columns, int begins) {
    for (int t = 0; t < TILE; t += SIDE * LANES) {
        lanes squares[SIDE];
        for (int i = 0; i < SIDE; i++)
            squares[i] = all(0);
        for (int64_t f = 0; f < columns; f++)
            for (int i = 0; i < SIDE; i++) {
                lanes x = load(tile->x + f * TILE + t + i * LANES);
                squares[i] = fused(x, x, squares[i]);
            }
        for (int i = 0; i < SIDE; i++) {
            real *kxx = tile->kxx + t + i * LANES;
            store(kxx, begins ? squares[i] : add(load(kxx), squares[i]));
        }
    }
}

/* Columns `first` ... of the tile's rows. */
static void read_columns(struct tile *tile, const struct rows *rows, int64_t first) {
    const int64_t columns = at_most(CHUNK, rows->columns - first);
    transpose(tile, rows, first, columns);
    if (rows->kxx == NULL)
        add_squares(tile, columns, first == 0);
}

/* Calls a function for all clusters, GROUP at a time; the number at a time is a constant wherever it is inlined. */
#define IN_GROUPS(clusters, function, ...)                                                                                               \
    do {                                                                                                                                 \
        int64_t j = 0;                                                                                                                   \
        for (; j + GROUP <= (clusters); j += GROUP)                                                                                      \
            function(__VA_ARGS__, j, GROUP);                                                                                             \
        switch ((clusters)-j) {                                                                                                          \
        case 3: function(__VA_ARGS__, j, 3); break;                                                                                      \
        case 2: function(__VA_ARGS__, j, 2); break;                                                                                      \
        case 1: function(__VA_ARGS__, j, 1); break;                                                                                      \
        }                                                                                                                                \
    } while (0)

#include "metrics.h"

/* --------------------------------------------------------------------------------------------------------- distances */

/* Sums over the columns of x times the centres' numbers, of `group` centres and ABREAST vectors of rows from t on. */
INLINE void products(const real *x, int64_t columns, const real *centres, int64_t pitch, int group, int t, lanes sums[]) {
    for (int i = 0; i < group * ABREAST; i++)
        sums[i] = all(0);
    for (int64_t f = 0; f < columns; f++) {
        lanes here[ABREAST];
        for (int i = 0; i < ABREAST; i++)
            here[i] = load(x + f * TILE + t + i * LANES);
#pragma GCC unroll 4
        for (int q = 0; q < group; q++)
            for (int i = 0; i < ABREAST; i++)
                sums[q * ABREAST + i] = fused(all(centres[q * pitch + f]), here[i], sums[q * ABREAST + i]);
    }
}

/* d2 of `group` clusters: columns of a chunk are added; with the last, d2 = k(x, x) + |v|^2 - 2 x.a, and `low` follows. */
INLINE void add_products(struct tile *tile, const struct rows *rows, const struct centres *centres, int64_t first, int64_t j, int group) {
    const int64_t columns = at_most(CHUNK, rows->columns - first);
    const int begins = first == 0, ends = first + columns == rows->columns;
    const real *a = centres->values + j * rows->columns + first;
    real *d2 = tile->d2 + j * TILE;
    for (int t = 0; t < TILE; t += LANES * ABREAST) {
        lanes sums[GROUP * ABREAST];
        products(tile->x, columns, a, rows->columns, group, t, sums);
        for (int i = 0; i < ABREAST; i++) {
            const int here = t + i * LANES;
            lanes low = load(tile->low + here), kxx = load(tile->kxx + here);
#pragma GCC unroll 4
            for (int q = 0; q < group; q++) {
                lanes v = sums[q * ABREAST + i];
                if (!begins)
                    v = add(load(d2 + q * TILE + here), v);
                if (ends) {
                    v = fused(all(-2), v, add(kxx, all(centres->norms[j + q])));
                    low = smaller(v, low);
                }
                store(d2 + q * TILE + here, v);
            }
            store(tile->low + here, low);
        }
    }
}

/* Whether some smallest distance may be below rounding. */
static int some_may_be_zero(const struct tile *tile, const struct centres *centres) {
    const lanes share = all((real)centres->rounding);
    real largest = 0;
    int suspects = 0;
    for (int64_t j = 0; j < centres->clusters; j++)
        largest = centres->norms[j] > largest ? centres->norms[j] : largest;
    ACROSS(t) {
        lanes low = load(tile->low + t), limit = multiply(share, add(load(tile->kxx + t), all(largest)));
        suspects |= !all_set(at_least(low, limit));
    }
    return suspects;
}

/* Distances below rounding become zero; NaN stays. Most tiles have none, and only the question is asked. */
static void set_to_zero(struct tile *tile, const struct centres *centres) {
    const lanes share = all((real)centres->rounding);
    if (!some_may_be_zero(tile, centres))
        return;
    ACROSS(t) {
        lanes low = all((real)INFINITY);
        for (int64_t j = 0; j < centres->clusters; j++) {
            real *d2 = tile->d2 + j * TILE + t;
            lanes v = load(d2), limit = multiply(share, add(load(tile->kxx + t), all(centres->norms[j])));
            v = where(less(v, limit), all(0), v);
            store(d2, v);
            low = smaller(v, low);
        }
        store(tile->low + t, low);
    }
}

/* Sums over the stored numbers of a CSR row of x times the numbers of `vectors` vectors of centres, whose first ones are at `centres`. */
INLINE void multiply_csr(const struct rows *rows, int64_t start, int64_t stop, const real *centres, int64_t pitch, int vectors, real *to) {
    const int64_t last = rows->first[rows->count] - 1;
    lanes sums[CSR_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
        sums[v] = all(0);
    for (int64_t k = start; k < stop; k++) {
        const real *from = centres + rows->column[k] * pitch, *ahead = centres + rows->column[at_most(k + CSR_AHEAD, last)] * pitch;
        const lanes x = all(rows->values[k]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            fetch(ahead + v * LANES, 1);
            sums[v] = fused(x, load_loose(from + v * LANES), sums[v]);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
        store(to + v * LANES, sums[v]);
}

/* d2 from the products of CSR rows with all centres, some vectors of these at a time. */
static void csr_distances(struct tile *tile, const struct rows *rows, const struct centres *centres) {
    const int64_t clusters = centres->clusters;
    real line[CSR_VECTORS * LANES] __attribute__((aligned(LINE)));
    for (int64_t t = 0; t < TILE; t++) {
        const int64_t start = rows->first[tile->number[t]], stop = rows->first[tile->number[t] + 1];
        for (int64_t j = 0; j < clusters; j += CSR_VECTORS * LANES) {
            const real *from = centres->values + j;
            switch (at_most(CSR_VECTORS, (clusters - j + LANES - 1) / LANES)) {
            case 1: multiply_csr(rows, start, stop, from, centres->pitch, 1, line); break;
            case 2: multiply_csr(rows, start, stop, from, centres->pitch, 2, line); break;
            case 3: multiply_csr(rows, start, stop, from, centres->pitch, 3, line); break;
            default: multiply_csr(rows, start, stop, from, centres->pitch, CSR_VECTORS, line);
            }
            for (int64_t q = 0; q < at_most(CSR_VECTORS * LANES, clusters - j); q++)
                tile->d2[(j + q) * TILE + t] = line[q];
        }
    }
    ACROSS(t) {
        lanes low = load(tile->low + t), kxx = load(tile->kxx + t);
        for (int64_t j = 0; j < clusters; j++) {
            real *d2 = tile->d2 + j * TILE + t;
            lanes v = fused(all(-2), load(d2), add(kxx, all(centres->norms[j])));
            low = smaller(v, low);
            store(d2, v);
        }
        store(tile->low + t, low);
    }
}

/* d2 (clusters, TILE) and the smallest of each row. */
static void distances(struct tile *tile, const struct rows *rows, const struct centres *centres) {
    if (centres->factors != NULL) {
        stretched_distances(tile, rows, centres);
        return;
    }
    if (rows->column != NULL)
        csr_distances(tile, rows, centres);
    else
        for (int64_t first = 0; first < rows->columns; first += CHUNK) {
            read_columns(tile, rows, first);
            IN_GROUPS(centres->clusters, add_products, tile, rows, centres, first);
        }
    set_to_zero(tile, centres);
}

/* The label of each row: its nearest centre, ties to the lowest number. */
static void label_nearest(struct tile *tile, int64_t clusters) {
    ACROSS(t) {
        lanes low = load(tile->low + t);
        mask label = all_whole(0);
        for (int64_t j = clusters - 1; j >= 0; j--)
            label = where_whole(equal(load(tile->d2 + j * TILE + t), low), all_whole((whole)j), label);
        store_whole(tile->label + t, label);
    }
}

/* The smallest squared distance of each row to a centre other than its label's; infinite where there is none. */
INLINE lanes second_smallest(const struct tile *tile, int64_t clusters, int t) {
    const mask label = load_whole(tile->label + t);
    lanes second = all((real)INFINITY);
    for (int64_t j = 0; j < clusters; j++)
        second = smaller(where(equal_whole(label, all_whole((whole)j)), all((real)INFINITY), load(tile->d2 + j * TILE + t)), second);
    return second;
}

/* Distances and labels. */
static void nearest(struct tile *tile, const struct rows *rows, const struct centres *centres) {
    distances(tile, rows, centres);
    label_nearest(tile, centres->clusters);
}

/* The nearest of `group` centres and those before, for ABREAST vectors of rows from t on. */
INLINE void compare(const struct tile *tile, const struct rows *rows, const struct centres *centres, int t, lanes low[], mask label[], int64_t j,
                    int group) {
    lanes sums[GROUP * ABREAST];
    products(tile->x, rows->columns, centres->values + j * rows->columns, rows->columns, group, t, sums);
    for (int i = 0; i < ABREAST; i++) {
        lanes kxx = load(tile->kxx + t + i * LANES);
#pragma GCC unroll 4
        for (int q = 0; q < group; q++) {
            lanes v = fused(all(-2), sums[q * ABREAST + i], add(kxx, all(centres->norms[j + q])));
            mask closer = less(v, low[i]);
            label[i] = where_whole(closer, all_whole((whole)(j + q)), label[i]);
            low[i] = where(closer, v, low[i]);
        }
    }
}

/* The label and the smallest distance of each row; where columns are few, no other distance is stored. */
__attribute__((unused)) static void nearest_only(struct tile *tile, const struct rows *rows, const struct centres *centres) {
    if (rows->columns > CHUNK || rows->column != NULL || centres->factors != NULL) {
        nearest(tile, rows, centres);
        return;
    }
    read_columns(tile, rows, 0);
    for (int t = 0; t < TILE; t += LANES * ABREAST) {
        lanes low[ABREAST];
        mask label[ABREAST];
        for (int i = 0; i < ABREAST; i++)
            low[i] = all((real)INFINITY), label[i] = all_whole(0);
        IN_GROUPS(centres->clusters, compare, tile, rows, centres, t, low, label);
        for (int i = 0; i < ABREAST; i++)
            store(tile->low + t + i * LANES, low[i]), store_whole(tile->label + t + i * LANES, label[i]);
    }
    if (some_may_be_zero(tile, centres)) {
        ACROSS(t) store(tile->low + t, all((real)INFINITY));
        nearest(tile, rows, centres);
    }
}

#endif
