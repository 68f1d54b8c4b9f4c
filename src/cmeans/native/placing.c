/* Clusters of bounded sizes where each row knows its nearest clusters alone: masses under prices, and rows placed as long as there is room. */
#include "search.h"

#define FEW 16 /* clusters that a row knows: NEAR in solvers/sizes/near.py */

/* mass_j += weight_i u_ij over some rows, u_ij = exp(-(d2_ij - g_j) / T) / sum_k of the same, over the FEW clusters that row i knows. */
void EXPORTED(share_rows)(int64_t count, const int32_t *clusters, const real *d2, const real *weight, const real *prices, double temperature,
                          double *mass) {
    real net[FEW] __attribute__((aligned(LINE)));
    const lanes scale = all((real)(-1.0 / temperature));
    for (int64_t i = 0; i < count; i++) {
        const int32_t *own = clusters + i * FEW;
        real least = (real)INFINITY;
        for (int k = 0; k < FEW; k++) {
            net[k] = d2[i * FEW + k] - prices[own[k]];
            least = net[k] < least ? net[k] : least;
        }
        lanes total = all(0);
        for (int k = 0; k < FEW; k += LANES) {
            const lanes share = exponential(multiply(subtract(load(net + k), all(least)), scale));
            total = add(total, share);
            store(net + k, share);
        }
        const double part = (double)weight[i] / (double)sum(total);
        for (int k = 0; k < FEW; k++)
            mass[own[k]] += part * (double)net[k];
    }
}

/* Row i less the shift, zeros beyond the columns; returns k(x, x). */
static real move_row(const struct rows *rows, int64_t i, real *moved) {
    const real *row = rows->values + i * rows->pitch;
    lanes squares = all(0);
    for (int64_t f = 0; f < rows->columns; f += LANES) {
        lanes x = load_some(row + f, rows->columns - f);
        if (rows->shift != NULL)
            x = subtract(x, load_some(rows->shift + f, rows->columns - f));
        store(moved + f, x);
        squares = fused(x, x, squares);
    }
    return rows->kxx == NULL ? sum(squares) : rows->kxx[i];
}

/* Squared distances of a row to AFEW clusters. */
static void measure_few(const real *moved, real kxx, int64_t columns, const struct centres *centres, const int32_t *clusters, real *d2) {
    lanes sums[AFEW];
#pragma GCC unroll 4
    for (int p = 0; p < AFEW; p++)
        sums[p] = all(0);
    for (int64_t f = 0; f < columns; f += LANES) {
        const lanes x = load(moved + f);
#pragma GCC unroll 4
        for (int p = 0; p < AFEW; p++)
            sums[p] = fused(x, load_some(centres->values + clusters[p] * columns + f, columns - f), sums[p]);
    }
    for (int p = 0; p < AFEW; p++)
        d2[p] = squared_distance(kxx, centres->norms[clusters[p]], sum(sums[p]), (real)centres->rounding);
}

/* The FEW clusters that have each of some dense rows for least by price (count, FEW), the cheapest first, among the `near` that lie about its
 * nearest centre (clusters, near), a multiple of AFEW; and squared distances. */
int EXPORTED(find_about)(const struct rows *rows, const struct centres *centres, const int32_t *nearest, int64_t near, const int32_t *about,
                         const real *prices, int32_t *clusters, real *d2) {
    void *memory = malloc((size_t)in_lines(rows->columns) * sizeof(real) + LINE);
    if (memory == NULL)
        return NO_MEMORY;
    real *moved = aligned_to_line(memory);
    for (int64_t i = 0; i < rows->count; i++) {
        const real kxx = move_row(rows, i, moved);
        int32_t *own = clusters + i * FEW;
        real net[FEW], *to = d2 + i * FEW, found[AFEW];
        for (int64_t k = 0; k < near; k += AFEW) {
            const int32_t *some = about + (int64_t)nearest[i] * near + k;
            measure_few(moved, kxx, rows->columns, centres, some, found);
            for (int p = 0; p < AFEW; p++) {
                const real here = found[p] - prices[some[p]];
                int64_t at = at_most(k + p, FEW);
                for (; at > 0 && here < net[at - 1]; at--)
                    if (at < FEW)
                        net[at] = net[at - 1], own[at] = own[at - 1], to[at] = to[at - 1];
                if (at < FEW)
                    net[at] = here, own[at] = some[p], to[at] = found[p];
            }
        }
    }
    free(memory);
    return 0;
}

/* Rows in an order go to the cluster that has them for least by price of those that may take one: up to their least sizes all may, beyond
 * those as long as `spare` rows are left for it, up to their largest ones. A row knows `few` clusters, or all where `few` is their number.
 * `least` and `most` are what is left of the sizes, `spare` (1,) too. Sets the rank of each row's cluster, -1 where none of them takes it;
 * returns how many are left so. */
int64_t EXPORTED(place_rows)(int64_t count, int64_t few, const int64_t *order, const int32_t *clusters, const real *d2, const real *prices,
                             int64_t *least, int64_t *most, int64_t *spare, int32_t *rank) {
    int64_t left = 0;
    for (int64_t at = 0; at < count; at++) {
        const int64_t i = order[at];
        const int32_t *own = clusters + i * few;
        real best = (real)INFINITY;
        int64_t found = -1;
        for (int64_t k = 0; k < few; k++) {
            const real net = d2[i * few + k] - prices[own[k]];
            if ((found < 0 || net < best) && (least[own[k]] > 0 || (*spare > 0 && most[own[k]] > 0)))
                best = net, found = k;
        }
        rank[i] = (int32_t)found;
        if (found < 0) {
            left++;
            continue;
        }
        if (least[own[found]] > 0)
            least[own[found]]--;
        else
            (*spare)--;
        most[own[found]]--;
    }
    return left;
}
