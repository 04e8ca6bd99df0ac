// Vectors of the compiler's extensions, and the activation functions.
//
// Activations use vectors of 8, which the compiler splits where the machine has shorter ones, or of 16. The compiler must
// not fuse multiplications and additions on its own (-ffp-contract=off); where the source does (fused), the result is the
// same to the bit on every machine that can, which are all but x86-64 before 2013.
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the layout of 8-bit weights needs a little-endian machine; NumPy does the work on others"
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
#if defined(__AVX2__)
INLINE ivec larger_of(ivec a, ivec b) { return (ivec)_mm256_max_epi32((__m256i)a, (__m256i)b); }
#else
INLINE ivec larger_of(ivec a, ivec b) { return (a & (a > b)) | (b & ~(a > b)); }
#endif

// a * b + c
#if defined(__FMA__)
INLINE vec fused(vec a, vec b, vec c) { return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#elif defined(__ARM_NEON)
INLINE vec fused(vec a, vec b, vec c) {
    union { vec whole; float32x4_t halves[2]; } x = {a}, y = {b}, z = {c};
    for (int i = 0; i < 2; i++) z.halves[i] = vfmaq_f32(z.halves[i], x.halves[i], y.halves[i]);
    return z.whole;
}
#else
INLINE vec fused(vec a, vec b, vec c) { return a * b + c; }
#endif
INLINE vec all(float x) { return x - (vec){0}; }

INLINE float sum_of(vec x) {  // always in this order
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

// The vectors of the activations: 16 numbers where the machine has such registers, else 8.
#if defined(__AVX512F__)
enum { W = 16 };
typedef float wide __attribute__((vector_size(64)));
typedef int32_t wide_ints __attribute__((vector_size(64)));
INLINE wide wide_min_of(wide a, wide b) { return (wide)_mm512_min_ps((__m512)a, (__m512)b); }
INLINE wide wide_max_of(wide a, wide b) { return (wide)_mm512_max_ps((__m512)a, (__m512)b); }
INLINE wide wide_fused(wide a, wide b, wide c) { return (wide)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#else
enum { W = V };
typedef vec wide;
typedef ivec wide_ints;
INLINE wide wide_min_of(wide a, wide b) { return min_of(a, b); }
INLINE wide wide_max_of(wide a, wide b) { return max_of(a, b); }
INLINE wide wide_fused(wide a, wide b, wide c) { return fused(a, b, c); }
#endif
INLINE wide wide_all(float x) { return x - (wide){0}; }

// Load and store n numbers, which are V or W.
INLINE wide load_wide(const float *x, int n) {
    wide value = {0};
    memcpy(&value, x, sizeof(float) * (size_t)n);
    return value;
}
INLINE void store_wide(float *x, wide value, int n) { memcpy(x, &value, sizeof(float) * (size_t)n); }

// Call f(i, n) for every n = W of `size` numbers from the i-th on, and for the V that may be left.
#define IN_WIDE(size, f) \
    do { \
        int at = 0; \
        for (; at + W <= (size); at += W) f(at, W); \
        if (at < (size)) f(at, V); \
    } while (0)

#define ROUNDING 12582912.0f  // 1.5 * 2^23: adding it rounds to an integer, which is then in the low bits
#define BIASED (ROUNDING + 127)  // the low bits are then the exponent of that power of two

// exp(x) with a relative error below 1e-7 for |x| <= 29. Beyond, it is that of 29: a gate is closed to within 3e-13 by
// then, and products of three exponentials do not overflow.
INLINE wide exp_of(wide x) {
    x = wide_max_of(wide_all(-29), wide_min_of(wide_all(29), x));
    wide rounded = wide_fused(x, wide_all(1.44269504f), wide_all(BIASED));
    wide power = (wide)((wide_ints)rounded << 23);
    wide n = rounded - BIASED;
    x = wide_fused(n, wide_all(-0.693359375f), x);  // log 2 in two parts
    x = wide_fused(n, wide_all(2.12194440e-4f), x);
    wide y = wide_fused(x, wide_all(1.9875691500e-4f), wide_all(1.3981999507e-3f));
    y = wide_fused(y, x, wide_all(8.3334519073e-3f));
    y = wide_fused(y, x, wide_all(4.1665795894e-2f));
    y = wide_fused(y, x, wide_all(1.6666665459e-1f));
    y = wide_fused(y, x, wide_all(5.0000001201e-1f));
    y = wide_fused(y, x * x, x + 1.0f);
    return y * power;  // exact; adding to the exponent instead would make a number of some NaNs
}

INLINE void tanh_all(float *x, int n) {  // n: a multiple of V
#define TANH(i, n) \
    do { \
        const wide e = exp_of(load_wide(x + i, n) * -2.0f); \
        store_wide(x + i, (1.0f - e) / (1.0f + e), n); \
    } while (0)
    IN_WIDE(n, TANH);
#undef TANH
}

// n cells of an LSTM, from the i-th on.
INLINE void lstm_cells(const float *forget, const float *others, int dim, const float *c, float *new_c, float *h, int i,
                       int n) {
    const wide input = 1.0f + exp_of(load_wide(others + i, n)), output = 1.0f + exp_of(load_wide(others + dim + i, n));
    const wide candidate = exp_of(load_wide(others + 2 * dim + i, n));
    wide above = 1.0f - candidate, below = (1.0f + candidate) * input;  // a division takes as long as many products
    if (forget) {
        const wide kept = 1.0f + exp_of(load_wide(forget + i, n));
        above = above * kept + load_wide(c + i, n) * below;
        below = below * kept;
    }
    const wide next = above / below, e = exp_of(next * -2.0f);
    store_wide(new_c + i, next, n);
    store_wide(h + i, (1.0f - e) / ((1.0f + e) * output), n);
}

// An LSTM cell. `forget` has the exponents of the forget gate, `others` those of input gate, output gate and candidate.
// In the first step of a sequence there is no forget gate and no `c`: both are NULL.
INLINE void lstm_cell(const float *forget, const float *others, int dim, const float *c, float *new_c, float *h) {
#define CELLS(i, n) lstm_cells(forget, others, dim, c, new_c, h, i, n)
    IN_WIDE(dim, CELLS);
#undef CELLS
}
