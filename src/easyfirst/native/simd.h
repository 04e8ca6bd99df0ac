// Vectors of the compiler's extensions, and the activation functions.
//
// Activations use vectors of 8 whatever the machine has; the compiler splits them. Multiplications and additions are
// never fused here (-ffp-contract=off), so activations are the same to the bit on every machine.
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define INLINE static inline __attribute__((always_inline))
#define PADDED(n, to) (((n) + (to) - 1) / (to) * (to))

enum { V = 8 };  // every width is a multiple of this
typedef float vec __attribute__((vector_size(32)));
typedef int32_t ivec __attribute__((vector_size(32)));
typedef float vec_any __attribute__((vector_size(32), aligned(4), may_alias));

INLINE vec load(const float *x) { return *(const vec_any *)x; }
INLINE void store(float *x, vec value) { *(vec_any *)x = value; }

// The smaller and the larger one; `b` if either is not a number, so that one in `b` is passed on.
#if defined(__AVX__)
INLINE vec min_of(vec a, vec b) { return (vec)_mm256_min_ps((__m256)a, (__m256)b); }
INLINE vec max_of(vec a, vec b) { return (vec)_mm256_max_ps((__m256)a, (__m256)b); }
#else
INLINE vec blend(ivec is_a, vec a, vec b) { return (vec)(((ivec)a & is_a) | ((ivec)b & ~is_a)); }
INLINE vec min_of(vec a, vec b) { return blend(a < b, a, b); }
INLINE vec max_of(vec a, vec b) { return blend(a > b, a, b); }
#endif

INLINE float sum_of(vec x) {  // always in this order
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

#define ROUNDING 12582912.0f  // 1.5 * 2^23: adding it rounds to an integer, which is then in the low bits

// exp(x) with a relative error below 1e-7 for |x| <= 40. Beyond, it is that of 40: a gate is closed to within 1e-17 by
// then, and products of two exponentials do not overflow.
INLINE vec exp_of(vec x) {
    const vec limit = {40, 40, 40, 40, 40, 40, 40, 40};
    x = max_of(-limit, min_of(limit, x));
    vec rounded = x * 1.44269504f + ROUNDING;
    ivec exponent = (ivec)rounded << 23;
    vec n = rounded - ROUNDING;
    x = x - n * 0.693359375f;  // log 2 in two parts
    x = x + n * 2.12194440e-4f;
    vec y = x * 1.9875691500e-4f + 1.3981999507e-3f;
    y = y * x + 8.3334519073e-3f;
    y = y * x + 4.1665795894e-2f;
    y = y * x + 1.6666665459e-1f;
    y = y * x + 5.0000001201e-1f;
    y = y * x * x + x + 1.0f;
    return (vec)((ivec)y + exponent);
}

INLINE void tanh_all(float *x, int n) {
    for (int i = 0; i < n; i += V) {
        vec e = exp_of(load(x + i) * -2.0f);
        store(x + i, (1.0f - e) / (1.0f + e));
    }
}

// An LSTM cell. `forget` has the exponents of the forget gate, `others` those of input gate, output gate and candidate.
// In the first step of a sequence there is no forget gate and no `c`: both are NULL.
INLINE void lstm_cell(const float *forget, const float *others, int dim, const float *c, float *new_c, float *h) {
    for (int i = 0; i < dim; i += V) {
        vec input = exp_of(load(others + i)), output = exp_of(load(others + dim + i));
        vec candidate = exp_of(load(others + 2 * dim + i));
        vec next = (1.0f - candidate) / ((1.0f + candidate) * (1.0f + input));
        if (forget) next += load(c + i) / (1.0f + exp_of(load(forget + i)));
        store(new_c + i, next);
        vec e = exp_of(next * -2.0f);
        store(h + i, (1.0f - e) / ((1.0f + e) * (1.0f + output)));
    }
}
