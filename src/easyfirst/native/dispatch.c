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
extern const ef_functions ef_functions_v3, ef_functions_v4, ef_functions_v4vnni;

static int runs_v3(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

static int runs_v4(void) {
    return runs_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
}
#endif

// Return the functions of the best instruction set that this machine runs, or of the one with this name; NULL if there
// is no such set here.
EXPORT const ef_functions *ef_functions_for(const char *isa) {
    const ef_functions *best = &ef_functions_base;
    if (isa && !strcmp(isa, best->isa)) return best;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const struct { const ef_functions *functions; int runs; } sets[] = {
        {&ef_functions_v3, runs_v3()},
        {&ef_functions_v4, runs_v4()},
        {&ef_functions_v4vnni, runs_v4() && __builtin_cpu_supports("avx512vnni")},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!sets[i].runs) continue;
        best = sets[i].functions;
        if (isa && !strcmp(isa, best->isa)) return best;
    }
#endif
    return isa ? NULL : best;
}
