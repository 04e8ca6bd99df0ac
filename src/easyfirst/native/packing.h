// Packed weights: matrices of zeros that are filled from blocks of arrays, and views of them.
//
// A view shares the weights and scales of a matrix and has its own k, its own number of columns and, with 8-bit weights,
// its own corrections: what multiplies one part of an input needs no copy of its rows.
#include "lanes.h"

struct ef_matrix {
    int32_t k, n, n_panels, precision, is_view;
    int32_t rows;             // of a panel: k, or in a view that of the matrix
    int32_t group, n_groups;  // 8-bit weights: k are stored in groups of 2 or 4
    float levels;             // the largest integer of an activation
    int32_t offset;           // what is added to make activations unsigned
    float *weights;           // float32: [n_panels][rows][PANEL]
    int8_t *bytes;            // 8 bits: [n_panels][rows / group][PANEL][group]
    float *scales;            // [n_panels * PANEL], of columns
    int32_t *corrections;     // [n_panels * PANEL]: what the offset adds to a column's sum, negated
    float *bias;              // [n_panels * PANEL]
    float *own_bias;          // the bias, unless it is that of another matrix
};

static void matrix_free(ef_matrix *M) {
    if (!M) return;
    if (!M->is_view) {
        aligned_free(M->weights);
        aligned_free(M->bytes);
        aligned_free(M->scales);
    }
    aligned_free(M->corrections);
    aligned_free(M->own_bias);
    free(M);
}

static void *zeros(size_t n, size_t size) {
    void *memory = n > (SIZE_MAX >> 2) / size ? NULL : aligned(n * size + 2 * ALIGNMENT);
    if (memory) memset(memory, 0, n * size + 2 * ALIGNMENT);
    return memory;
}

// Make a matrix without any memory.
static ef_matrix *plain_matrix(int32_t k, int32_t n, int32_t precision) {
    ef_matrix *M = calloc(1, sizeof *M);
    if (!M) return NULL;
    int uses_fours = precision == EF_INT8_A7 && HAS_DOT4;
    M->k = k, M->n = n, M->precision = precision;
    M->n_panels = PADDED(n, PANEL) / PANEL;
    M->group = uses_fours ? 4 : 2;
    M->n_groups = PADDED(k, M->group) / M->group;
    M->rows = precision == EF_FLOAT32 ? k : M->n_groups * M->group;
    M->offset = uses_fours ? 64 : 0;
    float exact = (float)(INT32_MAX / 127 / k - 1);  // sums of 32 bits must not overflow
    M->levels = precision == EF_INT8_A7 ? 63 : exact < 8191 ? exact : 8191;
    return M;
}

static int32_t matrix_new(int32_t k, int32_t n, int32_t precision, ef_matrix **made) {
    *made = NULL;
    if (k <= 0 || k > (1 << 16) || n <= 0 || n > (1 << 28) || precision < EF_FLOAT32 || precision > EF_INT8_A7) return EF_BAD_INPUT;
    ef_matrix *M = plain_matrix(k, n, precision);
    if (!M) return EF_NO_MEMORY;
    size_t columns = (size_t)M->n_panels * PANEL;
    M->bias = M->own_bias = zeros(columns, sizeof(float));
    if (precision == EF_FLOAT32) {
        M->weights = zeros(columns * (size_t)k, sizeof(float));
    } else {
        M->bytes = zeros(columns * (size_t)M->rows, 1);
        M->scales = zeros(columns, sizeof(float));
        M->corrections = zeros(columns, sizeof(int32_t));
    }
    if (!M->bias || !(precision == EF_FLOAT32 ? !!M->weights : M->bytes && M->scales && M->corrections)) {
        matrix_free(M);
        return EF_NO_MEMORY;
    }
    *made = M;
    return EF_OK;
}

// Set the corrections of a matrix, whose bytes are known, or of a view. Only groups of four need them.
static void correct(ef_matrix *M) {
    for (int p = 0; p < M->n_panels && M->offset; p++) {
        const int8_t *at = M->bytes + (size_t)p * M->rows * PANEL;
        int32_t sums[PANEL] = {0};
        for (int i = 0; i < M->n_groups; i++)
            for (int j = 0; j < PANEL; j++, at += 4) sums[j] += at[0] + at[1] + at[2] + at[3];
        for (int j = 0; j < PANEL; j++) M->corrections[p * PANEL + j] = -M->offset * sums[j];
    }
}

// Make a view of `k` rows from `row` on and of the first `n` columns, with the bias or without one. A matrix must be
// filled before views of 8-bit weights are made, and freed after its views.
static int32_t matrix_view(const ef_matrix *of, int32_t row, int32_t k, int32_t n, int32_t has_bias, ef_matrix **made) {
    *made = NULL;
    if (row < 0 || row % V || k <= 0 || row > of->k - k || n <= 0 || n > of->n) return EF_BAD_INPUT;
    if (of->precision != EF_FLOAT32 && k % of->group && row + k < of->k) return EF_BAD_INPUT;
    ef_matrix *M = plain_matrix(k, n, of->precision);
    if (!M) return EF_NO_MEMORY;
    const size_t columns = (size_t)M->n_panels * PANEL;
    M->is_view = 1, M->rows = of->rows;
    M->scales = of->scales, M->bias = of->bias;
    if (!has_bias) M->bias = M->own_bias = zeros(columns, sizeof(float));
    if (of->precision == EF_FLOAT32) {
        M->weights = of->weights + (size_t)row * PANEL;
    } else {
        M->bytes = of->bytes + (size_t)row * PANEL;
        M->corrections = zeros(columns, sizeof(int32_t));
    }
    if (!M->bias || (of->precision != EF_FLOAT32 && !M->corrections)) {
        matrix_free(M);
        return EF_NO_MEMORY;
    }
    if (of->precision != EF_FLOAT32) correct(M);
    *made = M;
    return EF_OK;
}

// ------------------------------------------------------------------------------------------------------- filling
// Multiply numbers by a factor. Return zero, or not a number if one of them is not finite.
INLINE float scaled_copy(float *to, const float *from, int n, float factor) {
    vec sum = {0};
    float rest = 0;
    int i = 0;
    for (; i + V <= n; i += V) {
        const vec value = load(from + i) * factor;
        sum += value * 0.0f;
        store(to + i, value);
    }
    for (; i < n; i++) {
        to[i] = from[i] * factor;
        rest += to[i] * 0.0f;
    }
    return sum_of(sum) + rest;
}

// Copy a block into a matrix of panels of `width` columns and `k` rows, and into its bias. A few rows are copied at a
// time, so that neither reading nor writing leaps through memory. Return zero, or not a number.
static float copy_block(float *panels, float *bias, int k, int width, const ef_block *b) {
    enum { AT_ONCE = 16 };
    const int end = b->column + b->columns;
    float sum = 0;
    for (int first = 0; first < b->rows; first += AT_ONCE) {
        const int last = first + AT_ONCE < b->rows ? first + AT_ONCE : b->rows;
        for (int column = b->column, n; column < end; column += n) {
            const int room = width - column % width;
            n = end - column < room ? end - column : room;
            for (int i = first; i < last; i++) {
                const int row = b->row + i;
                float *to = panels + ((size_t)(column / width) * k + row) * width + column % width;
                const float *from = b->from + (size_t)i * b->stride + (column - b->column);
                sum += scaled_copy(row < k ? to : bias + column, from, n, b->factor);
            }
        }
    }
    return sum;
}

// Round eight weights to integers from -127 to 127.
INLINE ivec rounded(const float *weights, const float *inverse) {
    return __builtin_convertvector(load(weights) * load(inverse) + 128.5f, ivec) - 128;  // truncates, as all are positive
}

// Write the weights of a group of rows, whose bytes lie side by side in each column; rows from `n_rows` on are zero.
INLINE void pack_group(int8_t *to, const float *weights, size_t stride, int n_rows, int group, const float *inverse) {
    typedef int16_t shorts __attribute__((vector_size(16), aligned(1), may_alias));
    typedef int32_t ints __attribute__((vector_size(32), aligned(1), may_alias));
    for (int j = 0; j < PANEL; j += V) {
        ivec bytes = {0};
        for (int i = 0; i < n_rows; i++) bytes |= (rounded(weights + (size_t)i * stride + j, inverse + j) & 255) << (8 * i);
        if (group == 4) *(ints *)(to + 4 * j) = bytes;
        else *(shorts *)(to + 2 * j) = __builtin_convertvector(bytes, shorts);
    }
}

// Pack rows of weights that are whole panels wide.
static void pack_bytes(ef_matrix *M, const float *weights) {
    const size_t stride = (size_t)M->n_panels * PANEL;
    for (int p = 0; p < M->n_panels; p++) {
        float largest[PANEL] = {0}, inverse[PANEL];
        for (int i = 0; i < M->k; i++)
            for (int j = 0; j < PANEL; j += V) {
                const vec size = (vec)((ivec)load(weights + (size_t)i * stride + p * PANEL + j) & 0x7fffffff);
                store(largest + j, max_of(load(largest + j), size));
            }
        for (int j = 0; j < PANEL; j++) {
            M->scales[p * PANEL + j] = largest[j] / 127;
            inverse[j] = largest[j] > 1e-30f ? 127 / largest[j] : 0;  // a column of zeros stays one
        }
        int8_t *to = M->bytes + (size_t)p * M->rows * PANEL;
        for (int i = 0; i < M->k; i += M->group, to += PANEL * M->group) {
            const int n_rows = M->k - i < M->group ? M->k - i : M->group;
            pack_group(to, weights + (size_t)i * stride + p * PANEL, stride, n_rows, M->group, inverse);
        }
    }
    correct(M);
}

// Fill a matrix from blocks. Whatever no block covers stays as it is, zero at first; with 8-bit weights it becomes zero.
static int32_t matrix_fill(ef_matrix *M, const ef_block *blocks, int32_t n_blocks) {
    for (int i = 0; i < n_blocks; i++) {
        const ef_block *b = &blocks[i];
        if (b->stride < 0 || b->rows < 0 || b->columns < 0 || b->row < 0 || b->column < 0 || M->is_view ||
            b->rows > M->k + 1 - b->row || b->columns > M->n - b->column)
            return EF_BAD_INPUT;
    }
    float sum = 0;
    if (M->precision == EF_FLOAT32) {
        for (int i = 0; i < n_blocks; i++) sum += copy_block(M->weights, M->bias, M->k, PANEL, &blocks[i]);
        return sum == 0 ? EF_OK : EF_NOT_FINITE;
    }
    const int stride = M->n_panels * PANEL;
    float *weights = zeros((size_t)M->k * (size_t)stride, sizeof(float));
    if (!weights) return EF_NO_MEMORY;
    for (int i = 0; i < n_blocks; i++) sum += copy_block(weights, M->bias, M->k, stride, &blocks[i]);
    if (sum == 0) pack_bytes(M, weights);
    aligned_free(weights);
    return sum == 0 ? EF_OK : EF_NOT_FINITE;
}

// The width of a row of results: whole panels are written.
INLINE int width_of(const ef_matrix *M) { return M->n_panels * PANEL; }
