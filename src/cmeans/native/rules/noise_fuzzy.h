/* Fuzzy c-means with a noise cluster: one more cluster, as far from every row, that has no centre. */

/* u_ij = d2_ij^-power / (sum_k d2_ik^-power + noise^-power), in ratios of the smallest of them all. */
static void noise_memberships(struct tile *tile, const struct centres *centres) {
    const lanes noise = all(noise_distance(centres));
    const real p = (real)centres->power;
    ACROSS(t) {
        const lanes low = smaller(load(tile->low + t), noise);
        lanes total = noise_share(low, noise, p);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes u = power(ratio_to(low, load(tile->d2 + j * TILE + t)), p);
            store(tile->u + j * TILE + t, u);
            total = add(total, u);
        }
        store(tile->factor + t, divide(all(1), total));
    }
}

/* w = u^m = u (low / d2) factor^m up to the factor in u; the penalty is sum_i noise u_i0^m, u_i0 that of the noise cluster. */
static double noise_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    const lanes noise = all(noise_distance(centres));
    lanes penalty = all(0);
    ACROSS(t) {
        const lanes low = smaller(load(tile->low + t), noise), factor = load(tile->factor + t);
        const lanes raised = multiply(power(factor, (real)(centres->m - 1)), multiply(factor, load(tile->weight + t)));
        store(tile->spare + t, raised);
        penalty = fused(multiply(noise_share(low, noise, (real)centres->power), low), raised, penalty);
    }
    for (int64_t j = 0; j < centres->clusters; j++) {
        lanes m = all(0), s = all(0);
        ACROSS(t) {
            real *u = tile->u + j * TILE + t;
            const lanes d2 = load(tile->d2 + j * TILE + t), low = smaller(load(tile->low + t), noise);
            lanes w = multiply(multiply(load(u), ratio_to(low, d2)), load(tile->spare + t));
            store(u, w);
            m = add(m, w);
            s = fused(w, d2, s);
        }
        mass[j] += sum(m);
        spread[j] += sum(s);
    }
    return sum(penalty);
}

/* The same for m = 2, without powers. */
static void noise_two_memberships(struct tile *tile, const struct centres *centres) {
    const lanes noise = all(noise_distance(centres));
    ACROSS(t) {
        const lanes low = smaller(load(tile->low + t), noise);
        lanes total = divide(low, noise);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes u = ratio_to(low, load(tile->d2 + j * TILE + t));
            store(tile->u + j * TILE + t, u);
            total = add(total, u);
        }
        store(tile->factor + t, divide(all(1), total));
    }
}

static double noise_two_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    const lanes noise = all(noise_distance(centres));
    lanes penalty = all(0);
    ACROSS(t) {
        const lanes low = smaller(load(tile->low + t), noise), factor = load(tile->factor + t);
        const lanes square = multiply(multiply(factor, factor), load(tile->weight + t));
        store(tile->spare + t, square);
        penalty = fused(multiply(divide(low, noise), low), square, penalty);
    }
    for (int64_t j = 0; j < centres->clusters; j++) {
        lanes m = all(0), s = all(0);
        ACROSS(t) {
            lanes u = load(tile->u + j * TILE + t), w = multiply(multiply(u, u), load(tile->spare + t));
            store(tile->u + j * TILE + t, w);
            m = add(m, w);
            s = fused(w, load(tile->d2 + j * TILE + t), s); /* not from u and low: 0 times an infinite distance must show */
        }
        mass[j] += sum(m);
        spread[j] += sum(s);
    }
    return sum(penalty);
}
