// Chooses the functions for this machine: the core is compiled once for each instruction set.
#include <string.h>
#include "api.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

extern const ef_functions ef_functions_base;
#if defined(__x86_64__)
#include <cpuid.h>
extern const ef_functions ef_functions_v3, ef_functions_v4, ef_functions_v4vnni;

static int has(unsigned found, unsigned wanted) { return (found & wanted) == wanted; }

// Return how many of v3, v4 and v4vnni this machine runs: it must have the features that hatch_build.py compiles them
// for, and the system must save the registers (XGETBV). __builtin_cpu_supports would need a runtime that zig lacks.
static int count_runnable(void) {
    unsigned a, b, c, d, saved, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has(c, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT)) return 0;
    if (!has(c, bit_AVX | bit_F16C | bit_FMA | bit_MOVBE | bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if (!has(saved, 0x06) || !__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, bit_LZCNT)) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has(b, bit_AVX2 | bit_BMI | bit_BMI2)) return 0;
    if (!has(b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL)) return 1;
    return !has(saved, 0xe6) ? 1 : has(c, bit_AVX512VNNI) ? 3 : 2;
}
#endif

// Return the functions of the best instruction set that this machine runs, or of the one with this name; NULL if there
// is no such set here.
EXPORT const ef_functions *ef_functions_for(const char *isa) {
    const ef_functions *best = &ef_functions_base;
    if (isa && !strcmp(isa, best->isa)) return best;
#if defined(__x86_64__)
    const ef_functions *const sets[] = {&ef_functions_v3, &ef_functions_v4, &ef_functions_v4vnni};
    for (int i = 0, n = count_runnable(); i < n; i++) {
        best = sets[i];
        if (isa && !strcmp(isa, best->isa)) return best;
    }
#endif
    return isa ? NULL : best;
}
