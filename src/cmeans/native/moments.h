/* Moments of a tile: total_j += sum_t w_jt x_t, in the rows' precision.
 *
 * A total is kept in whole vectors. Where the columns are no multiple of these, the last vector holds the last LANES columns, and the
 * lanes of those that the vectors before it hold too are not used. */
#ifndef CMEANS_MOMENTS_H
#define CMEANS_MOMENTS_H

#include "tile.h"

#define FEW_SUMS 64 /* clusters times columns up to which a tile takes the sums of all clusters, rather than row after row */

/* Columns in whole vectors; 0 where there is none. */
INLINE int64_t in_vectors(int64_t columns) { return columns - columns % LANES; }

/* Numbers from one cluster's total to the next. */
INLINE int64_t total_pitch(int64_t columns) { return columns < LANES ? columns : (columns + LANES - 1) / LANES * LANES; }

/* Where a column's total is. */
INLINE int64_t place_of(int64_t f, int64_t columns) {
    return columns < LANES || f < in_vectors(columns) ? f : in_vectors(columns) + f - (columns - LANES);
}

/* Few columns: vectors run along the rows of the transposed tile, `clusters` times `columns` sums at a time. */
INLINE void add_across(const struct tile *tile, real *total, int64_t width, int64_t j, int clusters, int64_t f, int columns) {
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
            total[(j + q) * total_pitch(width) + place_of(f + p, width)] += sum(sums[q * columns + p]);
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

/* Many columns: vectors run along the columns of the rows as they are, from column f on; their total begins at `place`. */
INLINE void add_along(const struct tile *tile, const struct rows *rows, real *total, int64_t f, int64_t place, int abreast, int64_t j, int group) {
    const int64_t pitch = total_pitch(rows->columns);
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
            real *to = total + (j + q) * pitch + place + i * LANES;
            store_loose(to, add(load_loose(to), sums[q * abreast + i]));
        }
}

static void moments_along(const struct tile *tile, const struct rows *rows, int64_t clusters, real *total) {
    const int64_t columns = rows->columns;
    int64_t f = 0;
    for (; f + ABREAST * LANES <= columns; f += ABREAST * LANES)
        IN_GROUPS(clusters, add_along, tile, rows, total, f, f, ABREAST);
    for (; f + LANES <= columns; f += LANES)
        IN_GROUPS(clusters, add_along, tile, rows, total, f, f, 1);
    if (f < columns)
        IN_GROUPS(clusters, add_along, tile, rows, total, columns - LANES, f, 1);
}

static void moments(const struct tile *tile, const struct rows *rows, int64_t clusters, real *total) {
    if (rows->columns <= CHUNK)
        moments_across(tile, clusters, rows->columns, total);
    else
        moments_along(tile, rows, clusters, total);
}

INLINE void add_vector(real *total, const real *row, const real *shift, lanes weight) {
    lanes x = load_loose(row);
    if (shift != NULL)
        x = subtract(x, load_loose(shift));
    store_loose(total, fused(weight, x, load_loose(total)));
}

/* total += weight x */
INLINE void add_row(real *total, const real *row, const real *shift, int64_t columns, real weight) {
    const int64_t last = columns - LANES;
    int64_t f = 0;
    if (last < 0) {
        for (; f < columns; f++)
            total[f] = fused_one(weight, shift == NULL ? row[f] : row[f] - shift[f], total[f]);
        return;
    }
    for (; f <= last; f += LANES)
        add_vector(total + f, row + f, shift == NULL ? NULL : shift + f, all(weight));
    if (f < columns)
        add_vector(total + f, row + last, shift == NULL ? NULL : shift + last, all(weight));
}

/* u becomes the weight of each row for the cluster of its label, and zero for others. */
static void weigh_labels(const struct tile *tile, int64_t clusters) {
    for (int64_t j = 0; j < clusters; j++)
        ACROSS(t) store(tile->u + j * TILE + t, where(equal_whole(load_whole(tile->label + t), all_whole((whole)j)), load(tile->weight + t), all(0)));
}

/* The same where a row has weight for the cluster of its label alone; none where that is negative. Changes u. */
static void label_moments(const struct tile *tile, const struct rows *rows, int64_t clusters, real *total) {
    const int64_t columns = rows->columns, pitch = total_pitch(columns);
    if (clusters * columns <= FEW_SUMS) {
        weigh_labels(tile, clusters);
        moments(tile, rows, clusters, total);
        return;
    }
    for (int64_t t = 0; t < tile->count; t++)
        if (tile->label[t] >= 0)
            add_row(total + tile->label[t] * pitch, tile->row[t], rows->shift, columns, tile->weight[t]);
}

/* Totals in the rows' precision go to the moments in float64, and are cleared. */
static void move_totals(real *total, double *moment, int64_t clusters, int64_t columns) {
    const int64_t pitch = total_pitch(columns), fresh = columns < LANES ? columns : in_vectors(columns), shared = pitch - columns;
    for (int64_t j = 0; j < clusters; j++, total += pitch, moment += columns) {
        for (int64_t f = 0; f < fresh; f++)
            moment[f] += total[f];
        for (int64_t f = fresh; f < columns; f++)
            moment[f] += total[f + shared];
        memset(total, 0, (size_t)pitch * sizeof(real));
    }
}

#endif
