// Encoding sequences: embeddings and spelling, a projection, and a BiLSTM (section 3.1; nn/words.py, nn/sequences.py).
#include "matrix.h"

// Sequences that are read in lock step, longest first; `starts` are their first rows.
typedef struct {
    int n, n_rows;
    const int32_t *lengths;
    int32_t *starts;
} batch;

static batch batch_of(ef_workspace *ws, int n, const int32_t *lengths) {
    batch b = {.n = n, .n_rows = 0, .lengths = lengths, .starts = TAKE(ws, int32_t, n)};
    for (int s = 0; s < n; s++) {
        b.starts[s] = b.n_rows;
        b.n_rows += lengths[s];
    }
    return b;
}

// Multiply consecutive rows: x[i] at x + i * x_stride, and likewise for the results.
static void product_of_rows(const ef_matrix *M, ef_workspace *ws, int m, const float *x, size_t x_stride, float *out,
                            size_t out_stride) {
    mark m0 = here(ws);
    const float **from = TAKE(ws, const float *, m);
    float **to = TAKE(ws, float *, m);
    for (int i = 0; i < m; i++) from[i] = x + (size_t)i * x_stride, to[i] = out + (size_t)i * out_stride;
    product(M, ws, m, from, to, FROM_BIAS);
    release(ws, m0);
}

// Run one direction of a layer (0: forward). A row of `z` has the pre-activations of both directions; with a table it
// is looked up. The outputs go to `out`, where the previous state is read too. Rows of 4 * dim are whole panels.
static void run_direction(const ef_layer *layer, int side, ef_workspace *ws, batch b, const int32_t *ids, float *z,
                          float *out) {
    mark m0 = here(ws);
    const int dim = layer->dim;
    const size_t gates = 4 * (size_t)dim;
    float *cells = TAKE(ws, float, (size_t)b.n * dim), **pre = TAKE(ws, float *, b.n);
    float *looked_up = layer->table ? TAKE(ws, float, (size_t)b.n * gates) : NULL;
    const float **states = TAKE(ws, const float *, b.n);
    for (int t = 0, active = b.n; t < b.lengths[0]; t++) {
        while (b.lengths[active - 1] <= t) active--;
        for (int s = 0; s < active; s++) {
            const int row = b.starts[s] + (side ? b.lengths[s] - 1 - t : t), previous = side ? row + 1 : row - 1;
            if (looked_up) {
                pre[s] = looked_up + (size_t)s * gates;
                memcpy(pre[s], layer->table + ((size_t)ids[row] * 2 + side) * gates, sizeof(float) * gates);
            } else {
                pre[s] = z + ((size_t)row * 2 + side) * gates;
            }
            if (t) states[s] = out + ((size_t)previous * 2 + side) * dim;
        }
        if (t) product(layer->recurrent[side], ws, active, states, pre, FROM_RESULT);
        for (int s = 0; s < active; s++) {
            const int row = b.starts[s] + (side ? b.lengths[s] - 1 - t : t);
            float *c = cells + (size_t)s * dim, *h = out + ((size_t)row * 2 + side) * dim;
            lstm_cell(t ? pre[s] : NULL, pre[s] + dim, dim, c, c, h);
        }
    }
    release(ws, m0);
}

// Run a layer over rows of `width` numbers, or over ids of its table: out[row] is [forward, backward].
static void run_layer(const ef_layer *layer, ef_workspace *ws, batch b, const int32_t *ids, const float *x, int width,
                      float *out) {
    mark m0 = here(ws);
    const size_t gates = 4 * (size_t)layer->dim;
    float *z = NULL;
    if (!layer->table) {
        z = TAKE(ws, float, (size_t)b.n_rows * 2 * gates);
        if (layer->is_joint) product_of_rows(layer->input[0], ws, b.n_rows, x, width, z, 2 * gates);
        else for (int side = 0; side < 2; side++)
            product_of_rows(layer->input[side], ws, b.n_rows, x + side * (width / 2), width, z + side * gates, 2 * gates);
    }
    for (int side = 0; side < 2; side++) run_direction(layer, side, ws, b, ids, z, out);
    release(ws, m0);
}

// Put the inputs of words side by side: rows of the tables, the vector of the form, the spelling. `first` is the batch's first word.
static float *gather_inputs(const ef_encoder *E, ef_workspace *ws, const ef_words *words, int n_words, int first, int n,
                            const float *spelling) {
    float *x = TAKE(ws, float, (size_t)n * E->input_dim);
    for (int i = 0; i < n; i++) {
        float *to = x + (size_t)i * E->input_dim;
        for (int t = 0; t < E->n_tables; t++) {
            const int32_t id = words->ids[(size_t)t * n_words + first + i], dim = E->table_dims[t];
            memcpy(to, E->tables[t] + (size_t)id * dim, sizeof(float) * (size_t)dim);
            to += dim;
        }
        if (E->form_dim) {
            const float *vector = words->form_vectors + (size_t)words->forms[first + i] * E->form_dim;
            memcpy(to, vector, sizeof(float) * (size_t)E->form_dim);
            to += E->form_dim;
        }
        if (spelling) {
            const int dim = E->characters->output_dim;
            memcpy(to, spelling + (size_t)words->forms[first + i] * dim, sizeof(float) * (size_t)dim);
        }
    }
    return x;
}

// Encode one batch: out[row] has `output_dim` numbers.
static void encode_batch(const ef_encoder *E, ef_workspace *ws, const ef_words *words, int n_words, int first, batch b,
                         const float *spelling, float *out) {
    mark m0 = here(ws);
    const int32_t *ids = words->ids ? words->ids + first : NULL;
    const float *x = words->vectors ? words->vectors + (size_t)first * E->input_dim : NULL;
    int width = E->input_dim;
    if (!x && !(E->n_layers && E->layers[0].table)) x = gather_inputs(E, ws, words, n_words, first, b.n_rows, spelling);
    if (E->project) {
        const int stride = width_of(E->project);
        float *projected = TAKE(ws, float, (size_t)b.n_rows * stride);
        product_of_rows(E->project, ws, b.n_rows, x, width, projected, stride);
        width = E->project->n;
        float *packed = TAKE(ws, float, (size_t)b.n_rows * width);
        for (int i = 0; i < b.n_rows; i++) {
            memcpy(packed + (size_t)i * width, projected + (size_t)i * stride, sizeof(float) * (size_t)width);
            tanh_all(packed + (size_t)i * width, width);
        }
        x = packed;
    }
    for (int l = 0; l < E->n_layers; l++) {
        float *to = l + 1 < E->n_layers ? TAKE(ws, float, (size_t)b.n_rows * 2 * E->layers[l].dim) : out;
        run_layer(&E->layers[l], ws, b, ids, x, width, to);
        x = to;
        width = 2 * E->layers[l].dim;
    }
    if (!E->n_layers) memcpy(out, x, sizeof(float) * (size_t)b.n_rows * (size_t)width);
    release(ws, m0);
}

enum { FORMS_AT_ONCE = 64 };

// Return the spelling of every form: the forward state at its last character and the backward one at its first.
static float *spell(const ef_encoder *E, ef_workspace *ws, const ef_words *words) {
    if (!E->characters) return NULL;
    const int dim = E->characters->output_dim, half = dim / 2;
    float *spelling = TAKE(ws, float, (size_t)words->n_forms * dim);
    for (int begin = 0, first = 0; begin < words->n_forms; begin += FORMS_AT_ONCE) {
        mark m0 = here(ws);
        const int n = words->n_forms - begin < FORMS_AT_ONCE ? words->n_forms - begin : FORMS_AT_ONCE;
        batch b = batch_of(ws, n, words->form_lengths + begin);
        float *states = TAKE(ws, float, (size_t)b.n_rows * dim);
        ef_words forms = {.ids = words->characters};
        encode_batch(E->characters, ws, &forms, 0, first, b, NULL, states);
        for (int i = 0; i < n; i++) {
            float *to = spelling + (size_t)(begin + i) * dim;
            const float *at_start = states + (size_t)b.starts[i] * dim;
            memcpy(to, at_start + (size_t)(b.lengths[i] - 1) * dim, sizeof(float) * (size_t)half);
            memcpy(to + half, at_start + half, sizeof(float) * (size_t)half);
        }
        first += b.n_rows;
        release(ws, m0);
    }
    return spelling;
}

// ------------------------------------------------------------------------------------------------ checking input
static int are_lengths(const int32_t *lengths, int32_t n, int64_t *total) {
    *total = 0;
    for (int i = 0; i < n; i++) {
        if (lengths[i] <= 0 || (i && lengths[i] > lengths[i - 1])) return 0;
        *total += lengths[i];
    }
    return *total < (1 << 28);
}

static int are_below(const int32_t *ids, int64_t n, int32_t limit) {
    int is_bad = 0;
    for (int64_t i = 0; i < n; i++) is_bad |= (uint32_t)ids[i] >= (uint32_t)limit;
    return !is_bad;
}

static int are_ids(const ef_encoder *E, const int32_t *ids, int64_t n) {
    for (int t = 0; t < E->n_tables; t++)
        if (!are_below(ids + t * n, n, E->table_rows[t])) return 0;
    return !(E->n_layers && E->layers[0].table) || are_below(ids, n, E->layers[0].n_rows);
}

// Return the number of words, or -1 if a length is not positive or not sorted, or a number is not a row of its table.
static int64_t count_words(const ef_encoder *E, const ef_words *words) {
    int64_t n, n_characters;
    if (words->n_sequences < 0 || !are_lengths(words->lengths, words->n_sequences, &n)) return -1;
    if (words->vectors) return n;
    if (!words->ids || !are_ids(E, words->ids, n)) return -1;
    if (!E->characters && !E->form_dim) return n;
    if (words->n_forms < 0 || !words->forms || !are_below(words->forms, n, words->n_forms)) return -1;
    if (E->form_dim && !words->form_vectors) return -1;
    if (!E->characters) return n;
    if (!are_lengths(words->form_lengths, words->n_forms, &n_characters)) return -1;
    return are_ids(E->characters, words->characters, n_characters) ? n : -1;
}
