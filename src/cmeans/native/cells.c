/* Streams whose number of clusters is unknown: cells that stand for rows, and the masses of windows in which a valley between two sides
 * would show.
 *
 * streaming/cells.py and valleys.py have the same in Python: operations and their order are the same there, so that the bits are. */
#include "elementary.h"

#include <string.h>

#if BITS == 64 /* there are no others */

#define PITCH 72 /* cells, and the room of those that are compared at once */

struct cells { /* what is joined */
    const double *x;    /* (count, columns) places of cells */
    const double *w;    /* (count,) masses */
    const double *f;    /* (count,) masses of late rows */
    const double *s;    /* (count,) scatter within */
};

struct joining {
    double *x; /* (columns, PITCH) as of cells, column after column */
    double w[PITCH], f[PITCH], s[PITCH];
    double alone[PITCH];    /* w / (w + 1), what joining a cell with one row costs at distance 1 */
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
    const int row = c->w[at] == 1;
    EACH_EIGHT(i, c->count) {
        lanes d2 = all(0);
        for (int64_t l = 0; l < c->columns; l++) {
            const lanes e = subtract(load_loose(c->x + l * PITCH + i), all(c->x[l * PITCH + at]));
            d2 = add(d2, multiply(e, e));
        }
        const lanes w = load_loose(c->w + i);
        store_loose(c->cost + i, multiply(d2, row ? load_loose(c->alone + i) : divide(multiply(w, mass), add(w, mass))));
    }
    for (int64_t i = c->count; i % LANES; i++)
        c->cost[i] = INFINITY;
    c->cost[at] = INFINITY;
    c->nearest[at] = first_least(c->cost, c->count), c->least[at] = c->cost[c->nearest[at]];
}

INLINE void set_mass(struct joining *c, int64_t i, double w) { c->w[i] = w, c->alone[i] = w / (w + 1); }

/* Put the mass of cell b, which is joined with a at that cost, into a. */
INLINE void unite(struct joining *c, int64_t a, int64_t b, double cost) {
    const double both = c->w[a] + c->w[b];
    for (int64_t l = 0; l < c->columns; l++) {
        double *x = c->x + l * PITCH;
        x[a] = (c->w[a] * x[a] + c->w[b] * x[b]) / both;
    }
    c->s[a] = c->s[a] + c->s[b] + cost, c->f[a] += c->f[b], set_mass(c, a, both);
}

/* The place of the last cell is free: no others know it. */
INLINE void drop_last(struct joining *c) {
    const int64_t last = --c->count;
    set_mass(c, last, 0), c->least[last] = INFINITY;
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
    set_mass(c, b, c->w[last]), c->f[b] = c->f[last], c->s[b] = c->s[last];
    c->least[a] = c->least[i], c->least[b] = c->least[last], c->nearest[b] = c->nearest[last];
    drop_last(c);
    for (int64_t o = 0; o < last; o++) {
        const int64_t was = c->nearest[o];
        c->nearest[o] = was == a || was == b ? -1 : was == last ? b : was;
    }
    c->nearest[a] = -1;
}

struct groups {
    struct cells old, more;   /* group after group */
    const int64_t *old_ends;  /* (groups + 1,) where each group's old cells end, 0 first, */
    const int64_t *more_ends; /* and those that are added */
    const double *left;       /* (groups, 2) shares of masses and of late masses that are left of the old ones; */
    double forgotten;         /* no more of it, and a cell is forgotten */
    const int64_t *most;      /* (groups,) cells in the end; no more old ones */
    int64_t groups, columns;
    double *x, *w, *f, *s;    /* set: cells, group after group */
};

INLINE void put_cell(struct joining *c, const struct cells *from, int64_t i, double kept, double late) {
    const int64_t at = c->count++;
    for (int64_t l = 0; l < c->columns; l++)
        c->x[l * PITCH + at] = from->x[i * c->columns + l];
    set_mass(c, at, from->w ? from->w[i] * kept : 1), c->f[at] = from->f ? from->f[i] * late : 1, c->s[at] = from->s ? from->s[i] * kept : 0;
}

/* Add one cell, and join two where they are more than `most` then. */
INLINE void add_cell(struct joining *c, const struct cells *from, int64_t i, int64_t most) {
    const int64_t at = c->count, others = first_least(c->least, at);
    put_cell(c, from, i, 1, 1);
    find_nearest(c, at);
    if (at == most && c->least[at] < c->least[others]) {
        join_last(c);
        return;
    }
    for (int64_t o = 0; o < at; o++) {
        const int closer = c->cost[o] < c->least[o];
        c->least[o] = closer ? c->cost[o] : c->least[o], c->nearest[o] = closer ? at : c->nearest[o];
    }
    if (c->count > most)
        join_two(c);
}

static void join_group(struct joining *c, const struct groups *g, int64_t j) {
    const double kept = g->left[2 * j], late = g->left[2 * j + 1];
    memset(c->x, 0, (size_t)(c->columns * PITCH) * sizeof *c->x);
    memset(c->w, 0, sizeof c->w);
    memset(c->alone, 0, sizeof c->alone);
    for (int64_t i = 0; i < PITCH; i++)
        c->least[i] = INFINITY;
    c->count = 0;
    for (int64_t i = g->old_ends[j]; i < g->old_ends[j + 1]; i++)
        if (g->old.w[i] * kept > g->forgotten)
            put_cell(c, &g->old, i, kept, late);
    if (g->more_ends[j] < g->more_ends[j + 1])
        for (int64_t i = 0; i < c->count; i++)
            find_nearest(c, i);
    for (int64_t i = g->more_ends[j]; i < g->more_ends[j + 1]; i++)
        add_cell(c, &g->more, i, g->most[j]);
}

/* Add cells one by one to old ones, and join the two that are cheapest to join wherever they are more than a group's most. What is added are
 * rows where it has no masses. `room` is (columns, PITCH); `count` (groups,) says how many cells there are then. */
void EXPORTED(join_cells)(const struct groups *g, double *room, int64_t *count) {
    struct joining c;
    c.x = room, c.columns = g->columns;
    int64_t out = 0;
    for (int64_t j = 0; j < g->groups; j++) {
        join_group(&c, g, j);
        count[j] = c.count;
        for (int64_t i = 0; i < c.count; i++, out++) {
            for (int64_t l = 0; l < c.columns; l++)
                g->x[out * c.columns + l] = c.x[l * PITCH + i];
            g->w[out] = c.w[i], g->f[out] = c.f[i], g->s[out] = c.s[i];
        }
    }
}

#define STEPS 16 /* of the grid between two means */
#define GRID (3 * STEPS + 1)
#define GRID_LANES ((GRID + LANES - 1) / LANES * LANES)

struct cut {
    const double *x;    /* (spaces, cells, columns) */
    const double *w;    /* (cells,) masses, 0 of those that are left out */
    const double *s2;   /* (cells,) squared deviation of a cell's rows along any axis of the space of rows */
    const double *back; /* (columns, columns): from another space to that of rows; 0: they are the same */
    double *ends;       /* (2, columns) two points; the means of both sides */
    double *room;       /* (2, columns) */
    int8_t *side;       /* (cells,) 1: nearer to the second point */
    double *mass;       /* (2,) of the sides */
    double *evidence;   /* (1,) of a valley between the sides; 0 where there are no two */
    const double *draw; /* (2,) numbers between 0 and 1, by which two cells are drawn; 0: the sides are given */
    int64_t cells, columns, turns;
    int64_t plain; /* cuts in the space of rows, before those in the other one; there may be but one space */
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

/* Cells of some mass nearer to the second end than to the first; return how many there are. */
INLINE int64_t sides_of_ends(const struct cut *c, int8_t *side) {
    const int64_t d = c->columns, cells = c->cells;
    const double *x = c->x, *w = c->w;
    double *middle = c->room, *way = c->room + d;
    int64_t many = 0;
    for (int64_t l = 0; l < d; l++)
        middle[l] = (c->ends[l] + c->ends[d + l]) / 2, way[l] = c->ends[d + l] - c->ends[l];
    for (int64_t i = 0; i < cells; i++) {
        double t = 0;
        for (int64_t l = 0; l < d; l++)
            t += (x[i * d + l] - middle[l]) * way[l];
        side[i] = (t > 0) & (w[i] > 0), many += side[i];
    }
    return many;
}

/* Two means from the two ends, unless there are no turns and the sides are given; return 0 where all cells are on one side. */
INLINE int two_means(const struct cut *c, int8_t *next) {
    int found = c->turns == 0;
    int64_t some = 0;
    for (int64_t i = 0; i < c->cells; i++)
        some += c->w[i] > 0;
    for (int64_t turn = 0; turn < c->turns; turn++) {
        const int64_t many = sides_of_ends(c, next);
        int64_t changed = !found;
        if (many == 0 || many == some)
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

/* Mass (GRID_LANES,) of cells before each point of the grid on the line of two means, which lie at 0 and 1; what a cell itself contributes to
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
    double grid[GRID_LANES];
    for (int g = 0; g < GRID_LANES; g++)
        mass[g] = 0, grid[g] = (double)(g - STEPS) / STEPS;
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
        for (int64_t g = 0; g < GRID; g += LANES) {
            const lanes t = divide(subtract(load_loose(grid + g), all(z)), all(reach));
            const lanes u = where(less(t, all(-1)), all(-1), where(less(all(1), t), all(1), t)), u2 = multiply(u, u);
            const lanes rise = multiply(u, subtract(all(15), multiply(u2, subtract(all(10), multiply(all(3), u2)))));
            store_loose(mass + g, add(load_loose(mass + g), multiply(all(w), add(all(0.5), multiply(rise, all(1.0 / 16))))));
        }
    }
    return 1;
}

/* Draw a cell with a probability proportional to what stands before it in `total`. */
INLINE int64_t draw_cell(const double *total, int64_t cells, double number) {
    const double at = number * total[cells - 1];
    int64_t i = 0;
    while (i < cells - 1 && total[i] <= at)
        i++;
    return i;
}

/* Draw two ends as k-means++ does; return 0 where all cells lie in one place. `total` is (cells,). */
INLINE int draw_ends(const struct cut *c, double *total) {
    const int64_t d = c->columns;
    double before = 0;
    for (int64_t i = 0; i < c->cells; i++)
        total[i] = before += c->w[i];
    const double *x = c->x + draw_cell(total, c->cells, c->draw[0]) * d;
    memcpy(c->ends, x, (size_t)d * sizeof *x);
    before = 0;
    for (int64_t i = 0; i < c->cells; i++) {
        double d2 = 0;
        for (int64_t l = 0; l < d; l++)
            d2 += (c->x[i * d + l] - x[l]) * (c->x[i * d + l] - x[l]);
        total[i] = before += c->w[i] * d2;
    }
    memcpy(c->ends + d, c->x + draw_cell(total, c->cells, c->draw[1]) * d, (size_t)d * sizeof *x);
    return before > 0;
}

/* How much likelier counts in peaks (STEPS,) of width k and in valleys of width m are than one heap. */
INLINE double likelier(const double *peaks, const double *valleys, double k, double m) {
    const lanes few = all(1e-12), p_share = all((k + m) / k), q_share = all((k + m) / m);
    double most = 0, line[LANES];
    for (int64_t t = 0; t < STEPS; t += LANES) {
        lanes p = load_loose(peaks + t), q = load_loose(valleys + t);
        p = where(less(p, few), few, p), q = where(less(q, few), few, q);
        const lanes both = add(p, q), log_p = logarithm(divide(multiply(p, p_share), both)), log_q = logarithm(divide(multiply(q, q_share), both));
        const lanes ratio = add(multiply(p, log_p), multiply(q, log_q));
        store_loose(line, where(less(multiply(q, all(k)), multiply(p, all(m))), ratio, all(0)));
        for (int l = 0; l < LANES; l++)
            most = line[l] > most ? line[l] : most;
    }
    return most;
}

/* Cut cells in two, and find the evidence over windows: two peaks of 2, 4 or 8 steps of the grid, and between them a valley of 2, 4, 8 or
 * 12. `next` is (cells,), `total` too. */
static double cut_in_two(const struct cut *c, int8_t *next, double *total) {
    static const int64_t peaks[3] = {2, 4, 8}, valleys[4] = {2, 4, 8, 12};
    double mass[GRID_LANES], left[GRID], right[GRID], peak[STEPS], valley[STEPS], most = 0;
    if ((c->draw && !draw_ends(c, total)) || !two_means(c, next))
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
                const int64_t at = STEPS + t;
                const int there = at + m <= 2 * STEPS;
                const double before = there ? left[at - k] : 0, after = there ? right[at + m] : 0;
                peak[t] = before < after ? before : after;
                valley[t] = there ? mass[at + m] - mass[at] : 0;
            }
            const double found = likelier(peak, valley, (double)k, (double)m);
            most = found > most ? found : most;
        }
    }
    return most;
}

/* Cut cells in `cuts` ways: all that a cut writes has an axis more, which is the first, and so have the numbers that it is drawn by. */
void EXPORTED(cut_cells)(const struct cut *all_cuts, int8_t *next, double *total, int64_t cuts) {
    struct cut c = *all_cuts;
    for (int64_t t = 0; t < cuts; t++) {
        c.back = t < c.plain ? 0 : all_cuts->back;
        if (t && t == c.plain)
            c.x += c.cells * c.columns;
        *c.evidence = cut_in_two(&c, next, total);
        c.ends += 2 * c.columns, c.side += c.cells, c.mass += 2, c.evidence++;
        if (c.draw)
            c.draw += 2;
    }
}

#endif
