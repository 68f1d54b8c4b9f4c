/* The nearest of many centres, of rows of many columns, without most of the distances.
 *
 * Along a few orthonormal directions rows and centres have coordinates z and p; of what is left of them the lengths s and t are known. Then
 * x.v <= z.p + s t, so that few numbers bound a squared distance from below, and only centres that may be nearest are multiplied in full.
 * (SuperKMeans, arXiv 2603.20009, prunes by the first columns of rotated rows with a test that may err.)
 *
 * A product with a centre is the same to the bit however it is come by: alone, or in a block of rows and centres. So the directions, and
 * what is left out, change no result. */
#ifndef CMEANS_SEARCH_H
#define CMEANS_SEARCH_H

#include "tile.h"

#define TOGETHER (WIDTH == 64 ? 4 : 2) /* rows of a block of products, as many as the machine has registers for */
#define BESIDE (WIDTH == 64 ? 6 : WIDTH == 32 ? 3 : 2) /* and centres */
#define BOUND_ROWS (WIDTH == 64 ? 8 : 4) /* rows of a block of bounds */
#define BOUND_PANELS (WIDTH == 64 ? 2 : 1) /* and panels of centres */
#define AFEW 4                         /* centres that one row is multiplied with together */
#define DEAR 6                         /* a product of one row and one centre takes as long as so many of a block */
#define AGAIN 8                        /* tiles after which bounds are tried again where they left little out */
#define LARGEST_WIDTH 16384            /* centres up to which TILE rows are searched together */
#define SOME 8                         /* rows where there are more */
#define ALL_LANES (((uint64_t)1 << LANES) - 1)
#define ROWS_AHEAD 8                   /* rows between the one that is read and the one that is fetched into the cache */

struct search {
    const real *values;      /* (clusters, pitch) coefficients a, zeros beyond the columns; this, as all of these, begins a cache line */
    const real *norms;       /* (clusters,) |v|^2 */
    const real *directions;  /* (size, pitch) coefficients of the directions */
    const real *panels;      /* (panels, 2 + size, LANES) of LANES centres side by side |v|^2, -2 p and -2 t; an even number of panels */
    int64_t clusters, pitch, size; /* no directions: all distances are computed */
    double rounding;         /* share of k(x, x) + |v|^2 below which a squared distance is zero */
    double margin;           /* share of it by which rounding may change a bound */
};

/* Rows while they are searched. */
struct searched {
    int64_t room;      /* rows at most */
    int64_t clusters, width; /* numbers from one row's distances to the next */
    int64_t since;     /* tiles since bounds were tried; less than 0: always */
    real largest;      /* |v|^2 */
    real *moved;       /* (room, pitch) rows less the shift, zeros beyond the columns */
    real *low;         /* (room, width) squared distances, or what they are at least; infinite beyond the last centre */
    real *z;           /* (room, size + 2) coordinates, length of the rest, k(x, x) */
    real *d2;          /* (room,) squared distance to the nearest centre; infinite where none is known */
    real *beyond;      /* (room,) what bounds are compared with, where `d2` is not known: no centre farther is nearest */
    int32_t *label;    /* (room,) the nearest centre */
    int32_t *loaded;   /* (room,) the row is in `moved` */
    int32_t *found;    /* (width,) centres that may be nearest */
    const struct rows *rows;
    real *coordinates;    /* (count, size + 2) what `z` is to begin with and is kept for later, zeros where nothing is known; or nothing */
    int64_t number[TILE]; /* of each row */
    int64_t ahead[TILE];  /* number of the row that is searched ROWS_AHEAD rows later */
    void *memory;
};

INLINE int64_t in_lines(int64_t numbers) { return (numbers + LANES - 1) / LANES * LANES; }

/* Memory for a search of `room` rows at a time, with `numbers` distances of each; 0 where there is none. */
static int new_search_of(struct searched *s, const struct search *search, int64_t room, int64_t numbers) {
    const int64_t width = (in_lines(numbers) + LANES) / (2 * LANES) * (2 * LANES), z = in_lines(search->size + 2);
    s->memory = malloc((size_t)(room * (search->pitch + width + z + 4) + width) * sizeof(real) + LINE);
    if (s->memory == NULL)
        return 0;
    s->room = room, s->clusters = numbers, s->width = width, s->since = AGAIN, s->largest = 0;
    s->moved = aligned_to_line(s->memory);
    s->low = s->moved + room * search->pitch;
    s->z = s->low + room * width;
    s->d2 = s->z + room * z;
    s->beyond = s->d2 + room;
    s->label = (int32_t *)(s->beyond + room);
    s->loaded = s->label + room;
    s->found = s->loaded + room;
    for (int64_t j = 0; j < search->clusters; j++)
        s->largest = search->norms[j] > s->largest ? search->norms[j] : s->largest;
    for (int64_t i = 0; i < room; i++)
        for (int64_t j = numbers; j < width; j++)
            s->low[i * width + j] = (real)INFINITY;
    return 1;
}

static int new_search(struct searched *s, const struct search *search) {
    return new_search_of(s, search, search->clusters > LARGEST_WIDTH ? SOME : TILE, search->clusters);
}

/* ---------------------------------------------------------------------------------------------------------- products */

/* Sums over the columns of the products of some rows and centres. */
INLINE void multiply_block(const real *const row[], const real *const centre[], int64_t pitch, int rows, int centres, lanes sums[]) {
#pragma GCC unroll 24
    for (int i = 0; i < rows * centres; i++)
        sums[i] = all(0);
    for (int64_t f = 0; f < pitch; f += LANES) {
        lanes v[BESIDE > AFEW ? BESIDE : AFEW];
#pragma GCC unroll 6
        for (int p = 0; p < centres; p++)
            v[p] = load(centre[p] + f);
#pragma GCC unroll 4
        for (int q = 0; q < rows; q++) {
            const lanes x = load(row[q] + f);
#pragma GCC unroll 6
            for (int p = 0; p < centres; p++)
                sums[q * centres + p] = fused(x, v[p], sums[q * centres + p]);
        }
    }
}

/* d2 = k(x, x) + |v|^2 - 2 x.v, zero where that is below rounding; NaN stays. */
INLINE real squared_distance(real kxx, real norm, real product, real rounding) {
    const real size = kxx + norm, d2 = fused_one(-2, product, size);
    return d2 < rounding * size ? 0 : d2;
}

INLINE real *kxx_of(const struct searched *s, const struct search *search, int64_t i) { return s->z + i * (search->size + 2) + search->size + 1; }

/* Row i of the tile, less the shift; k(x, x) too where nobody knows it. */
static void load_row(struct searched *s, const struct search *search, int64_t i) {
    const struct rows *rows = s->rows;
    const int64_t columns = rows->columns, last = in_lines(columns) - LANES;
    const real *from = rows->values + s->number[i] * rows->pitch;
    real *to = s->moved + i * search->pitch;
    if (s->loaded[i])
        return;
    lanes squares = all(0);
    for (int64_t f = 0; f <= last; f += LANES) {
        lanes x = f + LANES <= columns ? load_loose(from + f) : load_some(from + f, columns - f);
        if (rows->shift != NULL)
            x = subtract(x, f + LANES <= columns ? load_loose(rows->shift + f) : load_some(rows->shift + f, columns - f));
        store(to + f, x);
        squares = fused(x, x, squares);
    }
    *kxx_of(s, search, i) = rows->kxx == NULL ? sum(squares) : rows->kxx[s->number[i]];
    s->loaded[i] = 1;
}

/* Begin to read a row into the cache: rows that bounds leave out lie between those that are read, so that the machine does not foresee which. */
INLINE void fetch_row(const struct searched *s, int64_t number) {
    const char *from = (const char *)(s->rows->values + number * s->rows->pitch);
    for (int64_t byte = 0; byte < s->rows->columns * (int64_t)sizeof(real); byte += LINE)
        __builtin_prefetch(from + byte, 0, 3);
}

INLINE void multiply_rows(const struct searched *s, const real *points, int64_t pitch, int64_t n_points, int64_t i, int64_t j, real out[]) {
    const real *row[TOGETHER], *point[BESIDE];
    lanes sums[TOGETHER * BESIDE];
    for (int q = 0; q < TOGETHER; q++)
        row[q] = s->moved + at_most(i + q, s->room - 1) * pitch;
    for (int p = 0; p < BESIDE; p++)
        point[p] = points + at_most(j + p, n_points - 1) * pitch;
    multiply_block(row, point, pitch, TOGETHER, BESIDE, sums);
    for (int k = 0; k < TOGETHER * BESIDE; k++)
        out[k] = sum(sums[k]);
}

/* All distances of the first `count` rows. */
static void all_distances(struct searched *s, const struct search *search, int64_t count) {
    const real rounding = (real)search->rounding;
    real out[TOGETHER * BESIDE];
    for (int64_t j = 0; j < search->clusters; j += BESIDE)
        for (int64_t i = 0; i < count; i += TOGETHER) {
            for (int64_t q = i; q < at_most(i + TOGETHER, count) && j == 0; q++) {
                fetch_row(s, s->ahead[q]);
                load_row(s, search, q);
            }
            multiply_rows(s, search->values, search->pitch, search->clusters, i, j, out);
            for (int64_t q = 0; q < at_most(TOGETHER, count - i); q++)
                for (int64_t p = 0; p < at_most(BESIDE, search->clusters - j); p++)
                    s->low[(i + q) * s->width + j + p] =
                        squared_distance(*kxx_of(s, search, i + q), search->norms[j + p], out[q * BESIDE + p], rounding);
        }
}

/* The smallest of a row's numbers, ties to the lowest number; 0 where all are NaN. */
static int32_t smallest_of(const real *low, int64_t clusters, real *smallest) {
    real line[LANES] __attribute__((aligned(LINE)));
    whole where_from[LANES] __attribute__((aligned(LINE)));
    lanes least = all((real)INFINITY);
    mask from = all_whole(0);
    for (int64_t j = 0; j < clusters; j += LANES) {
        const lanes v = load(low + j);
        const mask closer = less(v, least);
        least = where(closer, v, least);
        from = where_whole(closer, all_whole((whole)j), from);
    }
    store(line, least);
    store_whole(where_from, from);
    int32_t label = 0;
    *smallest = (real)INFINITY;
    for (int i = 0; i < at_most(LANES, clusters); i++) {
        const int32_t j = (int32_t)where_from[i] + i;
        if (line[i] < *smallest || (line[i] == *smallest && line[i] < (real)INFINITY && j < label))
            *smallest = line[i], label = j;
    }
    return label;
}

/* ------------------------------------------------------------------------------------------------------------ bounds */

/* Coordinates and rests of the rows of a tile that lack them; 0 where none does. The length of a rest is never zero, so that zero says that it is not known. */
static int find_coordinates(struct searched *s, const struct search *search, int64_t count) {
    const int64_t size = search->size, pitch = size + 2;
    real out[TOGETHER * BESIDE];
    int found = 0;
    for (int64_t i = 0; i < count; i += TOGETHER) {
        int missing = 0;
        for (int64_t q = i; q < at_most(i + TOGETHER, count); q++)
            missing |= s->z[q * pitch + size] == 0;
        if (!missing)
            continue;
        found = 1;
        for (int64_t q = i; q < at_most(i + TOGETHER, count); q++)
            load_row(s, search, q);
        for (int64_t k = 0; k < size; k += BESIDE) {
            multiply_rows(s, search->directions, search->pitch, size, i, k, out);
            for (int64_t q = 0; q < at_most(TOGETHER, count - i); q++)
                for (int64_t p = 0; p < at_most(BESIDE, size - k); p++)
                    s->z[(i + q) * pitch + k + p] = out[q * BESIDE + p];
        }
        for (int64_t q = i; q < at_most(i + TOGETHER, count); q++) {
            real *z = s->z + q * pitch, left = z[size + 1];
            for (int64_t k = 0; k < size; k++)
                left = fused_one(-z[k], z[k], left);
            left = (left > 0 ? left : 0) + (real)search->margin * z[size + 1];
            z[size] = BITS == 64 ? (real)sqrt((double)left) : (real)sqrtf((float)left);
            if (z[size] == 0)
                z[size] = BITS == 64 ? (real)1e-150 : (real)1e-18;
        }
    }
    return found;
}

/* What the distances of BOUND_ROWS rows, each of `depth` coordinates and k(x, x), to the centres of BOUND_PANELS panels are at least: `low`
 * (BOUND_ROWS,), `width` numbers from row to row. */
INLINE void bound_rows(const real *const z[], const real kxx[], const real *points, int64_t depth, real *low, int64_t width) {
    lanes sums[BOUND_ROWS * BOUND_PANELS];
#pragma GCC unroll 8
    for (int q = 0; q < BOUND_ROWS; q++)
#pragma GCC unroll 2
        for (int p = 0; p < BOUND_PANELS; p++)
            sums[q * BOUND_PANELS + p] = add(load(points + p * (1 + depth) * LANES), all(kxx[q]));
    for (int64_t f = 0; f < depth; f++) {
        lanes v[BOUND_PANELS];
#pragma GCC unroll 2
        for (int p = 0; p < BOUND_PANELS; p++)
            v[p] = load(points + (p * (1 + depth) + 1 + f) * LANES);
#pragma GCC unroll 8
        for (int q = 0; q < BOUND_ROWS; q++)
#pragma GCC unroll 2
            for (int p = 0; p < BOUND_PANELS; p++)
                sums[q * BOUND_PANELS + p] = fused(all(z[q][f]), v[p], sums[q * BOUND_PANELS + p]);
    }
#pragma GCC unroll 8
    for (int q = 0; q < BOUND_ROWS; q++)
#pragma GCC unroll 2
        for (int p = 0; p < BOUND_PANELS; p++)
            store(low + q * width + p * LANES, sums[q * BOUND_PANELS + p]);
}

/* The bounds of BOUND_ROWS rows from i on. */
INLINE void bound_block(struct searched *s, const struct search *search, int64_t i, int64_t panel) {
    const int64_t depth = search->size + 1;
    const real *z[BOUND_ROWS];
    real kxx[BOUND_ROWS];
    for (int q = 0; q < BOUND_ROWS; q++)
        z[q] = s->z + (i + q) * (depth + 1), kxx[q] = z[q][depth];
    bound_rows(z, kxx, search->panels + panel * (1 + depth) * LANES, depth, s->low + i * s->width + panel * LANES, s->width);
}

static void find_bounds(struct searched *s, const struct search *search, int64_t count) {
    for (int64_t panel = 0; panel < s->width / LANES; panel += BOUND_PANELS)
        for (int64_t i = 0; i < count; i += BOUND_ROWS)
            bound_block(s, search, i, panel);
}

/* By how much rounding may change a bound of row i. */
INLINE real margin_of(const struct searched *s, const struct search *search, int64_t i) {
    return (real)search->margin * (*kxx_of(s, search, i) + s->largest);
}

/* ---------------------------------------------------------------------------------------------------------- choosing */

/* Squared distances of row i to AFEW of the centres at most, in full. */
INLINE void distances_to_some(const struct searched *s, const struct search *search, int64_t i, const int32_t *centres, int64_t count, real d2[]) {
    const real *row[1] = {s->moved + i * search->pitch}, *point[AFEW], kxx = *kxx_of(s, search, i);
    lanes sums[AFEW];
    for (int p = 0; p < AFEW; p++)
        point[p] = search->values + centres[at_most(p, count - 1)] * search->pitch;
    multiply_block(row, point, search->pitch, 1, AFEW, sums);
    for (int64_t p = 0; p < count; p++)
        d2[p] = squared_distance(kxx, search->norms[centres[p]], sum(sums[p]), (real)search->rounding);
}

/* Keep the smallest of the distances d2 (count,) of row i to some centres, and which that is. */
INLINE void keep_smaller(struct searched *s, int64_t i, const int32_t *centres, int64_t count, const real d2[]) {
    for (int64_t p = 0; p < count; p++)
        if (d2[p] < s->d2[i] || (d2[p] == s->d2[i] && centres[p] < s->label[i]))
            s->d2[i] = d2[p], s->label[i] = centres[p];
}

/* The same distances, of which the smallest is kept. */
static void measure_some(struct searched *s, const struct search *search, int64_t i, const int32_t *centres, int64_t count) {
    real d2[AFEW];
    distances_to_some(s, search, i, centres, count, d2);
    for (int64_t p = 0; p < count; p++)
        s->low[i * s->width + centres[p]] = d2[p];
    keep_smaller(s, i, centres, count, d2);
}

/* The centres other than `own` that may be nearest to row i, as their bounds are not beyond a limit; their number. */
INLINE int64_t within(const struct searched *s, int64_t i, int32_t own, real limit, int32_t *found) {
    const real *low = s->low + i * s->width;
    const lanes limits = all(limit);
    int64_t count = 0;
    for (int64_t j = 0; j < s->clusters; j += LANES)
        for (uint64_t left = bits_of(less(limits, load(low + j))) ^ ALL_LANES; left != 0; left &= left - 1) {
            const int64_t k = j + __builtin_ctzll(left);
            found[count] = (int32_t)k;
            count += (k != own) & (k < s->clusters);
        }
    return count;
}

/* The nearest centre of row i among `count` that may be; where they are many, that of the least bound first, which rules out others. */
static void finish_row(struct searched *s, const struct search *search, int64_t i, int64_t count) {
    const real *low = s->low + i * s->width, margin = margin_of(s, search, i);
    int32_t next[AFEW], wanted = 0;
    real least;
    if (count > AFEW) {
        next[0] = smallest_of(low, s->clusters, &least);
        if (next[0] != s->label[i])
            measure_some(s, search, i, next, 1);
    }
    count = within(s, i, s->label[i], s->d2[i] + margin, s->found);
    for (int64_t k = 0; k <= count; k++) {
        if (k < count && !(s->d2[i] + margin < low[s->found[k]]))
            next[wanted++] = s->found[k];
        if (wanted == AFEW || (k == count && wanted > 0)) {
            measure_some(s, search, i, next, wanted);
            wanted = 0;
        }
    }
}

/* One distance of row i, that to its own centre or else to the one with the least bound, unless no other centre can be nearest. Returns how
 * many others may be. */
static int64_t look_at_row(struct searched *s, const struct search *search, int64_t i) {
    const real margin = margin_of(s, search, i);
    real least;
    int32_t first = s->label[i];
    if (first >= 0 && within(s, i, first, s->beyond[i] + margin, s->found) == 0)
        return 0;
    if (first < 0)
        first = smallest_of(s->low + i * s->width, s->clusters, &least);
    load_row(s, search, i);
    s->label[i] = first;
    measure_some(s, search, i, &first, 1);
    return within(s, i, first, s->d2[i] + margin, s->found);
}

/* Row number i is the t-th to be searched, and row number `ahead` ROWS_AHEAD rows later; its former label, or -1, and at least the squared
 * distance to that. */
static void begin_row(struct searched *s, int64_t t, int64_t i, int64_t ahead, int32_t label, real beyond) {
    s->number[t] = i, s->ahead[t] = ahead, s->loaded[t] = 0;
    s->label[t] = label, s->d2[t] = (real)INFINITY, s->beyond[t] = beyond;
}

/* What is known of the rows' coordinates. */
static void recall_coordinates(struct searched *s, const struct search *search, int64_t count) {
    const int64_t pitch = search->size + 2;
    for (int64_t t = 0; t < count; t++)
        if (s->coordinates == NULL)
            s->z[t * pitch + search->size] = 0;
        else
            memcpy(s->z + t * pitch, s->coordinates + s->number[t] * pitch, (size_t)pitch * sizeof(real));
}

static void keep_coordinates(const struct searched *s, const struct search *search, int64_t count) {
    const int64_t pitch = search->size + 2;
    for (int64_t t = 0; t < count && s->coordinates != NULL; t++)
        memcpy(s->coordinates + s->number[t] * pitch, s->z + t * pitch, (size_t)pitch * sizeof(real));
}

/* What the distances of a tile's rows are at least, unless it has left little out lately; whether it is known now. */
static int bounds_are_tried(struct searched *s, const struct search *search, int64_t count) {
    if (search->size == 0 || ++s->since < AGAIN)
        return 0;
    recall_coordinates(s, search, count);
    if (find_coordinates(s, search, count))
        keep_coordinates(s, search, count);
    find_bounds(s, search, count);
    return 1;
}

/* Whether distances of so many pairs, one by one, take less time than those of all rows and centres. */
static int bounds_pay(struct searched *s, int64_t pairs, int64_t count) {
    const int pay = pairs * DEAR <= count * s->clusters;
    s->since = pay ? AGAIN : 0;
    return pay;
}

/* The nearest centres of the first `count` rows, which begin with their former labels and what is known of their distances to them. */
static void search_tile(struct searched *s, const struct search *search, int64_t count) {
    int64_t left[TILE], total = 0;
    if (bounds_are_tried(s, search, count)) {
        for (int64_t i = 0; i < count; i++)
            total += left[i] = look_at_row(s, search, i);
        if (bounds_pay(s, total, count)) {
            for (int64_t i = 0; i < count; i++)
                if (left[i] > 0)
                    finish_row(s, search, i, left[i]);
            return;
        }
    }
    all_distances(s, search, count);
    for (int64_t i = 0; i < count; i++)
        s->label[i] = smallest_of(s->low + i * s->width, s->clusters, &s->d2[i]);
}

/* moment += sum of weight x over the rows of a tile, in the rows' precision. */
static void add_rows(const struct searched *s, const struct search *search, int64_t count, double *moment) {
    const struct rows *rows = s->rows;
    for (int64_t f = 0; f < rows->columns; f += LANES) {
        real line[LANES] __attribute__((aligned(LINE)));
        lanes total = all(0);
        for (int64_t t = 0; t < count; t++)
            total = fused(all((real)rows->weight[s->number[t] * rows->weight_step]), load(s->moved + t * search->pitch + f), total);
        store(line, total);
        for (int64_t k = 0; k < at_most(LANES, rows->columns - f); k++)
            moment[f + k] += line[k];
    }
}

#endif
