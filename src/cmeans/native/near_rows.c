/* Rows that are near each other: the nearest neighbours of rows, and the shortest edges from parts of them to other parts.
 *
 * Rows lie in leaves of ROWS, and leaves in a tree of boxes; leaves and rows that a search cannot need are passed over. Squared distances
 * are first computed with `real` numbers and products fused with additions, and then, where they may matter, from the rows as they are, in
 * one order and without fused products: what is found does not depend on the first, which may be wrong by `slack` and `relative`. */
#include <stdlib.h>

#include "vectors.h"

#define ROWS 32     /* of a leaf, all but the last of which are full */
#define TOGETHER (PARTS == 1 ? 4 : 2) /* searching rows at a time, as many as there are registers for */
#define CHUNK 16    /* columns after which rows that are all too far are left */
#define DEEPEST 128 /* places on the way through the tree */
#define PANELS (ROWS / LANES)

/* The tree: a node of more than one leaf has two children, of which the first has half of its leaves, rounded up. Nodes are numbered from the
 * root on, those of the first child before those of the second. */
struct node {
    int64_t number, start, stop; /* leaves start ... stop - 1 */
};

INLINE struct node child(struct node v, int second) {
    const int64_t middle = (v.start + v.stop + 1) / 2;
    if (second)
        return (struct node){v.number + 2 * (middle - v.start), middle, v.stop};
    return (struct node){v.number + 1, v.start, middle};
}

/* ---------------------------------------------------------------------------------------------------------- building */

struct tree_room {
    const double *points; /* (count, columns) */
    int64_t *order;       /* (count,) numbers of the rows, which are put into the order of leaves */
    double *boxes;        /* (nodes, 2, columns) least and largest numbers of each node's rows */
    int64_t count, columns;
};

static int before(const struct tree_room *t, int64_t column, int64_t a, int64_t b) {
    const double x = t->points[a * t->columns + column], y = t->points[b * t->columns + column];
    return x < y || (x == y && a < b);
}

/* Put the rows that come first by a column, then by number, before place `middle`. */
static void divide_rows(const struct tree_room *t, int64_t column, int64_t start, int64_t stop, int64_t middle) {
    int64_t *order = t->order;
    while (stop - start > 1) {
        const int64_t a = order[start], b = order[start + (stop - start) / 2], c = order[stop - 1];
        const int ab = before(t, column, a, b), bc = before(t, column, b, c), ac = before(t, column, a, c);
        const int64_t pivot = ab == bc ? b : ab == ac ? c : a; /* the middle one of the three */
        int64_t i = start, j = stop - 1;
        while (i <= j) {
            while (before(t, column, order[i], pivot))
                i++;
            while (before(t, column, pivot, order[j]))
                j--;
            if (i <= j) {
                const int64_t swapped = order[i];
                order[i++] = order[j];
                order[j--] = swapped;
            }
        }
        if (middle <= j)
            stop = j + 1;
        else if (middle >= i)
            start = i;
        else
            return;
    }
}

static int64_t widest_column(const struct tree_room *t, const double *low, const double *high) {
    int64_t widest = 0;
    for (int64_t f = 1; f < t->columns; f++)
        if (high[f] - low[f] > high[widest] - low[widest])
            widest = f;
    return widest;
}

void EXPORTED(build_tree)(const struct tree_room *t) {
    struct node waiting[DEEPEST];
    int64_t n_waiting = 0;
    waiting[n_waiting++] = (struct node){0, 0, (t->count + ROWS - 1) / ROWS};
    while (n_waiting) {
        const struct node v = waiting[--n_waiting];
        double *low = t->boxes + 2 * v.number * t->columns, *high = low + t->columns;
        const int64_t start = v.start * ROWS, stop = v.stop * ROWS < t->count ? v.stop * ROWS : t->count;
        for (int64_t f = 0; f < t->columns; f++)
            low[f] = high[f] = t->points[t->order[start] * t->columns + f];
        for (int64_t i = start + 1; i < stop; i++) {
            const double *row = t->points + t->order[i] * t->columns;
            for (int64_t f = 0; f < t->columns; f++) {
                low[f] = row[f] < low[f] ? row[f] : low[f];
                high[f] = row[f] > high[f] ? row[f] : high[f];
            }
        }
        if (v.stop - v.start > 1) {
            divide_rows(t, widest_column(t, low, high), start, stop, child(v, 1).start * ROWS);
            waiting[n_waiting++] = child(v, 1);
            waiting[n_waiting++] = child(v, 0);
        }
    }
}

/* --------------------------------------------------------------------------------------------------------- searching */

struct near_rows {
    const double *points; /* (count, columns) rows in the order of leaves */
    const real *leaves;   /* (leaves, columns, ROWS) the same, column by column; infinite where rows are lacking */
    const real *boxes;    /* (nodes, 2, columns) least and largest numbers of these */
    const int64_t *names; /* (count,) by which equally near rows are told apart */
    int64_t count, columns, n_leaves;
    int64_t begin, end;   /* leaves whose rows search, or rows */
    double slack, relative;
    /* nearest neighbours */
    double *squares;  /* (count, wanted) squared distances, the least first; of a row that does not search the last is below 0 */
    int32_t *numbers; /* (count, wanted) */
    int64_t wanted;
    /* nearest neighbours in cells, which are rows that follow each other: rows `begin` ... of those that search, each with a row of squares */
    const int64_t *rows;  /* (searching,) their numbers */
    const int32_t *cells; /* (searching, n_cells) cells that each looks through, the nearest first */
    const int64_t *first; /* (cells + 1,) first row of each cell */
    int64_t n_cells;
    /* shortest edges between parts */
    const int32_t *part;      /* (count,) of each row */
    const int32_t *node_part; /* (nodes,) of all rows of a node; -1 where there are several */
    const double *core;       /* (count,) squared core distances */
    double *reach;            /* (parts,) squares of the shortest edges found so far, below 0 where none is sought */
    double *low;              /* (count,) below which a row is known to have no edges, but for those that are listed */
    double *best;             /* (count,) squares of each row's shortest edge found so far */
    int32_t *partner;         /* (count,) where it ends */
};

/* Rows of one leaf on their search. */
struct searcher {
    const struct near_rows *s;
    int64_t leaf, first, n_rows;
    real limits[ROWS] __attribute__((aligned(LINE))); /* computed squares that are above cannot matter */
    real largest;                                     /* of them */
};

/* What a computed square is at most, where the true one is at most `square`. */
INLINE real limit(const struct near_rows *s, double square) {
    const double root = sqrt(square) + s->slack;
    return square < 0 ? (real)-1 : (real)(root * root * (1 + s->relative) + (BITS == 64 ? 1e-300 : 1e-36));
}

INLINE void find_largest(struct searcher *q) {
    q->largest = -1;
    for (int64_t r = 0; r < ROWS; r++)
        q->largest = q->limits[r] > q->largest ? q->limits[r] : q->largest;
}

static double exact_square(const struct near_rows *s, int64_t i, int64_t j) {
    const double *x = s->points + i * s->columns, *y = s->points + j * s->columns;
    double sum = 0;
    for (int64_t f = 0; f < s->columns; f++) {
        const double difference = x[f] - y[f];
        sum += difference * difference;
    }
    return sum;
}

static real between_boxes(const struct near_rows *s, int64_t v, int64_t w) {
    const real *a = s->boxes + 2 * v * s->columns, *b = s->boxes + 2 * w * s->columns;
    real sum = 0;
    for (int64_t f = 0; f < s->columns; f++) {
        const real left = a[f] - b[s->columns + f], right = b[f] - a[s->columns + f];
        const real gap = left > right ? left : right;
        sum += gap > 0 ? gap * gap : 0;
    }
    return sum;
}

/* Which of the searching rows may be near some row of a box. */
INLINE uint64_t rows_near_box(const struct searcher *q, int64_t v) {
    const struct near_rows *s = q->s;
    const real *low = s->boxes + 2 * v * s->columns, *high = low + s->columns;
    const real *x = s->leaves + q->leaf * s->columns * ROWS;
    lanes sums[PANELS];
    uint64_t found = 0;
    for (int p = 0; p < PANELS; p++)
        sums[p] = all(0);
    for (int64_t f = 0; f < s->columns; f++)
#pragma GCC unroll 4
        for (int p = 0; p < PANELS; p++) {
            const lanes here = load(x + f * ROWS + p * LANES);
            const lanes gap = smaller(smaller(subtract(here, all(low[f])), subtract(all(high[f]), here)), all(0));
            sums[p] = fused(gap, gap, sums[p]);
        }
    for (int p = 0; p < PANELS; p++)
        found |= bits_of(at_least(load(q->limits + p * LANES), sums[p])) << (p * LANES);
    return found;
}

/* Which rows of a leaf may be within the limits of some searching rows. */
INLINE void compare_rows(const struct searcher *q, const int64_t *rows, int count, int64_t leaf, uint64_t *found) {
    const struct near_rows *s = q->s;
    const real *x = s->leaves + q->leaf * s->columns * ROWS, *y = s->leaves + leaf * s->columns * ROWS;
    lanes sums[TOGETHER][PANELS];
#pragma GCC unroll 4
    for (int a = 0; a < count; a++)
        for (int p = 0; p < PANELS; p++)
            sums[a][p] = all(0);
    for (int64_t f = 0; f < s->columns;) {
        const int64_t stop = f + CHUNK < s->columns ? f + CHUNK : s->columns;
        uint64_t any = 0;
        for (; f < stop; f++) {
            lanes there[PANELS];
            for (int p = 0; p < PANELS; p++)
                there[p] = load(y + f * ROWS + p * LANES);
#pragma GCC unroll 4
            for (int a = 0; a < count; a++) {
                const lanes here = all(x[f * ROWS + rows[a]]);
#pragma GCC unroll 4
                for (int p = 0; p < PANELS; p++) {
                    const lanes difference = subtract(here, there[p]);
                    sums[a][p] = fused(difference, difference, sums[a][p]);
                }
            }
        }
#pragma GCC unroll 4
        for (int a = 0; a < count; a++) {
            found[a] = 0;
            for (int p = 0; p < PANELS; p++)
                found[a] |= bits_of(at_least(all(q->limits[rows[a]]), sums[a][p])) << (p * LANES);
            any |= found[a];
        }
        if (!any)
            return;
    }
}

/* The next of some searching rows, TOGETHER of them at most, and which rows of a leaf may be within their limits; returns how many. */
static int next_rows(const struct searcher *q, uint64_t *waiting, int64_t leaf, int64_t *rows, uint64_t *found) {
    int count = 0;
    for (; *waiting && count < TOGETHER; *waiting &= *waiting - 1)
        rows[count++] = __builtin_ctzll(*waiting);
    if (count == TOGETHER)
        compare_rows(q, rows, TOGETHER, leaf, found);
    else
        for (int a = 0; a < count; a++)
            compare_rows(q, rows + a, 1, leaf, found + a);
    return count;
}

/* Nodes that may hold what is sought, the nearest first; the searching leaf itself before all. */
INLINE void go_through(struct searcher *q, int (*is_needed)(const struct searcher *, int64_t), void (*meet)(struct searcher *, int64_t, int64_t)) {
    const struct near_rows *s = q->s;
    struct node waiting[DEEPEST], v = {0, 0, s->n_leaves};
    real gaps[DEEPEST];
    int64_t n_waiting = 0, own = 0;
    while (v.stop - v.start > 1) { /* the searching leaf's own node */
        v = child(v, q->leaf >= (v.start + v.stop + 1) / 2);
        own = v.number;
    }
    waiting[0] = (struct node){0, 0, s->n_leaves};
    gaps[n_waiting++] = 0;
    while (n_waiting) {
        v = waiting[--n_waiting];
        if (gaps[n_waiting] > q->largest || !is_needed(q, v.number))
            continue;
        if (v.stop - v.start == 1) {
            meet(q, v.number, v.start);
            continue;
        }
        const struct node first = child(v, 0), second = child(v, 1);
        const real near = between_boxes(s, own, first.number), far = between_boxes(s, own, second.number);
        const int is_second_nearer = far < near || (far == near && q->leaf >= second.start);
        waiting[n_waiting] = is_second_nearer ? first : second;
        gaps[n_waiting++] = is_second_nearer ? near : far;
        waiting[n_waiting] = is_second_nearer ? second : first;
        gaps[n_waiting++] = is_second_nearer ? far : near;
    }
}

INLINE struct searcher searcher_of(const struct near_rows *s, int64_t leaf) {
    const int64_t left = s->count - leaf * ROWS;
    struct searcher q = {.s = s, .leaf = leaf, .first = leaf * ROWS, .n_rows = left < ROWS ? left : ROWS};
    for (int64_t r = 0; r < ROWS; r++)
        q.limits[r] = -1;
    return q;
}

/* ------------------------------------------------------------------------------------------------ nearest neighbours */

static int any(const struct searcher *q, int64_t v) {
    (void)q, (void)v;
    return 1;
}

/* Put row j into the list of searching row r, which is number `at` of the lists, where it is near enough. */
static void list(struct searcher *q, int64_t r, int64_t at, int64_t j) {
    const struct near_rows *s = q->s;
    double *squares = s->squares + at * s->wanted;
    int32_t *numbers = s->numbers + at * s->wanted;
    const double square = exact_square(s, q->first + r, j);
    int64_t place = s->wanted;
    for (; place > 0; place--) {
        const double other = squares[place - 1];
        if (other < square || (other == square && (other == INFINITY || s->names[numbers[place - 1]] < s->names[j])))
            break;
        if (place < s->wanted) {
            squares[place] = other;
            numbers[place] = numbers[place - 1];
        }
    }
    if (place == s->wanted)
        return;
    squares[place] = square;
    numbers[place] = (int32_t)j;
    q->limits[r] = limit(s, squares[s->wanted - 1]);
}

static void meet_neighbours(struct searcher *q, int64_t v, int64_t leaf) {
    int64_t rows[TOGETHER];
    uint64_t found[TOGETHER];
    for (uint64_t waiting = rows_near_box(q, v); waiting;)
        for (int a = next_rows(q, &waiting, leaf, rows, found) - 1; a >= 0; a--)
            for (; found[a]; found[a] &= found[a] - 1) {
                const int64_t j = leaf * ROWS + __builtin_ctzll(found[a]);
                if (j < q->s->count && j != q->first + rows[a])
                    list(q, rows[a], q->first + rows[a], j);
            }
    find_largest(q);
}

void EXPORTED(nearest_rows)(const struct near_rows *s) {
    for (int64_t leaf = s->begin; leaf < s->end; leaf++) {
        struct searcher q = searcher_of(s, leaf);
        for (int64_t r = 0; r < q.n_rows; r++)
            q.limits[r] = limit(s, s->squares[(q.first + r + 1) * s->wanted - 1]);
        find_largest(&q);
        if (q.largest >= 0)
            go_through(&q, any, meet_neighbours);
    }
}

void EXPORTED(nearest_in_cells)(const struct near_rows *s) {
    for (int64_t i = s->begin; i < s->end; i++) {
        struct searcher q = searcher_of(s, s->rows[i] / ROWS);
        const int64_t r = s->rows[i] % ROWS;
        uint64_t found;
        q.limits[r] = limit(s, s->squares[(i + 1) * s->wanted - 1]);
        for (int64_t c = 0; c < s->n_cells; c++) {
            const int64_t start = s->first[s->cells[i * s->n_cells + c]], stop = s->first[s->cells[i * s->n_cells + c] + 1];
            for (int64_t leaf = start / ROWS; leaf * ROWS < stop; leaf++)
                for (compare_rows(&q, &r, 1, leaf, &found); found; found &= found - 1) {
                    const int64_t j = leaf * ROWS + __builtin_ctzll(found);
                    if (j >= start && j < stop && j != s->rows[i])
                        list(&q, r, i, j);
                }
        }
    }
}

/* ---------------------------------------------------------------------------------------- shortest edges between parts */

/* Threads share what parts have reached, which only falls: what they find does not depend on when they hear of it. */
INLINE double reached(const double *reach) {
    double now;
    __atomic_load(reach, &now, __ATOMIC_RELAXED);
    return now;
}

INLINE int lower(double *reach, double square) {
    double now = reached(reach);
    while (square < now)
        if (__atomic_compare_exchange(reach, &now, &square, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return 1;
    return 0;
}

/* Limits of the rows whose part has found a shorter edge, or all. */
INLINE void set_limits(struct searcher *q, int32_t part) {
    const struct near_rows *s = q->s;
    for (int64_t r = 0; r < q->n_rows; r++) {
        const int64_t i = q->first + r;
        if (part < 0 || s->part[i] == part) {
            const double most = reached(s->reach + s->part[i]);
            q->limits[r] = s->low[i] > most || s->core[i] > most ? -1 : limit(s, most);
        }
    }
}

static int has_other_parts(const struct searcher *q, int64_t v) {
    const int32_t part = q->s->node_part[v];
    if (part < 0)
        return 1;
    for (int64_t r = 0; r < q->n_rows; r++)
        if (q->limits[r] >= 0 && q->s->part[q->first + r] != part)
            return 1;
    return 0;
}

/* 1 where the edge from i to j comes before that from i to k, which is as long: by the smaller and the larger name of its ends. */
INLINE int comes_first(const int64_t *names, int64_t i, int64_t j, int64_t k) {
    const int64_t a = names[i], b = names[j], c = names[k];
    const int64_t least_b = a < b ? a : b, least_c = a < c ? a : c;
    return least_b < least_c || (least_b == least_c && b < c);
}

static void offer(struct searcher *q, int64_t r, int64_t j) {
    const struct near_rows *s = q->s;
    const int64_t i = q->first + r;
    double square = exact_square(s, i, j);
    square = s->core[i] > square ? s->core[i] : square;
    square = s->core[j] > square ? s->core[j] : square;
    if (square > s->best[i] || (square == s->best[i] && !comes_first(s->names, i, j, s->partner[i])))
        return;
    s->best[i] = square;
    s->partner[i] = (int32_t)j;
    lower(s->reach + s->part[j], square);
    if (lower(s->reach + s->part[i], square))
        set_limits(q, s->part[i]);
}

static void meet_parts(struct searcher *q, int64_t v, int64_t leaf) {
    const struct near_rows *s = q->s;
    int64_t rows[TOGETHER];
    uint64_t found[TOGETHER], waiting = rows_near_box(q, v);
    for (uint64_t left = waiting; left; left &= left - 1)
        if (s->part[q->first + __builtin_ctzll(left)] == s->node_part[v])
            waiting &= ~(left & -left);
    while (waiting)
        for (int a = next_rows(q, &waiting, leaf, rows, found) - 1; a >= 0; a--)
            for (; found[a]; found[a] &= found[a] - 1) {
                const int64_t j = leaf * ROWS + __builtin_ctzll(found[a]);
                if (j < s->count && s->part[j] != s->part[q->first + rows[a]])
                    offer(q, rows[a], j);
            }
    find_largest(q);
}

void EXPORTED(nearest_parts)(const struct near_rows *s) {
    for (int64_t leaf = s->begin; leaf < s->end; leaf++) {
        struct searcher q = searcher_of(s, leaf);
        set_limits(&q, -1);
        find_largest(&q);
        if (q.largest < 0)
            continue;
        uint64_t searched = 0;
        for (int64_t r = 0; r < q.n_rows; r++)
            searched |= (uint64_t)(q.limits[r] >= 0) << r;
        go_through(&q, has_other_parts, meet_parts);
        for (; searched; searched &= searched - 1) {
            const int64_t i = q.first + __builtin_ctzll(searched);
            const double most = reached(s->reach + s->part[i]);
            s->low[i] = most > s->low[i] ? most : s->low[i];
        }
    }
}
