// Products of rows with constant weights: float32, or 8-bit weights with activations of 14 or of 7 bits.
//
// Weights are packed in panels of two vectors of columns. A tile is a few rows times a few panels whose sums stay in
// registers. Every sum is taken in the order of k, in one accumulator, whatever the tile, so a row's result does not
// depend on the rows beside it. Integer sums are exact, so with 8-bit weights it does not depend on the machine either.
#include "packing.h"

// ------------------------------------------------------------------------------------------------------- tiles
// `starts` is what the products are added to: rows, or NULL for the bias.
INLINE void float_tile(const ef_matrix *M, int panel, int rows, int panels, const float *const *x,
                       const float *const *starts, float *const *out) {
    fwide sums[MAX_ROWS][2 * MAX_PANELS];
    const size_t stride = (size_t)M->rows * PANEL;
    const float *w = M->weights + (size_t)panel * stride;
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
    const size_t stride = (size_t)M->rows * PANEL;
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
                if (memory) {
                    const int32_t *const *integers = (const int32_t *const *)quantized + at;
                    kernels[rows](M, panel, panels, integers, scales + at, start, to);
                } else {
                    FLOAT_KERNELS[rows](M, panel, panels, x + begin + at, start, to);
                }
                at += rows;
            }
        }
    }
    release(ws, m0);
}
