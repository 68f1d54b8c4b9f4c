/* The nearest node that wants mass, of clusters between which rows may move. */
#include "vectors.h"

/* Reduced lengths of shortest paths (nodes,) from those that are 0 at first, the others infinite, up to the nearest node that is wanted; the
 * node before each on the way is set, that of the first stays. Returns that node, or -1. */
int64_t EXPORTED(shortest_path)(int64_t nodes, const double *costs, const double *prices, const uint8_t *wanted, double *reach, int64_t *before,
                                double *open_reach) {
    for (int64_t k = 0; k < nodes; k++)
        open_reach[k] = reach[k];
    for (;;) {
        int64_t node = 0;
        for (int64_t k = 1; k < nodes; k++)
            node = open_reach[k] < open_reach[node] ? k : node;
        if (open_reach[node] == (double)INFINITY)
            return -1;
        if (wanted[node])
            return node;
        open_reach[node] = (double)INFINITY;
        const double *ways = costs + node * nodes;
        for (int64_t k = 0; k < nodes; k++) {
            const double reduced = (ways[k] + prices[node]) - prices[k];
            const double way = reach[node] + (reduced > 0 ? reduced : 0);
            if (way < reach[k])
                reach[k] = open_reach[k] = way, before[k] = node;
        }
    }
}
