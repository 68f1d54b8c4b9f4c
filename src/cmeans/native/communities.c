/* Communities of a graph: nodes that change communities one by one, communities refined into well-connected parts, and graphs of such parts.
 *
 * Traag, Waltman, van Eck 2019, "From Louvain to Leiden". graphs/community_moves.py has the same in Python: operations and their order
 * are the same there, so that the bits are. */
#include "vectors.h"

#define TIE 1e-10 /* of a node's strength, by which a gain must be larger than another: less may be rounding */

struct graph {
    const int64_t *start;   /* (nodes + 1,) first arc of each node */
    const int32_t *end;     /* (arcs,) both ways, and from a node to itself */
    const double *weight;   /* (arcs,) */
    const double *strength; /* (nodes,) sums of the weights */
    const int8_t *held;     /* (nodes,) those that stay in their communities */
    int64_t nodes;
    double pull; /* the resolution over the sum of all strengths */
};

struct move_room {
    int32_t *label;     /* (nodes,) community of each node, below `nodes` */
    int32_t *queue;     /* (nodes,) the nodes in the order in which they are visited first */
    double *total;      /* (nodes,) strength of each community */
    double *joined;     /* (nodes,) zeros: weight from a node to communities */
    int32_t *size;      /* (nodes,) */
    int32_t *seen;      /* (nodes,) */
    int32_t *free;      /* (nodes,) labels of no node */
    int8_t *waits;      /* (nodes,) */
};

/* Add up the weight from a node to each community of its neighbours, those within `among` of its own label alone where there is such; return
 * how many were seen. */
INLINE int64_t neighbouring(const struct graph *g, int32_t v, const int32_t *label, const int32_t *among, double *joined, int32_t *seen) {
    int64_t found = 0;
    for (int64_t e = g->start[v]; e < g->start[v + 1]; e++) {
        const int32_t u = g->end[e];
        if (u == v || (among && among[u] != among[v]))
            continue;
        if (joined[label[u]] == 0)
            seen[found++] = label[u];
        joined[label[u]] += g->weight[e];
    }
    return found;
}

/* Let nodes join the community of their largest gain of modularity, until none gains; return how many times one did. */
int64_t EXPORTED(move_nodes)(const struct graph *g, const struct move_room *r) {
    const int64_t n = g->nodes;
    int64_t moves = 0, head = 0, waiting = n, n_free = 0;
    for (int64_t i = 0; i < n; i++)
        r->total[i] = 0, r->size[i] = 0, r->waits[i] = 1;
    for (int64_t i = 0; i < n; i++)
        r->total[r->label[i]] += g->strength[i], r->size[r->label[i]]++;
    for (int64_t j = n - 1; j >= 0; j--)
        if (!r->size[j])
            r->free[n_free++] = (int32_t)j;
    while (waiting) {
        const int32_t v = r->queue[head], own = r->label[v];
        head = head + 1 == n ? 0 : head + 1, waiting--, r->waits[v] = 0;
        if (g->held[v])
            continue;
        const int64_t found = neighbouring(g, v, r->label, 0, r->joined, r->seen);
        const double pull = g->pull * g->strength[v], tie = TIE * g->strength[v];
        r->total[own] -= g->strength[v], r->size[own]--;
        int32_t best = own;
        double most = r->joined[own] - pull * r->total[own];
        if (r->size[own] && most < -tie)
            best = r->free[n_free - 1], most = 0;
        for (int64_t s = 0; s < found; s++) {
            const double gain = r->joined[r->seen[s]] - pull * r->total[r->seen[s]];
            if (gain > most + tie)
                most = gain, best = r->seen[s];
        }
        for (int64_t s = 0; s < found; s++)
            r->joined[r->seen[s]] = 0;
        if (best != own) {
            if (!r->size[best])
                n_free--, r->total[best] = 0;
            if (!r->size[own])
                r->free[n_free++] = own;
            r->label[v] = best, moves++;
            for (int64_t e = g->start[v]; e < g->start[v + 1]; e++) {
                const int32_t u = g->end[e];
                if (r->label[u] != best && !r->waits[u]) {
                    const int64_t at = head + waiting;
                    r->queue[at < n ? at : at - n] = u, r->waits[u] = 1, waiting++;
                }
            }
        }
        r->total[best] += g->strength[v], r->size[best]++;
    }
    return moves;
}

struct refine_room {
    const int32_t *label; /* (nodes,) community of each node */
    const int32_t *order; /* (nodes,) in which nodes are visited */
    int32_t *part;        /* (nodes,) the part of its community that each node is in, named by one of its nodes */
    double *whole;        /* (nodes,) zeros: strength of each community */
    double *total;        /* (nodes,) strength of each part */
    double *outside;      /* (nodes,) zeros: weight from each part to the rest of its community */
    double *joined;       /* (nodes,) zeros */
    int32_t *seen;        /* (nodes,) */
    int8_t *alone;        /* (nodes,) */
};

/* Divide communities into connected parts: nodes that are alone and well connected to their community join the part of it, itself well
 * connected, where they gain most. */
void EXPORTED(refine_communities)(const struct graph *g, const struct refine_room *r) {
    for (int32_t v = 0; v < g->nodes; v++) {
        r->part[v] = v, r->total[v] = g->strength[v], r->alone[v] = 1;
        r->whole[r->label[v]] += g->strength[v];
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            if (g->end[e] != v && r->label[g->end[e]] == r->label[v])
                r->outside[v] += g->weight[e];
    }
    for (int64_t t = 0; t < g->nodes; t++) {
        const int32_t v = r->order[t];
        const double whole = r->whole[r->label[v]], pull = g->pull * g->strength[v];
        if (g->held[v] || !r->alone[v] || r->outside[v] < pull * (whole - g->strength[v]))
            continue;
        const int64_t found = neighbouring(g, v, r->part, r->label, r->joined, r->seen);
        int32_t best = v;
        double most = 0;
        for (int64_t s = 0; s < found; s++) {
            const int32_t c = r->seen[s];
            if (c == v || r->outside[c] < g->pull * r->total[c] * (whole - r->total[c]))
                continue;
            const double gain = r->joined[c] - pull * r->total[c];
            if (gain > most + TIE * g->strength[v])
                most = gain, best = c;
        }
        if (best != v) {
            r->outside[best] += r->outside[v] - 2 * r->joined[best];
            r->total[best] += g->strength[v];
            r->part[v] = best, r->alone[best] = 0, r->alone[v] = 0;
        }
        for (int64_t s = 0; s < found; s++)
            r->joined[r->seen[s]] = 0;
    }
}

struct joined_graph {
    const int32_t *member; /* (nodes,) the new node that each node is in */
    const int32_t *order;  /* (nodes,) nodes by the new nodes */
    int64_t *start;        /* (count + 1,) the new graph */
    int32_t *end;
    double *weight;
    double *joined; /* (count,) zeros */
    int64_t count;
};

/* Make the graph of groups of nodes. */
void EXPORTED(join_nodes)(const struct graph *g, const struct joined_graph *j) {
    int64_t arcs = 0, t = 0;
    for (int64_t c = 0; c < j->count; c++) {
        j->start[c] = arcs;
        for (; t < g->nodes && j->member[j->order[t]] == c; t++) {
            const int32_t v = j->order[t];
            for (int64_t e = g->start[v]; e < g->start[v + 1]; e++) {
                const int32_t u = j->member[g->end[e]];
                if (j->joined[u] == 0)
                    j->end[arcs++] = u;
                j->joined[u] += g->weight[e];
            }
        }
        for (int64_t e = j->start[c]; e < arcs; e++)
            j->weight[e] = j->joined[j->end[e]], j->joined[j->end[e]] = 0;
    }
    j->start[j->count] = arcs;
}
