/* The elementary functions over arrays of whole vectors, for tests of how exact they are. */
#include "elementary.h"

void EXPORTED(logarithm_of)(const real *x, int64_t count, real *out) {
    for (int64_t i = 0; i < count; i += LANES)
        store_loose(out + i, logarithm(load_loose(x + i)));
}

void EXPORTED(exponential_of)(const real *x, int64_t count, real *out) {
    for (int64_t i = 0; i < count; i += LANES)
        store_loose(out + i, exponential(load_loose(x + i)));
}

void EXPORTED(power_of)(const real *x, double exponent, int64_t count, real *out) {
    for (int64_t i = 0; i < count; i += LANES)
        store_loose(out + i, power(load_loose(x + i), (real)exponent));
}
