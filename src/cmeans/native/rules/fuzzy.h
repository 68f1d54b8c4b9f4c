/* Fuzzy c-means: memberships from ratios of the smallest distance to the others, up to a factor of the row. */

/* The squared distance of the noise cluster as a number of the rows' type that can be divided by; infinite where there is none. */
INLINE real noise_distance(const struct centres *centres) {
    const real noise = (real)centres->noise;
    return noise < TINY ? TINY : noise;
}

/* (low / noise)^power: what the noise cluster takes of a row, up to the row's factor. */
INLINE lanes noise_share(lanes low, lanes noise, real p) { return where(less(noise, all((real)INFINITY)), power(divide(low, noise), p), all(0)); }

/* low / d2, 1 where both are zero. */
INLINE lanes ratio_to(lanes low, lanes d2) { return where(equal(d2, all(0)), all(1), divide(low, d2)); }

INLINE lanes ratio(const struct tile *tile, int64_t j, int t) { return ratio_to(load(tile->low + t), load(tile->d2 + j * TILE + t)); }

/* u_ij = (1 / d2_ij) / sum_k (1 / d2_ik). */
static void fuzzy_two_memberships(struct tile *tile, const struct centres *centres) {
    ACROSS(t) {
        lanes total = all(0);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes u = ratio(tile, j, t);
            store(tile->u + j * TILE + t, u);
            total = add(total, u);
        }
        store(tile->factor + t, divide(all(1), total));
    }
}

/* w = u^2; since u = (smallest / d2) factor, w d2 = u (smallest) factor does not read d2 again. */
static double fuzzy_two_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    ACROSS(t) {
        lanes factor = load(tile->factor + t), square = multiply(multiply(factor, factor), load(tile->weight + t));
        store(tile->spare + t, square);
        store(tile->low + t, multiply(load(tile->low + t), square));
    }
    for (int64_t j = 0; j < centres->clusters; j++) {
        lanes m = all(0), s = all(0);
        ACROSS(t) {
            lanes u = load(tile->u + j * TILE + t), w = multiply(multiply(u, u), load(tile->spare + t));
            store(tile->u + j * TILE + t, w);
            m = add(m, w);
            s = fused(u, load(tile->low + t), s);
        }
        mass[j] += sum(m);
        spread[j] += sum(s);
    }
    return 0;
}

/* u_ij = d2_ij^-power / sum_k d2_ik^-power. */
static void fuzzy_memberships(struct tile *tile, const struct centres *centres) {
    ACROSS(t) {
        lanes total = all(0);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes u = power(ratio(tile, j, t), (real)centres->power);
            store(tile->u + j * TILE + t, u);
            total = add(total, u);
        }
        store(tile->factor + t, divide(all(1), total));
    }
}

/* w = u^m = u u^(m-1), where u^(m-1) = (smallest / distance) factor^(m-1) takes one logarithm a row, not one a cluster. */
static double fuzzy_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    ACROSS(t) {
        lanes factor = load(tile->factor + t), raised = power(factor, (real)(centres->m - 1));
        store(tile->spare + t, multiply(raised, multiply(factor, load(tile->weight + t))));
    }
    for (int64_t j = 0; j < centres->clusters; j++) {
        lanes m = all(0), s = all(0);
        ACROSS(t) {
            real *u = tile->u + j * TILE + t;
            lanes w = multiply(multiply(load(u), ratio(tile, j, t)), load(tile->spare + t));
            store(u, w);
            m = add(m, w);
            s = fused(w, load(tile->d2 + j * TILE + t), s);
        }
        mass[j] += sum(m);
        spread[j] += sum(s);
    }
    return 0;
}

/* w = u^m where the power of the ratios is not 1 / (m - 1), so that no factors cancel. */
static double any_exponent_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    for (int64_t j = 0; j < centres->clusters; j++) {
        ACROSS(t) {
            real *u = tile->u + j * TILE + t;
            store(u, power(multiply(load(u), load(tile->factor + t)), (real)centres->m));
        }
        add_weighted(tile, j, mass, spread);
    }
    return 0;
}

/* A row costs (sum_k d2_k^-power)^(1-m), noise included where there is any; without a cluster the sum is over the others, in ratios of the
 * smallest of these. */
static void fuzzy_utilities(struct tile *tile, const struct centres *centres, double *utility) {
    const real p = (real)centres->power, exponent = (real)(centres->m - 1);
    const lanes noise = all(noise_distance(centres));
    ACROSS(t) {
        const mask label = load_whole(tile->label + t);
        const lanes low = smaller(load(tile->low + t), noise), second = smaller(second_smallest(tile, centres->clusters, t), noise);
        lanes total = noise_share(low, noise, p), others = noise_share(second, noise, p);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes d2 = load(tile->d2 + j * TILE + t), u = power(ratio_to(low, d2), p);
            lanes other = power(ratio_to(second, d2), p);
            store(tile->u + j * TILE + t, u);
            total = add(total, u);
            others = add(others, where(equal_whole(label, all_whole((whole)j)), all(0), other));
        }
        const lanes cost = multiply(low, power(divide(all(1), total), exponent));
        const lanes without_nearest = multiply(second, power(divide(all(1), others), exponent));
        for (int64_t j = 0; j < centres->clusters; j++) {
            real *u = tile->u + j * TILE + t;
            lanes without = multiply(low, power(divide(all(1), subtract(total, load(u))), exponent));
            store(u, subtract(where(equal_whole(label, all_whole((whole)j)), without_nearest, without), cost));
        }
    }
    for (int64_t j = 0; j < centres->clusters; j++)
        for (int64_t t = 0; t < tile->count; t++)
            if (tile->weight[t] > 0)
                utility[j] += (double)tile->weight[t] * (double)tile->u[j * TILE + t];
}
