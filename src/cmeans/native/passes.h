/* The sums of a sweep over some rows. */
#ifndef CMEANS_PASSES_H
#define CMEANS_PASSES_H

#include "tile.h"

struct sums {
    double *mass;         /* (clusters,) sum of w, added to, as all of these */
    double *spread;       /* (clusters,) sum of w d2 */
    double *moment;       /* (clusters, columns) sum of w x; of CSR rows (columns, pitch), as the centres */
    double *penalty;      /* (1,) */
    int64_t *labels;      /* (count,) the cluster of each row's largest membership, -1 for none; or nothing, as the next two */
    double *hard_mass;    /* (clusters,) the same sums, of rows that belong to their label alone */
    double *hard_moment;  /* as `moment` */
    double *second;       /* (clusters, columns, columns) sum of w (x - v)(x - v)^T, or (clusters, columns); or nothing */
    double *pulled;       /* (clusters,) sum of the weights in moments and second moments, where they are not w; or nothing */
};

/* 0, or what is missing. */
int EXPORTED(sweep)(const struct rows *rows, const struct centres *centres, const char *rule_name, const struct sums *sums);

#endif
