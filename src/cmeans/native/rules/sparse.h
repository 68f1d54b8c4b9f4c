/* Sparse possibilistic c-means: only rows within a cluster's radius belong to it, and only those are computed. */

#define HALLEY_STEPS 4

/* Numbers of the chosen rows, `count` of them, padded to whole vectors with the first. */
struct chosen {
    int count, padded;
    int row[TILE];
};

INLINE void pad(struct chosen *chosen) {
    chosen->padded = (chosen->count + LANES - 1) / LANES * LANES;
    for (int i = chosen->count; i < chosen->padded; i++)
        chosen->row[i] = chosen->row[0];
}

/* W(-z) for 0 <= z <= 1/e, by Halley's steps from a series about 0, or about the branch point where z is near 1/e. */
INLINE lanes lambert(lanes z) {
    const lanes one = all(1), two = all(2);
    lanes left = subtract(one, multiply(all((real)2.718281828459045), z));
    lanes about = root(multiply(two, where(less(left, all(0)), all(0), left)));
    lanes near_zero = multiply(subtract(all(0), z), fused(z, fused(all((real)1.5), z, one), one));
    lanes near_branch = subtract(one, multiply(about, subtract(all((real)(1.0 / 3)), multiply(all((real)(11.0 / 72)), about))));
    lanes w = where(less(z, all((real)0.25)), near_zero, subtract(multiply(about, near_branch), one));
    for (int i = 0; i < HALLEY_STEPS; i++) {
        lanes e = exponential(w), g = fused(w, e, z), next = add(w, one);
        lanes slope = subtract(multiply(e, next), divide(multiply(add(w, two), g), multiply(two, next)));
        lanes step = divide(g, slope);
        w = where(equal(step, step), subtract(w, step), w);
    }
    return w;
}

/* u_ij = exp(-d2_ij / eta_j + W(-z_ij) / (1 - p)) within a cluster's radius, 0 outside. */
static void sparse_memberships(struct tile *tile, const struct centres *centres) {
    const int64_t clusters = centres->clusters;
    const lanes rest = all((real)(1 - centres->p));
    real line[LANES] __attribute__((aligned(LINE)));
    for (int64_t j = 0; j < clusters; j++) {
        const real *d2 = tile->d2 + j * TILE, eta = centres->scales[j], radius = centres->scales[clusters + j];
        const lanes log_z = all(centres->scales[2 * clusters + j]);
        real *u = tile->u + j * TILE;
        struct chosen inside = {0};
        for (int t = 0; t < TILE; t++) {
            u[t] = 0;
            inside.row[inside.count] = t;
            inside.count += !(d2[t] >= radius); /* NaN is inside, and found */
        }
        pad(&inside);
        for (int first = 0; first < inside.padded; first += LANES) {
            for (int i = 0; i < LANES; i++)
                line[i] = d2[inside.row[first + i]];
            lanes exponent = divide(load(line), all(eta)), z = exponential(fused(rest, exponent, log_z));
            store(line, exponential(subtract(divide(lambert(z), rest), exponent)));
            for (int i = 0; i < LANES && first + i < inside.count; i++)
                u[inside.row[first + i]] = line[i];
        }
    }
}

/* w = u; the penalty is sum_ij eta_j (u ln u - u + 1) + lambda u^p, where lambda u^p = -eta_j u (d2 / eta_j + ln u) / p, u being a
 * stationary point. */
static double sparse_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    const int64_t clusters = centres->clusters;
    real line[LANES] __attribute__((aligned(LINE)));
    double penalty = 0;
    lanes rows = all(0);
    ACROSS(t) rows = add(rows, load(tile->weight + t));
    for (int64_t j = 0; j < clusters; j++) {
        const real *d2 = tile->d2 + j * TILE, eta = centres->scales[j];
        const int sparse = centres->scales[2 * clusters + j] > -(real)INFINITY;
        real *u = tile->u + j * TILE, m = 0, s, part = 0;
        lanes finite = all(0);
        struct chosen members = {0};
        ACROSS(t) finite = fused(all(0), load(d2 + t), finite); /* NaN and infinity are found even where the row belongs to no cluster */
        s = sum(finite);
        for (int t = 0; t < TILE; t++) {
            members.row[members.count] = t;
            members.count += !(u[t] <= 0);
        }
        pad(&members);
        for (int first = 0; first < members.padded; first += LANES) {
            for (int i = 0; i < LANES; i++)
                line[i] = u[members.row[first + i]];
            store(line, logarithm(load(line)));
            for (int i = 0; i < LANES && first + i < members.count; i++) {
                const int t = members.row[first + i];
                const real w = u[t] * tile->weight[t], sparsity = sparse ? (d2[t] / eta + line[i]) / (real)centres->p : 0;
                u[t] = w;
                m += w;
                s += w * d2[t];
                part += w * (line[i] - 1 - sparsity);
            }
        }
        mass[j] += m;
        spread[j] += s;
        penalty += (double)eta * (part + sum(rows));
    }
    return penalty;
}
