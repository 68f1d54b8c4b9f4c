/* The nearest of very many centres, which lie in groups: rows first meet the groups' middles, and then only groups that may hold their nearest.
 *
 * No centre of a group is nearer to a row than the middle is, less the group's radius. Centres of the groups that this leaves are bounded along
 * the directions of search.h or, where there are none, by products of all columns, which are fast and round otherwise; what is open then, a few
 * centres of each row, is measured as everywhere. So neither groups nor those products change a result.
 *
 * Sweeps that need not be exact probe a few groups, those of the nearest middles, and take the products of all columns as they are. Many rows
 * meet in each group then, so that its centres stay in the cache. Rows that are far from what they find, beside the others, have most to lose,
 * and look through more. */
#include "found.h"

#define PAIR (2 * LANES) /* centres that are bounded together */
#define MEETING 512      /* rows that probe together */

struct groups {
    const real *middles;   /* panels of the groups' middles, (panels, 1 + columns, LANES) of |q|^2 and -2 q; an even number of panels */
    const real *radius;    /* (panels, LANES) no centre of a group is farther from its middle */
    const real *panels;    /* of the centres in the order of groups, as those of `search`, or of all columns as those of the middles */
    const int32_t *number; /* (panels, LANES) of these centres; below 0 where there is none */
    const int64_t *first;  /* (count + 1,) first pair of panels of each group */
    int64_t count;
    int64_t probes, more;  /* groups that a row looks through where it probes, and others where its squared distance is above `far` times the mean */
    double far;
    double margin;         /* share of k(x, x) + |v|^2 by which rounding may change products of all columns */
};

struct grouped {
    struct searched s;
    const struct search *search;
    const struct groups *groups;
    uint8_t *row;       /* (groups, TILE) rows of the tile that look through each group */
    int32_t *rows;      /* (groups,) how many they are */
    int32_t *open;      /* (groups,) groups that may hold the nearest centre of one row */
    int32_t home[TILE]; /* group of the nearest middle */
    void *memory;
};

static int new_grouped(struct grouped *g, const struct search *search, const struct groups *groups) {
    g->search = search, g->groups = groups;
    g->memory = malloc((size_t)groups->count * (TILE + 2 * sizeof(int32_t)));
    if (g->memory == NULL)
        return 0;
    g->rows = g->memory;
    g->open = g->rows + groups->count;
    g->row = (uint8_t *)(g->open + groups->count);
    if (new_search_of(&g->s, search, TILE, groups->count))
        return 1;
    free(g->memory);
    return 0;
}

/* Measure the centres of a pair of panels that may be nearest to row i, as their bounds are not beyond a limit. */
INLINE void choose(struct searched *s, const struct search *search, int64_t i, const real *low, const int32_t *number, real margin) {
    uint64_t measured = 0;
    for (int turn = 0;; turn++) {
        const lanes limit = all(s->d2[i] + margin);
        const uint64_t first = bits_of(less(limit, load(low))), second = bits_of(less(limit, load(low + LANES)));
        uint64_t open = ~(first | second << LANES | measured) & (((uint64_t)1 << (PAIR - 1) << 1) - 1);
        int32_t next[AFEW];
        real d2[AFEW];
        int64_t count = 0;
        if (open == 0)
            return;
        if (turn == 0 && __builtin_popcountll(open) > AFEW) { /* that of the least bound rules out others */
            uint64_t least = open & -open;
            for (uint64_t rest = open; rest != 0; rest &= rest - 1)
                if (low[__builtin_ctzll(rest)] < low[__builtin_ctzll(least)])
                    least = rest & -rest;
            open = least;
        }
        for (; open != 0 && count < AFEW; open &= open - 1) {
            const int32_t j = number[__builtin_ctzll(open)];
            measured |= open & -open;
            next[count] = j;
            count += j >= 0;
        }
        if (count == 0)
            continue;
        distances_to_some(s, search, i, next, count, d2);
        keep_smaller(s, i, next, count, d2);
    }
}

INLINE real margin_of_products(const struct grouped *g, int64_t i) {
    return (real)g->groups->margin * (*kxx_of(&g->s, g->search, i) + g->s.largest);
}

/* What the distances of some rows (count,) of the tile to a pair of panels are at least: `low`, `width` numbers from row to row. Rows are
 * multiplied with their coordinates along the directions, or with all columns. */
static void bound_some(const struct grouped *g, const uint8_t *row, int64_t count, const real *points, int all_columns, real *low, int64_t width) {
    const struct searched *s = &g->s;
    const int64_t depth = all_columns ? s->rows->columns : g->search->size + 1;
    for (int64_t k = 0; k < count; k += BOUND_ROWS) {
        const real *z[BOUND_ROWS];
        real kxx[BOUND_ROWS];
        for (int q = 0; q < BOUND_ROWS; q++) {
            const int64_t i = row[at_most(k + q, count - 1)];
            z[q] = all_columns ? s->moved + i * g->search->pitch : s->z + i * (g->search->size + 2);
            kxx[q] = *kxx_of(s, g->search, i);
        }
        for (int p = 0; p < 2; p += BOUND_PANELS)
            bound_rows(z, kxx, points + p * LANES * (1 + depth), depth, low + k * width + p * LANES, width);
    }
}

/* The rows of a group look through it. */
static void look_through(struct grouped *g, int64_t group) {
    struct searched *s = &g->s;
    const int all_columns = g->search->size == 0;
    const int64_t count = g->rows[group], depth = all_columns ? s->rows->columns : g->search->size + 1;
    const uint8_t *row = g->row + group * TILE;
    real low[TILE * PAIR] __attribute__((aligned(LINE)));
    for (int64_t pair = g->groups->first[group]; pair < g->groups->first[group + 1]; pair++) {
        bound_some(g, row, count, g->groups->panels + pair * PAIR * (1 + depth), all_columns, low, PAIR);
        for (int64_t k = 0; k < count; k++) {
            const real margin = all_columns ? margin_of_products(g, row[k]) : margin_of(s, g->search, row[k]);
            choose(s, g->search, row[k], low + k * PAIR, g->groups->number + pair * PAIR, margin);
        }
    }
}

/* Squared distances of a tile's rows to the groups' middles. */
static void meet_middles(struct grouped *g, int64_t count) {
    uint8_t row[TILE];
    for (int64_t t = 0; t < TILE; t++)
        row[t] = (uint8_t)t;
    for (int64_t panel = 0; panel < g->s.width / LANES; panel += 2)
        bound_some(g, row, count, g->groups->middles + panel * (1 + g->s.rows->columns) * LANES, 1, g->s.low + panel * LANES, g->s.width);
}

INLINE void join(struct grouped *g, int64_t group, int64_t i) { g->row[group * TILE + g->rows[group]++] = (uint8_t)i; }

/* The groups, other than that of its nearest middle, that may hold a centre nearer to row i than the one that is known; their number. */
static int64_t find_open(struct grouped *g, int64_t i) {
    struct searched *s = &g->s;
    const real *low = s->low + i * s->width, margin = margin_of_products(g, i);
    const lanes reach = all((real)sqrt((double)(s->d2[i] + margin))), more = all((real)(1 + g->search->rounding)), less_than = all(margin);
    int64_t count = 0;
    for (int64_t first = 0; first < s->clusters; first += LANES) {
        const lanes within = multiply(add(load(g->groups->radius + first), reach), more);
        uint64_t open = bits_of(less(multiply(within, within), subtract(load(low + first), less_than))) ^ ALL_LANES;
        for (; open != 0; open &= open - 1) {
            const int32_t group = (int32_t)(first + __builtin_ctzll(open));
            if (group < s->clusters && group != g->home[i])
                g->open[count++] = group;
        }
    }
    return count;
}

/* Rows join the groups that are open to them. */
static void join_others(struct grouped *g, int64_t count) {
    memset(g->rows, 0, (size_t)g->groups->count * sizeof(int32_t));
    for (int64_t i = 0; i < count; i++) {
        const int64_t open = find_open(g, i);
        for (int64_t k = 0; k < open; k++)
            join(g, g->open[k], i);
    }
}

/* The rows of a group to whom it can still be near. */
static void leave_early(struct grouped *g, int64_t group) {
    struct searched *s = &g->s;
    uint8_t *row = g->row + group * TILE;
    int32_t left = 0;
    for (int32_t k = 0; k < g->rows[group]; k++) {
        const int64_t i = row[k];
        const real margin = margin_of_products(g, i), reach = (real)sqrt((double)(s->d2[i] + margin));
        const real within = (g->groups->radius[group] + reach) * (real)(1 + g->search->rounding);
        row[left] = (uint8_t)i;
        left += !(within * within < s->low[i * s->width + group] - margin);
    }
    g->rows[group] = left;
}

static void search_groups(struct grouped *g, int64_t count) {
    struct searched *s = &g->s;
    const int64_t groups = g->groups->count;
    real least;
    for (int64_t i = 0; i < count; i++) {
        s->z[i * (g->search->size + 2) + g->search->size] = 0;
        fetch_row(s, s->ahead[i]);
        load_row(s, g->search, i);
    }
    if (g->search->size > 0)
        find_coordinates(s, g->search, count);
    meet_middles(g, count);
    memset(g->rows, 0, (size_t)groups * sizeof(int32_t));
    for (int64_t i = 0; i < count; i++) {
        g->home[i] = smallest_of(s->low + i * s->width, groups, &least);
        join(g, g->home[i], i);
    }
    for (int64_t group = 0; group < groups; group++)
        if (g->rows[group] > 0)
            look_through(g, group);
    join_others(g, count);
    for (int64_t group = 0; group < groups; group++) {
        if (g->rows[group] > 0)
            leave_early(g, group);
        if (g->rows[group] > 0)
            look_through(g, group);
    }
    for (int64_t i = 0; i < count; i++)
        s->label[i] = s->label[i] < 0 ? 0 : s->label[i]; /* of a row that is at no distance from any */
}

int EXPORTED(assign_in_groups)(const struct rows *rows, const struct search *search, const struct groups *groups, const struct found *to) {
    struct grouped g;
    if (!new_grouped(&g, search, groups))
        return NO_MEMORY;
    g.s.rows = rows, g.s.coordinates = NULL;
    for (int64_t start = 0; start < rows->count; start += g.s.room) {
        const int64_t count = begin_tile(&g.s, start);
        search_groups(&g, count);
        keep_found(&g.s, search, to, start, count);
    }
    free(g.s.memory);
    free(g.memory);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- probing */

struct probing {
    const struct rows *rows;
    const struct groups *groups;
    int64_t pitch, width;      /* numbers from one row to the next, of coordinates and of distances to middles */
    real *moved;               /* (MEETING, pitch) rows less the shift */
    real *kxx, *d2;            /* (MEETING,) k(x, x), and the squared distance to the nearest centre that is known */
    real *low;                 /* (MEETING, width) squared distances to the middles */
    real *near;                /* (MEETING, LANES) the smallest distances to centres of one group */
    whole *panel;              /* (MEETING, LANES) and the panels that these are of */
    int32_t *label;            /* (MEETING,) the nearest centre that is known */
    int32_t *count;            /* (groups,) rows that look through each, */
    uint16_t *row;             /* (groups, MEETING) and which these are */
    void *memory;
};

static int new_probing(struct probing *p, const struct rows *rows, const struct groups *groups) {
    const int64_t pitch = in_lines(rows->columns), width = (in_lines(groups->count) + LANES) / (2 * LANES) * (2 * LANES);
    const size_t reals = (size_t)(pitch + 2 + width + 2 * LANES);
    const size_t lists = (size_t)groups->count * (sizeof(int32_t) + MEETING * sizeof(uint16_t));
    p->memory = malloc(MEETING * (reals * sizeof(real) + sizeof(int32_t)) + lists + LINE);
    if (p->memory == NULL)
        return 0;
    p->rows = rows, p->groups = groups, p->pitch = pitch, p->width = width;
    p->moved = aligned_to_line(p->memory);
    p->low = p->moved + MEETING * pitch;
    p->near = p->low + MEETING * width;
    p->panel = (whole *)(p->near + MEETING * LANES);
    p->kxx = (real *)(p->panel + MEETING * LANES);
    p->d2 = p->kxx + MEETING;
    p->label = (int32_t *)(p->d2 + MEETING);
    p->count = p->label + MEETING;
    p->row = (uint16_t *)(p->count + groups->count);
    return 1;
}

/* Rows `start` ... less the shift, and k(x, x). */
static void read_rows(struct probing *p, int64_t start, int64_t count) {
    const struct rows *rows = p->rows;
    for (int64_t i = 0; i < count; i++) {
        const real *from = rows->values + (start + i) * rows->pitch;
        real *to = p->moved + i * p->pitch;
        lanes squares = all(0);
        for (int64_t f = 0; f < rows->columns; f += LANES) {
            lanes x = load_some(from + f, rows->columns - f);
            if (rows->shift != NULL)
                x = subtract(x, load_some(rows->shift + f, rows->columns - f));
            store(to + f, x);
            squares = fused(x, x, squares);
        }
        p->kxx[i] = rows->kxx == NULL ? sum(squares) : rows->kxx[start + i];
        p->d2[i] = (real)INFINITY, p->label[i] = 0;
    }
}

/* Squared distances of BOUND_ROWS rows, from the k-th of some on, to a pair of panels; each row's numbers lie `width` apart. */
INLINE void measure(const struct probing *p, const uint16_t *row, int64_t k, int64_t count, const real *points, real *d2, int64_t width) {
    const real *x[BOUND_ROWS];
    real kxx[BOUND_ROWS];
    for (int q = 0; q < BOUND_ROWS; q++) {
        const int64_t i = row[at_most(k + q, count - 1)];
        x[q] = p->moved + i * p->pitch, kxx[q] = p->kxx[i];
    }
    for (int s = 0; s < 2; s += BOUND_PANELS)
        bound_rows(x, kxx, points + s * LANES * (1 + p->rows->columns), p->rows->columns, d2 + s * LANES, width);
}

/* The rows of a group look for a nearer centre in it. */
static void probe(struct probing *p, int64_t group) {
    const int64_t count = p->count[group], first = p->groups->first[group], last = p->groups->first[group + 1];
    const uint16_t *row = p->row + group * MEETING;
    real d2[BOUND_ROWS * PAIR] __attribute__((aligned(LINE)));
    for (int64_t k = 0; k < count; k++)
        store(p->near + k * LANES, all((real)INFINITY)), store_whole(p->panel + k * LANES, all_whole((whole)(2 * first)));
    for (int64_t pair = first; pair < last; pair++)
        for (int64_t k = 0; k < count; k += BOUND_ROWS) {
            measure(p, row, k, count, p->groups->panels + pair * PAIR * (1 + p->rows->columns), d2, PAIR);
            for (int64_t q = 0; q < at_most(BOUND_ROWS, count - k); q++)
                for (int s = 0; s < 2; s++) {
                    real *near = p->near + (k + q) * LANES;
                    whole *panel = p->panel + (k + q) * LANES;
                    const lanes here = load(d2 + q * PAIR + s * LANES), least = load(near);
                    const mask closer = less(here, least);
                    store(near, where(closer, here, least));
                    store_whole(panel, where_whole(closer, all_whole((whole)(2 * pair + s)), load_whole(panel)));
                }
        }
    for (int64_t k = 0; k < count; k++)
        for (int t = 0; t < LANES; t++) {
            const real here = p->near[k * LANES + t];
            const int64_t i = row[k];
            if (here > p->d2[i] || !(here < (real)INFINITY))
                continue;
            const int32_t j = p->groups->number[(int64_t)p->panel[k * LANES + t] * LANES + t];
            if (here < p->d2[i] || j < p->label[i])
                p->d2[i] = here, p->label[i] = j;
        }
}

/* Row i looks into some groups of the nearest middles, other than before. */
static void join_nearest(struct probing *p, int64_t i, int64_t some) {
    real *low = p->low + i * p->width, least;
    for (int64_t k = 0; k < some; k++) {
        const int32_t group = smallest_of(low, p->groups->count, &least);
        if (!(least < (real)INFINITY))
            return;
        p->row[group * MEETING + p->count[group]++] = (uint16_t)i;
        low[group] = (real)INFINITY;
    }
}

static void probe_all(struct probing *p) {
    for (int64_t group = 0; group < p->groups->count; group++)
        if (p->count[group] > 0)
            probe(p, group);
    memset(p->count, 0, (size_t)p->groups->count * sizeof(int32_t));
}

/* The labels (count,) of rows that probe. */
int EXPORTED(probe_groups)(const struct rows *rows, const struct groups *groups, int64_t *labels) {
    struct probing p;
    uint16_t everyone[MEETING];
    if (!new_probing(&p, rows, groups))
        return NO_MEMORY;
    for (int64_t i = 0; i < MEETING; i++)
        everyone[i] = (uint16_t)i;
    memset(p.count, 0, (size_t)groups->count * sizeof(int32_t));
    for (int64_t start = 0; start < rows->count; start += MEETING) {
        const int64_t count = at_most(MEETING, rows->count - start);
        double total = 0;
        read_rows(&p, start, count);
        for (int64_t panel = 0; panel < p.width / LANES; panel += 2)
            for (int64_t i = 0; i < count; i += BOUND_ROWS)
                measure(&p, everyone, i, count, groups->middles + panel * (1 + rows->columns) * LANES, p.low + i * p.width + panel * LANES, p.width);
        for (int64_t i = 0; i < count; i++)
            join_nearest(&p, i, groups->probes);
        probe_all(&p);
        for (int64_t i = 0; i < count; i++)
            total += (double)p.d2[i];
        for (int64_t i = 0; i < count; i++)
            if (p.d2[i] > groups->far * total / (double)count)
                join_nearest(&p, i, groups->more);
        probe_all(&p);
        for (int64_t i = 0; i < count; i++)
            labels[start + i] = p.label[i];
    }
    free(p.memory);
    return 0;
}
