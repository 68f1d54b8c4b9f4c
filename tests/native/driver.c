/* Runs passes and kernel values on made-up rows, and prints a digest of every result: the same on all machines and by all compilers.
 * Compiled with -DVARIANT and -DBITS once for each float type, after the C files whose functions it calls. */
#include <stdio.h>

#include "kernel_values.c"
#undef ROWS
#undef ROWS_PER_PASS
#include "neighbours.c"
#undef ROWS
#include "bounded.c"
#include "communities.c"
#include "flow.c"
#include "merging.c"
#undef FEW
#include "nearest.c"
#include "passes.c"
#include "placing.c"
#undef FEW
#include "seeding.c"
#include "settling.c"
#include "top_k.c"

static uint64_t state = 1;

static real uniform(void) { /* in [-2, 2) */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (real)((double)(state >> 33) * 0x1p-29 - 2);
}

static real *filled(int64_t count) {
    real *numbers = malloc((size_t)(count + LANES) * sizeof(real));
    for (int64_t i = 0; i < count; i++)
        numbers[i] = uniform();
    return numbers;
}

static uint64_t digest(const void *data, size_t bytes) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return hash;
}

#define SHOWN(name, array, count) printf("%d %s %s %016llx\n", BITS, what, name, (unsigned long long)digest(array, (size_t)(count) * sizeof *(array)))

static real *lined(int64_t count) { /* zeros that begin a cache line */
    return aligned_to_line(calloc((size_t)count * sizeof(real) + LINE, 1));
}

/* The nearest centres, by bounds along the first `size` axes. */
static void run_search(const struct rows *rows, const struct centres *centres, int64_t size) {
    const char *what = size > 0 ? "search by bounds" : "search";
    const int64_t n = rows->count, d = rows->columns, c = centres->clusters, pitch = in_lines(d), n_panels = (c + 2 * LANES - 1) / (2 * LANES) * 2;
    real *values = lined(c * pitch), *directions = lined(size * pitch), *panels = lined(n_panels * (2 + size) * LANES);
    for (int64_t j = 0; j < n_panels * LANES; j++) {
        real *panel = panels + j / LANES * (2 + size) * LANES + j % LANES, rest = 0;
        panel[0] = j < c ? centres->norms[j] : (real)INFINITY;
        for (int64_t f = 0; f < d && j < c; f++) {
            const real a = values[j * pitch + f] = centres->values[j * d + f];
            if (f < size)
                panel[(1 + f) * LANES] = -2 * a;
            else
                rest = fused_one(a, a, rest);
        }
        panel[(1 + size) * LANES] = -2 * root_of(rest);
    }
    for (int64_t k = 0; k < size; k++)
        directions[k * pitch + k] = 1;
    const struct search search = {values, centres->norms, directions, panels, c, pitch, size, centres->rounding, 16 * centres->rounding};
    int64_t *labels = malloc((size_t)n * sizeof(int64_t)), *numbers = malloc((size_t)n * sizeof(int64_t)), *count = calloc((size_t)c, sizeof(int64_t));
    int32_t *from = malloc((size_t)n * sizeof(int32_t)), *to = malloc((size_t)n * sizeof(int32_t)), *own = malloc((size_t)n * sizeof(int32_t));
    double *d2 = malloc((size_t)n * sizeof(double)), *sums = calloc((size_t)(2 * c + c * d + 2), sizeof(double));
    real *memberships = malloc((size_t)(n * c) * sizeof(real)), *coordinates = lined(n * (size + 2)), *upper = lined(n), *lower = lined(n), *drift = lined(c);
    const struct found found = {labels, d2, memberships, sums, sums + c, sums + c + 2};
    JOIN(assign_nearest, VARIANT, BITS)(rows, &search, coordinates, &found);
    SHOWN("labels", labels, n);
    SHOWN("distances", d2, n);
    SHOWN("sums", sums, c + 2 + d);
    for (int64_t i = 0; i < n; i++)
        own[i] = -1, upper[i] = (real)INFINITY;
    const struct bounds bounds = {own, upper, lower, 1};
    const struct drift none = {drift, drift};
    struct moves moves = {numbers, from, to, 0};
    JOIN(sweep_bounded, VARIANT, BITS)(rows, &search, &none, &bounds, coordinates, &moves);
    memset(sums, 0, (size_t)(2 * c + c * d) * sizeof(double));
    const struct cluster_sums moved = {count, sums, sums + c, sums + 2 * c};
    JOIN(move_rows, VARIANT, BITS)(rows, &moves, &moved, c);
    SHOWN("clusters", own, n);
    SHOWN("upper bounds", upper, n);
    const int64_t most = c / 3;
    int32_t *largest = malloc((size_t)(n * most) * sizeof(int32_t));
    double *few = calloc((size_t)(2 * c + 1 + c * d), sizeof(double)), *of_all = calloc((size_t)(2 + d), sizeof(double));
    struct sums to_sums = {few, few + c, few + 2 * c + 1, few + 2 * c, NULL, NULL, NULL};
    JOIN(sweep_top_k, VARIANT, BITS)(rows, centres, "fuzzy", most, &search, coordinates, &to_sums);
    SHOWN("sums of the nearest", few, 2 * c + 1 + c * d);
    struct top_assignment top = {labels, largest, memberships, d2, few, few + c, of_all, of_all + 2};
    JOIN(assign_top_k, VARIANT, BITS)(rows, centres, "fuzzy", most, &search, coordinates, &top);
    SHOWN("largest", largest, n * most);
    SHOWN("their memberships", memberships, n * most);
    SHOWN("sums over all", of_all, 2 + d);
    SHOWN("moved sums", sums, 2 * c + c * d);
}

/* Rows `pitch` numbers apart and weights `step` apart: others lie between them, or one stands for all. */
static void run(const char *what, int64_t n, int64_t d, int64_t c, int64_t pitch, int64_t step) {
    real *x = filled((n - 1) * pitch + d), *shift = filled(d), *a = filled(c * d), *norms = malloc((size_t)c * sizeof(real));
    real *scales = malloc((size_t)(3 * c) * sizeof(real)), *u = malloc((size_t)(n * c) * sizeof(real));
    double *weight = malloc((size_t)((n - 1) * step + 1) * sizeof(double)), *nearest = malloc((size_t)n * sizeof(double));
    double *sums = calloc((size_t)(2 * c + 1 + c * d), sizeof(double)), totals[2] = {0, 0};
    int64_t *labels = malloc((size_t)n * sizeof(int64_t));
    int32_t *largest = malloc((size_t)(n * c) * sizeof(int32_t));
    for (int64_t i = 0; i <= (n - 1) * step; i++)
        weight[i] = (double)uniform() + 2;
    for (int64_t j = 0; j < c; j++) {
        norms[j] = 0;
        for (int64_t f = 0; f < d; f++)
            norms[j] = fused_one(a[j * d + f], a[j * d + f], norms[j]);
        scales[j] = (real)d, scales[c + j] = (real)(2 * d), scales[2 * c + j] = -2;
    }
    struct rows rows = {.values = x, .shift = shift, .weight = weight, .count = n, .columns = d, .pitch = pitch, .weight_step = step};
    struct centres centres = {a, norms, scales, c, 0, 1.7, 1 / 0.7, 0.5, 1.5, BITS == 64 ? 64 * 0x1p-52 : 8 * 0x1p-23};
    for (size_t r = 0; r < sizeof RULES / sizeof *RULES; r++) {
        what = RULES[r].name;
        memset(sums, 0, (size_t)(2 * c + 1 + c * d) * sizeof(double));
        struct sums to = {sums, sums + c, sums + 2 * c + 1, sums + 2 * c, NULL, NULL, NULL};
        JOIN(sweep, VARIANT, BITS)(&rows, &centres, what, &to);
        SHOWN("sums", sums, 2 * c + 1 + c * d);
        memset(sums, 0, (size_t)(2 * c + 1 + c * d) * sizeof(double));
        struct assignment out = {labels, u, nearest, sums, sums + c, totals};
        JOIN(assign, VARIANT, BITS)(&rows, &centres, what, &out);
        SHOWN("labels", labels, n);
        SHOWN("memberships", u, n * c);
        SHOWN("last sums", sums, 2 * c);
        if (RULES[r].one_cluster)
            continue;
        const int64_t most = c / 2;
        memset(sums, 0, (size_t)(2 * c + 1 + c * d) * sizeof(double));
        JOIN(sweep_top_k, VARIANT, BITS)(&rows, &centres, what, most, NULL, NULL, &to);
        SHOWN("sums of the nearest", sums, 2 * c + 1 + c * d);
        struct top_assignment few = {labels, largest, u, nearest, sums, sums + c, totals, NULL};
        JOIN(assign_top_k, VARIANT, BITS)(&rows, &centres, what, most, NULL, NULL, &few);
        SHOWN("clusters", largest, n * most);
        SHOWN("largest memberships", u, n * most);
    }
    const int64_t padded = (c + LANES - 1) / LANES * LANES * (d + 2);
    real *numbers = filled(padded), *points = aligned_to_line(malloc((size_t)padded * sizeof(real) + LINE));
    memcpy(points, numbers, (size_t)padded * sizeof(real));
    struct values values = {x, points, u, n, d, pitch, c, c, 3};
    what = "kernel values";
    JOIN(powers, VARIANT, BITS)(&values);
    SHOWN("powers", u, n * c);
    JOIN(laplacians, VARIANT, BITS)(&values);
    SHOWN("laplacians", u, n * c);
    JOIN(gaussians_of_few, VARIANT, BITS)(&values);
    SHOWN("gaussians of few columns", u, n * c);
    JOIN(intersections, VARIANT, BITS)(&values);
    SHOWN("intersections", u, n * c);
    values.depth = d + 2;
    values.parameter = 0.01;
    JOIN(gaussians, VARIANT, BITS)(&values, shift, a, HUGE_VAL);
    SHOWN("gaussians", u, n * c);
    JOIN(gaussians, VARIANT, BITS)(&values, shift, a, 1e-3);
    SHOWN("gaussians of near pairs", u, n * c);
    const int64_t wanted = c < 4 ? c : 4, n_panels = (c + 2 * LANES - 1) / (2 * LANES) * 2, room = n_panels * LANES * (1 + d);
    real *padded_points = filled(room), *panels = aligned_to_line(malloc((size_t)room * sizeof(real) + LINE));
    memcpy(panels, padded_points, (size_t)room * sizeof(real));
    int32_t *chosen = malloc((size_t)(n * wanted) * sizeof(int32_t));
    struct neighbours neighbours = {x, panels, u, chosen, n, d, pitch, n_panels, wanted};
    what = "neighbours";
    JOIN(find_neighbours, VARIANT, BITS)(&neighbours);
    SHOWN("scores", u, n * wanted);
    SHOWN("numbers", chosen, n * wanted);
    int64_t proposed[2] = {0, n - 1};
    real *kxx = filled(n), *near = filled(n), *far = filled(n), *lowered = malloc((size_t)(2 * n) * sizeof(real)), potentials[2];
    struct proposals proposals = {u, kxx, near, far, proposed, lowered, potentials, 2, n, 0x1p-20};
    what = "proposals";
    JOIN(propose, VARIANT, BITS)(&proposals);
    SHOWN("lowered", lowered, 2 * n);
    SHOWN("potentials", potentials, 2);
    int64_t taken[2];
    const real least[2] = {0, 0};
    const struct drawn drawn = {lowered, near, far, least, proposed, potentials, taken, 2, n, 1, 0};
    const int64_t n_taken = JOIN(take_proposed, VARIANT, BITS)(&drawn);
    SHOWN("taken", taken, n_taken);
    SHOWN("nearest", near, n);
    run_search(&rows, &centres, 0);
    run_search(&rows, &centres, 2);
}

/* Clusters that are merged down to three, where each knows the four after it, and one of them is known twice. */
static void run_merging(int64_t clusters, int64_t columns) {
    const char *what = "merging";
    const int64_t few = 5, leaves = 64;
    double *means = calloc((size_t)(clusters * columns), sizeof(double)), *mass = malloc((size_t)clusters * sizeof(double));
    int32_t *known = malloc((size_t)(clusters * few) * sizeof(int32_t)), *numbers = calloc((size_t)(3 * clusters), sizeof(int32_t));
    int64_t *root = malloc((size_t)clusters * sizeof(int64_t));
    double *tree = malloc((size_t)(2 * leaves) * sizeof(double));
    for (int64_t at = 0; at < clusters * columns; at++)
        means[at] = (double)uniform();
    for (int64_t j = 0; j < clusters; j++) {
        mass[j] = 1 + (double)(j % 3);
        for (int64_t k = 0; k < few; k++)
            known[j * few + k] = (int32_t)((j + (k ? k : 1)) % clusters);
    }
    const struct merging merging = {means, means, mass, known, root, numbers, numbers + clusters, numbers + 2 * clusters, tree, clusters, columns, few, leaves, 3};
    const int64_t left = JOIN(merge_clusters, VARIANT, BITS)(&merging);
    SHOWN("left", &left, 1);
    SHOWN("roots", root, clusters);
    free(means), free(mass), free(known), free(numbers), free(root), free(tree);
}

/* Rows that know sixteen clusters of twenty: masses by prices, rows in clusters of two to four, and the way that one more would take. */
static void run_placing(int64_t rows) {
    const char *what = "placing";
    enum { KNOWN = 16, CLUSTERS = 20 };
    int32_t *clusters = malloc((size_t)(rows * KNOWN) * sizeof(int32_t)), *rank = malloc((size_t)rows * sizeof(int32_t));
    real *d2 = filled(rows * KNOWN), *weight = filled(rows), *prices = lined(CLUSTERS);
    int64_t *order = malloc((size_t)rows * sizeof(int64_t)), least[CLUSTERS], most[CLUSTERS], before[CLUSTERS], spare = rows - 2 * CLUSTERS;
    double mass[CLUSTERS] = {0}, costs[CLUSTERS * CLUSTERS], zeros[CLUSTERS] = {0}, reach[CLUSTERS], open_reach[CLUSTERS];
    uint8_t wanted[CLUSTERS] = {0};
    for (int64_t i = 0; i < rows; i++) {
        order[i] = rows - 1 - i, weight[i] = 1;
        for (int64_t k = 0; k < KNOWN; k++)
            clusters[i * KNOWN + k] = (int32_t)((i + k) % CLUSTERS), d2[i * KNOWN + k] += 3;
    }
    for (int64_t j = 0; j < CLUSTERS; j++) {
        least[j] = 2, most[j] = 4, reach[j] = j ? (double)INFINITY : 0, before[j] = j, wanted[j] = j > 17;
        for (int64_t k = 0; k < CLUSTERS; k++)
            costs[j * CLUSTERS + k] = (double)((7 * j + 3 * k) % 11);
    }
    JOIN(share_rows, VARIANT, BITS)(rows, clusters, d2, weight, prices, 0.5, mass);
    SHOWN("masses", mass, CLUSTERS);
    const int64_t left = JOIN(place_rows, VARIANT, BITS)(rows, KNOWN, order, clusters, d2, prices, least, most, &spare, rank);
    SHOWN("left", &left, 1);
    SHOWN("ranks", rank, rows);
    double own[CLUSTERS] = {0};
    for (int64_t j = 0; j < CLUSTERS; j++)
        least[j] = 2, most[j] = 4;
    int64_t held[CLUSTERS];
    for (int64_t j = 0; j < CLUSTERS; j++)
        held[j] = -1;
    for (int64_t i = 0; i < rows; i++)
        rank[i] = 0;
    for (int last = 0; last < 2; last++) {
        const int64_t result = JOIN(settle_rows, VARIANT, BITS)(rows, KNOWN, clusters, d2, weight, CLUSTERS, least, most, last ? 1e-12 : 0.1, last ? 0 : 2, last, 1 << 20, own, rank, held);
        SHOWN("result", &result, 1);
        SHOWN("settled", rank, rows);
    }
    SHOWN("prices", own, CLUSTERS);
    const int64_t end = JOIN(shortest_path, VARIANT, BITS)(CLUSTERS, costs, zeros, wanted, reach, before, open_reach);
    SHOWN("end", &end, 1);
    free(clusters), free(rank), free(d2), free(weight), free(order);
}

/* Communities of a graph in which node i has edges to i + 1, i + 3, i + 9, ..., and to itself, every seventh node held. */
static void run_communities(int32_t n) {
    const char *what = "communities";
    int64_t *start = malloc((size_t)(n + 1) * sizeof(int64_t)), arcs = 0;
    int32_t *end = malloc((size_t)n * (size_t)n * sizeof(int32_t)), *numbers = malloc((size_t)(8 * n) * sizeof(int32_t));
    double *weight = malloc((size_t)n * (size_t)n * sizeof(double)), *strength = calloc((size_t)n, sizeof(double)), *sums = calloc((size_t)(6 * n), sizeof(double)), total = 0;
    int8_t *held = malloc((size_t)(3 * n));
    for (int32_t i = 0; i < n; i++) {
        start[i] = arcs, held[i] = i % 7 == 0;
        for (int32_t j = 0; j < n; j++) {
            int32_t apart = i < j ? j - i : i - j, power = 1;
            while (power < apart)
                power *= 3;
            if (apart && power != apart)
                continue;
            end[arcs] = j, weight[arcs] = 1.0 / (1 + (i + j) % 11 + apart), strength[i] += weight[arcs], total += weight[arcs], arcs++;
        }
    }
    start[n] = arcs;
    const struct graph graph = {start, end, weight, strength, held, n, 2 / total};
    int32_t *label = numbers, *order = numbers + n, *part = numbers + 2 * n, *member = numbers + 3 * n, count = 0;
    for (int32_t i = 0; i < n; i++)
        label[i] = i, order[i] = n - 1 - i;
    const struct move_room moving = {label, order, sums, sums + n, numbers + 4 * n, numbers + 5 * n, numbers + 6 * n, held + n};
    const int64_t moves = JOIN(move_nodes, VARIANT, BITS)(&graph, &moving);
    SHOWN("moves", &moves, 1);
    SHOWN("labels", label, n);
    for (int32_t i = 0; i < n; i++)
        order[i] = n - 1 - i;
    const struct refine_room refining = {label, order, part, sums + 2 * n, sums + 3 * n, sums + 4 * n, sums + 5 * n, numbers + 5 * n, held + 2 * n};
    JOIN(refine_communities, VARIANT, BITS)(&graph, &refining);
    SHOWN("parts", part, n);
    for (int32_t c = 0, t = 0; c < n; c++) { /* parts numbered as they are named, and nodes by them */
        const int32_t before = t;
        for (int32_t i = 0; i < n; i++)
            if (part[i] == c)
                member[i] = count, order[t++] = i;
        count += t > before;
    }
    int64_t *joined_start = malloc((size_t)(count + 1) * sizeof(int64_t));
    int32_t *joined_end = malloc((size_t)arcs * sizeof(int32_t));
    double *joined_weight = malloc((size_t)arcs * sizeof(double)), *joined = calloc((size_t)count, sizeof(double));
    const struct joined_graph groups = {member, order, joined_start, joined_end, joined_weight, joined, count};
    JOIN(join_nodes, VARIANT, BITS)(&graph, &groups);
    SHOWN("starts of groups", joined_start, count + 1);
    SHOWN("ends of groups", joined_end, joined_start[count]);
    SHOWN("weights of groups", joined_weight, joined_start[count]);
}

int main(void) {
    run("few columns", 333, 3, 5, 3, 1);
    run("many columns", 200, 45, 7, 45, 1);
    run("more columns", 130, 150, 18, 150, 1);
    run("columns of a wider table", 70, 5, 4, 9, 3);
    run("one row for all", 70, 5, 4, 0, 0);
    run_merging(40, 13);
    run_placing(70);
    run_communities(8);
    run_communities(150);
    return 0;
}
