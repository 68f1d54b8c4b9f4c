/* Possibilistic c-means: memberships from distances measured by the cluster's scale eta. */

/* u_ij = eta_j / (eta_j + d2_ij). */
static void possibilistic_two_memberships(struct tile *tile, const struct centres *centres) {
    for (int64_t j = 0; j < centres->clusters; j++) {
        lanes eta = all(centres->scales[j]);
        ACROSS(t) store(tile->u + j * TILE + t, divide(eta, add(eta, load(tile->d2 + j * TILE + t))));
    }
}

/* w = u^2; the penalty is sum_ij eta_j (1 - u_ij)^2. */
static double possibilistic_two_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    double penalty = 0;
    for (int64_t j = 0; j < centres->clusters; j++) {
        lanes part = all(0);
        ACROSS(t) {
            lanes u = load(tile->u + j * TILE + t), rest = subtract(all(1), u);
            part = fused(multiply(rest, rest), load(tile->weight + t), part);
            store(tile->u + j * TILE + t, multiply(u, u));
        }
        penalty += (double)centres->scales[j] * sum(part);
        add_weighted(tile, j, mass, spread);
    }
    return penalty;
}

/* u_ij = 1 / (1 + (d2_ij / eta_j)^power), by exponentials of negative numbers only. */
static void possibilistic_memberships(struct tile *tile, const struct centres *centres) {
    for (int64_t j = 0; j < centres->clusters; j++)
        ACROSS(t) {
            lanes odds = divide(load(tile->d2 + j * TILE + t), all(centres->scales[j]));
            odds = multiply(logarithm(odds), all((real)centres->power));
            lanes small = exponential(subtract(all(0), absolute(odds)));
            store(tile->u + j * TILE + t, divide(where(less(all(0), odds), small, all(1)), add(all(1), small)));
        }
}

/* w = u^m; the penalty is sum_ij eta_j (1 - u_ij)^m. */
static double possibilistic_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    const real m = (real)centres->m;
    double penalty = 0;
    for (int64_t j = 0; j < centres->clusters; j++) {
        lanes part = all(0);
        ACROSS(t) {
            lanes u = load(tile->u + j * TILE + t);
            part = fused(power(subtract(all(1), u), m), load(tile->weight + t), part);
            store(tile->u + j * TILE + t, power(u, m));
        }
        penalty += (double)centres->scales[j] * sum(part);
        add_weighted(tile, j, mass, spread);
    }
    return penalty;
}
