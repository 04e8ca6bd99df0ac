// Products of rows with constant weights: float32, or 8-bit weights with activations of 14 or of 7 bits.
//
// Weights are packed in panels of two vectors of columns. A tile is a few rows times a few panels whose sums stay in
// registers. Every sum is taken in the order of k, in one accumulator, whatever the tile, so a row's result does not
// depend on the rows beside it. Integer sums are exact, so with 8-bit weights it does not depend on the machine either.
#include "memory.h"
#include "simd.h"

// -------------------------------------------------------------------------------------------- the machine's vectors
// LANES: columns of a vector. EACH_ROWS: the heights of tiles, the last of which is MAX_ROWS.
#define ROWS_4(f) f(1) f(2) f(3) f(4)
#define ROWS_6(f) ROWS_4(f) f(5) f(6)
#define ROWS_12(f) ROWS_6(f) f(7) f(8) f(9) f(10) f(11) f(12)
#if defined(__AVX512F__)
enum { LANES = 16, MAX_ROWS = 12 };
#define EACH_ROWS ROWS_12
#elif defined(__AVX2__)
enum { LANES = 8, MAX_ROWS = 6 };
#define EACH_ROWS ROWS_6
#elif defined(__ARM_NEON)
enum { LANES = 4, MAX_ROWS = 6 };
#define EACH_ROWS ROWS_6
#else
enum { LANES = 4, MAX_ROWS = 4 };
#define EACH_ROWS ROWS_4
#endif
enum { PANEL = 2 * LANES, MAX_PANELS = 4 };  // columns of a panel; panels of a tile with a single row

typedef float fwide __attribute__((vector_size(4 * LANES)));
typedef int32_t iwide __attribute__((vector_size(4 * LANES)));
typedef float fwide_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t iwide_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

// a * b + c, fused where the machine can
#if defined(__AVX512F__)
INLINE fwide fused_wide(fwide a, fwide b, fwide c) { return (fwide)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif defined(__FMA__)
INLINE fwide fused_wide(fwide a, fwide b, fwide c) { return (fwide)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#elif defined(__ARM_NEON)
INLINE fwide fused_wide(fwide a, fwide b, fwide c) { return (fwide)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#else
INLINE fwide fused_wide(fwide a, fwide b, fwide c) { return a * b + c; }
#endif

// Integer products: `group` consecutive k of a column lie side by side, as do those of the activations.
// pairs_of(w): 8-bit weights as 16-bit ones. dot2: sum + x[0] w[0] + x[1] w[1]. dot4: the same of four unsigned x.
#if defined(__AVX512F__)
INLINE iwide pairs_of(const int8_t *w) { return (iwide)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)w)); }
#if defined(__AVX512VNNI__)
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return (iwide)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)x, (__m512i)w); }
INLINE iwide dot4(iwide sum, iwide x, iwide w) { return (iwide)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)x, (__m512i)w); }
#else
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return sum + (iwide)_mm512_madd_epi16((__m512i)x, (__m512i)w); }
INLINE iwide dot4(iwide sum, iwide x, iwide w) {
    return sum + (iwide)_mm512_madd_epi16(_mm512_maddubs_epi16((__m512i)x, (__m512i)w), _mm512_set1_epi16(1));
}
#endif
#define HAS_DOT4 1
#elif defined(__AVX2__)
INLINE iwide pairs_of(const int8_t *w) { return (iwide)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)w)); }
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return sum + (iwide)_mm256_madd_epi16((__m256i)x, (__m256i)w); }
INLINE iwide dot4(iwide sum, iwide x, iwide w) {
    return sum + (iwide)_mm256_madd_epi16(_mm256_maddubs_epi16((__m256i)x, (__m256i)w), _mm256_set1_epi16(1));
}
#define HAS_DOT4 1
#elif defined(__SSE2__)
INLINE iwide pairs_of(const int8_t *w) {
    __m128i bytes = _mm_loadl_epi64((const __m128i *)w);
    return (iwide)_mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return sum + (iwide)_mm_madd_epi16((__m128i)x, (__m128i)w); }
#elif defined(__ARM_NEON)
INLINE iwide pairs_of(const int8_t *w) { return (iwide)vmovl_s8(vld1_s8(w)); }
INLINE iwide dot2(iwide sum, iwide x, iwide w) {
    int16x8_t a = (int16x8_t)x, b = (int16x8_t)w;
    return sum + (iwide)vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
}
#else
INLINE iwide pairs_of(const int8_t *w) {
    int16_t wide[2 * LANES];
    iwide pairs;
    for (int i = 0; i < 2 * LANES; i++) wide[i] = w[i];
    memcpy(&pairs, wide, sizeof pairs);
    return pairs;
}
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return sum + (x << 16 >> 16) * (w << 16 >> 16) + (x >> 16) * (w >> 16); }
#endif
#ifndef HAS_DOT4  // 7-bit activations take the way of 14-bit ones, with the same result
#define HAS_DOT4 0
INLINE iwide dot4(iwide sum, iwide x, iwide w) { return dot2(sum, x, w); }
#endif

// ------------------------------------------------------------------------------------------------- packed weights
struct ef_matrix {
    int32_t k, n, n_panels, precision;
    int32_t group, n_groups;  // 8-bit weights: k are stored in groups of 2 or 4
    float levels;             // the largest integer of an activation
    int32_t offset;           // what is added to make activations unsigned
    float *weights;           // float32: [n_panels][k][PANEL]
    int8_t *bytes;            // 8 bits: [n_panels][n_groups][PANEL][group]
    float *scales;            // [n_panels * PANEL], of columns
    int32_t *corrections;     // [n_panels * PANEL]: what the offset adds to a column's sum, negated
    float *bias;              // [n_panels * PANEL]
};

static void matrix_free(ef_matrix *M) {
    if (!M) return;
    aligned_free(M->weights);
    aligned_free(M->bytes);
    aligned_free(M->scales);
    aligned_free(M->corrections);
    aligned_free(M->bias);
    free(M);
}

static void *zeros(size_t n, size_t size) {
    void *memory = n > (SIZE_MAX >> 2) / size ? NULL : aligned(n * size + 2 * ALIGNMENT);
    if (memory) memset(memory, 0, n * size + 2 * ALIGNMENT);
    return memory;
}

static void pack_floats(ef_matrix *M, const float *weights) {
    for (int p = 0; p < M->n_panels; p++) {
        int width = M->n - p * PANEL < PANEL ? M->n - p * PANEL : PANEL;
        for (int i = 0; i < M->k; i++)
            memcpy(M->weights + ((size_t)p * M->k + i) * PANEL, weights + (size_t)i * M->n + p * PANEL,
                   sizeof(float) * (size_t)width);
    }
}

static void pack_bytes(ef_matrix *M, const float *weights) {
    for (int p = 0; p < M->n_panels; p++) {
        int width = M->n - p * PANEL < PANEL ? M->n - p * PANEL : PANEL;
        float largest[PANEL], inverse[PANEL];
        int32_t sums[PANEL] = {0};
        for (int j = 0; j < PANEL; j++) largest[j] = 0;
        for (int i = 0; i < M->k; i++) {
            const float *row = weights + (size_t)i * M->n + p * PANEL;
            for (int j = 0; j < width; j++) largest[j] = fabsf(row[j]) > largest[j] ? fabsf(row[j]) : largest[j];
        }
        for (int j = 0; j < width; j++) {
            M->scales[p * PANEL + j] = largest[j] / 127;
            inverse[j] = largest[j] > 1e-30f ? 127 / largest[j] : 0;  // a column of zeros stays one
        }
        for (int i = 0; i < M->k; i++) {
            const float *row = weights + (size_t)i * M->n + p * PANEL;
            int8_t *to = M->bytes + ((size_t)p * M->n_groups + i / M->group) * PANEL * M->group + i % M->group;
            for (int j = 0; j < width; j++) {
                int32_t value = (int32_t)(row[j] * inverse[j] + 128.5f) - 128;  // rounded; never out of range
                to[j * M->group] = (int8_t)value;
                sums[j] += value;
            }
        }
        for (int j = 0; j < PANEL; j++) M->corrections[p * PANEL + j] = -M->offset * sums[j];
    }
}

static int32_t matrix_new(const float *weights, const float *bias, int32_t k, int32_t n, int32_t precision,
                          ef_matrix **made) {
    *made = NULL;
    if (k <= 0 || n <= 0 || n > (1 << 28) || precision < EF_FLOAT32 || precision > EF_INT8_A7) return EF_BAD_INPUT;
    for (size_t i = 0; i < (size_t)k * (size_t)n; i++)
        if (!isfinite(weights[i])) return EF_NOT_FINITE;
    for (int i = 0; bias && i < n; i++)
        if (!isfinite(bias[i])) return EF_NOT_FINITE;
    ef_matrix *M = calloc(1, sizeof *M);
    if (!M) return EF_NO_MEMORY;
    int uses_fours = precision == EF_INT8_A7 && HAS_DOT4;
    M->k = k, M->n = n, M->precision = precision;
    M->n_panels = PADDED(n, PANEL) / PANEL;
    M->group = uses_fours ? 4 : 2;
    M->n_groups = PADDED(k, M->group) / M->group;
    M->offset = uses_fours ? 64 : 0;
    float exact = (float)(INT32_MAX / 127 / k - 1);  // sums of 32 bits must not overflow
    M->levels = precision == EF_INT8_A7 ? 63 : exact < 8191 ? exact : 8191;
    size_t columns = (size_t)M->n_panels * PANEL;
    M->bias = zeros(columns, sizeof(float));
    if (precision == EF_FLOAT32) {
        M->weights = zeros(columns * (size_t)k, sizeof(float));
    } else {
        M->bytes = zeros(columns * (size_t)M->n_groups * (size_t)M->group, 1);
        M->scales = zeros(columns, sizeof(float));
        M->corrections = zeros(columns, sizeof(int32_t));
    }
    if (!M->bias || !(precision == EF_FLOAT32 ? !!M->weights : M->bytes && M->scales && M->corrections)) {
        matrix_free(M);
        return EF_NO_MEMORY;
    }
    if (bias) memcpy(M->bias, bias, sizeof(float) * (size_t)n);
    if (precision == EF_FLOAT32) pack_floats(M, weights);
    else pack_bytes(M, weights);
    *made = M;
    return EF_OK;
}

// The width of a row of results: whole panels are written.
INLINE int width_of(const ef_matrix *M) { return M->n_panels * PANEL; }

// ------------------------------------------------------------------------------------------------------- tiles
// `starts` is what the products are added to: rows, or NULL for the bias.
INLINE void float_tile(const ef_matrix *M, int panel, int rows, int panels, const float *const *x,
                       const float *const *starts, float *const *out) {
    fwide sums[MAX_ROWS][2 * MAX_PANELS];
    const float *w = M->weights + (size_t)panel * M->k * PANEL;
    const size_t stride = (size_t)M->k * PANEL;
    const int column = panel * PANEL;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 2 * panels; j++)
            sums[i][j] = *(const fwide_any *)((starts ? starts[i] : M->bias) + column + j * LANES);
    for (int k = 0; k < M->k; k++, w += PANEL) {
        fwide weights[2 * MAX_PANELS];
        for (int j = 0; j < 2 * panels; j++)
            weights[j] = *(const fwide_any *)(w + (size_t)(j / 2) * stride + (j % 2) * LANES);
        for (int i = 0; i < rows; i++) {
            fwide value = x[i][k] - (fwide){0};
            for (int j = 0; j < 2 * panels; j++) sums[i][j] = fused_wide(value, weights[j], sums[i][j]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 2 * panels; j++) *(fwide_any *)(out[i] + column + j * LANES) = sums[i][j];
}

INLINE void byte_tile(const ef_matrix *M, int panel, int rows, int panels, const int32_t *const *x,
                      const float *x_scales, const float *const *starts, float *const *out, int group) {
    iwide sums[MAX_ROWS][2 * MAX_PANELS];
    const size_t stride = (size_t)M->n_groups * PANEL * (size_t)group;
    const int8_t *w = M->bytes + (size_t)panel * stride;
    const int column = panel * PANEL;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 2 * panels; j++) sums[i][j] = *(const iwide_any *)(M->corrections + column + j * LANES);
    for (int k = 0; k < M->n_groups; k++, w += PANEL * group) {
        iwide weights[2 * MAX_PANELS];
        for (int j = 0; j < 2 * panels; j++) {
            const int8_t *at = w + (size_t)(j / 2) * stride + (j % 2) * LANES * group;
            weights[j] = group == 4 ? (iwide)*(const iwide_any *)at : pairs_of(at);
        }
        for (int i = 0; i < rows; i++) {
            iwide value = x[i][k] - (iwide){0};
            for (int j = 0; j < 2 * panels; j++)
                sums[i][j] = group == 4 ? dot4(sums[i][j], value, weights[j]) : dot2(sums[i][j], value, weights[j]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 2 * panels; j++) {
            const int at = column + j * LANES;
            fwide start = *(const fwide_any *)((starts ? starts[i] : M->bias) + at);
            fwide scale = x_scales[i] * *(const fwide_any *)(M->scales + at);
            *(fwide_any *)(out[i] + at) = __builtin_convertvector(sums[i][j], fwide) * scale + start;
        }
}

// ------------------------------------------------------------------------------------------------ activations
// Write a row as integers (16 bits, or unsigned 8 bits) and return what one of them stands for.
INLINE float quantize(const ef_matrix *M, const float *x, int32_t *to) {
    typedef int16_t shorts __attribute__((vector_size(16), aligned(2), may_alias));
    typedef uint8_t bytes __attribute__((vector_size(8), aligned(1), may_alias));
    const int k = M->k, whole = k / V * V;
    ivec most = {0};  // absolute values as integers, whose order is the same; a NaN is larger than all numbers
    float tail[V] = {0};
    memcpy(tail, x + whole, sizeof(float) * (size_t)(k - whole));
    for (int i = 0; i < whole; i += V) most = larger_of(most, (ivec)load(x + i) & 0x7fffffff);
    most = larger_of(most, (ivec)load(tail) & 0x7fffffff);
    float largest = 1e-30f;
    int finite = 1;
    for (int j = 0; j < V; j++) {
        const float value = ((vec)most)[j];
        finite &= value <= 3e38f;
        largest = value > largest ? value : largest;
    }
    const float scale = finite ? M->levels / largest : 0;
    const int places = M->n_groups * M->group;
    for (int i = 0; i < places; i += V) {
        vec values = load(i < whole ? x + i : tail);
        ivec rounded = finite ? (ivec)(values * scale + ROUNDING) - 0x4b400000 + M->offset : (ivec){0};
        if (M->group == 4) *(bytes *)((uint8_t *)to + i) = __builtin_convertvector(rounded, bytes);
        else *(shorts *)((int16_t *)to + i) = __builtin_convertvector(rounded, shorts);
    }
    return finite ? largest / M->levels : NAN;
}

// ------------------------------------------------------------------------------------------------- the product
// How many panels a tile of so many rows takes at once: as many as there are registers for.
INLINE int panels_of(int rows) { return rows * MAX_PANELS <= MAX_ROWS ? MAX_PANELS : rows * 2 <= MAX_ROWS ? 2 : 1; }

#define DEFINE_TILES(R) \
    static __attribute__((noinline)) void float_##R(const ef_matrix *M, int panel, int panels, const float *const *x, \
                                                    const float *const *starts, float *const *out) { \
        if (panels == 1) float_tile(M, panel, R, 1, x, starts, out); \
        else float_tile(M, panel, R, panels_of(R), x, starts, out); \
    } \
    static __attribute__((noinline)) void pairs_##R(const ef_matrix *M, int panel, int panels, const int32_t *const *x, \
                                                    const float *scales, const float *const *starts, \
                                                    float *const *out) { \
        if (panels == 1) byte_tile(M, panel, R, 1, x, scales, starts, out, 2); \
        else byte_tile(M, panel, R, panels_of(R), x, scales, starts, out, 2); \
    } \
    static __attribute__((noinline)) void fours_##R(const ef_matrix *M, int panel, int panels, const int32_t *const *x, \
                                                    const float *scales, const float *const *starts, \
                                                    float *const *out) { \
        if (panels == 1) byte_tile(M, panel, R, 1, x, scales, starts, out, 4); \
        else byte_tile(M, panel, R, panels_of(R), x, scales, starts, out, 4); \
    }
EACH_ROWS(DEFINE_TILES)

typedef void float_kernel(const ef_matrix *, int, int, const float *const *, const float *const *, float *const *);
typedef void byte_kernel(const ef_matrix *, int, int, const int32_t *const *, const float *, const float *const *,
                         float *const *);
#define FLOAT_ENTRY(R) [R] = float_##R,
#define PAIRS_ENTRY(R) [R] = pairs_##R,
#define FOURS_ENTRY(R) [R] = fours_##R,
static float_kernel *const FLOAT_KERNELS[] = {EACH_ROWS(FLOAT_ENTRY)};
static byte_kernel *const PAIRS_KERNELS[] = {EACH_ROWS(PAIRS_ENTRY)}, *const FOURS_KERNELS[] = {EACH_ROWS(FOURS_ENTRY)};

enum { BLOCK = 96 };  // rows whose activations stay in the cache while the panels pass

// out[i] = x[i] @ weights + starts[i], or + bias if `starts` is NULL. Rows are given by pointers and need not be aligned.
static void product(const ef_matrix *M, ef_workspace *ws, int m, const float *const *x, const float *const *starts,
                    float *const *out) {
    mark m0 = here(ws);
    const int n_blocked = m < BLOCK ? m : BLOCK, width = PADDED(M->n_groups * M->group, 2 * V);
    byte_kernel *const *kernels = M->group == 4 ? FOURS_KERNELS : PAIRS_KERNELS;
    int32_t *memory = NULL, **quantized = NULL;
    float *scales = NULL;
    if (M->precision != EF_FLOAT32) {
        memory = (int32_t *)TAKE(ws, int16_t, (size_t)n_blocked * width);
        quantized = TAKE(ws, int32_t *, n_blocked);
        scales = TAKE(ws, float, n_blocked);
    }
    for (int begin = 0; begin < m; begin += BLOCK) {
        const int n = m - begin < BLOCK ? m - begin : BLOCK, tiles = (n + MAX_ROWS - 1) / MAX_ROWS;
        for (int i = 0; i < n && memory; i++) {
            quantized[i] = memory + (size_t)i * width / 2;
            scales[i] = quantize(M, x[begin + i], quantized[i]);
        }
        for (int panel = 0, panels; panel < M->n_panels; panel += panels) {
            panels = tiles == 1 && panel + panels_of(n) <= M->n_panels ? panels_of(n) : 1;
            for (int tile = 0, at = 0; tile < tiles; tile++) {
                const int rows = (n - at + tiles - tile - 1) / (tiles - tile);
                const float *const *start = starts ? starts + begin + at : NULL;
                float *const *to = out + begin + at;
                const int32_t *const *integers = (const int32_t *const *)quantized + at;
                if (memory) kernels[rows](M, panel, panels, integers, scales + at, start, to);
                else FLOAT_KERNELS[rows](M, panel, panels, x + begin + at, start, to);
                at += rows;
            }
        }
    }
    release(ws, m0);
}
