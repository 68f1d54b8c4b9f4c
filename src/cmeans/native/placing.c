/* Clusters of bounded sizes where each row knows its nearest clusters alone: masses under prices, and rows placed as long as there is room. */
#include "search.h"

#define PAUSED -3
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

/* -------------------------------------------------------------------------------------- the cheapest of all placements */

/* The row of a cluster that costs least to move to another. */
struct way {
    double cost;  /* by which its squared distance grows */
    int64_t row;
    int32_t to, rank; /* the other cluster, and its rank among those that the row knows */
};

struct ways {
    struct way *of;
    int64_t count, room; /* count below 0: to be found again */
};

/* Rows in clusters, and paths between these. Nodes are the clusters and, last, the hub, by which clusters give and take room between their
 * bounds. With the prices as potentials no way costs less than nothing. */
struct settling {
    const int32_t *clusters;
    const real *d2;
    int32_t *rank;
    int64_t few, hub;
    const int64_t *least, *most;
    double *prices;               /* (hub + 1,) */
    int64_t *next, *before;       /* (count,) neighbours of each row among those of its cluster; -1: none */
    int64_t *first;               /* (hub,) */
    int64_t *surplus, *held;      /* (hub + 1,) rows beyond those held, and (hub,) these */
    struct ways *ways;            /* (hub,) */
    double *reach;                /* (hub + 1,) length of the path to each node; infinite where none is known */
    int32_t *from, *way;          /* (hub + 1,) the node before, and the number of the way from it */
    int32_t *heap, *place;        /* (hub + 1,) open nodes, the nearest on top, and where each is; place -1: none, -2: closed */
    int32_t *met;                 /* (hub + 1,) nodes with a length */
    int64_t open, known;          /* numbers of these */
    int64_t work;                 /* ways looked at before a pause */
};

INLINE double net_of(const struct settling *s, int64_t row, int64_t rank) {
    return (double)s->d2[row * s->few + rank] - s->prices[s->clusters[row * s->few + rank]];
}

static void link_row(struct settling *s, int64_t row) {
    const int32_t j = s->clusters[row * s->few + s->rank[row]];
    s->next[row] = s->first[j], s->before[row] = -1;
    if (s->first[j] >= 0)
        s->before[s->first[j]] = row;
    s->first[j] = row;
    s->ways[j].count = -1;
}

static void unlink_row(struct settling *s, int64_t row) {
    const int32_t j = s->clusters[row * s->few + s->rank[row]];
    if (s->before[row] >= 0)
        s->next[s->before[row]] = s->next[row];
    else
        s->first[j] = s->next[row];
    if (s->next[row] >= 0)
        s->before[s->next[row]] = s->before[row];
    s->ways[j].count = -1;
}

/* The ways from cluster j; `slot` (hub,) holds -1 before and after. 0 where there is no memory. */
static int find_ways(struct settling *s, int64_t j, int32_t *slot) {
    struct ways *ways = s->ways + j;
    ways->count = 0;
    for (int64_t row = s->first[j]; row >= 0; row = s->next[row]) {
        const int32_t *known = s->clusters + row * s->few;
        const real *d2 = s->d2 + row * s->few, own = d2[s->rank[row]];
        if (ways->count + s->few > ways->room) {
            struct way *more = realloc(ways->of, (size_t)(2 * (ways->room + s->few)) * sizeof(struct way));
            if (more == NULL)
                return 0;
            ways->of = more, ways->room = 2 * (ways->room + s->few);
        }
        for (int32_t k = 0; k < s->few; k++) {
            const double cost = (double)d2[k] - (double)own;
            if (known[k] == j)
                continue;
            if (slot[known[k]] < 0)
                slot[known[k]] = (int32_t)ways->count, ways->of[ways->count++] = (struct way){cost, row, known[k], k};
            else if (cost < ways->of[slot[known[k]]].cost)
                ways->of[slot[known[k]]] = (struct way){cost, row, known[k], k};
        }
    }
    for (int64_t k = 0; k < ways->count; k++)
        slot[ways->of[k].to] = -1;
    return 1;
}

/* A node comes nearer to the top of the heap, where it is nearer than those above it. */
static void rise(struct settling *s, int32_t node, int64_t at) {
    for (; at > 0 && s->reach[node] < s->reach[s->heap[(at - 1) / 2]]; at = (at - 1) / 2)
        s->place[s->heap[at] = s->heap[(at - 1) / 2]] = (int32_t)at;
    s->place[s->heap[at] = node] = (int32_t)at;
}

static int32_t take_nearest(struct settling *s) {
    const int32_t nearest = s->heap[0], last = s->heap[--s->open];
    int64_t at = 0;
    s->place[nearest] = -2;
    if (s->open == 0)
        return nearest;
    for (int64_t below; (below = 2 * at + 1) < s->open; at = below) {
        below += below + 1 < s->open && s->reach[s->heap[below + 1]] < s->reach[s->heap[below]];
        if (!(s->reach[s->heap[below]] < s->reach[last]))
            break;
        s->place[s->heap[at] = s->heap[below]] = (int32_t)at;
    }
    rise(s, last, at);
    return nearest;
}

/* A path of this length leads to a node, by a way from the node before; none longer than to the nearest that wants rows is of use. */
INLINE void arrive(struct settling *s, int32_t node, double length, int32_t from, int32_t way, double *limit) {
    if (!(length < s->reach[node]) || !(length < *limit))
        return;
    if (s->reach[node] == (double)INFINITY)
        s->met[s->known++] = node;
    s->reach[node] = length, s->from[node] = from, s->way[node] = way;
    rise(s, node, s->place[node] >= 0 ? s->place[node] : s->open++);
    if (s->surplus[node] < 0)
        *limit = length;
}

INLINE double not_negative(double x) { return x > 0 ? x : 0; }

/* The nearest node that wants rows from one that has too many; -1 where no path leads to any, -2 where there is no memory. */
static int32_t find_path(struct settling *s, int32_t start, int32_t *slot) {
    double limit = (double)INFINITY;
    s->open = s->known = 0;
    arrive(s, start, 0, -1, -1, &limit);
    while (s->open > 0) {
        const int32_t node = take_nearest(s);
        const double length = s->reach[node], price = s->prices[node];
        if (s->surplus[node] < 0)
            return node;
        s->work -= node == s->hub ? s->hub : s->ways[node].count;
        if (node == s->hub) {
            for (int32_t k = 0; k < s->hub; k++)
                if (s->held[k] > s->least[k] && s->place[k] != -2)
                    arrive(s, k, length + not_negative(price - s->prices[k]), node, -1, &limit);
            continue;
        }
        if (s->held[node] < s->most[node] && s->place[s->hub] != -2)
            arrive(s, (int32_t)s->hub, length + not_negative(price - s->prices[s->hub]), node, -1, &limit);
        if (s->ways[node].count < 0 && !find_ways(s, node, slot))
            return -2;
        for (int32_t k = 0; k < s->ways[node].count; k++) {
            const struct way *way = s->ways[node].of + k;
            if (s->place[way->to] != -2)
                arrive(s, way->to, length + not_negative(way->cost + price - s->prices[way->to]), node, k, &limit);
        }
    }
    return -1;
}

/* Prices follow a path to its end, and rows go along it: as many as it lets through, one where rows themselves move. */
static void send_along(struct settling *s, int32_t start, int32_t end) {
    int64_t amount = at_most(s->surplus[start], -s->surplus[end]);
    for (int64_t k = 0; k < s->known; k++)
        if (s->reach[s->met[k]] < s->reach[end])
            s->prices[s->met[k]] += s->reach[s->met[k]] - s->reach[end];
    for (int32_t node = end; node != start; node = s->from[node]) {
        const int32_t from = s->from[node];
        amount = at_most(amount, node == s->hub ? s->most[from] - s->held[from] : from == s->hub ? s->held[node] - s->least[node] : 1);
    }
    for (int32_t node = end; node != start; node = s->from[node]) {
        const int32_t from = s->from[node];
        if (node == s->hub)
            s->held[from] += amount;
        else if (from == s->hub)
            s->held[node] -= amount;
        else {
            const struct way way = s->ways[from].of[s->way[node]];
            unlink_row(s, way.row);
            s->rank[way.row] = way.rank;
            link_row(s, way.row);
        }
    }
    s->surplus[start] -= amount;
    s->surplus[end] += amount;
}

static void forget_path(struct settling *s) {
    for (int64_t k = 0; k < s->known; k++)
        s->reach[s->met[k]] = (double)INFINITY, s->place[s->met[k]] = -1;
}

/* A row leaves a node from which no path leads on: for the hub, the cluster that has most room to give. Returns how many are in none now. */
static int64_t leave_out(struct settling *s, int64_t node) {
    s->surplus[node]--;
    if (node == s->hub) {
        node = 0;
        for (int64_t j = 1; j < s->hub; j++)
            node = s->held[j] - s->least[j] > s->held[node] - s->least[node] ? j : node;
        s->held[node]--;
        if (++s->surplus[node] <= 0)
            return 0;
        s->surplus[node]--;
    }
    const int64_t row = s->first[node];
    unlink_row(s, row);
    s->rank[row] = -1;
    return 1;
}

/* Rows go to the clusters that have them for least by price, and from there along shortest paths until all clusters keep their bounds: the
 * cheapest of all placements in clusters that rows know (Edmonds and Karp 1972). Rows of no weight take no room. Sets the rank of each row's
 * cluster, -1 for rows of clusters that have too many from which no path leads on, and prices by which every other row is where it costs
 * least. Returns how many rows are left so, or PAUSED after so much `work`: then it goes on where it is called again with `begun` and what it
 * has left in `prices`, `rank` and `held` (clusters,). */
int64_t EXPORTED(settle_rows)(int64_t count, int64_t few, const int32_t *clusters, const real *d2, const real *weight, int64_t n_clusters,
                              const int64_t *least, const int64_t *most, int64_t work, int64_t begun, double *prices, int32_t *rank,
                              int64_t *held) {
    const int64_t nodes = n_clusters + 1;
    int64_t left = 0, *numbers = malloc((size_t)(2 * count + 2 * nodes) * sizeof(int64_t));
    int32_t *places = malloc((size_t)(7 * nodes) * sizeof(int32_t)), *slot = places + 5 * nodes;
    int32_t *closed = places + 6 * nodes; /* 1: no path leads from a node to any that wants rows, nor will one, as no path used leads there */
    double *potentials = malloc((size_t)(2 * nodes) * sizeof(double));
    struct ways *ways = calloc((size_t)nodes, sizeof(struct ways));
    if (numbers == NULL || places == NULL || potentials == NULL || ways == NULL) {
        left = NO_MEMORY;
        goto end;
    }
    struct settling s = {clusters, d2, rank, few, n_clusters, least, most, potentials, numbers, numbers + count, numbers + 2 * count,
                         numbers + 2 * count + nodes, held, ways, potentials + nodes, places, places + nodes, places + 2 * nodes,
                         places + 3 * nodes, places + 4 * nodes, 0, 0, work};
    for (int64_t j = 0; j < nodes; j++) {
        s.prices[j] = j < n_clusters ? prices[j] : 0, s.reach[j] = (double)INFINITY;
        s.surplus[j] = 0, s.first[j] = -1, s.place[j] = slot[j] = -1, closed[j] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        rank[i] = begun ? rank[i] : 0;
        for (int32_t k = 1; k < few && !begun; k++)
            rank[i] = net_of(&s, i, k) < net_of(&s, i, rank[i]) ? k : rank[i];
        if (weight[i] > 0 && rank[i] >= 0)
            link_row(&s, i), s.surplus[clusters[i * few + rank[i]]]++;
    }
    for (int64_t j = 0; j < n_clusters; j++) {
        const int64_t size = s.surplus[j], within = size < least[j] ? least[j] : at_most(size, most[j]);
        if (!begun)
            s.held[j] = prices[j] > 0 ? least[j] : prices[j] < 0 ? most[j] : within;
        s.surplus[j] -= s.held[j];
        s.surplus[n_clusters] -= s.surplus[j];
    }
    for (int32_t j = 0; j < nodes && left != PAUSED; j++)
        while (s.surplus[j] > 0) {
            if (s.work <= 0) {
                left = PAUSED;
                break;
            }
            const int32_t end = closed[j] ? -1 : find_path(&s, j, slot);
            if (end == -2) {
                left = NO_MEMORY;
                goto end;
            }
            if (end >= 0)
                send_along(&s, j, end);
            else
                left += leave_out(&s, j);
            for (int64_t k = 0; k < s.known && end < 0; k++)
                closed[s.met[k]] = 1;
            forget_path(&s);
            s.known = 0;
        }
    for (int64_t j = 0; j < n_clusters; j++)
        prices[j] = s.prices[j] - s.prices[n_clusters];
end:
    for (int64_t j = 0; ways != NULL && j < n_clusters; j++)
        free(ways[j].of);
    free(ways), free(potentials), free(places), free(numbers);
    return left;
}
