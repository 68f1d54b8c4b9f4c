/* What a search finds of rows of which nothing is known. */
#ifndef CMEANS_FOUND_H
#define CMEANS_FOUND_H

#include "search.h"

struct found {
    int64_t *labels;    /* (count,) the nearest centre, ties to the lowest number */
    double *d2;         /* (count,) squared distance to it */
    real *memberships;  /* (count, clusters) 1 for that centre, 0 for others; or nothing */
    double *mass;       /* (clusters,) weights of its rows, added to */
    double *totals;     /* (2,) sums of weight d2 and of weight k(x, x), added to */
    double *moment;     /* (columns,) sum of weight x, added to */
};

/* Begin the tile of rows from number `start` on, and return how many they are. */
INLINE int64_t begin_tile(struct searched *s, int64_t start) {
    const int64_t last = s->rows->count - 1, count = at_most(s->room, last + 1 - start);
    for (int64_t t = 0; t < count; t++)
        begin_row(s, t, start + t, at_most(start + t + ROWS_AHEAD, last), -1, (real)INFINITY);
    return count;
}

/* Keep what has been found of the rows of a tile. */
static void keep_found(const struct searched *s, const struct search *search, const struct found *to, int64_t start, int64_t count) {
    const struct rows *rows = s->rows;
    for (int64_t t = 0; t < count; t++) {
        const int64_t i = start + t, j = s->label[t];
        const double weight = rows->weight[i * rows->weight_step];
        to->labels[i] = j, to->d2[i] = s->d2[t];
        to->mass[j] += weight;
        to->totals[0] += weight * s->d2[t];
        to->totals[1] += weight * *kxx_of(s, search, t);
        if (to->memberships != NULL) {
            memset(to->memberships + i * search->clusters, 0, (size_t)search->clusters * sizeof(real));
            to->memberships[i * search->clusters + j] = 1;
        }
    }
    add_rows(s, search, count, to->moment);
}

#endif
