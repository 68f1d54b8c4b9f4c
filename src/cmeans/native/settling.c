/* Rows that know a few clusters each in those of bounded sizes, at least cost: along shortest paths among the clusters.
 *
 * Costs are compared in whole slacks. Then many paths are equally short, and rows go along all of them before any is looked for again, where
 * with exact costs each row asks for a search of its own. A slack after a larger one starts from prices that are nearly right (Goldberg and
 * Tarjan 1990 scale costs so); what it leaves is OPEN slacks for each row, and as many for each by which what clusters hold is off, and rounding
 * in the end. */
#include "tile.h"

#define PAUSED -3
#define OPEN 1.5 /* slacks that a way may cost: lengths are whole ones, and prices are rounded */
#define NEAREST 0.25 /* share of the nodes that have room to which paths are sought together */
#define ROWS_SOON 8 /* rows of a list between the one that is read and the one that is fetched into the cache */

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
 * bounds. With the prices as potentials no way costs less than nothing, but for the slack. */
struct settling {
    const int32_t *clusters;
    const real *d2;
    int32_t *rank;
    int64_t count, few, hub;
    const int64_t *least, *most;
    double slack, per_slack;
    double *prices;          /* (hub + 1,) */
    int64_t *next, *before;  /* (count,) neighbours of each row among those of its cluster; -1: none */
    int64_t *first;          /* (hub,) */
    int64_t *surplus, *held; /* (hub + 1,) rows beyond those held, and (hub,) these */
    struct ways *ways;       /* (hub,) */
    double *reach;           /* (hub + 1,) length of the path to each node in slacks; infinite where none is known */
    int32_t *hops;           /* (hub + 1,) ways along it */
    int32_t *from, *way;     /* (hub + 1,) the node before, and the number of the way from it */
    int32_t *heap, *place;   /* (hub + 1,) open nodes, the nearest on top, and where each is; place -1: none, -2: closed */
    int32_t *tried;          /* (hub + 1,) ways from each node that need not be tried again */
    int32_t *slot;           /* (hub,) -1 */
    int64_t open;            /* number of open nodes */
    int64_t work;            /* ways looked at before a pause */
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

/* What a row knows is wanted soon. */
INLINE void fetch_known(const struct settling *s, int64_t row) {
    __builtin_prefetch(s->clusters + row * s->few), __builtin_prefetch(s->d2 + row * s->few), __builtin_prefetch(s->rank + row);
}

/* The ways from cluster j are known then; 0 where there is no memory. */
static int find_ways(struct settling *s, int64_t j) {
    struct ways *ways = s->ways + j;
    int64_t ahead = s->first[j];
    if (ways->count >= 0)
        return 1;
    for (int k = 0; k < ROWS_SOON && ahead >= 0; k++, ahead = s->next[ahead])
        fetch_known(s, ahead);
    ways->count = 0;
    for (int64_t row = s->first[j]; row >= 0; row = s->next[row]) {
        const int32_t *known = s->clusters + row * s->few;
        const real *d2 = s->d2 + row * s->few, own = d2[s->rank[row]];
        if (ahead >= 0)
            fetch_known(s, ahead), ahead = s->next[ahead];
        if (ways->count + s->few > ways->room) {
            struct way *more = realloc(ways->of, (size_t)(2 * (ways->room + s->few)) * sizeof(struct way));
            if (more == NULL)
                return 0;
            ways->of = more, ways->room = 2 * (ways->room + s->few);
        }
        for (int32_t k = 0; k < s->few; k++) {
            const double cost = (double)d2[k] - (double)own;
            int32_t *slot = s->slot + known[k];
            if (known[k] == j)
                continue;
            if (*slot < 0)
                *slot = (int32_t)ways->count, ways->of[ways->count++] = (struct way){cost, row, known[k], k};
            else if (cost < ways->of[*slot].cost)
                ways->of[*slot] = (struct way){cost, row, known[k], k};
        }
    }
    for (int64_t k = 0; k < ways->count; k++)
        s->slot[ways->of[k].to] = -1;
    return 1;
}

/* -------------------------------------------------------------------------------------- prices by which shortest paths cost nothing */

INLINE int is_nearer(const struct settling *s, int32_t a, int32_t b) {
    return s->reach[a] < s->reach[b] || (s->reach[a] == s->reach[b] && s->hops[a] < s->hops[b]);
}

/* A node comes nearer to the top of the heap, where it is nearer than those above it. */
static void rise(struct settling *s, int32_t node, int64_t at) {
    for (; at > 0 && is_nearer(s, node, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
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
        below += below + 1 < s->open && is_nearer(s, s->heap[below + 1], s->heap[below]);
        if (!is_nearer(s, s->heap[below], last))
            break;
        s->place[s->heap[at] = s->heap[below]] = (int32_t)at;
    }
    rise(s, last, at);
    return nearest;
}

/* A path of this length and so many ways leads to a node. */
INLINE void arrive(struct settling *s, int32_t node, double length, int32_t hops) {
    if (s->place[node] == -2 || !(length < s->reach[node] || (length == s->reach[node] && hops < s->hops[node])))
        return;
    s->reach[node] = length, s->hops[node] = hops;
    rise(s, node, s->place[node] >= 0 ? s->place[node] : s->open++);
}

/* By what a way costs more than prices cover. */
INLINE double beyond(const struct settling *s, int32_t from, int32_t to, double cost) { return cost + s->prices[from] - s->prices[to]; }

/* A path leads on from a node that is closed. */
INLINE void go_on(struct settling *s, int32_t from, int32_t to, double cost) {
    const double slacks = beyond(s, from, to, cost) * s->per_slack;
    arrive(s, to, s->reach[from] + (slacks > 0 ? floor(slacks) : 0), s->hops[from] + 1);
}

/* True where a node wants rows, or may hold more, which the hub wants. */
INLINE int has_room(const struct settling *s, int32_t node) {
    return s->surplus[node] < 0 || (node < s->hub && s->surplus[s->hub] < 0 && s->held[node] < s->most[node]);
}

/* Prices by which ways of no length lead from nodes that have too many rows to the nearest of those that want some. Returns how many these
 * are, -1 where there is no memory. */
static int64_t find_paths(struct settling *s) {
    int64_t found = 0, near = 0, wanted = 0;
    s->open = 0;
    for (int32_t j = 0; j <= s->hub; j++)
        wanted += has_room(s, j);
    for (int32_t j = 0; j <= s->hub; j++)
        s->reach[j] = (double)INFINITY, s->place[j] = -1;
    for (int32_t j = 0; j <= s->hub; j++)
        if (s->surplus[j] > 0)
            arrive(s, j, 0, 0);
    double length = 0;
    while (s->open > 0 && (found == 0 || (double)near < NEAREST * (double)wanted)) {
        const int32_t node = take_nearest(s), hub = (int32_t)s->hub;
        length = s->reach[node], found += s->surplus[node] < 0, near += has_room(s, node);
        if (node == hub) {
            for (int32_t k = 0; k < hub; k++)
                if (s->held[k] > s->least[k])
                    go_on(s, hub, k, 0);
            s->work -= hub;
            continue;
        }
        if (s->held[node] < s->most[node])
            go_on(s, node, hub, 0);
        if (!find_ways(s, node))
            return -1;
        const struct ways *ways = s->ways + node;
        for (int64_t k = 0; k < ways->count; k++)
            go_on(s, node, ways->of[k].to, ways->of[k].cost);
        s->work -= ways->count;
    }
    for (int32_t j = 0; j <= s->hub && found; j++)
        if (s->reach[j] < length)
            s->prices[j] += (s->reach[j] - length) * s->slack;
    return found;
}

/* -------------------------------------------------------------------------------------- rows along these ways */

/* True where a way costs nothing, to a node where nobody was, and which is the end or to which as many ways lead as by it. */
INLINE int is_open(const struct settling *s, int32_t from, int32_t to, double cost) {
    return s->place[to] == -1 && (s->surplus[to] < 0 || (s->reach[to] < (double)INFINITY && s->hops[to] == s->hops[from] + 1)) &&
           beyond(s, from, to, cost) < OPEN * s->slack;
}

/* The end of an open way from a node; -1 where there is none, -2 where there is no memory. */
static int32_t step_on(struct settling *s, int32_t node) {
    const int32_t hub = (int32_t)s->hub;
    int32_t *k = s->tried + node;
    if (node == hub) {
        for (; *k < hub; ++*k)
            if (s->held[*k] > s->least[*k] && is_open(s, hub, *k, 0))
                return *k;
        return -1;
    }
    if (s->held[node] < s->most[node] && is_open(s, node, hub, 0))
        return hub;
    if (!find_ways(s, node))
        return -2;
    for (const struct ways *ways = s->ways + node; *k < ways->count; ++*k) {
        const struct way *way = ways->of + *k;
        if (is_open(s, node, way->to, way->cost)) {
            s->way[way->to] = *k;
            return way->to;
        }
    }
    return -1;
}

/* A node that wants rows, at the end of open ways from one that has too many; -1 where there is none, -2 where there is no memory. Nobody goes
 * again where ways lead nowhere. */
static int32_t walk(struct settling *s, int32_t start) {
    int32_t node = start;
    s->from[start] = -1, s->place[start] = -2;
    while (node >= 0 && s->surplus[node] >= 0) {
        const int32_t to = step_on(s, node);
        if (to == -2)
            return -2;
        if (to >= 0)
            s->from[to] = node, s->place[to] = -2;
        node = to >= 0 ? to : s->from[node];
    }
    return node;
}

/* Rows go to the end of a walk: as many as its ways let through, one where rows themselves move. */
static void send_along(struct settling *s, int32_t start, int32_t end) {
    int64_t amount = at_most(s->surplus[start], -s->surplus[end]);
    for (int32_t node = end, from; (from = s->from[node]) >= 0; node = from)
        amount = at_most(amount, node == s->hub ? s->most[from] - s->held[from] : from == s->hub ? s->held[node] - s->least[node] : 1);
    for (int32_t node = end, from; (from = s->from[node]) >= 0; node = from)
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
    for (int32_t node = end; node >= 0; node = s->from[node])
        s->place[node] = -1, s->tried[node] = 0;
    s->surplus[start] -= amount;
    s->surplus[end] += amount;
}

/* Rows go along open ways as long as there are any: so many paths are returned, -1 where there is no memory. */
static int64_t send_rows(struct settling *s) {
    int64_t sent = 0;
    for (int32_t j = 0; j <= s->hub; j++)
        s->tried[j] = 0, s->place[j] = -1;
    for (int32_t j = 0; j <= s->hub; j++)
        while (s->surplus[j] > 0 && s->place[j] == -1) {
            const int32_t end = walk(s, j);
            if (end == -2)
                return -1;
            if (end >= 0)
                send_along(s, j, end), sent++;
        }
    return sent;
}

/* A row leaves a node from which no path leads on: for the hub, the cluster that has most room to give. */
static void leave_out(struct settling *s, int64_t node) {
    s->surplus[node]--;
    if (node == s->hub) {
        node = 0;
        for (int64_t j = 1; j < s->hub; j++)
            node = s->held[j] - s->least[j] > s->held[node] - s->least[node] ? j : node;
        s->held[node]--;
        if (++s->surplus[node] <= 0)
            return;
        s->surplus[node]--;
    }
    const int64_t row = s->first[node];
    unlink_row(s, row);
    s->rank[row] = -1;
}

/* -------------------------------------------------------------------------------------- one slack */

/* Rows go where they cost least by price, but for those that cost no more than the slack where they are, and clusters hold as many as prices
 * let them. Rows of no weight take no room, and those that were left out stay so. */
static void begin(struct settling *s, const real *weight) {
    const double most = OPEN * s->slack;
    for (int64_t j = 0; j <= s->hub; j++)
        s->surplus[j] = 0, s->first[j] = -1, s->slot[j] = -1;
    for (int64_t i = 0; i < s->count; i++) {
        int32_t best = 0;
        if (s->rank[i] < 0)
            continue;
        for (int32_t k = 1; k < s->few; k++)
            best = net_of(s, i, k) < net_of(s, i, best) ? k : best;
        if (net_of(s, i, s->rank[i]) > net_of(s, i, best) + most)
            s->rank[i] = best;
        if (weight[i] > 0)
            link_row(s, i), s->surplus[s->clusters[i * s->few + s->rank[i]]]++;
    }
    for (int64_t j = 0; j < s->hub; j++) {
        const int64_t size = s->surplus[j], held = s->held[j] < 0 ? size : s->held[j];
        if (s->prices[j] > most)
            s->held[j] = s->least[j];
        else if (s->prices[j] < -most)
            s->held[j] = s->most[j];
        else
            s->held[j] = held < s->least[j] ? s->least[j] : at_most(held, s->most[j]);
        s->surplus[j] -= s->held[j];
        s->surplus[s->hub] -= s->surplus[j];
    }
}

/* Rows beyond those that nodes hold. */
static int64_t too_many(const struct settling *s) {
    int64_t total = 0;
    for (int64_t j = 0; j <= s->hub; j++)
        total += s->surplus[j] > 0 ? s->surplus[j] : 0;
    return total;
}

/* Rows that are in clusters, by `rank`, go to those that have them for least by price, and from there along shortest paths until all clusters
 * keep their bounds: the cheapest of all placements in clusters that rows know, but for twice OPEN slacks a row (Edmonds and Karp 1972). Rows
 * of no weight take no room. `held` (clusters,) are rows that clusters hold, -1 where nothing is known. So many rows as `may_stay` need not go
 * on; those from whose clusters no path leads on are in none (rank -1) where this is the `last` slack, and stay otherwise. Sets prices by which
 * every other row is where it costs least, but for the slack. Returns 0, or PAUSED after so much `work`: called again with what it has left it
 * goes on. */
int64_t EXPORTED(settle_rows)(int64_t count, int64_t few, const int32_t *clusters, const real *d2, const real *weight, int64_t n_clusters,
                              const int64_t *least, const int64_t *most, double slack, int64_t may_stay, int64_t last, int64_t work,
                              double *prices, int32_t *rank, int64_t *held) {
    const int64_t nodes = n_clusters + 1;
    int64_t result = 0, *numbers = malloc((size_t)(2 * count + 2 * nodes) * sizeof(int64_t));
    int32_t *places = malloc((size_t)(7 * nodes) * sizeof(int32_t));
    double *potentials = malloc((size_t)(2 * nodes) * sizeof(double));
    struct ways *ways = calloc((size_t)nodes, sizeof(struct ways));
    if (numbers == NULL || places == NULL || potentials == NULL || ways == NULL) {
        result = NO_MEMORY;
        goto end;
    }
    struct settling s = {.clusters = clusters, .d2 = d2, .rank = rank, .count = count, .few = few, .hub = n_clusters, .least = least,
                         .most = most, .slack = slack, .per_slack = 1 / slack, .prices = potentials, .next = numbers,
                         .before = numbers + count, .first = numbers + 2 * count, .surplus = numbers + 2 * count + nodes, .held = held,
                         .ways = ways, .reach = potentials + nodes, .hops = places, .from = places + nodes, .way = places + 2 * nodes,
                         .heap = places + 3 * nodes, .place = places + 4 * nodes, .tried = places + 5 * nodes,
                         .slot = places + 6 * nodes, .work = work};
    for (int64_t j = 0; j < nodes; j++)
        s.prices[j] = j < n_clusters ? prices[j] : 0;
    begin(&s, weight);
    for (int64_t sent = 1; sent > 0 && too_many(&s) > may_stay;) {
        if (s.work <= 0) {
            result = PAUSED;
            break;
        }
        sent = find_paths(&s);
        sent = sent > 0 ? send_rows(&s) : sent; /* none but by rounding of prices beyond all distances, which must not keep it here */
        if (sent < 0) {
            result = NO_MEMORY;
            goto end;
        }
    }
    for (int64_t j = 0; j < nodes && last && result != PAUSED; j++)
        while (s.surplus[j] > 0)
            leave_out(&s, j);
    for (int64_t j = 0; j < n_clusters; j++)
        prices[j] = s.prices[j] - s.prices[n_clusters];
end:
    for (int64_t j = 0; ways != NULL && j < n_clusters; j++)
        free(ways[j].of);
    free(ways), free(potentials), free(places), free(numbers);
    return result;
}
