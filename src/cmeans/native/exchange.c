/* A hard partition of few points, made better by points that change clusters one by one, and by clusters that begin anew elsewhere. */
#include "vectors.h"

#define TOGETHER 8     /* clusters that are measured together */
#define SWEEPS 3       /* in which a cluster that has begun anew finds its place, before points change clusters one by one */
#define MOST 100       /* passes over all points, that end as soon as none moves */
#define LESS 0.999999999 /* share of a cost, or of the best objective, below which it is less: more is rounding */

struct exchange {
    const double *x;      /* (points, columns) */
    const double *weight; /* (points,) all positive */
    int64_t *label;       /* (points,) the best partition: that to begin with, then that which is found */
    int64_t *trial;       /* (points,) */
    int64_t *count;       /* (clusters,) points of each cluster */
    double *near;         /* (points,) costs of the best partition */
    double *mass;         /* (pitch,) */
    double *sums;         /* (columns, pitch) */
    double *centres;      /* (columns, pitch), 0 beyond the clusters */
    double *d2;           /* (pitch,) */
    double *joining;      /* (pitch,) */
    int64_t points, columns, clusters, pitch; /* clusters, and these up to a multiple of TOGETHER */
    double before;        /* the objective where sweeps from the first partition end */
};

static void measure(const struct exchange *e, const double *point) {
    for (int64_t j = 0; j < e->pitch; j += TOGETHER) {
        double total[TOGETHER] = {0};
        for (int64_t k = 0; k < e->columns; k++) {
            const double *centre = e->centres + k * e->pitch + j;
            for (int q = 0; q < TOGETHER; q++)
                total[q] += (point[k] - centre[q]) * (point[k] - centre[q]);
        }
        for (int q = 0; q < TOGETHER; q++)
            e->d2[j + q] = total[q];
    }
}

static void locate(const struct exchange *e, int64_t cluster) {
    for (int64_t k = 0; k < e->columns; k++)
        e->centres[k * e->pitch + cluster] = e->sums[k * e->pitch + cluster] / e->mass[cluster];
}

/* Make the means of the trial's clusters; 0 where one of them has no point. */
static int gather(const struct exchange *e) {
    for (int64_t j = 0; j < e->clusters; j++)
        e->mass[j] = 0, e->count[j] = 0;
    for (int64_t at = 0; at < e->columns * e->pitch; at++)
        e->sums[at] = 0;
    for (int64_t i = 0; i < e->points; i++) {
        const int64_t j = e->trial[i];
        e->mass[j] += e->weight[i], e->count[j]++;
        for (int64_t k = 0; k < e->columns; k++)
            e->sums[k * e->pitch + j] += e->weight[i] * e->x[i * e->columns + k];
    }
    for (int64_t j = 0; j < e->clusters; j++) {
        if (!e->count[j])
            return 0;
        locate(e, j);
    }
    return 1;
}

/* Begin a trial from the best partition; 0 where one of its clusters has no point. */
static int begin(const struct exchange *e) {
    for (int64_t i = 0; i < e->points; i++)
        e->trial[i] = e->label[i];
    return gather(e);
}

static void give(const struct exchange *e, int64_t i, int64_t cluster, double weight) {
    e->mass[cluster] += weight, e->count[cluster] += weight > 0 ? 1 : -1;
    for (int64_t k = 0; k < e->columns; k++)
        e->sums[k * e->pitch + cluster] += weight * e->x[i * e->columns + k];
    locate(e, cluster);
}

static double cost(const struct exchange *e) {
    double objective = 0;
    for (int64_t i = 0; i < e->points; i++) {
        measure(e, e->x + i * e->columns);
        objective += e->weight[i] * e->d2[e->trial[i]];
    }
    return objective;
}

/* Move points whose change of cluster lowers the objective, means and all (Hartigan 1975); return the objective, negative where a cluster
 * has no point. */
static double exchanged(const struct exchange *e) {
    for (int64_t pass = 0, moved = 1; pass < MOST && moved; pass++) {
        moved = 0;
        for (int64_t i = 0; i < e->points; i++) {
            const int64_t j = e->trial[i];
            const double w = e->weight[i];
            if (e->count[j] == 1)
                continue;
            measure(e, e->x + i * e->columns);
            const double leaving = e->mass[j] / (e->mass[j] - w) * e->d2[j];
            for (int64_t l = 0; l < e->pitch; l++)
                e->joining[l] = e->mass[l] / (e->mass[l] + w) * e->d2[l];
            e->joining[j] = INFINITY;
            double least = INFINITY;
            int64_t best = j;
            for (int64_t l = 0; l < e->clusters; l++)
                if (e->joining[l] < least)
                    least = e->joining[l], best = l;
            if (least < LESS * leaving) {
                give(e, i, j, -w);
                give(e, i, best, w);
                e->trial[i] = best, moved++;
            }
        }
    }
    return gather(e) ? cost(e) : -1; /* anew, without the rounding of the moves */
}

/* Give each point to its nearest mean, until none moves or so many times; 0 where a cluster has none left. */
static int settled(const struct exchange *e, int sweeps) {
    for (int sweep = 0, moved = 1; sweep < sweeps && moved; sweep++) {
        moved = 0;
        for (int64_t i = 0; i < e->points; i++) {
            measure(e, e->x + i * e->columns);
            int64_t nearest = 0;
            for (int64_t j = 1; j < e->clusters; j++)
                nearest = e->d2[j] < e->d2[nearest] ? j : nearest;
            moved |= e->trial[i] != nearest;
            e->trial[i] = nearest;
        }
        if (moved && !gather(e))
            return 0;
    }
    return 1;
}

static void keep(const struct exchange *e) {
    for (int64_t i = 0; i < e->points; i++) {
        e->label[i] = e->trial[i];
        measure(e, e->x + i * e->columns);
        e->near[i] = e->weight[i] * e->d2[e->trial[i]];
    }
}

/* Sweep, let points change clusters, and try so many changes, each of a cluster that begins anew at a point, drawn in proportion to its
 * cost, by two uniform numbers (trials, 2); return the objective, negative where the first partition has a cluster without points. */
double EXPORTED(exchange)(struct exchange *e, const double *draws, int64_t trials) {
    if (!begin(e))
        return -1;
    if (!settled(e, MOST))
        begin(e);
    e->before = cost(e);
    double best = exchanged(e);
    keep(e);
    for (int64_t t = 0; t < trials && best > 0; t++) {
        begin(e);
        double total = 0, target;
        for (int64_t i = 0; i < e->points; i++)
            total += e->near[i];
        target = draws[2 * t + 1] * total;
        int64_t point = -1;
        for (int64_t i = 0; i < e->points && target >= 0; i++)
            if (e->near[i] > 0)
                point = i, target -= e->near[i];
        const int64_t cluster = (int64_t)(draws[2 * t] * (double)e->clusters);
        for (int64_t k = 0; k < e->columns; k++)
            e->centres[k * e->pitch + cluster] = e->x[point * e->columns + k];
        if (!settled(e, SWEEPS))
            continue;
        const double objective = exchanged(e);
        if (objective >= 0 && objective < LESS * best) {
            best = objective;
            keep(e);
        }
    }
    return best;
}
