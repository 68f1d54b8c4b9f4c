/* Mixtures of Student's t distributions, m degrees of freedom in power - m columns: rows far out cost and pull less than by their squared
 * distances, which are larger by what stands behind the prices. */

#define STUDENT_TEMPERATURE 2 /* of a density exp(-cost / 2) */

INLINE lanes student_distance(const struct tile *tile, const struct centres *centres, int64_t j, int t) {
    return add(load(tile->d2 + j * TILE + t), all(centres->scales[centres->clusters + j]));
}

/* (df + d) ln(1 + d2 / df); infinite where d2 is. */
INLINE lanes student_cost(const struct centres *centres, lanes d2) {
    lanes cost = multiply(all((real)centres->power), logarithm(fused(d2, all((real)(1 / centres->m)), all(1))));
    return where(less(d2, all((real)INFINITY)), cost, d2);
}

/* u_ij = exp((price_j - cost_ij) / 2), up to the row's factor; the least cost - price is kept. */
static void student_memberships(struct tile *tile, const struct centres *centres) {
    const lanes temperature = all(STUDENT_TEMPERATURE);
    ACROSS(t) {
        lanes best = all((real)INFINITY), total = all(0);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes net = subtract(student_cost(centres, student_distance(tile, centres, j, t)), all(centres->scales[j]));
            store(tile->u + j * TILE + t, net);
            best = smaller(net, best);
        }
        for (int64_t j = 0; j < centres->clusters; j++) {
            real *at = tile->u + j * TILE + t;
            lanes u = exponential(divide(subtract(best, load(at)), temperature));
            store(at, u);
            total = add(total, u);
        }
        store(tile->spare + t, best);
        store(tile->factor + t, divide(all(1), total));
    }
}

/* w = u; the penalty is 2 sum_ij u_ij ln u_ij, as of the entropy rule; then u becomes w (df + d) / (df + d2), by which rows pull. */
static double student_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    const lanes df = all((real)centres->m), many = all((real)centres->power), temperature = all(STUDENT_TEMPERATURE);
    lanes part = all(0);
    ACROSS(t) part = fused(multiply(temperature, load(tile->weight + t)), logarithm(load(tile->factor + t)), part);
    double penalty = sum(part);
    for (int64_t j = 0; j < centres->clusters; j++) {
        lanes m = all(0), s = all(0);
        part = all(0);
        ACROSS(t) {
            real *at = tile->u + j * TILE + t;
            lanes d2 = student_distance(tile, centres, j, t), cost = student_cost(centres, d2);
            lanes w = multiply(multiply(load(at), load(tile->factor + t)), load(tile->weight + t));
            m = add(m, w);
            s = fused(w, cost, s);
            part = fused(w, subtract(load(tile->spare + t), subtract(cost, all(centres->scales[j]))), part);
            store(at, multiply(w, divide(many, add(df, d2))));
        }
        mass[j] += sum(m);
        spread[j] += sum(s);
        penalty += sum(part);
    }
    return penalty;
}
