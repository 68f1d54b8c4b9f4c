/* Fuzzy c-means with a polynomial fuzzifier: memberships are linear in the ratios of the smallest distance, and zero beyond one of them. */

#define ROUNDINGS 4 /* steps of `real` that 1 - beta is at least */

/* u = (level r - beta) / (1 - beta) where that is positive, r = low / d2; the level is found from all clusters down to those. */
static void polynomial_fuzzy_memberships(struct tile *tile, const struct centres *centres) {
    const double step = ROUNDINGS * (BITS == 64 ? 0x1p-52 : 0x1p-23), rest = 1 - centres->p;
    const lanes softness = all((real)(rest < step ? step : rest)), beta = all((real)(rest < step ? 1 - step : centres->p));
    ACROSS(t) {
        lanes level = all((real)INFINITY), count = all(0), before, share = all(0);
        for (int64_t j = 0; j < centres->clusters; j++)
            store(tile->u + j * TILE + t, ratio(tile, j, t));
        do {
            lanes total = all(0);
            before = count, count = all(0);
            for (int64_t j = 0; j < centres->clusters; j++) {
                lanes r = load(tile->u + j * TILE + t);
                mask kept = less(beta, multiply(level, r));
                count = add(count, where(kept, all(1), all(0)));
                total = add(total, where(kept, r, all(0)));
            }
            level = smaller(divide(fused(beta, count, softness), total), level);
        } while (!all_set(equal(count, before)));
        for (int64_t j = 0; j < centres->clusters; j++) {
            real *u = tile->u + j * TILE + t;
            lanes r = load(u), raised = multiply(level, r), v = where(less(beta, raised), subtract(raised, beta), all(0));
            store(u, v);
            share = add(share, v);
        }
        store(tile->factor + t, divide(all(1), share));
    }
}

/* w = h(u) = u ((1 - beta) u + 2 beta) / (1 + beta). */
static double polynomial_fuzzy_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    const lanes square = all((real)((1 - centres->p) / (1 + centres->p))), plain = all((real)(2 * centres->p / (1 + centres->p)));
    for (int64_t j = 0; j < centres->clusters; j++) {
        ACROSS(t) {
            real *at = tile->u + j * TILE + t;
            lanes u = multiply(load(at), load(tile->factor + t));
            store(at, multiply(u, fused(square, u, plain)));
        }
        add_weighted(tile, j, mass, spread);
    }
    return 0;
}
