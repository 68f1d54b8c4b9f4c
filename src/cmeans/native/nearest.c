/* The nearest of many centres for rows of which nothing is known, and the second nearest. */
#include "search.h"

struct found {
    int64_t *labels;    /* (count,) the nearest centre, ties to the lowest number */
    double *d2;         /* (count,) squared distance to it */
    real *memberships;  /* (count, clusters) 1 for that centre, 0 for others; or nothing */
    double *mass;       /* (clusters,) weights of its rows, added to */
    double *totals;     /* (2,) sums of weight d2 and of weight k(x, x), added to */
    double *moment;     /* (columns,) sum of weight x, added to */
};

/* Searches the tile of rows that begins with row number `start`, and returns how many they are. */
static int64_t search_from(struct searched *s, const struct search *search, int64_t start) {
    const int64_t last = s->rows->count - 1, count = at_most(s->room, last + 1 - start);
    for (int64_t t = 0; t < count; t++)
        begin_row(s, t, start + t, at_most(start + t + ROWS_AHEAD, last), -1, (real)INFINITY);
    search_tile(s, search, count);
    return count;
}

int EXPORTED(assign_nearest)(const struct rows *rows, const struct search *search, real *coordinates, const struct found *to) {
    const int64_t clusters = search->clusters;
    struct searched s;
    if (!new_search(&s, search))
        return NO_MEMORY;
    s.rows = rows, s.coordinates = coordinates;
    for (int64_t start = 0; start < rows->count; start += s.room) {
        const int64_t count = search_from(&s, search, start);
        for (int64_t t = 0; t < count; t++) {
            const int64_t i = start + t, j = s.label[t];
            const double weight = rows->weight[i * rows->weight_step];
            to->labels[i] = j, to->d2[i] = s.d2[t];
            to->mass[j] += weight;
            to->totals[0] += weight * s.d2[t];
            to->totals[1] += weight * *kxx_of(&s, search, t);
            if (to->memberships != NULL) {
                memset(to->memberships + i * clusters, 0, (size_t)clusters * sizeof(real));
                to->memberships[i * clusters + j] = 1;
            }
        }
        add_rows(&s, search, count, to->moment);
    }
    free(s.memory);
    return 0;
}

/* The squared distance of row i of the tile to its second nearest centre. */
static real second_distance(struct searched *s, const struct search *search, int64_t i) {
    const int32_t own = s->label[i];
    real *low = s->low + i * s->width, second;
    int32_t nearest;
    low[own] = (real)INFINITY;
    nearest = smallest_of(low, s->clusters, &second);
    measure_some(s, search, i, &nearest, 1);
    second = low[nearest];
    const int64_t count = within(s, i, own, second + margin_of(s, search, i), s->found);
    for (int64_t k = 0; k < count; k += AFEW)
        measure_some(s, search, i, s->found + k, at_most(AFEW, count - k));
    for (int64_t k = 0; k < count; k++)
        second = low[s->found[k]] < second ? low[s->found[k]] : second;
    return second;
}

/* Adds to the errors of clusters the squared distances of their rows, and to their utilities what the second nearest centres are farther. */
int EXPORTED(cost_nearest)(const struct rows *rows, const struct search *search, real *coordinates, double *error, double *utility) {
    struct searched s;
    if (!new_search(&s, search))
        return NO_MEMORY;
    s.rows = rows, s.coordinates = coordinates;
    for (int64_t start = 0; start < rows->count; start += s.room) {
        const int64_t count = search_from(&s, search, start);
        for (int64_t t = 0; t < count; t++) {
            const int64_t j = s.label[t];
            const double weight = rows->weight[(start + t) * rows->weight_step], d2 = s.d2[t];
            error[j] += weight * d2;
            utility[j] += weight * (second_distance(&s, search, t) - d2);
        }
    }
    free(s.memory);
    return 0;
}
