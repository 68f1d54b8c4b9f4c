/* CSR rows: only the numbers that a row stores are read.
 *
 * A stored number meets all clusters at once, so centres and moments lie column by column: those of a column side by side, `pitch` numbers
 * from one column to the next. */
#ifndef CMEANS_CSR_H
#define CMEANS_CSR_H

#include "tile.h"

/* moment_j += weight x of the rows whose label j is; of none where that is negative. */
static void add_csr_labelled(const struct tile *tile, const struct rows *rows, int64_t pitch, double *moment) {
    for (int64_t t = 0; t < tile->count; t++) {
        const double weight = tile->weight[t];
        double *to = moment + tile->label[t];
        if (tile->label[t] >= 0)
            for (int64_t k = rows->first[tile->number[t]]; k < rows->first[tile->number[t] + 1]; k++)
                to[rows->column[k] * pitch] += weight * (double)rows->values[k];
    }
}

/* moment_j += w_j x of all rows; `w` (pitch,) is room for the weights of one. */
static void add_csr(const struct tile *tile, const struct rows *rows, int64_t clusters, int64_t pitch, double *restrict w, double *moment) {
    for (int64_t t = 0; t < tile->count; t++) {
        for (int64_t j = 0; j < clusters; j++)
            w[j] = (double)tile->u[j * TILE + t];
        for (int64_t k = rows->first[tile->number[t]]; k < rows->first[tile->number[t] + 1]; k++) {
            const double x = (double)rows->values[k];
            double *restrict to = moment + rows->column[k] * pitch;
            for (int64_t j = 0; j < pitch; j++)
                to[j] += x * w[j];
        }
    }
}

#endif
