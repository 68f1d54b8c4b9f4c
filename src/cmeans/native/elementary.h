/* Logarithm, exponential and power, by operations on whole numbers and polynomials: a float is f 2^k, k is taken from its bits.
 * NaN stays NaN. No mathematics library is used, so that all machines give the same bits. */
#ifndef CMEANS_ELEMENTARY_H
#define CMEANS_ELEMENTARY_H

#include "vectors.h"

#if BITS == 64
#define MANTISSA 52
#define BIAS 1023
#define ROOT_HALF 0x3FE6A09E667F3BCDLL /* the bits of sqrt(1/2) */
#define LOWEST -708.0                  /* exp of smaller numbers is 0 */
#define TINY 0x1p-1022                 /* the smallest normal number */
#define SHIFTER 0x1.8p52               /* added and taken away, it rounds to whole numbers */
#else
#define MANTISSA 23
#define BIAS 127
#define ROOT_HALF 0x3F3504F3
#define LOWEST -87.0f
#define TINY 0x1p-126f
#define SHIFTER 0x1.8p23f
#endif

#define HORNER(p, x, coefficient) (p) = fused(p, x, all((real)(coefficient)))

/* log(x), -inf below the smallest normal number: log(f 2^k) = k log 2 + 2 atanh((f - 1) / (f + 1)), coefficients of fdlibm. */
INLINE lanes logarithm(lanes x) {
    lanes exponent, fraction, one = all(1);
    EACH(k) {
        bits_part raw = (bits_part)x.of[k], octave = (raw - (whole)ROOT_HALF) >> MANTISSA;
        fraction.of[k] = (part)(raw - (octave << MANTISSA));
        exponent.of[k] = (part)(octave + (bits_part)((real)SHIFTER - (part){0})) - (real)SHIFTER;
    }
    lanes s = divide(subtract(fraction, one), add(fraction, one)), z = multiply(s, s), p;
#if BITS == 64
    p = all((real)0.1479819860511658591);
    HORNER(p, z, 0.1531383769920937332);
    HORNER(p, z, 0.1818357216161805012);
    HORNER(p, z, 0.2222219843214978396);
#else
    p = all((real)0.2222219843214978396);
#endif
    HORNER(p, z, 0.2857142874366239149);
    HORNER(p, z, 0.3999999999940941908);
    HORNER(p, z, 0.6666666666666735130);
    lanes twice = add(s, s), y = fused(exponent, all((real)0.6931471805599453), fused(multiply(s, z), p, twice));
    return where(less(x, all(TINY)), all(-(real)INFINITY), where(equal(x, x), y, x));
}

/* exp(x) for x <= 0: exp(k log 2 + r) = 2^k exp(r) with |r| <= log(2) / 2; log 2 is split in two parts to keep r exact. */
INLINE lanes exponential(lanes x) {
    const lanes lowest = all(LOWEST), shifter = all(SHIFTER);
    lanes v = where(less(x, lowest), lowest, x), octaves = fused(v, all((real)1.4426950408889634), shifter), power, p;
    EACH(k) power.of[k] = (part)(((bits_part)octaves.of[k] + BIAS) << MANTISSA);
    octaves = subtract(octaves, shifter);
    lanes r = fused(octaves, all((real)-0.693145751953125), v);
    r = fused(octaves, all((real)-1.42860682030941723212e-6), r);
#if BITS == 64
    p = all((real)(1.0 / 479001600));
    HORNER(p, r, 1.0 / 39916800);
    HORNER(p, r, 1.0 / 3628800);
    HORNER(p, r, 1.0 / 362880);
    HORNER(p, r, 1.0 / 40320);
    HORNER(p, r, 1.0 / 5040);
    HORNER(p, r, 1.0 / 720);
#else
    p = all((real)(1.0 / 5040));
    HORNER(p, r, 1.0 / 720);
#endif
    HORNER(p, r, 1.0 / 120);
    HORNER(p, r, 1.0 / 24);
    HORNER(p, r, 1.0 / 6);
    HORNER(p, r, 0.5);
    HORNER(p, r, 1);
    HORNER(p, r, 1);
    lanes y = multiply(p, power);
    return where(less(x, lowest), all(0), y);
}

/* x ** exponent for 0 <= x <= 1 and a positive exponent. */
INLINE lanes power(lanes x, real exponent) { return exponential(multiply(logarithm(x), all(exponent))); }

#endif
