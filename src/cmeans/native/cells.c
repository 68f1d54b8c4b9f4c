/* Streams whose number of clusters is unknown: squared distances in the clusters' own metrics, cells that stand for rows, and the masses of
 * windows in which a valley between two sides would show.
 *
 * streaming/cells.py has the same in Python: operations and their order are the same there, so that the bits are. */
#include "vectors.h"

#define PITCH 72 /* cells, and the room of those that are compared at once */
#define TILE 64  /* rows whose distances are computed at once */

struct metrics {
    const double *mean;   /* (clusters, columns) */
    const double *factor; /* (clusters, columns, columns), lower triangles; (clusters, columns) where they are diagonal */
    int64_t clusters, columns, full;
};

/* Squared distances d2 (rows, clusters) of rows x; `room` is (columns, TILE). */
void EXPORTED(metric_distances)(const struct metrics *g, const double *x, int64_t rows, double *room, double *d2) {
    const int64_t d = g->columns;
    for (int64_t first = 0; first < rows; first += TILE) {
        const int64_t n = rows - first < TILE ? rows - first : TILE;
        for (int64_t j = 0; j < g->clusters; j++) {
            double sum[TILE] = {0};
            for (int64_t l = 0; l < d; l++)
                for (int64_t i = 0; i < TILE; i++)
                    room[l * TILE + i] = i < n ? x[(first + i) * d + l] - g->mean[j * d + l] : 0;
            for (int64_t k = 0; k < d; k++) {
                double y[TILE] = {0};
                if (g->full)
                    for (int64_t l = 0; l <= k; l++)
                        for (int64_t i = 0; i < TILE; i++)
                            y[i] += g->factor[(j * d + k) * d + l] * room[l * TILE + i];
                else
                    for (int64_t i = 0; i < TILE; i++)
                        y[i] = g->factor[j * d + k] * room[k * TILE + i];
                for (int64_t i = 0; i < TILE; i++)
                    sum[i] += y[i] * y[i];
            }
            for (int64_t i = 0; i < n; i++)
                d2[(first + i) * g->clusters + j] = sum[i];
        }
    }
}

struct cells {
    double *x; /* (columns, PITCH) places of cells */
    double *w; /* (PITCH,) masses */
    double *f; /* (PITCH,) masses of late rows */
    double *s; /* (PITCH,) scatter within */
    int64_t columns, count, most;
};

struct cell_costs {
    double cost[PITCH];     /* at most the least rise of the scatter, if a cell is joined with another */
    int32_t nearest[PITCH]; /* that other; -1 where it is to be found, and the cost is a lower bound */
};

/* Find the cell that cell `at` is joined with at the least rise of the scatter (Ward). */
INLINE void find_nearest(const struct cells *c, struct cell_costs *k, int64_t at, double *cost) {
    const int64_t some = (c->count + 7) / 8 * 8;
    for (int64_t i = 0; i < some; i++)
        cost[i] = 0;
    for (int64_t l = 0; l < c->columns; l++) {
        const double *x = c->x + l * PITCH, here = x[at];
        for (int64_t i = 0; i < some; i++)
            cost[i] += (x[i] - here) * (x[i] - here);
    }
    for (int64_t i = 0; i < some; i++)
        cost[i] *= c->w[i] * c->w[at] / (c->w[i] + c->w[at]);
    cost[at] = INFINITY;
    int64_t best = at;
    for (int64_t i = 0; i < c->count; i++)
        best = cost[i] < cost[best] ? i : best;
    k->cost[at] = cost[best], k->nearest[at] = (int32_t)best;
}

/* Join the two cells for which that costs least; the last one takes the place that is free then. No cell is nearer to two that are joined
 * than to the nearer of them, so what is known of the others is a lower bound at least. */
INLINE void join_two(struct cells *c, struct cell_costs *k, double *cost) {
    int64_t i = -1;
    while (i < 0 || k->nearest[i] < 0) {
        if (i >= 0)
            find_nearest(c, k, i, cost);
        i = 0;
        for (int64_t o = 1; o < c->count; o++)
            i = k->cost[o] < k->cost[i] ? o : i;
    }
    const int64_t j = k->nearest[i], a = i < j ? i : j, b = i < j ? j : i, last = c->count - 1;
    const double both = c->w[a] + c->w[b];
    for (int64_t l = 0; l < c->columns; l++) {
        double *x = c->x + l * PITCH;
        x[a] = (c->w[a] * x[a] + c->w[b] * x[b]) / both, x[b] = x[last];
    }
    c->s[a] = c->s[a] + c->s[b] + k->cost[i], c->f[a] += c->f[b], c->w[a] = both;
    c->w[b] = c->w[last], c->f[b] = c->f[last], c->s[b] = c->s[last];
    k->cost[a] = k->cost[i], k->cost[b] = b == last ? k->cost[b] : k->cost[last], k->nearest[b] = k->nearest[last];
    c->w[last] = 0, c->count = last;
    for (int64_t o = 0; o < last; o++) {
        const int32_t was = k->nearest[o];
        k->nearest[o] = was == a || was == b ? -1 : was == last ? (int32_t)b : was;
    }
    k->nearest[a] = -1;
}

/* Add `count` cells x (count, columns) to others one by one, and join the two that are cheapest to join wherever they are more than `most`. */
void EXPORTED(add_cells)(struct cells *c, const double *x, const double *w, const double *f, const double *s, int64_t count) {
    struct cell_costs k;
    double cost[PITCH];
    for (int64_t i = 0; i < c->count; i++)
        find_nearest(c, &k, i, cost);
    for (int64_t r = 0; r < count; r++) {
        const int64_t at = c->count++;
        for (int64_t l = 0; l < c->columns; l++)
            c->x[l * PITCH + at] = x[r * c->columns + l];
        c->w[at] = w[r], c->f[at] = f[r], c->s[at] = s[r];
        find_nearest(c, &k, at, cost);
        for (int64_t o = 0; o < at; o++)
            if (cost[o] < k.cost[o])
                k.cost[o] = cost[o], k.nearest[o] = (int32_t)at;
        if (c->count > c->most)
            join_two(c, &k, cost);
    }
}

#define STEPS 16 /* of the grid between two means */
#define GRID (3 * STEPS + 1)

struct cut {
    const double *x;    /* (cells, columns) */
    const double *w;    /* (cells,) */
    const double *s2;   /* (cells,) squared deviation of a cell's rows along any axis of the space of rows */
    const double *back; /* (columns, columns): from the space of x to that of rows; 0: they are the same */
    double *ends;       /* (2, columns) two points; the means of both sides */
    double *room;       /* (columns,) */
    int8_t *side;       /* (cells,) 1: nearer to the second point */
    double *mass;       /* (2,) of the sides */
    double *peak;       /* (3, 4, STEPS) mass of the smaller of two peaks, */
    double *valley;     /* (3, 4, STEPS) and of the valley between them */
    int64_t cells, columns, turns;
};

/* Means and masses of both sides. */
INLINE void means_of_sides(const struct cut *c) {
    const int64_t d = c->columns;
    c->mass[0] = c->mass[1] = 0;
    for (int64_t l = 0; l < 2 * d; l++)
        c->ends[l] = 0;
    for (int64_t i = 0; i < c->cells; i++) {
        c->mass[c->side[i]] += c->w[i];
        for (int64_t l = 0; l < d; l++)
            c->ends[c->side[i] * d + l] += c->w[i] * c->x[i * d + l];
    }
    for (int64_t l = 0; l < 2 * d; l++)
        c->ends[l] /= c->mass[l >= d];
}

/* Cells nearer to the second end than to the first; return how many there are. */
INLINE int64_t sides_of_ends(const struct cut *c, int8_t *side) {
    const double *a = c->ends, *b = c->ends + c->columns;
    int64_t many = 0;
    for (int64_t i = 0; i < c->cells; i++) {
        double t = 0;
        for (int64_t l = 0; l < c->columns; l++)
            t += (c->x[i * c->columns + l] - (a[l] + b[l]) / 2) * (b[l] - a[l]);
        side[i] = t > 0, many += side[i];
    }
    return many;
}

/* Two means from the two ends, unless there are no turns and the sides are given; return 0 where all cells are on one side. */
INLINE int two_means(const struct cut *c, int8_t *next) {
    int found = c->turns == 0;
    for (int64_t turn = 0; turn < c->turns; turn++) {
        const int64_t many = sides_of_ends(c, next);
        int64_t changed = !found;
        if (many == 0 || many == c->cells)
            break;
        for (int64_t i = 0; i < c->cells; i++)
            changed |= next[i] != c->side[i];
        if (!changed)
            break;
        for (int64_t i = 0; i < c->cells; i++)
            c->side[i] = next[i];
        found = 1;
        means_of_sides(c);
    }
    return found;
}

/* Mass (GRID,) of cells before each point of the grid on the line of two means, which lie at 0 and 1; what a cell itself contributes to
 * its side's mean is taken out. */
INLINE int masses_on_line(const struct cut *c, double *mass) {
    const int64_t d = c->columns;
    const double *a = c->ends, *b = c->ends + d;
    double length = 0, spread = 0;
    for (int64_t l = 0; l < d; l++)
        c->room[l] = b[l] - a[l], length += c->room[l] * c->room[l];
    if (!(length > 0))
        return 0;
    for (int64_t k = 0; k < d && c->back; k++) {
        double y = 0;
        for (int64_t l = 0; l < d; l++)
            y += c->back[k * d + l] * c->room[l];
        spread += y * y;
    }
    spread = c->back ? spread : length;
    for (int64_t g = 0; g < GRID; g++)
        mass[g] = 0;
    for (int64_t i = 0; i < c->cells; i++) {
        const int64_t side = c->side[i];
        const double w = c->w[i], rest = c->mass[side] - w, share = w / (rest > 1e-9 ? rest : 1e-9);
        double along = 0, own = 0;
        for (int64_t l = 0; l < d; l++) {
            const double y = c->x[i * d + l] - (a[l] + b[l]) / 2;
            along += y * c->room[l], own += y * (c->x[i * d + l] - c->ends[side * d + l]);
        }
        own *= share < 1 ? share : 1;
        const double z = (along - (side ? own : -own)) / length + 0.5, wide = sqrt(7 * c->s2[i] * spread) / length;
        const double reach = wide > 1e-6 ? wide : 1e-6;
        for (int64_t g = 0; g < GRID; g++) {
            const double t = ((double)(g - STEPS) / STEPS - z) / reach, u = t < -1 ? -1 : t > 1 ? 1 : t, u2 = u * u;
            mass[g] += w * (0.5 + u * (15 - u2 * (10 - 3 * u2)) / 16);
        }
    }
    return 1;
}

/* Cut cells in two, and give the masses of windows: two peaks of 2, 4 or 8 steps of the grid, and between them a valley of 2, 4, 8 or 12.
 * Return 0 where there are no two sides. `next` is (cells,). */
static int cut_in_two(const struct cut *c, int8_t *next) {
    static const int64_t peaks[3] = {2, 4, 8}, valleys[4] = {2, 4, 8, 12};
    double mass[GRID], left[GRID], right[GRID];
    if (!two_means(c, next))
        return 0;
    means_of_sides(c);
    if (!masses_on_line(c, mass))
        return 0;
    for (int64_t p = 0; p < 3; p++) {
        const int64_t k = peaks[p], windows = GRID - k;
        for (int64_t i = 0; i < windows; i++) {
            left[i] = mass[i + k] - mass[i];
            if (i && left[i - 1] > left[i])
                left[i] = left[i - 1];
        }
        for (int64_t i = windows - 1; i >= 0; i--) {
            right[i] = mass[i + k] - mass[i];
            if (i < windows - 1 && right[i + 1] > right[i])
                right[i] = right[i + 1];
        }
        for (int64_t v = 0; v < 4; v++) {
            const int64_t m = valleys[v];
            for (int64_t t = 0; t < STEPS; t++) {
                const int64_t at = STEPS + t, out = (p * 4 + v) * STEPS + t;
                const int there = at + m <= 2 * STEPS;
                const double before = there ? left[at - k] : 0, after = there ? right[at + m] : 0;
                c->peak[out] = before < after ? before : after;
                c->valley[out] = there ? mass[at + m] - mass[at] : 0;
            }
        }
    }
    return 1;
}

/* Cut cells in `cuts` ways: all that a cut writes has an axis more, which is the first. `found` (cuts,): 0 where there are no two sides. */
void EXPORTED(cut_cells)(const struct cut *all, int8_t *next, int8_t *found, int64_t cuts) {
    struct cut c = *all;
    for (int64_t t = 0; t < cuts; t++) {
        found[t] = (int8_t)cut_in_two(&c, next);
        c.ends += 2 * c.columns, c.side += c.cells, c.mass += 2;
        c.peak += 12 * STEPS, c.valley += 12 * STEPS;
    }
}
