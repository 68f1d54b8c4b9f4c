/* Kernel values of rows against points: sums over the columns, to which the kernel's function is applied while they are in registers. */
#include <stdlib.h>

#include "elementary.h"

#if WIDTH == 64 /* as many sums as the machine has registers for */
#define ROWS 8   /* rows at a time */
#define PANELS 2 /* and panels of points */
#else
#define ROWS 4
#define PANELS 1
#endif
#define ROWS_PER_PASS 64  /* rows for which all points are computed before the next rows */
#define DEPTH 128         /* columns summed together, so that those of a panel of points stay in the first-level cache */
#define SLACK (32 * (BITS == 64 ? 0x1p-52 : 0x1p-23)) /* rounding of a sum of products, as a share of its terms */
#define NO_MEMORY -1

enum kind { GAUSSIAN, DIFFERENCES, POWER, LAPLACIAN, INTERSECTION };

struct values {
    const real *left;    /* (count, depth) rows, `pitch` numbers from row to row */
    const real *panels;  /* (panels, depth, LANES) points, LANES of them side by side, padded with zeros */
    real *out;           /* (count, points) values, `out_pitch` numbers from row to row */
    int64_t count, depth, pitch, points, out_pitch;
    double parameter;    /* gamma, or the degree */
};

/* One row's term of the sum. */
INLINE lanes with_term(enum kind kind, lanes x, lanes y, lanes sum) {
    if (kind == LAPLACIAN)
        return add(sum, absolute(subtract(x, y)));
    if (kind == INTERSECTION)
        return add(sum, smaller(x, y));
    if (kind == DIFFERENCES)
        return fused(subtract(x, y), subtract(x, y), sum);
    return fused(x, y, sum);
}

/* x^degree by repeated squaring, from the degree's second binary digit on. */
INLINE lanes whole_power(lanes x, uint64_t degree) {
    lanes result = x;
    for (int digit = 62 - __builtin_clzll(degree); digit >= 0; digit--) {
        result = multiply(result, result);
        if (degree >> digit & 1)
            result = multiply(result, x);
    }
    return result;
}

INLINE lanes kernel_of(enum kind kind, lanes sum, double parameter) {
    if (kind == GAUSSIAN)
        return exponential(smaller(all(0), sum)); /* a product may round to more than 0 */
    if (kind == POWER)
        return whole_power(sum, (uint64_t)parameter);
    if (kind == DIFFERENCES) /* infinity times 0 is no number: a row that is not finite has no values, as with products */
        return exponential(fused(sum, all((real)-parameter), multiply(sum, all(0))));
    if (kind == LAPLACIAN)
        return exponential(multiply(sum, all((real)-parameter)));
    return sum;
}

/* Sums of columns `first` ... of ROWS rows from i on and some panels; the function, once they are complete. */
/* `left` begins with row number `base`. */
INLINE void add_columns(enum kind kind, const struct values *v, const real *left, int64_t pitch, int64_t base, int64_t i, int64_t stop,
                        int64_t panel, int64_t first, int panels) {
    const int64_t depth = v->depth - first < DEPTH ? v->depth - first : DEPTH, wanted = v->points - panel * LANES;
    const real *points = v->panels + (panel * v->depth + first) * LANES, *row[ROWS];
    real *to[ROWS];
    lanes sums[ROWS * PANELS];
#pragma GCC unroll 8
    for (int q = 0; q < ROWS; q++) {
        const int64_t number = i + q < stop ? i + q : stop - 1; /* the last row pads */
        row[q] = left + (number - base) * pitch + first;
        to[q] = v->out + number * v->out_pitch + panel * LANES;
#pragma GCC unroll 2
        for (int p = 0; p < panels; p++)
            sums[q * panels + p] = first > 0 ? load_some(to[q] + p * LANES, wanted - p * LANES) : all(0);
    }
    for (int64_t f = 0; f < depth; f++) {
        lanes y[PANELS];
#pragma GCC unroll 2
        for (int p = 0; p < panels; p++)
            y[p] = load(points + (p * v->depth + f) * LANES);
#pragma GCC unroll 8
        for (int q = 0; q < ROWS; q++)
#pragma GCC unroll 2
            for (int p = 0; p < panels; p++)
                sums[q * panels + p] = with_term(kind, all(row[q][f]), y[p], sums[q * panels + p]);
    }
#pragma GCC unroll 8
    for (int q = 0; q < ROWS; q++)
#pragma GCC unroll 2
        for (int p = 0; p < panels; p++) {
            if (first + depth == v->depth)
                sums[q * panels + p] = kernel_of(kind, sums[q * panels + p], v->parameter);
            if (i + q < stop)
                store_some(to[q] + p * LANES, sums[q * panels + p], wanted - p * LANES);
        }
}

INLINE void fill_rows(enum kind kind, const struct values *v, const real *left, int64_t pitch, int64_t base, int64_t start, int64_t stop) {
    const int64_t panels = (v->points + LANES - 1) / LANES;
    for (int64_t first = 0; first < v->depth; first += DEPTH)
        for (int64_t panel = 0; panel < panels; panel += PANELS)
            for (int64_t i = start; i < stop; i += ROWS)
                if (PANELS == 1 || panel + PANELS <= panels)
                    add_columns(kind, v, left, pitch, base, i, stop, panel, first, PANELS);
                else
                    add_columns(kind, v, left, pitch, base, i, stop, panel, first, 1);
}

INLINE void fill(enum kind kind, const struct values *v) {
    for (int64_t start = 0; start < v->count; start += ROWS_PER_PASS) {
        const int64_t stop = start + ROWS_PER_PASS < v->count ? start + ROWS_PER_PASS : v->count;
        fill_rows(kind, v, v->left, v->pitch, 0, start, stop);
    }
}

/* (left . right) ^ degree */
void EXPORTED(powers)(const struct values *v) { fill(POWER, v); }

/* exp(-gamma sum_f |x_f - y_f|) */
void EXPORTED(laplacians)(const struct values *v) { fill(LAPLACIAN, v); }

/* exp(-gamma |x - y|^2): of few columns, differences take no longer than the products of `gaussians` */
void EXPORTED(gaussians_of_few)(const struct values *v) { fill(DIFFERENCES, v); }

/* sum_f min(x_f, y_f) */
void EXPORTED(intersections)(const struct values *v) { fill(INTERSECTION, v); }

/* |x - y|^2; `rest` (LANES,) is 1 for the last columns % LANES lanes and 0 for others. */
INLINE real squared_difference(const real *x, const real *y, int64_t columns, const real *rest) {
    if (columns < LANES) {
        real square = 0;
        for (int64_t f = 0; f < columns; f++)
            square = fused_one(x[f] - y[f], x[f] - y[f], square);
        return square;
    }
    lanes difference = multiply(load(rest), subtract(load_loose(x + columns - LANES), load_loose(y + columns - LANES)));
    lanes squares = multiply(difference, difference);
    for (int64_t f = 0; f + LANES <= columns; f += LANES) {
        difference = subtract(load_loose(x + f), load_loose(y + f));
        squares = fused(difference, difference, squares);
    }
    return sum(squares);
}

/* The value from which on a pair of a row of this size, gamma |x|^2, is near: where the rounding of its product changes it by more than it
 * changes any value of a row of size `far`. Less by as much as the product itself may round; infinite where there is no such pair. */
static real least_near(real size, real far) {
    if (!(size > far && size < (real)INFINITY))
        return (real)INFINITY;
    const real least = far / size * exponential(all(-(real)SLACK * size)).of[0][0];
    return least > TINY ? least : 0;
}

/* Puts the values of so many sums in their places. */
static void put_values(real *out, real *sums, const int64_t *numbers, int64_t *count) {
    store(sums, exponential(load(sums)));
    for (int64_t k = 0; k < *count; k++)
        out[numbers[k]] = sums[k];
    *count = 0;
}

/* Gives the values of row i with near points, those of at least so much, from differences. `points` (points, depth - 2) are as they are. */
static void mend_near_pairs(const struct values *v, const real *points, int64_t i, real least) {
    const int64_t columns = v->depth - 2;
    const real *x = v->left + i * v->pitch, gamma = (real)v->parameter;
    real *out = v->out + i * v->out_pitch;
    real sums[LANES] __attribute__((aligned(LINE))) = {0}, rest[LANES] __attribute__((aligned(LINE)));
    int64_t numbers[LANES], count = 0;
    for (int lane = 0; lane < LANES; lane++)
        rest[lane] = lane >= LANES - columns % LANES;
    for (int64_t first = 0; first < v->points; first += LANES) {
        const int64_t wanted = v->points - first;
        uint64_t near = bits_of(at_least(load_some(out + first, wanted), all(least)));
        near &= wanted < LANES ? ((uint64_t)1 << wanted) - 1 : UINT64_MAX;
        for (; near > 0; near &= near - 1) {
            numbers[count] = first + __builtin_ctzll(near);
            sums[count] = -gamma * squared_difference(x, points + numbers[count] * columns, columns, rest);
            if (++count == LANES)
                put_values(out, sums, numbers, &count);
        }
    }
    put_values(out, sums, numbers, &count);
}

/* exp(-gamma |x - y|^2) as exp of one product, [2 gamma x, -gamma |x|^2, 1] . [y, 1, -gamma |y|^2], all about `shift` (depth - 2,). It
 * rounds by a share of gamma (|x|^2 + |y|^2), so that rows of which that is more than `far` have near pairs mended. */
int EXPORTED(gaussians)(const struct values *v, const real *shift, const real *points, double far) {
    const int64_t columns = v->depth - 2;
    const real gamma = (real)v->parameter;
    real *left = malloc(ROWS_PER_PASS * (size_t)v->depth * sizeof(real));
    if (left == NULL)
        return NO_MEMORY;
    for (int64_t start = 0; start < v->count; start += ROWS_PER_PASS) {
        const int64_t stop = start + ROWS_PER_PASS < v->count ? start + ROWS_PER_PASS : v->count;
        for (int64_t i = start; i < stop; i++) {
            const real *x = v->left + i * v->pitch;
            real *row = left + (i - start) * v->depth;
            lanes norms = all(0);
            real norm = 0;
            int64_t f = 0;
            for (; f + LANES <= columns; f += LANES) {
                lanes moved = subtract(load_loose(x + f), load_loose(shift + f));
                norms = fused(moved, moved, norms);
                store_loose(row + f, multiply(moved, all(gamma + gamma)));
            }
            for (; f < columns; f++) {
                const real moved = x[f] - shift[f];
                norm = fused_one(moved, moved, norm);
                row[f] = moved * (gamma + gamma);
            }
            row[columns] = -gamma * (norm + sum(norms));
            row[columns + 1] = 1;
        }
        fill_rows(GAUSSIAN, v, left, v->depth, start, start, stop);
        for (int64_t i = start; i < stop; i++) {
            const real least = least_near(-left[(i - start) * v->depth + columns], (real)far);
            if (least < (real)INFINITY)
                mend_near_pairs(v, points, i, least);
        }
    }
    free(left);
    return 0;
}
