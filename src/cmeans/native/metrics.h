/* Metrics of clusters: squared distances |F_j (x - v_j)|^2 of lower triangles F_j, or of diagonal ones, and the second moments that they
 * are made of.
 *
 * Triangles are taken PANEL rows at a time, as they are packed: panel p holds, for each column l in turn, the numbers of its rows there.
 * Sums run over the columns in order, and over the rows of a tile lane by lane, whatever a machine takes together. */
#ifndef CMEANS_METRICS_H
#define CMEANS_METRICS_H

#define PANEL 4                          /* rows of a triangle at a time: PANEL of native.py */
#define WIDER (WIDTH == 64 ? 4 : 1)      /* vectors of rows beside each other, as many as the machine has registers for */
#define SQUARE (WIDTH == 64 ? 4 : 2)     /* columns times columns of second moments at a time */

INLINE int64_t triangle(int64_t columns) { return columns * (columns + 1) / 2; }

/* Numbers of a packed triangle: as many as of its panels' rows times the columns that these reach. */
static int64_t packed(int64_t columns) {
    int64_t numbers = 0;
    for (int64_t first = 0; first < columns; first += PANEL) {
        const int64_t rows = at_most(PANEL, columns - first);
        numbers += rows * (first + rows);
    }
    return numbers;
}

/* All columns of the tile's rows, transposed. */
static void read_all_columns(struct tile *tile, const struct rows *rows) {
    real *x = tile->x;
    for (int64_t first = 0; first < rows->columns; first += CHUNK, tile->x += CHUNK * TILE)
        transpose(tile, rows, first, at_most(CHUNK, rows->columns - first));
    tile->x = x;
}

/* d2 += squares of `count` rows of F times y, from row `first` on, for WIDER vectors of rows of the tile. */
INLINE void add_panel(const real *f, const real *y, int64_t first, int count, lanes d2[]) {
    lanes z[PANEL * WIDER];
    for (int i = 0; i < count * WIDER; i++)
        z[i] = all(0);
    for (int64_t l = 0; l < first; l++, f += count, y += TILE) {
        lanes here[WIDER];
#pragma GCC unroll 4
        for (int i = 0; i < WIDER; i++)
            here[i] = load(y + i * LANES);
#pragma GCC unroll 4
        for (int q = 0; q < count; q++)
#pragma GCC unroll 4
            for (int i = 0; i < WIDER; i++)
                z[q * WIDER + i] = fused(all(f[q]), here[i], z[q * WIDER + i]);
    }
#pragma GCC unroll 4
    for (int l = 0; l < count; l++, f += count, y += TILE)
#pragma GCC unroll 4
        for (int q = l; q < count; q++)
#pragma GCC unroll 4
            for (int i = 0; i < WIDER; i++)
                z[q * WIDER + i] = fused(all(f[q]), load(y + i * LANES), z[q * WIDER + i]);
#pragma GCC unroll 4
    for (int q = 0; q < count; q++)
#pragma GCC unroll 4
        for (int i = 0; i < WIDER; i++)
            d2[i] = fused(z[q * WIDER + i], z[q * WIDER + i], d2[i]);
}

/* |F y|^2 of a packed triangle. */
INLINE void triangular_squares(const real *f, const real *y, int64_t columns, lanes d2[]) {
    int64_t first = 0;
    for (; first + PANEL <= columns; f += PANEL * (first + PANEL), first += PANEL)
        add_panel(f, y, first, PANEL, d2);
    switch (columns - first) {
    case 3: add_panel(f, y, first, 3, d2); break;
    case 2: add_panel(f, y, first, 2, d2); break;
    case 1: add_panel(f, y, first, 1, d2); break;
    }
}

/* |F y|^2 of a diagonal. */
INLINE void diagonal_squares(const real *f, const real *y, int64_t columns, lanes d2[]) {
    for (int64_t l = 0; l < columns; l++)
        for (int i = 0; i < WIDER; i++) {
            lanes z = multiply(all(f[l]), load(y + l * TILE + i * LANES));
            d2[i] = fused(z, z, d2[i]);
        }
}

/* away (columns, TILE) = x - v */
INLINE void subtract_centre(const struct tile *tile, const real *centre, int64_t columns) {
    for (int64_t l = 0; l < columns; l++)
        ACROSS(t) store(tile->away + l * TILE + t, subtract(load(tile->x + l * TILE + t), all(centre[l])));
}

/* d2 (clusters, TILE) in the clusters' metrics, and the smallest of each row. */
static void stretched_distances(struct tile *tile, const struct rows *rows, const struct centres *centres) {
    const int64_t columns = rows->columns, numbers = centres->diagonal ? columns : packed(columns);
    read_all_columns(tile, rows);
    for (int64_t j = 0; j < centres->clusters; j++) {
        const real *factor = centres->factors + j * numbers;
        subtract_centre(tile, centres->values + j * columns, columns);
        for (int t = 0; t < TILE; t += WIDER * LANES) {
            lanes d2[WIDER];
            for (int i = 0; i < WIDER; i++)
                d2[i] = all(0);
            if (centres->diagonal)
                diagonal_squares(factor, tile->away + t, columns, d2);
            else
                triangular_squares(factor, tile->away + t, columns, d2);
            for (int i = 0; i < WIDER; i++) {
                real *low = tile->low + t + i * LANES;
                store(tile->d2 + j * TILE + t + i * LANES, d2[i]);
                store(low, smaller(d2[i], load(low)));
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- second moments */

/* total (vectors) += y_a y_b over the tile, for `rows` of a and `columns` of b; of the lower triangle alone where both are the same. */
INLINE real *add_square(const real *a, const real *b, int rows, int columns, int same, real *total) {
    lanes sums[SQUARE * SQUARE];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int k = 0; k < (same ? i + 1 : columns); k++)
            sums[i * SQUARE + k] = load(total + ((same ? i * (i + 1) / 2 : i * columns) + k) * LANES);
    ACROSS(t) {
        lanes p[SQUARE], q[SQUARE];
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            p[i] = load(a + i * TILE + t);
#pragma GCC unroll 4
        for (int k = 0; k < columns; k++)
            q[k] = same ? p[k] : load(b + k * TILE + t);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
            for (int k = 0; k < (same ? i + 1 : columns); k++)
                sums[i * SQUARE + k] = fused(p[i], q[k], sums[i * SQUARE + k]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int k = 0; k < (same ? i + 1 : columns); k++, total += LANES)
            store(total, sums[i * SQUARE + k]);
    return total;
}

/* `count` rows of the triangle, from row `first` on. */
INLINE real *add_triangle_rows(const real *y, int64_t first, int count, real *total) {
    const real *a = y + first * TILE;
    for (int64_t b = 0; b < first; b += SQUARE)
        total = add_square(a, y + b * TILE, count, SQUARE, 0, total);
    return add_square(a, a, count, count, 1, total);
}

static void add_triangle(const real *y, int64_t columns, real *total) {
    int64_t first = 0;
    for (; first + SQUARE <= columns; first += SQUARE)
        total = add_triangle_rows(y, first, SQUARE, total);
    switch (columns - first) {
    case 3: add_triangle_rows(y, first, 3, total); break;
    case 2: add_triangle_rows(y, first, 2, total); break;
    case 1: add_triangle_rows(y, first, 1, total); break;
    }
}

/* total_j += sum_t w_jt (x_t - v_j)(x_t - v_j)^T, as vectors: as the square of what the roots of the weights make of the rows. */
static void second_moments(const struct tile *tile, const struct rows *rows, const struct centres *centres, real *total) {
    const int64_t columns = rows->columns, numbers = centres->diagonal ? columns : triangle(columns);
    for (int64_t j = 0; j < centres->clusters; j++, total += numbers * LANES) {
        const real *centre = centres->values + j * columns;
        real share[TILE] __attribute__((aligned(LINE)));
        ACROSS(t) store(share + t, root(load(tile->u + j * TILE + t)));
        for (int64_t l = 0; l < columns; l++)
            ACROSS(t) {
                lanes away = subtract(load(tile->x + l * TILE + t), all(centre[l]));
                store(tile->away + l * TILE + t, multiply(away, load(share + t)));
            }
        if (!centres->diagonal) {
            add_triangle(tile->away, columns, total);
            continue;
        }
        for (int64_t l = 0; l < columns; l++) {
            lanes sums = load(total + l * LANES);
            ACROSS(t) {
                lanes y = load(tile->away + l * TILE + t);
                sums = fused(y, y, sums);
            }
            store(total + l * LANES, sums);
        }
    }
}

INLINE const real *move_square(const real *total, int64_t first, int64_t other, int64_t rows, int64_t columns, int64_t pitch, double *second) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < (first == other ? i + 1 : columns); k++, total += LANES) {
            const int64_t a = first + i, b = other + k;
            second[a * pitch + b] += sum(load(total));
            second[b * pitch + a] = second[a * pitch + b];
        }
    return total;
}

/* Totals go to the second moments in float64, those of triangles to both halves, and are cleared. */
static void move_second_moments(real *total, double *second, int64_t clusters, int64_t columns, int diagonal) {
    const int64_t numbers = diagonal ? columns : triangle(columns);
    for (int64_t j = 0; j < clusters; j++) {
        const real *from = total + j * numbers * LANES;
        if (diagonal) {
            for (int64_t l = 0; l < columns; l++)
                second[j * columns + l] += sum(load(from + l * LANES));
            continue;
        }
        double *to = second + j * columns * columns;
        for (int64_t a = 0; a < columns; a += SQUARE) {
            const int64_t rows = at_most(SQUARE, columns - a);
            for (int64_t b = 0; b < a; b += SQUARE)
                from = move_square(from, a, b, rows, SQUARE, columns, to);
            from = move_square(from, a, a, rows, rows, columns, to);
        }
    }
    memset(total, 0, (size_t)(clusters * numbers * LANES) * sizeof(real));
}

#endif
