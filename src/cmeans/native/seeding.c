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
