/* The nearest points of every row: products and a running choice in one pass, so that no row's distances to all points are ever stored. */
#include <stdlib.h>

#include "vectors.h"

#define ROWS 4            /* rows at a time */
#define ROWS_PER_PASS 64  /* rows that all points are compared with before the next rows */
#define PANELS (PARTS == 1 ? 2 : 1) /* at a time, as many as there are registers for */

struct neighbours {
    const real *rows;    /* (count, depth), `pitch` numbers from row to row */
    const real *panels;  /* (panels, 1 + depth, LANES) |p|^2 / 2 and -p of points, LANES of them side by side; an even number of panels */
    real *scores;        /* (count, wanted) |p|^2 / 2 - x.p of each row's nearest points, the nearest first, equal ones in their order */
    int32_t *numbers;    /* (count, wanted) of these points */
    int64_t count, depth, pitch, n_panels, wanted;
};

static void insert(real *scores, int32_t *numbers, int64_t wanted, real score, int32_t number) {
    int64_t place = wanted - 1;
    for (; place > 0 && scores[place - 1] > score; place--) {
        scores[place] = scores[place - 1];
        numbers[place] = numbers[place - 1];
    }
    scores[place] = score;
    numbers[place] = number;
}

/* Scores that are below the worst one kept take their places. */
INLINE void choose(const struct neighbours *n, int64_t row, lanes scores, int64_t panel) {
    real *kept = n->scores + row * n->wanted, line[LANES] __attribute__((aligned(LINE)));
    const int64_t last = n->wanted - 1;
    if (all_set(at_least(scores, all(kept[last]))))
        return;
    store(line, scores);
    for (int i = 0; i < LANES; i++)
        if (line[i] < kept[last])
            insert(kept, n->numbers + row * n->wanted, n->wanted, line[i], (int32_t)(panel * LANES + i));
}

/* ROWS rows from i on and PANELS panels. */
INLINE void compare_panels(const struct neighbours *n, int64_t i, int64_t stop, int64_t panel) {
    const real *points[PANELS], *row[ROWS];
    lanes scores[PANELS][ROWS];
#pragma GCC unroll 4
    for (int p = 0; p < PANELS; p++) {
        points[p] = n->panels + (panel + p) * (1 + n->depth) * LANES;
        for (int q = 0; q < ROWS; q++)
            scores[p][q] = load(points[p]);
    }
    for (int q = 0; q < ROWS; q++)
        row[q] = n->rows + (i + q < stop ? i + q : stop - 1) * n->pitch; /* the last row pads */
    for (int64_t f = 0; f < n->depth; f++) {
        lanes y[PANELS];
#pragma GCC unroll 4
        for (int p = 0; p < PANELS; p++)
            y[p] = load(points[p] + (1 + f) * LANES);
#pragma GCC unroll 4
        for (int q = 0; q < ROWS; q++) {
            const lanes x = all(row[q][f]);
#pragma GCC unroll 4
            for (int p = 0; p < PANELS; p++)
                scores[p][q] = fused(x, y[p], scores[p][q]);
        }
    }
    for (int q = 0; q < ROWS && i + q < stop; q++)
        for (int p = 0; p < PANELS; p++)
            choose(n, i + q, scores[p][q], panel + p);
}

void EXPORTED(find_neighbours)(const struct neighbours *n) {
    for (int64_t k = 0; k < n->count * n->wanted; k++) {
        n->scores[k] = INFINITY;
        n->numbers[k] = 0;
    }
    for (int64_t start = 0; start < n->count; start += ROWS_PER_PASS) {
        const int64_t stop = start + ROWS_PER_PASS < n->count ? start + ROWS_PER_PASS : n->count;
        for (int64_t panel = 0; panel < n->n_panels; panel += PANELS)
            for (int64_t i = start; i < stop; i += ROWS)
                compare_panels(n, i, stop, panel);
    }
}
