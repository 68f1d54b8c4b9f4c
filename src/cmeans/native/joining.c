/* Distinct rows: a table of those found so far, open addressed by a hash of their numbers. */
#include "vectors.h"

#define MIX 0x9E3779B97F4A7C15u /* 2^64 over the golden ratio: neighbouring numbers fall far from each other */

struct distinct {
    real *kept;      /* (capacity, columns) the distinct rows, in the order in which they come */
    int64_t *first;  /* (capacity,) number of the first row that is equal */
    double *weight;  /* (capacity,) sum of the weights of equal rows */
    int32_t *slots;  /* (2^bits,) number of a distinct row, -1 where there is none; at least twice the capacity */
    int64_t found, capacity, columns, bits;
};

/* -0 equals 0, and is kept as 0. Missing values are all the same. */
INLINE real number_at(const real *row, int64_t column) {
    return row[column] == row[column] ? row[column] + 0 : (real)NAN;
}

static uint64_t hash(const real *row, const struct distinct *d) {
    uint64_t mixed = 0;
    for (int64_t k = 0; k < d->columns; k++) {
        union {
            real value;
            whole bits;
        } number = {.value = number_at(row, k)};
        mixed = (mixed ^ (uint64_t)number.bits) * MIX;
        mixed ^= mixed >> 32;
    }
    return mixed * MIX >> (64 - d->bits);
}

static int same(const real *row, const real *kept, int64_t columns) {
    for (int64_t k = 0; k < columns; k++)
        if (row[k] != kept[k] && (row[k] == row[k] || kept[k] == kept[k]))
            return 0;
    return 1;
}

/* Write which distinct row each of `count` rows is, from row number `start` on; return how many there was room for. */
int64_t EXPORTED(join_rows)(struct distinct *d, const real *x, int64_t count, int64_t pitch, const double *weight, int64_t weight_step, int64_t start, int32_t *member) {
    const uint64_t mask = ((uint64_t)1 << d->bits) - 1;
    for (int64_t i = 0; i < count; i++) {
        const real *row = x + i * pitch;
        uint64_t slot = hash(row, d);
        while (d->slots[slot] >= 0 && !same(row, d->kept + d->slots[slot] * d->columns, d->columns))
            slot = (slot + 1) & mask;
        if (d->slots[slot] < 0) {
            if (d->found == d->capacity)
                return i;
            for (int64_t k = 0; k < d->columns; k++)
                d->kept[d->found * d->columns + k] = number_at(row, k);
            d->first[d->found] = start + i;
            d->weight[d->found] = 0;
            d->slots[slot] = (int32_t)d->found++;
        }
        member[i] = d->slots[slot];
        d->weight[member[i]] += weight[i * weight_step];
    }
    return count;
}
