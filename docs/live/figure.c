/* The library's sweeps for the figures that run in a reader's browser: some points of the plane, in the plane or in the space of a Gaussian
 * kernel, and centres that are combinations of them. `python -m tools.live` compiles this to WebAssembly. */
#define VARIANT wasm
#define BITS 64

#include <stddef.h>

/* ----------------------------------------------------------------------------- what the C files ask of a standard library */

#define PAGE 65536

extern unsigned char __heap_base;
static size_t heap; /* where free memory begins; what a call takes is free again after it */

void *malloc(size_t bytes) {
    if (heap == 0)
        heap = (size_t)&__heap_base;
    const size_t first = (heap + 63) / 64 * 64, end = first + bytes, there = __builtin_wasm_memory_size(0) * PAGE;
    if (end > there && __builtin_wasm_memory_grow(0, (end - there + PAGE - 1) / PAGE) == (size_t)-1)
        return NULL;
    heap = end;
    return (void *)first;
}

void free(void *memory) { (void)memory; }

void *calloc(size_t count, size_t bytes) {
    void *memory = malloc(count * bytes);
    return memory == NULL ? NULL : __builtin_memset(memory, 0, count * bytes);
}

int strcmp(const char *a, const char *b) {
    for (; *a && *a == *b; a++, b++)
        ;
    return (unsigned char)*a - (unsigned char)*b;
}

#include "kernel_values.c"
#include "passes.c"

/* ------------------------------------------------------------------------------------------------------------- the figure */

#define CALLED(name) __attribute__((export_name(#name))) name

enum { HARD, FUZZY, POSSIBILISTIC, ENTROPY, NOISE };

static struct {
    int64_t n, c;
    double gamma;          /* of the kernel; 0: the plane itself */
    double *points;        /* (n, 2) */
    double *rows;          /* (n, width): the points; or their kernel values and unit vectors, whose sums are those of [K, I] */
    double *panels;        /* the points as kernel values are computed with them */
    double *ones;          /* (n,) k(x, x), and all weights */
    double *centres;       /* (c, basis): coordinates; or coefficients over the points */
    double *norms;         /* (c,) */
    double *scales;        /* (c,) eta of possibilistic clusters; zeros for others */
    double *mass, *spread; /* (c,) of the latest sweep */
} figure;

static int64_t basis(void) { return figure.gamma > 0 ? figure.n : 2; }
static int64_t width(void) { return figure.gamma > 0 ? 2 * figure.n : 2; }
static double *numbers(int64_t count) { return calloc((size_t)count, sizeof(double)); }

/* A new figure of n points and c clusters: where the page writes the points (n, 2). Memory of the one before is used again. */
double *CALLED(begin)(int n, int c, double gamma) {
    heap = 0;
    figure.n = n, figure.c = c, figure.gamma = gamma;
    figure.points = numbers(2 * n);
    figure.rows = gamma > 0 ? numbers(n * width()) : figure.points;
    figure.panels = numbers((n + LANES) * 2);
    figure.ones = numbers(n);
    figure.centres = numbers(c * basis());
    figure.norms = numbers(c), figure.scales = numbers(c), figure.mass = numbers(c), figure.spread = numbers(c);
    return figure.points;
}

/* Kernel values of `count` points (count, 2) with the figure's, `pitch` numbers from row to row. */
static void kernel_values(const double *points, int64_t count, double *out, int64_t pitch) {
    const struct values values = {points, figure.panels, out, count, 2, 2, figure.n, pitch, figure.gamma};
    JOIN(gaussians_of_few, VARIANT, BITS)(&values);
}

/* |v|^2 of the centres, after they have been written: in the kernel's space a . K a. */
void CALLED(measure)(void) {
    for (int64_t j = 0; j < figure.c; j++) {
        const double *a = figure.centres + j * basis();
        double square = 0;
        for (int64_t i = 0; i < basis(); i++) {
            double product = a[i];
            if (figure.gamma > 0) {
                product = 0;
                for (int64_t k = 0; a[i] != 0 && k < figure.n; k++)
                    product += a[k] * figure.rows[i * width() + k];
            }
            square += a[i] * product;
        }
        figure.norms[j] = square;
    }
}

/* The points are written: their kernel values are computed. The first centres are to follow, by `put`. */
void CALLED(represent)(void) {
    for (int64_t i = 0; i < figure.n; i++) {
        figure.ones[i] = 1;
        for (int f = 0; f < 2; f++)
            figure.panels[(i / LANES * 2 + f) * LANES + i % LANES] = figure.points[2 * i + f];
    }
    if (figure.gamma <= 0)
        return;
    kernel_values(figure.points, figure.n, figure.rows, width());
    for (int64_t i = 0; i < figure.n; i++)
        figure.rows[i * width() + figure.n + i] = 1;
}

/* Centre j at a point. */
void CALLED(put)(int j, int point) {
    double *centre = figure.centres + j * basis();
    for (int64_t f = 0; f < basis(); f++)
        centre[f] = figure.gamma > 0 ? f == point : figure.points[2 * point + f];
    measure();
}

static const char *rule_name(int rule, double softness) {
    static const char *const NAMES[] = {"hard", "fuzzy", "possibilistic", "sized entropy", "noise"};
    static const char *const OF_TWO[] = {"hard", "fuzzy, m = 2", "possibilistic, m = 2", "sized entropy", "noise, m = 2"};
    return (softness == 2 ? OF_TWO : NAMES)[rule];
}

/* The centres as rows of so many columns meet them; `softness` is the fuzzifier m, the temperature of maximum entropy. */
static struct centres centres_of(int64_t columns, int rule, double softness, double noise) {
    double *values = numbers(figure.c * columns);
    for (int64_t j = 0; j < figure.c; j++)
        for (int64_t f = 0; f < basis(); f++)
            values[j * columns + f] = figure.centres[j * basis() + f];
    const double power = rule == ENTROPY ? softness : softness > 1 ? 1 / (softness - 1) : 1;
    struct centres centres = {values, figure.norms, figure.scales, figure.c, columns, softness, power, 0, INFINITY, 64 * 0x1p-52, NULL, 0};
    if (rule == NOISE)
        centres.noise = noise;
    return centres;
}

static struct rows rows_of(const double *values, int64_t count, int64_t columns, const double *ones) {
    return (struct rows){.values = values, .kxx = figure.gamma > 0 ? ones : NULL, .weight = ones, .count = count, .columns = columns, .pitch = columns, .weight_step = 1};
}

/* One sweep: the objective at the centres it starts from; the centres become the means. A cluster without rows stays where it is. */
double CALLED(sweep)(int rule, double softness, double noise) {
    const size_t mark = heap;
    const int64_t c = figure.c, columns = width();
    struct rows rows = rows_of(figure.rows, figure.n, columns, figure.ones);
    struct centres centres = centres_of(columns, rule, softness, noise);
    double *moment = numbers(c * columns), objective = 0;
    for (int64_t j = 0; j < c; j++)
        figure.mass[j] = figure.spread[j] = 0;
    const struct sums sums = {figure.mass, figure.spread, moment, &objective, NULL, NULL, NULL, NULL};
    JOIN(sweep, VARIANT, BITS)(&rows, &centres, rule_name(rule, softness), &sums);
    for (int64_t j = 0; j < c; j++) {
        objective += figure.spread[j];
        for (int64_t f = 0; figure.mass[j] > 0 && f < basis(); f++)
            figure.centres[j * basis() + f] = moment[j * columns + columns - basis() + f] / figure.mass[j];
    }
    measure();
    heap = mark;
    return objective;
}

/* Scales of possibilistic clusters: the mean squared distance in the latest sweep, times a factor. */
void CALLED(set_scales)(double factor) {
    for (int64_t j = 0; j < figure.c; j++)
        figure.scales[j] = figure.mass[j] > 0 ? factor * figure.spread[j] / figure.mass[j] : 1;
}

/* Where the centres stand, (c, basis), to be read and written. */
double *CALLED(centres)(void) { return figure.centres; }

/* Room for `count` points (count, 2) that `assign` is to have. */
double *CALLED(room)(int count) { return numbers(2 * (int64_t)count); }

/* Memberships (count, c) of points that stand in such room, and behind them their labels (count,), -1 for noise. The room is free again. */
double *CALLED(assign)(const double *points, int count, int rule, double softness, double noise) {
    const int64_t n = count, c = figure.c, columns = basis();
    double *memberships = numbers(n * (c + 1)), *ones = numbers(n), *unused = numbers(n + 2 * c + 2);
    int64_t *labels = (int64_t *)numbers(n);
    const double *values = points;
    if (figure.gamma > 0) {
        double *products = numbers(n * columns);
        kernel_values(points, n, products, columns);
        values = products;
    }
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1;
    struct rows rows = rows_of(values, n, columns, ones);
    struct centres centres = centres_of(columns, rule, softness, noise);
    const struct assignment to = {labels, memberships, unused, unused + n, unused + n + c, unused + n + 2 * c};
    JOIN(assign, VARIANT, BITS)(&rows, &centres, rule_name(rule, softness), &to);
    for (int64_t i = 0; i < n; i++)
        memberships[n * c + i] = (double)labels[i];
    heap = (size_t)points;
    return memberships;
}
