/* The nearest of many centres for rows of which nothing is known, and the second nearest. */
#include "found.h"

/* Search the tile of rows that begins with row number `start`, and return how many they are. */
static int64_t search_from(struct searched *s, const struct search *search, int64_t start) {
    const int64_t count = begin_tile(s, start);
    search_tile(s, search, count);
    return count;
}

int EXPORTED(assign_nearest)(const struct rows *rows, const struct search *search, real *coordinates, const struct found *to) {
    struct searched s;
    if (!new_search(&s, search))
        return NO_MEMORY;
    s.rows = rows, s.coordinates = coordinates;
    for (int64_t start = 0; start < rows->count; start += s.room)
        keep_found(&s, search, to, start, search_from(&s, search, start));
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
