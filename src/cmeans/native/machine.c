/* What the machine can run, and what this library was made from. Compiled once, for any machine of its kind. */
#include <stdint.h>

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* The digest of the C files. */
EXPORTED const char *cmeans_sources(void) { return SOURCES; }

#if defined(__x86_64__)

#define ALL(word, bits) (((word) & (bits)) == (bits))

struct words {
    uint32_t a, b, c, d;
};

static struct words cpuid(uint32_t leaf) {
    struct words w;
    __asm__ volatile("cpuid" : "=a"(w.a), "=b"(w.b), "=c"(w.c), "=d"(w.d) : "a"(leaf), "c"(0));
    return w;
}

/* The registers that the operating system saves. */
static uint32_t saved(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* The highest level of x86-64 among 3 and 4 that can be run; 0 for none of them. */
EXPORTED int cmeans_level(void) {
    const uint32_t fma_movbe_xsave_avx_f16c = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;
    const uint32_t bmi_avx2 = 1u << 3 | 1u << 5 | 1u << 8;
    const uint32_t avx512_f_dq_cd_bw_vl = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    if (cpuid(0).a < 7 || cpuid(0x80000000u).a < 0x80000001u)
        return 0;
    if (!ALL(cpuid(1).c, fma_movbe_xsave_avx_f16c) || !ALL(saved(), 0x6u) || !ALL(cpuid(7).b, bmi_avx2))
        return 0;
    if (!ALL(cpuid(0x80000001u).c, 1u << 5)) /* lzcnt */
        return 0;
    return ALL(cpuid(7).b, avx512_f_dq_cd_bw_vl) && ALL(saved(), 0xe6u) ? 4 : 3;
}

#else

EXPORTED int cmeans_level(void) { return 0; }

#endif
