/* Passes over a block of rows: tile after tile, distances to the centres, memberships of the rule, and what is made of them. */
#include "csr.h"
#include "moments.h"
#include "passes.h"
#include "rules.h"

#define SUMMED 16 /* tiles whose sums are taken in the rows' precision, before they are added in float64: SUMMED_ROWS in native_rows.py */
#define NO_RULE -2

/* The cluster of each row's largest membership, ties to the lowest number; -1 where the rule leaves rows out, and all are zero, or noise is
 * nearer than any centre or has the largest. */
static void label_by_membership(struct tile *tile, const struct centres *centres, int leaves_out) {
    const int64_t clusters = centres->clusters;
    const lanes noise = all(noise_distance(centres));
    ACROSS(t) {
        lanes factor = load(tile->factor + t), best = multiply(load(tile->u + t), factor);
        lanes rest = subtract(all(1), best);
        mask label = all_whole(0);
        for (int64_t j = 1; j < clusters; j++) {
            lanes u = multiply(load(tile->u + j * TILE + t), factor);
            mask larger = less(best, u);
            label = where_whole(larger, all_whole((whole)j), label);
            best = where(larger, u, best);
            rest = subtract(rest, u);
        }
        if (leaves_out) {
            mask is_noise = leaves_out == HAS_REST ? less(best, rest) : less(noise, load(tile->low + t));
            label = where_whole(equal(best, all(0)), all_whole(-1), label);
            label = where_whole(is_noise, all_whole(-1), label);
        }
        store_whole(tile->label + t, label);
    }
}

static void add_hard_mass(const struct tile *tile, int64_t start, const struct sums *sums) {
    for (int64_t t = 0; t < tile->count; t++) {
        sums->labels[start + t] = tile->label[t];
        if (tile->label[t] >= 0)
            sums->hard_mass[tile->label[t]] += tile->weight[t];
    }
}

static void add_pulled(const struct tile *tile, int64_t clusters, double *pulled) {
    for (int64_t j = 0; j < clusters; j++) {
        lanes part = all(0);
        ACROSS(t) part = add(part, load(tile->u + j * TILE + t));
        pulled[j] += sum(part);
    }
}

/* The sums of one sweep over CSR rows. */
static int sweep_csr(const struct rows *rows, const struct centres *centres, const struct rule *rule, const struct sums *sums) {
    const int64_t clusters = centres->clusters, pitch = centres->pitch;
    struct tile tile;
    double *w = calloc((size_t)pitch, sizeof(double));
    if (w == NULL || !new_tile(&tile, clusters)) {
        free(w);
        return NO_MEMORY;
    }
    for (int64_t start = 0; start < rows->count; start += TILE) {
        load_tile(&tile, rows, start);
        distances(&tile, rows, centres);
        if (rule->nearest && sums->labels == NULL)
            label_nearest(&tile, clusters);
        else
            rule->memberships(&tile, centres);
        if (sums->labels != NULL)
            label_by_membership(&tile, centres, rule->leaves_rows_out);
        *sums->penalty += rule->sums(&tile, centres, sums->mass, sums->spread);
        if (rule->one_cluster)
            add_csr_labelled(&tile, rows, pitch, sums->moment);
        else
            add_csr(&tile, rows, clusters, pitch, w, sums->moment);
        if (sums->labels != NULL) {
            add_hard_mass(&tile, start, sums);
            add_csr_labelled(&tile, rows, pitch, sums->hard_moment);
        }
    }
    free(w);
    free(tile.memory);
    return 0;
}

/* The sums of one sweep. */
int EXPORTED(sweep)(const struct rows *rows, const struct centres *centres, const char *rule_name, const struct sums *sums) {
    const int64_t clusters = centres->clusters, columns = rows->columns, numbers = clusters * total_pitch(columns);
    const struct rule *rule = rule_named(rule_name);
    const int labelling = sums->labels != NULL, stretched = sums->second != NULL;
    const int64_t products = !stretched ? 0 : clusters * LANES * (centres->diagonal ? columns : triangle(columns));
    struct tile tile;
    if (rule != NULL && rows->column != NULL)
        return sweep_csr(rows, centres, rule, sums);
    real *total = calloc((size_t)numbers * (labelling ? 2 : 1), sizeof(real));
    void *memory = calloc((size_t)products * sizeof(real) + LINE, 1);
    real *second = aligned_to_line(memory);
    if (rule == NULL || total == NULL || memory == NULL || !new_tile_for(&tile, rows, centres)) {
        free(total), free(memory);
        return rule == NULL ? NO_RULE : NO_MEMORY;
    }
    for (int64_t start = 0, number = 1; start < rows->count; start += TILE, number++) {
        load_tile(&tile, rows, start);
        if (rule->nearest && !labelling && !stretched) {
            nearest_only(&tile, rows, centres);
            rule->sums(&tile, centres, sums->mass, sums->spread);
            label_moments(&tile, rows, clusters, total);
        } else {
            distances(&tile, rows, centres);
            rule->memberships(&tile, centres);
            if (labelling)
                label_by_membership(&tile, centres, rule->leaves_rows_out);
            *sums->penalty += rule->sums(&tile, centres, sums->mass, sums->spread);
            if (sums->pulled != NULL)
                add_pulled(&tile, clusters, sums->pulled);
            if (rule->one_cluster)
                label_moments(&tile, rows, clusters, total);
            else
                moments(&tile, rows, clusters, total);
            if (stretched && rule->one_cluster)
                weigh_labels(&tile, clusters);
            if (stretched)
                second_moments(&tile, rows, centres, second);
            if (labelling) {
                add_hard_mass(&tile, start, sums);
                label_moments(&tile, rows, clusters, total + numbers);
            }
        }
        if (number % SUMMED == 0 || start + TILE >= rows->count) {
            move_totals(total, sums->moment, clusters, columns);
            if (labelling)
                move_totals(total + numbers, sums->hard_moment, clusters, columns);
            if (stretched)
                move_second_moments(second, sums->second, clusters, columns, (int)centres->diagonal);
        }
    }
    free(tile.memory);
    free(total);
    free(memory);
    return 0;
}

struct assignment {
    int64_t *labels;    /* (count,) the largest membership, ties to the lowest number; -1 where all are zero and the rule allows it */
    real *memberships;  /* (count, clusters), or NULL: they are not asked for */
    double *nearest;    /* (count,) squared distance to the centre of the label, to the nearest where there is none */
    double *mass;       /* (clusters,) sum of sample weight times membership, added to */
    double *spread;     /* (clusters,) sum of w d2, added to */
    double *totals;     /* (2,) the penalty and the sum of sample weight times d2, added to */
};

/* mass_j += sum_t weight_t u_jt; returns sum_jt weight_t d2_jt. */
static double add_memberships(const struct tile *tile, int64_t clusters, double *mass) {
    double total = 0;
    for (int64_t j = 0; j < clusters; j++) {
        lanes m = all(0), s = all(0);
        ACROSS(t) {
            lanes weight = load(tile->weight + t);
            m = fused(multiply(weight, load(tile->factor + t)), load(tile->u + j * TILE + t), m);
            s = fused(weight, load(tile->d2 + j * TILE + t), s);
        }
        mass[j] += sum(m);
        total += sum(s);
    }
    return total;
}

/* The last pass: labels, memberships and distances of the rows. */
int EXPORTED(assign)(const struct rows *rows, const struct centres *centres, const char *rule_name, const struct assignment *to) {
    const int64_t clusters = centres->clusters;
    const struct rule *rule = rule_named(rule_name);
    struct tile tile;
    double *weighted = calloc((size_t)clusters, sizeof(double)); /* of no use, but sums are taken of it */
    if (rule == NULL || weighted == NULL || !new_tile_for(&tile, rows, centres)) {
        free(weighted);
        return rule == NULL ? NO_RULE : NO_MEMORY;
    }
    for (int64_t start = 0; start < rows->count; start += TILE) {
        load_tile(&tile, rows, start);
        distances(&tile, rows, centres);
        rule->memberships(&tile, centres);
        label_by_membership(&tile, centres, rule->leaves_rows_out);
        for (int64_t t = 0; t < tile.count; t++) {
            const whole label = tile.label[t];
            for (int64_t j = 0; to->memberships != NULL && j < clusters; j++)
                to->memberships[(start + t) * clusters + j] = tile.u[j * TILE + t] * tile.factor[t];
            to->labels[start + t] = label;
            to->nearest[start + t] = label >= 0 ? tile.d2[label * TILE + t] : tile.low[t];
        }
        to->totals[1] += add_memberships(&tile, clusters, to->mass);
        to->totals[0] += rule->sums(&tile, centres, weighted, to->spread);
    }
    free(tile.memory);
    free(weighted);
    return 0;
}

/* Distances to the centres (count, clusters), square roots taken; `finite` becomes 0 where one is not. */
int EXPORTED(measure)(const struct rows *rows, const struct centres *centres, real *out, int *finite) {
    struct tile tile;
    if (!new_tile_for(&tile, rows, centres))
        return NO_MEMORY;
    for (int64_t start = 0; start < rows->count; start += TILE) {
        load_tile(&tile, rows, start);
        distances(&tile, rows, centres);
        for (int64_t j = 0; j < centres->clusters; j++)
            ACROSS(t) {
                lanes d2 = load(tile.d2 + j * TILE + t);
                *finite &= all_set(less(d2, all((real)INFINITY)));
                store(tile.u + j * TILE + t, root(d2));
            }
        for (int64_t t = 0; t < tile.count; t++)
            for (int64_t j = 0; j < centres->clusters; j++)
                out[(start + t) * centres->clusters + j] = tile.u[j * TILE + t];
    }
    free(tile.memory);
    return 0;
}

/* Sums (clusters,): each cluster's part of the objective, and the rise of the objective if it went; 0, or what is missing. */
int EXPORTED(cost)(const struct rows *rows, const struct centres *centres, const char *rule_name, double *error, double *utility) {
    const struct rule *rule = rule_named(rule_name);
    struct tile tile;
    double *mass = calloc((size_t)centres->clusters, sizeof(double)); /* of no use, but sums are taken of it */
    if (rule == NULL || rule->utilities == NULL || mass == NULL || !new_tile_for(&tile, rows, centres)) {
        free(mass);
        return rule == NULL || rule->utilities == NULL ? NO_RULE : NO_MEMORY;
    }
    for (int64_t start = 0; start < rows->count; start += TILE) {
        load_tile(&tile, rows, start);
        nearest(&tile, rows, centres);
        rule->utilities(&tile, centres, utility);
        rule->memberships(&tile, centres);
        rule->sums(&tile, centres, mass, error);
    }
    free(tile.memory);
    free(mass);
    return 0;
}

/* The nearest centre of each row (count,), and the squared distance to it. */
int EXPORTED(find_nearest)(const struct rows *rows, const struct centres *centres, int64_t *labels, double *distances) {
    struct tile tile;
    if (!new_tile_for(&tile, rows, centres))
        return NO_MEMORY;
    for (int64_t start = 0; start < rows->count; start += TILE) {
        load_tile(&tile, rows, start);
        nearest_only(&tile, rows, centres);
        for (int64_t t = 0; t < tile.count; t++)
            labels[start + t] = tile.label[t], distances[start + t] = tile.low[t];
    }
    free(tile.memory);
    return 0;
}

/* Sums (clusters,) of sample weight times the distance, or its square, of rows to the points of their labels (-1: none). */
int EXPORTED(deviate)(const struct rows *rows, const struct centres *points, const int64_t *labels, int squared, double *total) {
    struct tile tile;
    if (!new_tile_for(&tile, rows, points))
        return NO_MEMORY;
    for (int64_t start = 0; start < rows->count; start += TILE) {
        load_tile(&tile, rows, start);
        distances(&tile, rows, points);
        for (int64_t t = 0; t < tile.count; t++) {
            const int64_t j = labels[start + t];
            if (j >= 0) {
                const real d2 = tile.d2[j * TILE + t];
                total[j] += (double)tile.weight[t] * (squared ? (double)d2 : sqrt((double)d2));
            }
        }
    }
    free(tile.memory);
    return 0;
}
