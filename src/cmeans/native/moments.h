/* Moments of a tile: total_j += sum_t w_jt x_t, in the rows' precision. */
#ifndef CMEANS_MOMENTS_H
#define CMEANS_MOMENTS_H

#include "tile.h"

/* Few columns: vectors run along the rows of the transposed tile, `clusters` times `columns` sums at a time. */
INLINE void add_across(const struct tile *tile, real *total, int64_t pitch, int64_t j, int clusters, int64_t f, int columns) {
    lanes sums[4];
#pragma GCC unroll 4
    for (int i = 0; i < clusters * columns; i++)
        sums[i] = all(0);
    ACROSS(t) {
        lanes x[2], w;
#pragma GCC unroll 2
        for (int p = 0; p < columns; p++)
            x[p] = load(tile->x + (f + p) * TILE + t);
#pragma GCC unroll 2
        for (int q = 0; q < clusters; q++) {
            w = load(tile->u + (j + q) * TILE + t);
#pragma GCC unroll 2
            for (int p = 0; p < columns; p++)
                sums[q * columns + p] = fused(w, x[p], sums[q * columns + p]);
        }
    }
#pragma GCC unroll 2
    for (int q = 0; q < clusters; q++)
#pragma GCC unroll 2
        for (int p = 0; p < columns; p++)
            total[(j + q) * pitch + f + p] += sum(sums[q * columns + p]);
}

static void moments_across(const struct tile *tile, int64_t clusters, int64_t columns, real *total) {
    for (int64_t j = 0; j < clusters; j += 2)
        for (int64_t f = 0; f < columns; f += 2) {
            if (j + 2 <= clusters && f + 2 <= columns)
                add_across(tile, total, columns, j, 2, f, 2);
            else if (j + 2 <= clusters)
                add_across(tile, total, columns, j, 2, f, 1);
            else if (f + 2 <= columns)
                add_across(tile, total, columns, j, 1, f, 2);
            else
                add_across(tile, total, columns, j, 1, f, 1);
        }
}

/* Many columns: vectors run along the columns of the rows as they are. Of the vectors from column f on, the last `fresh` numbers are new. */
INLINE void add_along(const struct tile *tile, const struct rows *rows, real *total, int64_t f, int abreast, int64_t fresh, int64_t j, int group) {
    const int64_t pitch = rows->columns;
    lanes sums[GROUP * ABREAST], shift[ABREAST];
    for (int i = 0; i < abreast; i++)
        shift[i] = rows->shift == NULL ? all(0) : load_loose(rows->shift + f + i * LANES);
    for (int i = 0; i < group * abreast; i++)
        sums[i] = all(0);
    for (int t = 0; t < TILE; t++) {
        lanes x[ABREAST];
        for (int i = 0; i < abreast; i++)
            x[i] = subtract(load_loose(tile->row[t] + f + i * LANES), shift[i]);
#pragma GCC unroll 4
        for (int q = 0; q < group; q++) {
            lanes w = all(tile->u[(j + q) * TILE + t]);
            for (int i = 0; i < abreast; i++)
                sums[q * abreast + i] = fused(w, x[i], sums[q * abreast + i]);
        }
    }
#pragma GCC unroll 4
    for (int q = 0; q < group; q++)
        for (int i = 0; i < abreast; i++) {
            real *to = total + (j + q) * pitch + f + i * LANES;
            lanes old = load_loose(to);
            if (fresh == LANES) {
                store_loose(to, add(old, sums[q * abreast + i]));
            } else {
                real line[LANES] __attribute__((aligned(LINE)));
                store(line, add(old, sums[q * abreast + i]));
                for (int64_t k = LANES - fresh; k < LANES; k++)
                    to[k] = line[k];
            }
        }
}

static void moments_along(const struct tile *tile, const struct rows *rows, int64_t clusters, real *total) {
    const int64_t columns = rows->columns;
    int64_t f = 0;
    for (; f + ABREAST * LANES <= columns; f += ABREAST * LANES)
        IN_GROUPS(clusters, add_along, tile, rows, total, f, ABREAST, LANES);
    for (; f + LANES <= columns; f += LANES)
        IN_GROUPS(clusters, add_along, tile, rows, total, f, 1, LANES);
    if (f < columns)
        IN_GROUPS(clusters, add_along, tile, rows, total, columns - LANES, 1, columns - f);
}

static void moments(const struct tile *tile, const struct rows *rows, int64_t clusters, real *total) {
    if (rows->columns <= CHUNK)
        moments_across(tile, clusters, rows->columns, total);
    else
        moments_along(tile, rows, clusters, total);
}

INLINE void add_row(real *total, const real *row, const real *shift, int64_t columns, real weight) {
    int64_t f = 0;
    for (; f + LANES <= columns; f += LANES) {
        lanes x = load_loose(row + f);
        if (shift != NULL)
            x = subtract(x, load_loose(shift + f));
        store_loose(total + f, fused(all(weight), x, load_loose(total + f)));
    }
    for (; f < columns; f++)
        total[f] = fused_one(weight, shift == NULL ? row[f] : row[f] - shift[f], total[f]);
}

/* The same where a row has weight for the cluster of its label alone; none where that is negative. */
static void label_moments(const struct tile *tile, const struct rows *rows, real *total) {
    for (int64_t t = 0; t < tile->count; t++)
        if (tile->label[t] >= 0)
            add_row(total + tile->label[t] * rows->columns, tile->row[t], rows->shift, rows->columns, tile->weight[t]);
}

/* A total in the rows' precision goes to the moment in float64, and is cleared. */
static void move_total(real *total, double *moment, int64_t numbers) {
    for (int64_t i = 0; i < numbers; i++)
        moment[i] += total[i];
    memset(total, 0, (size_t)numbers * sizeof(real));
}

#endif
