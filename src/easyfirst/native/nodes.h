// Subtrees and their scores in one network (Algorithm 2; nn/trees.py, nn/scorer.py, parsing/nodes.py).
//
// A node's state is, for each layer, [h left, h right, c left, c right]; without layers it is v_i. Its projections are
// its share of the scorer's hidden layer in each slot of a window, as exponents.
#include "encoder.h"

INLINE int state_width(const ef_member *M) { return M->n_layers ? 4 * M->dim * M->n_layers : 2 * M->dim; }
INLINE int projection_width(const ef_member *M) { return width_of(M->slots); }
INLINE int fresh_width(const ef_member *M) { return 2 * M->dim * M->n_layers + projection_width(M); }
INLINE int scores_width(const ef_member *M) { return width_of(M->labelled); }

// The parts of a state: h and c of a side in a layer, and c = e_l ∘ e_r, the encoding of the subtree.
INLINE float *h_of(const ef_member *M, float *state, int layer, int side) { return state + (4 * layer + side) * M->dim; }
INLINE float *c_of(const ef_member *M, float *state, int layer, int side) { return h_of(M, state, layer, 2 + side); }
INLINE float *encoding_of(const ef_member *M, float *state) {
    return M->n_layers ? h_of(M, state, M->n_layers - 1, 0) : state;
}

enum { NODES_AT_ONCE = 96, WINDOWS_AT_ONCE = 64 };

// Encode words without modifiers: states and projections of n rows.
static void make_leaves(const ef_member *M, ef_workspace *ws, int n, const float *vectors, float *states,
                        float *projections) {
    const int dim = M->dim;
    const size_t width = (size_t)state_width(M), projected = (size_t)projection_width(M);
    for (int begin = 0; begin < n; begin += NODES_AT_ONCE) {
        mark m0 = here(ws);
        const int rows = n - begin < NODES_AT_ONCE ? n - begin : NODES_AT_ONCE;
        const float *v = vectors + (size_t)begin * M->vector_dim;
        float *state = states + (size_t)begin * width;
        if (!M->n_layers) memcpy(state, v, sizeof(float) * (size_t)rows * width);
        for (int l = 0; l < M->n_layers; l++) {
            const int z_width = width_of(M->leaves[2 * l]);
            float *z = TAKE(ws, float, (size_t)rows * z_width);
            for (int side = 0; side < 2; side++) {
                const float *x = l ? h_of(M, state, l - 1, side) : v;
                product_of_rows(M->leaves[2 * l + side], ws, rows, x, l ? width : (size_t)M->vector_dim, z, z_width);
                for (int i = 0; i < rows; i++) {
                    float *to = state + (size_t)i * width;
                    lstm_cell(NULL, z + (size_t)i * z_width, dim, NULL, c_of(M, to, l, side), h_of(M, to, l, side));
                }
            }
        }
        product_of_rows(M->slots, ws, rows, encoding_of(M, state), width, projections + (size_t)begin * projected,
                        projected);
        release(ws, m0);
    }
}

// An attachment that is worked out: what it makes of its head goes to `fresh`, which is [h, c] of each layer on the
// modifier's side, then the change of the projections.
typedef struct {
    float *head, *modifier;  // states
    int side, relation;
    float *fresh;
} attachment;

// Work out attachments, which are sorted by side, without changing their heads.
static void work_out(const ef_member *M, ef_workspace *ws, int n, const attachment *items) {
    if (!M->n_layers || !n) return;
    mark m0 = here(ws);
    const int dim = M->dim, widest = M->vector_dim > dim ? M->vector_dim : dim;
    const int coded = width_of(M->encode), x_width = widest + dim > coded ? widest + dim : coded;
    float *x = TAKE(ws, float, (size_t)n * x_width), *z = TAKE(ws, float, (size_t)n * 4 * dim);
    const float **from = TAKE(ws, const float *, n), **starts = TAKE(ws, const float *, n);
    float **to = TAKE(ws, float *, n);
    int n_left = 0;
    for (int i = 0; i < n; i++) {
        n_left += items[i].side == 0;
        from[i] = encoding_of(M, items[i].modifier);
        starts[i] = M->relations + (size_t)items[i].relation * M->vector_dim;
        to[i] = x + (size_t)i * x_width;
    }
    product(M->encode, ws, n, from, starts, to);
    for (int i = 0; i < n; i++) tanh_all(to[i], M->vector_dim);
    for (int l = 0, input = M->vector_dim; l < M->n_layers; l++, input = dim) {
        for (int i = 0; i < n; i++) {
            float *row = x + (size_t)i * x_width;
            if (l) memcpy(row, items[i].fresh + 2 * dim * (l - 1), sizeof(float) * (size_t)dim);
            memcpy(row + input, h_of(M, items[i].head, l, items[i].side), sizeof(float) * (size_t)dim);
            from[i] = row;
            to[i] = z + (size_t)i * 4 * dim;
        }
        product(M->steps[2 * l], ws, n_left, from, NULL, to);
        product(M->steps[2 * l + 1], ws, n - n_left, from + n_left, NULL, to + n_left);
        for (int i = 0; i < n; i++) {
            float *fresh = items[i].fresh + 2 * dim * l;
            const float *c = c_of(M, items[i].head, l, items[i].side);
            lstm_cell(to[i] + 3 * dim, to[i], dim, c, fresh + dim, fresh);
        }
    }
    for (int i = 0; i < n; i++) {  // projections are linear, so they change by the projection of the change
        float *row = x + (size_t)i * x_width;
        const float *now = items[i].fresh + 2 * dim * (M->n_layers - 1);
        const float *before = h_of(M, items[i].head, M->n_layers - 1, items[i].side);
        for (int j = 0; j < dim; j += V) store(row + j, load(now + j) - load(before + j));
        from[i] = row;
        to[i] = items[i].fresh + 2 * dim * M->n_layers;
    }
    product(M->sides[0], ws, n_left, from, NULL, to);
    product(M->sides[1], ws, n - n_left, from + n_left, NULL, to + n_left);
    release(ws, m0);
}

// Make an attachment that was worked out.
static void make_attachment(const ef_member *M, const attachment *item, float *projections) {
    if (!M->n_layers) return;
    const int dim = M->dim;
    for (int l = 0; l < M->n_layers; l++) {
        memcpy(h_of(M, item->head, l, item->side), item->fresh + 2 * dim * l, sizeof(float) * (size_t)dim);
        memcpy(c_of(M, item->head, l, item->side), item->fresh + 2 * dim * l + dim, sizeof(float) * (size_t)dim);
    }
    const float *change = item->fresh + 2 * dim * M->n_layers;
    for (int j = 0; j < projection_width(M); j += V) store(projections + j, load(projections + j) + load(change + j));
}

// Score pairs by the rows in their windows, n x n_slots: scores[i] are 2 * n_relations numbers, added to starts[i].
static void score_windows(const ef_member *M, ef_workspace *ws, int n, const int32_t *windows, const float *projections,
                          const float *const *starts, float *const *scores) {
    mark m0 = here(ws);
    const int half = M->hidden_dim, width = 2 * half;
    const size_t projected = (size_t)projection_width(M);
    float *hidden = TAKE(ws, float, WINDOWS_AT_ONCE * (size_t)width);
    const float *rows[WINDOWS_AT_ONCE];
    for (int begin = 0; begin < n; begin += WINDOWS_AT_ONCE) {
        const int m = n - begin < WINDOWS_AT_ONCE ? n - begin : WINDOWS_AT_ONCE;
        for (int i = 0; i < m; i++) {
            const int32_t *window = windows + (size_t)(begin + i) * M->n_slots;
            float *sums = hidden + (size_t)i * width;
            for (int j = 0; j < width; j += W) {  // the width is twice a multiple of V
                wide sum = load_wide(projections + (size_t)window[0] * projected + j, W);
                for (int slot = 1; slot < M->n_slots; slot++)
                    sum += load_wide(projections + (size_t)window[slot] * projected + slot * width + j, W);
                store_wide(sums + j, 1.0f / (1.0f + exp_of(sum)), W);
            }
            rows[i] = sums + half;
        }
        product(M->labelled, ws, m, rows, starts ? starts + begin : NULL, scores + begin);
        for (int i = 0; i < m; i++)
            for (int side = 0; side < 2; side++) {
                vec sums = {0};
                for (int j = 0; j < half; j += V)
                    sums += load(hidden + (size_t)i * width + j) * load(M->unlabelled + side * half + j);
                const float unlabelled = sum_of(sums);
                float *to = scores[begin + i] + side * M->n_relations;
                const float *bias = M->labelled->bias + side * M->n_relations;
                for (int r = 0; r < M->n_relations; r++) to[r] += starts ? unlabelled + bias[r] : unlabelled;
            }
    }
    release(ws, m0);
}
