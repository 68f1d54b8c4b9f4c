/* Rows proposed as the next centre: what each lowers the distances of all rows to. */
#include "vectors.h"

struct proposals {
    real *products;       /* (proposed, count) kernel values of the proposed rows with all rows; each row's with itself is set */
    const real *kxx;      /* (count,) k(x, x) */
    const real *nearest;  /* (count,) squared distance to the nearest row that is taken */
    const real *weight;   /* (count,) */
    const int64_t *rows;  /* (proposed,) numbers of the proposed rows */
    real *lowered;        /* (proposed, count) squared distance to the nearest, were that row taken */
    real *potentials;     /* (proposed,) weighted sums of those */
    int64_t proposed, count;
    double rounding;      /* share of k(x, x) + k(y, y) below which a squared distance is 0 */
};

/* 0, or 1 where a distance is not finite. */
int EXPORTED(propose)(const struct proposals *p) {
    lanes fault = all(0); /* a finite number times 0 adds nothing */
    for (int64_t t = 0; t < p->proposed; t++) {
        real *products = p->products + t * p->count, *lowered = p->lowered + t * p->count;
        const real own = p->kxx[p->rows[t]];
        lanes potential = all(0);
        products[p->rows[t]] = own;
        for (int64_t i = 0; i < p->count; i += LANES) {
            const int64_t left = p->count - i;
            const lanes size = add(all(own), load_some(p->kxx + i, left));
            lanes d2 = subtract(size, multiply(all(2), load_some(products + i, left)));
            fault = fused(d2, all(0), fault);
            d2 = where(at_least(multiply(size, all((real)p->rounding)), d2), all(0), d2);
            d2 = smaller(d2, load_some(p->nearest + i, left));
            potential = fused(d2, load_some(p->weight + i, left), potential);
            store_some(lowered + i, d2, left);
        }
        p->potentials[t] = sum(potential);
    }
    return !(sum(fault) == 0);
}

struct drawn {
    const real *lowered;  /* (proposed, count) squared distances to the nearest, were a proposed row taken */
    real *nearest;        /* (count,) to the nearest row that is taken; set */
    const real *weight;   /* (count,) */
    const real *least;    /* (proposed,) a row is accepted while its own distance is larger */
    const int64_t *rows;  /* (proposed,) their numbers */
    real *potentials;     /* (proposed,) set: weighted sums of distances, were each accepted row taken; infinite of others */
    int64_t *taken;       /* (proposed,) set: the rows that are taken */
    int64_t proposed, count, tried; /* one is taken of so many that follow each other */
    double noise;         /* of a weighted sum */
};

INLINE real potential_of(const struct drawn *d, const real *lowered) {
    lanes potential = all(0);
    for (int64_t i = 0; i < d->count; i += LANES) {
        const int64_t left = d->count - i;
        potential = fused(smaller(load_some(lowered + i, left), load_some(d->nearest + i, left)), load_some(d->weight + i, left), potential);
    }
    return sum(potential);
}

/* Of each few proposed rows take the one that, of those that are accepted, lowers the distances of all rows most; return how many are taken. */
int64_t EXPORTED(take_proposed)(const struct drawn *d) {
    int64_t taken = 0;
    for (int64_t first = 0; first < d->proposed; first += d->tried) {
        const int64_t last = first + d->tried < d->proposed ? first + d->tried : d->proposed;
        real smallest = (real)INFINITY;
        int64_t best = first;
        for (int64_t t = first; t < last; t++) {
            const int accepted = d->nearest[d->rows[t]] > d->least[t];
            d->potentials[t] = accepted ? potential_of(d, d->lowered + t * d->count) : (real)INFINITY;
            smallest = d->potentials[t] < smallest ? d->potentials[t] : smallest;
        }
        if (!(smallest < (real)INFINITY))
            continue;
        while (d->potentials[best] > smallest + (real)d->noise)
            best++;
        const real *lowered = d->lowered + best * d->count;
        for (int64_t i = 0; i < d->count; i++)
            d->nearest[i] = lowered[i] < d->nearest[i] ? lowered[i] : d->nearest[i];
        d->taken[taken++] = d->rows[best];
    }
    return taken;
}
