/* Streams whose number of clusters is unknown: cells that stand for rows, and the masses of windows in which a valley between two sides
 * would show.
 *
 * streaming/cells.py and valleys.py have the same in Python: operations and their order are the same there, so that the bits are. */
#include "vectors.h"

#include <string.h>

#if BITS == 64 /* there are no others */

#define PITCH 72 /* cells, and the room of those that are compared at once */

struct cells { /* what is joined */
    const double *x;    /* (count, columns) places of cells */
    const double *w;    /* (count,) masses */
    const double *f;    /* (count,) masses of late rows */
    const double *s;    /* (count,) scatter within */
    int64_t count;
};

struct joining {
    double *x; /* (columns, PITCH) as of cells, column after column */
    double w[PITCH], f[PITCH], s[PITCH];
    double cost[PITCH];     /* what joining the last cell that was looked at with each costs: the rise of the scatter (Ward) */
    double least[PITCH];    /* at most the least such cost of each cell, INFINITY where there is none */
    int64_t nearest[PITCH]; /* the other cell that has it; -1 where it is to be found, and the cost is more than that perhaps */
    int64_t columns, count;
};

#define EACH_EIGHT(i, count) for (int64_t i = 0; i < (count); i += LANES)

/* The first place of a least cost. */
INLINE int64_t first_place(const double *cost, lanes each, int64_t count) {
    double line[LANES];
    store_loose(line, each);
    double least = line[0];
    for (int q = 1; q < LANES; q++)
        least = line[q] < least ? line[q] : least;
    EACH_EIGHT(i, count) {
        const uint64_t here = bits_of(equal(load_loose(cost + i), all(least)));
        if (here)
            return i + __builtin_ctzll(here);
    }
    return 0;
}

INLINE int64_t first_least(const double *cost, int64_t count) {
    lanes each = all(INFINITY);
    EACH_EIGHT(i, count)
        each = smaller(load_loose(cost + i), each);
    return first_place(cost, each, count);
}

/* Find the cell that cell `at` is joined with at the least cost. Places beyond the last cell have no mass, and no cost but with themselves. */
INLINE void find_nearest(struct joining *c, int64_t at) {
    const lanes mass = all(c->w[at]);
    EACH_EIGHT(i, c->count) {
        lanes d2 = all(0);
        for (int64_t l = 0; l < c->columns; l++) {
            const lanes e = subtract(load_loose(c->x + l * PITCH + i), all(c->x[l * PITCH + at]));
            d2 = add(d2, multiply(e, e));
        }
        const lanes w = load_loose(c->w + i);
        store_loose(c->cost + i, multiply(d2, divide(multiply(w, mass), add(w, mass))));
    }
    for (int64_t i = c->count; i % LANES; i++)
        c->cost[i] = INFINITY;
    c->cost[at] = INFINITY;
    c->nearest[at] = first_least(c->cost, c->count), c->least[at] = c->cost[c->nearest[at]];
}

/* Put the mass of cell b, which is joined with a at that cost, into a. */
INLINE void unite(struct joining *c, int64_t a, int64_t b, double cost) {
    const double both = c->w[a] + c->w[b];
    for (int64_t l = 0; l < c->columns; l++) {
        double *x = c->x + l * PITCH;
        x[a] = (c->w[a] * x[a] + c->w[b] * x[b]) / both;
    }
    c->s[a] = c->s[a] + c->s[b] + cost, c->f[a] += c->f[b], c->w[a] = both;
}

/* The place of the last cell is free: no others know it. */
INLINE void drop_last(struct joining *c) {
    const int64_t last = --c->count;
    c->w[last] = 0, c->least[last] = INFINITY;
}

/* Join the last cell, of which no other knows, with its nearest one, for which that costs less than for any two of the others. The new
 * cell's mass is more by a share, so that what joins it with another costs less by that share at most. */
INLINE void join_last(struct joining *c) {
    const int64_t at = c->count - 1, near = c->nearest[at];
    const double left = c->w[near] / (c->w[near] + c->w[at]);
    unite(c, near, at, c->least[at]);
    drop_last(c);
    c->nearest[near] = -1;
    for (int64_t o = 0; o < c->count; o++) {
        const int unsure = c->nearest[o] == near || c->nearest[o] < 0;
        c->least[o] = unsure ? c->least[o] * left : c->least[o], c->nearest[o] = unsure ? -1 : c->nearest[o];
    }
}

/* Join the two cells for which that costs least; the last one takes the place that is free then. No cell is nearer to two that are joined
 * than to the nearer of them, so what is known of the others is a lower bound at least. */
INLINE void join_two(struct joining *c) {
    int64_t i = first_least(c->least, c->count);
    while (c->nearest[i] < 0) {
        find_nearest(c, i);
        i = first_least(c->least, c->count);
    }
    const int64_t j = c->nearest[i], a = i < j ? i : j, b = i < j ? j : i, last = c->count - 1;
    unite(c, a, b, c->least[i]);
    for (int64_t l = 0; l < c->columns; l++)
        c->x[l * PITCH + b] = c->x[l * PITCH + last];
    c->w[b] = c->w[last], c->f[b] = c->f[last], c->s[b] = c->s[last];
    c->least[a] = c->least[i], c->least[b] = c->least[last], c->nearest[b] = c->nearest[last];
    drop_last(c);
    for (int64_t o = 0; o < last; o++) {
        const int64_t was = c->nearest[o];
        c->nearest[o] = was == a || was == b ? -1 : was == last ? b : was;
    }
    c->nearest[a] = -1;
}

INLINE void put_cell(struct joining *c, const struct cells *from, int64_t i, double kept, double late) {
    const int64_t at = c->count++;
    for (int64_t l = 0; l < c->columns; l++)
        c->x[l * PITCH + at] = from->x[i * c->columns + l];
    c->w[at] = from->w[i] * kept, c->f[at] = from->f[i] * late, c->s[at] = from->s[i] * kept;
}

/* Add cells one by one to old ones, and join the two that are cheapest to join wherever they are more than `most`. The old ones, at most
 * `most`, have the shares left[0] of their masses, left[1] of their late ones, and are forgotten where left[2] or less is left of them.
 * `room` is (columns, PITCH). Return how many there are then, x (count, columns) and their w, f, s. */
int64_t EXPORTED(join_cells)(const struct cells *old, const struct cells *more, const double *left, int64_t columns, int64_t most, double *room,
                             double *x, double *w, double *f, double *s) {
    struct joining c;
    c.x = room, c.columns = columns, c.count = 0;
    memset(room, 0, (size_t)(columns * PITCH) * sizeof *room);
    memset(c.w, 0, sizeof c.w);
    for (int64_t i = 0; i < PITCH; i++)
        c.least[i] = INFINITY;
    for (int64_t i = 0; i < old->count; i++)
        if (old->w[i] * left[0] > left[2])
            put_cell(&c, old, i, left[0], left[1]);
    for (int64_t i = 0; i < (more->count ? c.count : 0); i++)
        find_nearest(&c, i);
    for (int64_t i = 0; i < more->count; i++) {
        const int64_t at = c.count, others = first_least(c.least, at);
        put_cell(&c, more, i, 1, 1);
        find_nearest(&c, at);
        if (at == most && c.least[at] < c.least[others]) {
            join_last(&c);
            continue;
        }
        for (int64_t o = 0; o < at; o++) {
            const int closer = c.cost[o] < c.least[o];
            c.least[o] = closer ? c.cost[o] : c.least[o], c.nearest[o] = closer ? at : c.nearest[o];
        }
        if (c.count > most)
            join_two(&c);
    }
    for (int64_t i = 0; i < c.count; i++) {
        for (int64_t l = 0; l < columns; l++)
            x[i * columns + l] = c.x[l * PITCH + i];
        w[i] = c.w[i], f[i] = c.f[i], s[i] = c.s[i];
    }
    return c.count;
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


#endif
