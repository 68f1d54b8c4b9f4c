/* Rules with prices: what counts is the squared distance less the price of the cluster. */

#define FUZZY_STEPS 60 /* of Newton's method for the price of a row, at most */

/* The least d2 - price of each row, and its cluster, ties to the lowest number; the least of the other clusters goes to `second`. */
static void label_by_price(struct tile *tile, const struct centres *centres, real *second) {
    ACROSS(t) {
        lanes best = all((real)INFINITY), next = all((real)INFINITY);
        mask label = all_whole(0);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes net = subtract(load(tile->d2 + j * TILE + t), all(centres->scales[j]));
            mask closer = less(net, best);
            next = where(closer, best, smaller(net, next));
            label = where_whole(closer, all_whole((whole)j), label);
            best = where(closer, net, best);
        }
        store_whole(tile->label + t, label);
        store(tile->spare + t, best);
        store(second + t, next);
    }
}

/* u = 1 for the least d2 - price. */
static void sized_hard_memberships(struct tile *tile, const struct centres *centres) {
    real second[TILE] __attribute__((aligned(LINE)));
    label_by_price(tile, centres, second);
    for (int64_t j = 0; j < centres->clusters; j++)
        ACROSS(t) store(tile->u + j * TILE + t, where(equal_whole(load_whole(tile->label + t), all_whole((whole)j)), all(1), all(0)));
}

static double sized_hard_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    (void)centres;
    for (int64_t t = 0; t < tile->count; t++) {
        const int64_t j = tile->label[t];
        mass[j] += tile->weight[t];
        spread[j] += tile->weight[t] * tile->d2[j * TILE + t];
    }
    return 0;
}

/* The temperature, or the least that a number can hold. */
INLINE real temperature_of(const struct centres *centres) { return (real)centres->power > TINY ? (real)centres->power : TINY; }

/* u_ij = exp((price_j - d2_ij) / T), up to the row's factor; the least d2 - price is kept. Noise, if any, is one more cluster, whose d2 -
 * price stands behind the prices. */
INLINE void entropy_memberships(struct tile *tile, const struct centres *centres, int is_noisy) {
    const lanes temperature = all(temperature_of(centres)), noise = all(is_noisy ? centres->scales[centres->clusters] : (real)INFINITY);
    ACROSS(t) {
        lanes best = noise, total;
        for (int64_t j = 0; j < centres->clusters; j++)
            best = smaller(subtract(load(tile->d2 + j * TILE + t), all(centres->scales[j])), best);
        total = is_noisy ? exponential(divide(subtract(best, noise), temperature)) : all(0);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes net = subtract(load(tile->d2 + j * TILE + t), all(centres->scales[j]));
            lanes u = exponential(divide(subtract(best, net), temperature));
            store(tile->u + j * TILE + t, u);
            total = add(total, u);
        }
        store(tile->spare + t, best);
        store(tile->factor + t, divide(all(1), total));
    }
}

/* w = u; the penalty is T sum_ij u_ij ln u_ij, where T ln u_ij = (least - (d2_ij - price_j)) + T ln factor_i. */
INLINE double entropy_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread, int is_noisy) {
    const lanes temperature = all(temperature_of(centres));
    lanes part = all(0);
    double penalty;
    ACROSS(t) part = fused(multiply(temperature, load(tile->weight + t)), logarithm(load(tile->factor + t)), part);
    penalty = sum(part);
    if (is_noisy) {
        part = all(0);
        ACROSS(t) {
            const lanes lead = subtract(load(tile->spare + t), all(centres->scales[centres->clusters]));
            lanes u = multiply(exponential(divide(lead, temperature)), load(tile->factor + t));
            part = fused(multiply(u, load(tile->weight + t)), lead, part);
        }
        penalty += sum(part);
    }
    for (int64_t j = 0; j < centres->clusters; j++) {
        part = all(0);
        ACROSS(t) {
            real *at = tile->u + j * TILE + t;
            lanes u = multiply(load(at), load(tile->factor + t)), net = subtract(load(tile->d2 + j * TILE + t), all(centres->scales[j]));
            part = fused(multiply(u, load(tile->weight + t)), subtract(load(tile->spare + t), net), part);
            store(at, u);
        }
        penalty += sum(part);
        add_weighted(tile, j, mass, spread);
    }
    return penalty;
}

static void sized_entropy_memberships(struct tile *tile, const struct centres *centres) { entropy_memberships(tile, centres, 0); }

static double sized_entropy_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    return entropy_sums(tile, centres, mass, spread, 0);
}

static void noisy_entropy_memberships(struct tile *tile, const struct centres *centres) { entropy_memberships(tile, centres, 1); }

static double noisy_entropy_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    return entropy_sums(tile, centres, mass, spread, 1);
}

static void sized_entropy_slopes(const struct tile *tile, const struct centres *centres, real *slopes) {
    const lanes temperature = all(temperature_of(centres));
    for (int64_t j = 0; j < centres->clusters; j++)
        ACROSS(t) store(slopes + j * TILE + t, divide(multiply(load(tile->u + j * TILE + t), load(tile->factor + t)), temperature));
}

/* The greater; b where one is NaN. */
INLINE lanes larger(lanes a, lanes b) { return where(less(b, a), a, b); }

/* (max(lead - less, 0) / cost)^power, where a cost of zero counts as one. */
INLINE lanes raised(lanes lead, lanes costs, lanes lessened, real exponent) {
    lanes ratio = divide(larger(subtract(lead, lessened), all(0)), where(less(all(0), costs), costs, all(1)));
    return exponent == 1 ? ratio : power(ratio, exponent);
}

/* The least m d2 - price of a row, and the leads: nu + price_j for the greatest possible nu, at most m d2_j. 1 where the row is at a centre. */
INLINE mask leads_of(struct tile *tile, const struct centres *centres, int t, lanes *first) {
    const lanes m = all((real)centres->m);
    lanes least = all((real)INFINITY);
    mask coincides = all_whole(0);
    for (int64_t j = 0; j < centres->clusters; j++)
        least = smaller(subtract(multiply(m, load(tile->d2 + j * TILE + t)), all(centres->scales[j])), least);
    for (int64_t j = 0; j < centres->clusters; j++) {
        lanes costs = multiply(m, load(tile->d2 + j * TILE + t)), price = all(centres->scales[j]);
        mask is_first = equal(subtract(costs, price), least), zero = at_least(all(0), costs);
        lanes lead = where(is_first, costs, smaller(add(least, price), costs));
        store(tile->u + j * TILE + t, where(zero, all(0), lead));
        coincides = where_whole(zero, where_whole(is_first, all_whole(-1), coincides), coincides);
    }
    *first = least;
    return coincides;
}

/* By how much the leads of a row are lessened for memberships that sum to one: Newton's method on (sum u)^(1 / power) - 1, within bounds. */
INLINE lanes lessening(const struct tile *tile, const struct centres *centres, int t, mask coincides) {
    const real p = (real)centres->power, inverse = (real)(centres->m - 1);
    const lanes one = all(1), near = all((BITS == 64 ? (real)0x1p-52 : (real)0x1p-23) * 16 * (p > 1 ? p : 1));
    lanes low = all(0), high = all(0), now = all(0);
    for (int64_t j = 0; j < centres->clusters; j++)
        high = larger(load(tile->u + j * TILE + t), high);
    for (int step = 0; step < FUZZY_STEPS; step++) {
        lanes total = all(0), fall = all(0);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes lead = load(tile->u + j * TILE + t), left = subtract(lead, now), above = larger(left, all(0));
            lanes u = raised(lead, multiply(all((real)centres->m), load(tile->d2 + j * TILE + t)), now, p);
            total = add(total, u);
            fall = add(fall, divide(u, where(less(all(0), above), above, one)));
        }
        mask at_zero = where_whole(equal(now, all(0)), where_whole(coincides, at_least(one, total), all_whole(0)), all_whole(0));
        mask settled = where_whole(at_least(near, absolute(subtract(total, one))), all_whole(-1), at_zero);
        if (all_set(settled))
            break;
        mask over = at_least(total, one);
        low = where(over, now, low);
        high = where(over, high, now);
        lanes inverted = where(over, power(divide(one, where(over, total, one)), inverse), divide(one, power(total, inverse)));
        lanes next = add(now, divide(multiply(total, subtract(one, inverted)), where(less(all(0), fall), fall, one)));
        mask inside = where_whole(less(low, next), less(next, high), all_whole(0));
        inside = where_whole(less(all(0), fall), inside, all_whole(0));
        next = where(inside, next, multiply(all((real)0.5), add(low, high)));
        now = where(settled, now, next);
    }
    return now;
}

/* u_ij = (max(nu_i + price_j, 0) / (m d2_ij))^power, up to the row's factor; a centre that the row is at has what the others leave. */
static void sized_fuzzy_memberships(struct tile *tile, const struct centres *centres) {
    const lanes m = all((real)centres->m);
    ACROSS(t) {
        lanes first, total = all(0), count = all(0);
        const mask coincides = leads_of(tile, centres, t, &first);
        const lanes lessened = lessening(tile, centres, t, coincides);
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes costs = multiply(m, load(tile->d2 + j * TILE + t));
            lanes u = raised(load(tile->u + j * TILE + t), costs, lessened, (real)centres->power);
            mask here = where_whole(at_least(all(0), costs), equal(subtract(costs, all(centres->scales[j])), first), all_whole(0));
            count = add(count, where(here, all(1), all(0)));
            total = add(total, u);
            store(tile->u + j * TILE + t, u);
        }
        lanes share = divide(larger(subtract(all(1), total), all(0)), larger(count, all(1))), sum_of_all = all(0);
        for (int64_t j = 0; j < centres->clusters; j++) {
            real *at = tile->u + j * TILE + t;
            lanes costs = multiply(m, load(tile->d2 + j * TILE + t)), u = load(at);
            mask here = where_whole(at_least(all(0), costs), equal(subtract(costs, all(centres->scales[j])), first), all_whole(0));
            u = where(here, add(u, share), u);
            sum_of_all = add(sum_of_all, u);
            store(at, u);
        }
        store(tile->factor + t, divide(all(1), sum_of_all));
    }
}

/* w = u^m. */
static double sized_fuzzy_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    for (int64_t j = 0; j < centres->clusters; j++) {
        ACROSS(t) {
            real *at = tile->u + j * TILE + t;
            lanes u = multiply(load(at), load(tile->factor + t));
            store(at, centres->m == 2 ? multiply(u, u) : power(smaller(u, all(1)), (real)centres->m));
        }
        add_weighted(tile, j, mass, spread);
    }
    return 0;
}

/* power u_ij / (nu_i + price_j), where nu_i + price_j = m d2_ij u_ij^(m-1). */
static void sized_fuzzy_slopes(const struct tile *tile, const struct centres *centres, real *slopes) {
    const lanes m = all((real)centres->m), p = all((real)centres->power), least = root(all(TINY));
    for (int64_t j = 0; j < centres->clusters; j++)
        ACROSS(t) {
            lanes u = multiply(load(tile->u + j * TILE + t), load(tile->factor + t));
            lanes lead = multiply(m, load(tile->d2 + j * TILE + t));
            lead = multiply(lead, centres->m == 2 ? u : power(smaller(u, all(1)), (real)(centres->m - 1)));
            store(slopes + j * TILE + t, divide(multiply(p, u), larger(lead, least)));
        }
}
