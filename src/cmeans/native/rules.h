/* The rules on tiles. Each computes what a class of `cmeans.rules` does, and is held to it by tests. */
#ifndef CMEANS_RULES_H
#define CMEANS_RULES_H

#include "tile.h"

/* Sums of one cluster; its memberships, already raised to their power, are multiplied by the sample weights. */
INLINE void add_weighted(struct tile *tile, int64_t j, double *mass, double *spread) {
    lanes m = all(0), s = all(0);
    ACROSS(t) {
        real *u = tile->u + j * TILE + t;
        lanes w = multiply(load(u), load(tile->weight + t));
        store(u, w);
        m = add(m, w);
        s = fused(w, load(tile->d2 + j * TILE + t), s);
    }
    mass[j] += sum(m);
    spread[j] += sum(s);
}

#include "rules/fuzzy.h"
#include "rules/hard.h"
#include "rules/noise_fuzzy.h"
#include "rules/polynomial_fuzzy.h"
#include "rules/possibilistic.h"
#include "rules/sized.h"
#include "rules/sparse.h"
#include "rules/student.h"

#define HAS_REST 2 /* noise has what a row's memberships lack of one */

struct rule {
    const char *name;
    void (*memberships)(struct tile *, const struct centres *);                    /* u from d2 */
    double (*sums)(struct tile *, const struct centres *, double *, double *);     /* u becomes w, or that by which rows pull; mass, spread; returns the penalty */
    void (*utilities)(struct tile *, const struct centres *, double *);            /* of clusters, from d2 and labels; NULL: unknown */
    void (*slopes)(const struct tile *, const struct centres *, real *);           /* of u in the clusters' prices; NULL: there are none */
    int one_cluster;      /* a row counts for one cluster only, that of its label */
    int nearest;          /* which is its nearest, so that sweeps need nothing else */
    int leaves_rows_out;  /* a row may belong to no cluster: where all memberships are zero or noise is nearer, or HAS_REST */
};

static const struct rule RULES[] = {
    {"hard", hard_memberships, hard_sums, hard_utilities, NULL, 1, 1, 0},
    {"fuzzy", fuzzy_memberships, fuzzy_sums, fuzzy_utilities, NULL, 0, 0, 0},
    {"fuzzy, any exponent", fuzzy_memberships, any_exponent_sums, NULL, NULL, 0, 0, 0},
    {"fuzzy, m = 2", fuzzy_two_memberships, fuzzy_two_sums, fuzzy_utilities, NULL, 0, 0, 0},
    {"noise", noise_memberships, noise_sums, fuzzy_utilities, NULL, 0, 0, 1},
    {"noise, m = 2", noise_two_memberships, noise_two_sums, fuzzy_utilities, NULL, 0, 0, 1},
    {"noisy entropy", noisy_entropy_memberships, noisy_entropy_sums, NULL, NULL, 0, 0, HAS_REST},
    {"polynomial fuzzy", polynomial_fuzzy_memberships, polynomial_fuzzy_sums, NULL, NULL, 0, 0, 0},
    {"possibilistic", possibilistic_memberships, possibilistic_sums, NULL, NULL, 0, 0, 0},
    {"possibilistic, m = 2", possibilistic_two_memberships, possibilistic_two_sums, NULL, NULL, 0, 0, 0},
    {"sized entropy", sized_entropy_memberships, sized_entropy_sums, NULL, sized_entropy_slopes, 0, 0, 0},
    {"sized fuzzy", sized_fuzzy_memberships, sized_fuzzy_sums, NULL, sized_fuzzy_slopes, 0, 0, 0},
    {"sized hard", sized_hard_memberships, sized_hard_sums, NULL, NULL, 1, 0, 0},
    {"sparse", sparse_memberships, sparse_sums, NULL, NULL, 0, 0, 1},
    {"student", student_memberships, student_sums, NULL, NULL, 0, 0, 0},
};

/* The rule of a name; NULL where there is none. */
static const struct rule *rule_named(const char *name) {
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
        if (strcmp(RULES[i].name, name) == 0)
            return &RULES[i];
    return NULL;
}

#endif
