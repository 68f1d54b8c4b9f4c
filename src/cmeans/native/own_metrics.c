/* Rows of a stream and its clusters, each with a metric of its own: squared distances, the sums of a step's rows, what they make of the
 * clusters, and the metrics of these.
 *
 * streaming/metrics.py has the same distances in Python, bit by bit; steps.py and living_clusters.py have the rest, to rounding. */
#include "elementary.h"

#include <string.h>

#if BITS == 64 /* there are no others */

#define TILE 64 /* rows that are looked at together */

struct metrics {
    const double *mean;   /* (clusters, columns) */
    const double *factor; /* (clusters, columns, columns), lower triangles; (clusters, columns) where they are diagonal */
    int64_t clusters, columns, full;
};

/* Columns (columns, TILE) of n rows, zeros beyond them. */
INLINE void turn_rows(const double *x, int64_t n, int64_t d, double *columns) {
    for (int64_t l = 0; l < d; l++)
        for (int64_t i = 0; i < TILE; i++)
            columns[l * TILE + i] = i < n ? x[i * d + l] : 0;
}

/* Differences `e` (columns, TILE) from the mean of a cluster. */
INLINE void differ(const struct metrics *g, int64_t j, const double *columns, double *e) {
    for (int64_t l = 0; l < g->columns; l++)
        for (int64_t i = 0; i < TILE; i++)
            e[l * TILE + i] = columns[l * TILE + i] - g->mean[j * g->columns + l];
}

/* Squared distances (TILE,) of rows that differ by e from the mean of a cluster. */
INLINE void distances_of_tile(const struct metrics *g, int64_t j, const double *e, double *d2) {
    const int64_t d = g->columns;
    for (int64_t i = 0; i < TILE; i++)
        d2[i] = 0;
    for (int64_t k = 0; k < d; k++) {
        double y[TILE] = {0};
        if (g->full)
            for (int64_t l = 0; l <= k; l++)
                for (int64_t i = 0; i < TILE; i++)
                    y[i] += g->factor[(j * d + k) * d + l] * e[l * TILE + i];
        else
            for (int64_t i = 0; i < TILE; i++)
                y[i] = g->factor[j * d + k] * e[k * TILE + i];
        for (int64_t i = 0; i < TILE; i++)
            d2[i] += y[i] * y[i];
    }
}

/* Squared distances d2 (rows, clusters) of rows x; `room` is (2 columns, TILE). */
void EXPORTED(metric_distances)(const struct metrics *g, const double *x, int64_t rows, double *room, double *d2) {
    double *e = room + g->columns * TILE, found[TILE];
    for (int64_t first = 0; first < rows; first += TILE) {
        const int64_t n = rows - first < TILE ? rows - first : TILE;
        turn_rows(x + first * g->columns, n, g->columns, room);
        for (int64_t j = 0; j < g->clusters; j++) {
            differ(g, j, room, e);
            distances_of_tile(g, j, e, found);
            for (int64_t i = 0; i < n; i++)
                d2[(first + i) * g->clusters + j] = found[i];
        }
    }
}

#define FACTS 5 /* numbers of rows that are nearest to a cluster, of those above its median, of those not outlying; and of these the sums of
                 * differences from the median, and of their squares */

struct step {
    const double *log_weight; /* (clusters,) of each cluster's density at its mean */
    const double *median;     /* (clusters,) of cubic roots of distances */
    const double *far;        /* (clusters,) cubic root from which on a row is outlying */
    int64_t *nearest;         /* (rows,) set: the likeliest cluster */
    int64_t *order;           /* (rows,) set: rows by their clusters, outlying ones last */
    int64_t *ends;            /* (clusters + 2,) set: where they end in it; 0 first */
    double *facts;            /* (clusters, FACTS) of distances; as all below 0 at first */
    double *came;             /* (clusters,) sums of posterior probabilities u of rows that are not outlying, */
    double *first;            /* (clusters, columns) of u e, e the difference from the cluster's mean, */
    double *second;           /* (clusters, columns, columns) of u e e', or (clusters, columns) of u e^2 */
};

INLINE lanes cubic_root(lanes x) {
    const lanes one = all(1);
    const mask low = less(x, one);
    lanes scale = where(low, all(1.0 / 3), all(-2.0 / 3)), y = exponential(multiply(logarithm(x), scale));
    y = where(low, y, multiply(y, x));
    lanes y2 = multiply(y, y), off = divide(subtract(multiply(y, y2), x), multiply(y2, all(3))); /* Newton: the power is not exact enough */
    return where(less(x, all(1e-300)), all(0), subtract(y, off));
}

struct likeliest { /* for each row of a tile */
    int64_t which[TILE];                                 /* the likeliest cluster of those that were offered, */
    double most[TILE] __attribute__((aligned(LINE)));    /* the logarithm of its share, */
    double distance[TILE] __attribute__((aligned(LINE))); /* and the squared distance from it */
};

/* Set logarithms (TILE,) of the shares that cluster j has of rows at squared distances; it is remembered where it is the likeliest so far. */
INLINE void offer(struct likeliest *best, int64_t j, double log_weight, const double *d2, double *logs) {
    for (int64_t i = 0; i < TILE; i++) {
        logs[i] = log_weight - d2[i] / 2;
        const int better = j == 0 || logs[i] > best->most[i];
        best->which[i] = better ? j : best->which[i];
        best->most[i] = better ? logs[i] : best->most[i], best->distance[i] = better ? d2[i] : best->distance[i];
    }
}

/* Logarithms of shares become posterior probabilities, which are 0 of all rows that are not `in`. */
INLINE void posteriors(double *logs, int64_t clusters, const double *most, const double *in) {
    for (int64_t i = 0; i < TILE; i += LANES) {
        const lanes top = load(most + i);
        lanes total = all(0);
        for (int64_t j = 0; j < clusters; j++) {
            const lanes share = exponential(subtract(load(logs + j * TILE + i), top));
            store(logs + j * TILE + i, share), total = add(total, share);
        }
        const lanes here = load(in + i), inside = divide(here, total);
        for (int64_t j = 0; j < clusters; j++)
            store(logs + j * TILE + i, where(less(all(0), here), multiply(load(logs + j * TILE + i), inside), all(0)));
    }
}

INLINE double inner(const double *a, const double *b) {
    lanes total = all(0);
    for (int64_t i = 0; i < TILE; i += LANES)
        total = fused(load(a + i), load(b + i), total);
    return sum(total);
}

/* Add what a cluster has of a tile of rows, given their probabilities u (TILE,) and differences e; `ue` is (TILE,). */
INLINE void add_tile(const struct metrics *g, const struct step *s, int64_t j, const double *u, const double *e, double *ue) {
    const int64_t d = g->columns;
    for (int64_t k = 0; k < d; k++) {
        lanes total = all(0);
        for (int64_t i = 0; i < TILE; i += LANES) {
            const lanes part = multiply(load(u + i), load(e + k * TILE + i));
            store(ue + i, part), total = add(total, part);
        }
        s->first[j * d + k] += sum(total);
        if (g->full)
            for (int64_t l = 0; l <= k; l++)
                s->second[(j * d + k) * d + l] += inner(ue, e + l * TILE);
        else
            s->second[j * d + k] += inner(ue, e + k * TILE);
    }
}

/* Count a tile's rows, and say which of them are outlying: `in` (TILE,) is 1 of others. */
INLINE void count_tile(const struct step *s, const double *root, const int64_t *which, int64_t n, double *in) {
    for (int64_t i = 0; i < n; i++) {
        double *facts = s->facts + which[i] * FACTS;
        const double over = root[i] - s->median[which[i]];
        const int near = root[i] <= s->far[which[i]];
        in[i] = near, facts[0] += 1, facts[1] += over > 0, facts[2] += near;
        if (near)
            facts[3] += over, facts[4] += over * over;
    }
}

/* Order rows by clusters, outlying ones last: ends[j + 2] counts those of cluster j first. */
static void order_rows(const struct step *s, const int8_t *outlying, int64_t rows, int64_t clusters) {
    memset(s->ends, 0, (size_t)(clusters + 2) * sizeof *s->ends);
    for (int64_t j = 0; j < clusters; j++)
        s->ends[j + 1] = s->ends[j] + (int64_t)s->facts[j * FACTS + 2];
    for (int64_t i = 0; i < rows; i++)
        s->order[s->ends[outlying[i] ? clusters : s->nearest[i]]++] = i;
    for (int64_t j = clusters + 1; j > 0; j--)
        s->ends[j] = s->ends[j - 1];
    s->ends[0] = 0;
}

#define MOST_HORIZONS LANES

struct paces {
    const double *horizons;                  /* (count,) rows of a cluster's own, in which its means forget */
    int64_t count;                           /* MOST_HORIZONS at most */
    double own;                              /* rows of a step by which a cluster is heard of */
    double late, memory, shares, hearing, median, deviation; /* rows in which these are forgotten; of moments, horizons */
};

struct living { /* clusters: each array is changed */
    double *means;                                                    /* (clusters, horizons, columns) */
    double *errors;                                                   /* (clusters, horizons) squared, of the means */
    double *moments;                                                  /* (clusters, columns, columns), or (clusters, columns) */
    double *mass, *rows, *share, *median, *deviation;                 /* (clusters,) each */
    double *heard, *time, *silence;                                   /* late rows, the time in which they came, and since the last */
    int64_t *seen, *rung, *awake;                                     /* when it was the last, which horizon is followed, and whether */
    double *left;                                                     /* (clusters, 2) set: shares of masses and late ones that cells keep */
};

INLINE double decay(double x) {
    double line[LANES];
    store_loose(line, exponential(all(-x)));
    return line[0];
}

/* The median of distances of all nearest rows, and the deviation of those that are not outlying. */
INLINE void see_distances(const struct paces *p, const struct living *c, int64_t j, const double *facts) {
    const double mine = facts[0], above = facts[1], ok = facts[2], over = facts[3], squares = facts[4], was = c->deviation[j];
    double move = 0, weight = 0;
    if (mine > 0 && c->awake[j])
        move = (1 - decay(mine / p->median)) * 1.25 * was * (2 * above / mine - 1);
    if (ok > 1 && c->awake[j])
        weight = 1 - decay(ok / p->deviation);
    const double square = squares - move * (2 * over - ok * move); /* about the median now */
    c->median[j] += move;
    c->deviation[j] = sqrt((1 - weight) * was * was + weight * (square > 0 ? square : 0) / (ok > 1 ? ok : 1));
}

/* Squared length of a difference (columns,) in the metric of a cluster. */
INLINE double squared_length(const struct metrics *g, int64_t j, const double *e) {
    const int64_t d = g->columns;
    double total = 0;
    for (int64_t k = 0; k < d; k++) {
        double y = g->full ? 0 : g->factor[j * d + k] * e[k];
        for (int64_t l = 0; l <= k && g->full; l++)
            y += g->factor[(j * d + k) * d + l] * e[l];
        total += y * y;
    }
    return total;
}

/* The means of a cluster, and which of them foresees its rows best; `away` is (columns,). */
INLINE void move_means(const struct metrics *g, const struct step *s, const struct paces *p, const struct living *c, int64_t j, double *away) {
    const int64_t d = g->columns, many = p->count;
    const double n = s->came[j], before = c->rows[j], rows = before + n, part = n / rows, late = 1 - decay(n / p->late);
    double slow[LANES] = {0};
    for (int64_t h = 0; h < many; h++)
        slow[h] = 1 - 1 / p->horizons[h];
    store_loose(slow, power(load_loose(slow), n));
    c->rows[j] = rows, c->rung[j] = 0;
    for (int64_t h = 0; h < many; h++) {
        double *mean = c->means + (j * many + h) * d, *error = c->errors + j * many + h;
        for (int64_t l = 0; l < d; l++)
            away[l] = g->mean[j * d + l] + s->first[j * d + l] / n - mean[l];
        *error += late * (squared_length(g, j, away) - *error);
        const double pace = 1 - slow[h] > part ? 1 - slow[h] : part;
        for (int64_t l = 0; l < d; l++)
            mean[l] += pace * away[l];
        if (rows >= p->horizons[h] && *error < c->errors[j * many + c->rung[j]])
            c->rung[j] = h;
    }
}

/* What a step's rows make of a cluster, which forgets nothing where none of them is its own. */
INLINE void move_cluster(const struct metrics *g, const struct step *s, const struct paces *p, const struct living *c, int64_t j, int64_t rows,
                         int64_t now, double *away) {
    const double came = s->came[j], since = (double)rows + c->silence[j];
    double *left = c->left + 2 * j;
    see_distances(p, c, j, s->facts + j * FACTS);
    c->share[j] += (1 - decay((double)rows / p->shares)) * (came / (double)rows - c->share[j]);
    left[0] = left[1] = 1;
    c->silence[j] = since;
    if (came < p->own)
        return;
    const double heard = decay(since / p->hearing);
    c->heard[j] = c->heard[j] * heard + came, c->time[j] = c->time[j] * heard + since, c->silence[j] = 0;
    c->seen[j] = now, c->awake[j] = 1;
    move_means(g, s, p, c, j, away);
    const double horizon = p->horizons[c->rung[j]], half = (double)g->columns / 2;
    left[0] = decay(came / (p->memory * (horizon > half ? horizon : half))), left[1] = decay(came / p->late);
    c->mass[j] = left[0] * c->mass[j] + came;
    const int64_t entries = g->full ? g->columns * g->columns : g->columns;
    for (int64_t i = 0; i < entries; i++)
        c->moments[j * entries + i] = left[0] * c->moments[j * entries + i] + s->second[j * entries + i];
}

/* Sums of a step's rows x. */
static void sum_step(const struct metrics *g, const struct step *s, const double *x, int64_t rows, double *room, int8_t *outlying) {
    const int64_t d = g->columns;
    double *e = room + d * TILE, *ue = e + d * TILE, *logs = ue + TILE;
    double d2[TILE], in[TILE] __attribute__((aligned(LINE)));
    struct likeliest best;
    for (int64_t first = 0; first < rows; first += TILE) {
        const int64_t n = rows - first < TILE ? rows - first : TILE;
        turn_rows(x + first * d, n, d, room);
        for (int64_t j = 0; j < g->clusters; j++) {
            differ(g, j, room, e);
            distances_of_tile(g, j, e, d2);
            offer(&best, j, s->log_weight[j], d2, logs + j * TILE);
        }
        for (int64_t i = 0; i < TILE; i += LANES)
            store(best.distance + i, cubic_root(load(best.distance + i)));
        memset(in, 0, sizeof in);
        count_tile(s, best.distance, best.which, n, in);
        posteriors(logs, g->clusters, best.most, in);
        for (int64_t i = 0; i < n; i++)
            s->nearest[first + i] = best.which[i], outlying[first + i] = in[i] == 0;
        for (int64_t j = 0; j < g->clusters; j++) {
            double here = 0;
            for (int64_t i = 0; i < TILE; i += LANES)
                here += sum(load(logs + j * TILE + i));
            if (here == 0)
                continue;
            s->came[j] += here;
            differ(g, j, room, e);
            add_tile(g, s, j, logs + j * TILE, e, ue);
        }
    }
    for (int64_t j = 0; j < g->clusters && g->full; j++)
        for (int64_t k = 0; k < d; k++)
            for (int64_t l = 0; l < k; l++)
                s->second[(j * d + l) * d + k] = s->second[(j * d + k) * d + l];
    order_rows(s, outlying, rows, g->clusters);
}

/* Give clusters a step's rows x, of which the last is number `now` of the stream. `room` begins a line, and is (2 columns + clusters + 1,
 * TILE); `outlying` is (rows,). */
void EXPORTED(absorb_step)(const struct metrics *g, const struct step *s, const struct paces *p, const struct living *c, const double *x,
                           int64_t rows, int64_t now, double *room, int8_t *outlying) {
    sum_step(g, s, x, rows, room, outlying);
    for (int64_t j = 0; j < g->clusters; j++)
        move_cluster(g, s, p, c, j, rows, now, room);
}

struct shaping {
    const double *moments; /* (clusters, columns, columns), or (clusters, columns) */
    const double *mass, *share;
    const int64_t *awake;
    int64_t clusters, columns, full;
    double prior, few, least; /* rows of the pooled covariance in each; share of its variances that is added; the least share of a cluster */
    double *factor;           /* (clusters + 1, columns, columns), or (clusters + 1, columns), set: the pooled one is last */
    double *log_weight;       /* (clusters + 1,) set, of densities at means; of the last nothing */
};

INLINE double natural(double x) {
    double line[LANES];
    store_loose(line, logarithm(all(x)));
    return line[0];
}

/* The lower triangle that whitens a covariance (d, d), which is lost, and the logarithm of its determinant; in columns of deviation 1, so
 * that units do not matter. `g` is (d,). */
static double whiten(double *a, int64_t d, double *factor, double *g) {
    double log_det = 0;
    for (int64_t k = 0; k < d; k++)
        g[k] = sqrt(a[k * d + k]);
    for (int64_t k = 0; k < d; k++)
        for (int64_t l = 0; l < d; l++)
            a[k * d + l] = a[k * d + l] / (g[k] * g[l]) + (k == l ? 1e-9 : 0), factor[k * d + l] = k == l;
    for (int64_t k = 0; k < d; k++) { /* rows below lose what they share with row k, and so does the identity */
        const double pivot = sqrt(a[k * d + k] > 1e-9 ? a[k * d + k] : 1e-9);
        log_det += 2 * natural(pivot * g[k]);
        for (int64_t l = 0; l <= k; l++)
            factor[k * d + l] /= pivot;
        for (int64_t l = k; l < d; l++)
            a[k * d + l] /= pivot;
        for (int64_t i = k + 1; i < d; i++) {
            const double share = a[k * d + i];
            for (int64_t l = i; l < d; l++)
                a[i * d + l] -= share * a[k * d + l];
            for (int64_t l = 0; l <= k; l++)
                factor[i * d + l] -= share * factor[k * d + l];
        }
    }
    for (int64_t k = 0; k < d; k++)
        for (int64_t l = 0; l <= k; l++)
            factor[k * d + l] /= g[l];
    return log_det;
}

/* The pooled covariance of the clusters that are awake. */
static void pool(const struct shaping *s, double *pooled) {
    const int64_t d = s->columns, entries = s->full ? d * d : d, next = s->full ? d + 1 : 1;
    double mass = 0, most = 0;
    int any = 0;
    for (int64_t j = 0; j < s->clusters; j++)
        any |= s->awake[j] > 0;
    memset(pooled, 0, (size_t)entries * sizeof *pooled);
    for (int64_t j = 0; j < s->clusters; j++)
        if (s->awake[j] > 0 || !any) {
            mass += s->mass[j];
            for (int64_t i = 0; i < entries; i++)
                pooled[i] += s->moments[j * entries + i];
        }
    for (int64_t i = 0; i < entries; i++) {
        if (s->full)
            pooled[i] = (pooled[i] + (i % next ? 0 : s->prior * pooled[i] / mass)) / (mass + s->prior);
        else
            pooled[i] /= mass;
        most = i % next == 0 && pooled[i] > most ? pooled[i] : most;
    }
    for (int64_t i = 0; i < entries; i += next)
        pooled[i] += s->few * (pooled[i] > 0 ? pooled[i] : most > 1e-100 ? most : 1e-100);
}

/* Metrics of clusters: the covariance of each, shrunk towards the pooled one. `room` is (2, columns, columns) and a row more. */
void EXPORTED(shape_clusters)(const struct shaping *s, double *room) {
    const int64_t d = s->columns, entries = s->full ? d * d : d;
    double *pooled = room, *own = room + entries;
    pool(s, pooled);
    for (int64_t j = 0; j <= s->clusters; j++) {
        const int last = j == s->clusters;
        for (int64_t i = 0; i < entries; i++)
            own[i] = last ? pooled[i] : (s->moments[j * entries + i] + s->prior * pooled[i]) / (s->mass[j] + s->prior);
        double *factor = s->factor + j * entries, log_det = s->full ? whiten(own, d, factor, own + entries) : 0;
        for (int64_t i = 0; i < d && !s->full; i++)
            factor[i] = 1 / sqrt(own[i]), log_det += natural(own[i]);
        const double share = last || s->share[j] < s->least ? s->least : s->share[j];
        s->log_weight[j] = natural(share) - log_det / 2;
    }
}

#endif
