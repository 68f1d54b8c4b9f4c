/* Vectors of 64 bytes whatever the machine: PARTS of its own width, so that sums are taken in the same order everywhere.
 *
 * Products are fused with additions in `fused` alone. A file that includes this is compiled for each float type (BITS) and machine
 * (VARIANT). */
#ifndef CMEANS_VECTORS_H
#define CMEANS_VECTORS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if BITS == 64
typedef double real;
typedef int64_t whole;
#else
typedef float real;
typedef int32_t whole;
#endif

#if defined(__AVX512F__)
#include <immintrin.h>
#define WIDTH 64 /* bytes of the machine's vectors */
#elif defined(__AVX2__)
#include <immintrin.h>
#define WIDTH 32
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#define WIDTH 16
#else
#include <arm_neon.h>
#define WIDTH 16
#endif

#define LINE 64 /* bytes of a vector, and of a cache line */
#define LANES (LINE / (int)sizeof(real))
#define PARTS (LINE / WIDTH)

typedef real part __attribute__((vector_size(WIDTH), may_alias));
typedef real loose_part __attribute__((vector_size(WIDTH), aligned(sizeof(real)), may_alias));
typedef whole bits_part __attribute__((vector_size(WIDTH), may_alias));

typedef struct {
    part of[PARTS];
} lanes;

typedef struct {
    bits_part of[PARTS];
} mask; /* all bits of a lane set, or none; and vectors of whole numbers */

#define JOIN_(name, variant, bits) cmeans_##name##_##variant##_##bits
#define JOIN(name, variant, bits) JOIN_(name, variant, bits)
#if defined(_WIN32)
#define EXPORTED(name) __declspec(dllexport) JOIN(name, VARIANT, BITS)
#else
#define EXPORTED(name) __attribute__((visibility("default"))) JOIN(name, VARIANT, BITS)
#endif
#define INLINE static inline __attribute__((always_inline))
#define EACH(k) _Pragma("GCC unroll 4") for (int k = 0; k < PARTS; k++)

/* ------------------------------------------------------------------------------------------------------------ memory */

INLINE lanes load(const real *from) { /* of an address of whole lines */
    lanes v;
    EACH(k) v.of[k] = ((const part *)from)[k];
    return v;
}

INLINE lanes load_loose(const real *from) { /* of any address */
    lanes v;
    EACH(k) v.of[k] = (part) * (const loose_part *)(from + k * (LANES / PARTS));
    return v;
}

INLINE lanes load_some(const real *from, int64_t count) { /* the first `count` lanes, zeros beyond */
    real line[LANES] __attribute__((aligned(LINE))) = {0};
    if (count >= LANES)
        return load_loose(from);
    for (int64_t i = 0; i < count; i++)
        line[i] = from[i];
    return load(line);
}

INLINE void store(real *to, lanes v) {
    EACH(k)((part *)to)[k] = v.of[k];
}

INLINE void store_loose(real *to, lanes v) {
    EACH(k) * (loose_part *)(to + k * (LANES / PARTS)) = (loose_part)v.of[k];
}

INLINE void store_some(real *to, lanes v, int64_t count) {
    real line[LANES] __attribute__((aligned(LINE)));
    if (count >= LANES) {
        store_loose(to, v);
        return;
    }
    store(line, v);
    for (int64_t i = 0; i < count; i++)
        to[i] = line[i];
}

INLINE lanes all(real x) {
    lanes v;
    EACH(k) v.of[k] = x - (part){0};
    return v;
}

INLINE mask all_whole(whole x) {
    mask v;
    EACH(k) v.of[k] = x - (bits_part){0};
    return v;
}

INLINE mask load_whole(const whole *from) {
    mask v;
    EACH(k) v.of[k] = ((const bits_part *)from)[k];
    return v;
}

INLINE void store_whole(whole *to, mask v) {
    EACH(k)((bits_part *)to)[k] = v.of[k];
}

/* -------------------------------------------------------------------------------------------------------- arithmetic */

#define LANE_BY_LANE(name, operator)                                                                                                     \
    INLINE lanes name(lanes a, lanes b) {                                                                                                \
        EACH(k) a.of[k] = a.of[k] operator b.of[k];                                                                                      \
        return a;                                                                                                                        \
    }
LANE_BY_LANE(add, +)
LANE_BY_LANE(subtract, -)
LANE_BY_LANE(multiply, *)
LANE_BY_LANE(divide, /)

#define COMPARISON(name, operator)                                                                                                       \
    INLINE mask name(lanes a, lanes b) {                                                                                                 \
        mask m;                                                                                                                          \
        EACH(k) m.of[k] = (bits_part)(a.of[k] operator b.of[k]);                                                                         \
        return m;                                                                                                                        \
    }
COMPARISON(less, <)
COMPARISON(equal, ==)
COMPARISON(at_least, >=)

INLINE mask equal_whole(mask a, mask b) {
    EACH(k) a.of[k] = (bits_part)(a.of[k] == b.of[k]);
    return a;
}

INLINE int all_set(mask m) {
    bits_part every = m.of[0];
    for (int k = 1; k < PARTS; k++)
        every &= m.of[k];
#if WIDTH == 64
    return BITS == 64 ? _mm512_movepi64_mask((__m512i)every) == 0xFF : _mm512_movepi32_mask((__m512i)every) == 0xFFFF;
#elif WIDTH == 32
    return _mm256_movemask_epi8((__m256i)every) == -1;
#elif defined(__wasm_simd128__)
    return wasm_i32x4_all_true((v128_t)every);
#else
    return vminvq_u32((uint32x4_t)every) == UINT32_MAX;
#endif
}

INLINE uint64_t bits_of(mask m) { /* one of each lane */
    uint64_t bits = 0;
    for (int k = 0; k < PARTS; k++) {
#if WIDTH == 64
        bits = BITS == 64 ? _mm512_movepi64_mask((__m512i)m.of[k]) : _mm512_movepi32_mask((__m512i)m.of[k]);
#elif WIDTH == 32
        const int here = BITS == 64 ? _mm256_movemask_pd((__m256d)m.of[k]) : _mm256_movemask_ps((__m256)m.of[k]);
        bits |= (uint64_t)here << (k * (LANES / PARTS));
#else
        for (int i = 0; i < LANES / PARTS; i++)
            bits |= (uint64_t)(m.of[k][i] & 1) << (k * (LANES / PARTS) + i);
#endif
    }
    return bits;
}

INLINE part fused_part(part a, part b, part c) { /* a b + c, rounded once */
#if WIDTH == 64
    return BITS == 64 ? (part)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c) : (part)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif WIDTH == 32
    return BITS == 64 ? (part)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c) : (part)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__wasm_simd128__)
    return a * b + c; /* rounded twice: WebAssembly has no other */
#elif BITS == 64
    return vfmaq_f64(c, a, b);
#else
    return vfmaq_f32(c, a, b);
#endif
}

INLINE real fused_one(real a, real b, real c) {
#if defined(__wasm_simd128__)
    return a * b + c;
#elif BITS == 64
    return __builtin_fma(a, b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}

INLINE part where_part(bits_part m, part a, part b) {
#if WIDTH == 32
    return BITS == 64 ? (part)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m) : (part)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
#else
    return (part)((m & (bits_part)a) | (~m & (bits_part)b));
#endif
}

INLINE part smaller_part(part a, part b) { /* a < b ? a : b, so b where one is NaN */
#if WIDTH == 64
    return BITS == 64 ? (part)_mm512_min_pd((__m512d)a, (__m512d)b) : (part)_mm512_min_ps((__m512)a, (__m512)b);
#elif WIDTH == 32
    return BITS == 64 ? (part)_mm256_min_pd((__m256d)a, (__m256d)b) : (part)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return where_part((bits_part)(a < b), a, b);
#endif
}

INLINE part root_part(part x) {
#if WIDTH == 64
    return BITS == 64 ? (part)_mm512_sqrt_pd((__m512d)x) : (part)_mm512_sqrt_ps((__m512)x);
#elif WIDTH == 32
    return BITS == 64 ? (part)_mm256_sqrt_pd((__m256d)x) : (part)_mm256_sqrt_ps((__m256)x);
#elif defined(__wasm_simd128__)
    return BITS == 64 ? (part)wasm_f64x2_sqrt((v128_t)x) : (part)wasm_f32x4_sqrt((v128_t)x);
#elif BITS == 64
    return vsqrtq_f64(x);
#else
    return vsqrtq_f32(x);
#endif
}

INLINE lanes fused(lanes a, lanes b, lanes c) { /* a b + c */
    EACH(k) c.of[k] = fused_part(a.of[k], b.of[k], c.of[k]);
    return c;
}

INLINE lanes where(mask m, lanes a, lanes b) { /* a where the mask is set, b elsewhere */
    EACH(k) a.of[k] = where_part(m.of[k], a.of[k], b.of[k]);
    return a;
}

INLINE mask where_whole(mask m, mask a, mask b) {
    EACH(k) a.of[k] = (bits_part)where_part(m.of[k], (part)a.of[k], (part)b.of[k]);
    return a;
}

INLINE lanes smaller(lanes a, lanes b) { /* b where one is NaN */
    EACH(k) a.of[k] = smaller_part(a.of[k], b.of[k]);
    return a;
}

INLINE lanes root(lanes x) {
    EACH(k) x.of[k] = root_part(x.of[k]);
    return x;
}

INLINE lanes absolute(lanes x) {
    const whole but_sign = (whole)(((uint64_t)1 << (BITS - 1)) - 1);
    EACH(k) x.of[k] = (part)((bits_part)x.of[k] & (but_sign - (bits_part){0}));
    return x;
}

typedef real quarter __attribute__((vector_size(16), may_alias));

INLINE quarter quarter_sum(lanes v) { /* half added to half, down to 16 bytes */
#if WIDTH == 64
    __m256d half = BITS == 64 ? _mm256_add_pd(_mm512_castpd512_pd256((__m512d)v.of[0]), _mm512_extractf64x4_pd((__m512d)v.of[0], 1))
                              : (__m256d)_mm256_add_ps(_mm512_castps512_ps256((__m512)v.of[0]), _mm512_extractf32x8_ps((__m512)v.of[0], 1));
#elif WIDTH == 32
    __m256d half = (__m256d)(v.of[0] + v.of[1]);
#endif
#if WIDTH == 16
    return (v.of[0] + v.of[2]) + (v.of[1] + v.of[3]);
#else
    return (quarter)_mm256_castpd256_pd128(half) + (quarter)_mm256_extractf128_pd(half, 1);
#endif
}

INLINE real sum(lanes v) { /* half added to half, down to one lane */
    quarter q = quarter_sum(v);
#if BITS == 64
    return q[0] + q[1];
#else
    return (q[0] + q[2]) + (q[1] + q[3]);
#endif
}

#endif
