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
    product(M, ws, m, from, NULL, to);
    release(ws, m0);
}

// Where the first layer of an encoder reads: row `items[i]` of `rows` (row i, if there are no items) has what comes
// before the recurrence. It depends on a word alone, not on its context, so it is computed once for equal words.
typedef struct {
    const int32_t *items;
    const float *rows;
} source;

INLINE const float *source_row(source from, int row, size_t width) {
    return from.rows + (size_t)(from.items ? from.items[row] : row) * width;
}

// Run one direction of a layer (0: forward) over pre-activations of both directions. The outputs go to `out`, where the
// previous state is read too. `first` is the batch's first row in the source. Rows of 4 * dim are whole panels.
static void run_direction(const ef_layer *layer, int side, ef_workspace *ws, batch b, source from, int first,
                          float *out) {
    mark m0 = here(ws);
    const int dim = layer->dim;
    const size_t gates = 4 * (size_t)dim;
    float *cells = TAKE(ws, float, (size_t)b.n * dim), *z = TAKE(ws, float, (size_t)b.n * gates);
    float **sums = TAKE(ws, float *, b.n);
    const float **inputs = TAKE(ws, const float *, b.n), **states = TAKE(ws, const float *, b.n);
    for (int s = 0; s < b.n; s++) sums[s] = z + (size_t)s * gates;
    for (int t = 0, active = b.n; t < b.lengths[0]; t++) {
        while (b.lengths[active - 1] <= t) active--;
        for (int s = 0; s < active; s++) {
            const int row = b.starts[s] + (side ? b.lengths[s] - 1 - t : t), previous = side ? row + 1 : row - 1;
            inputs[s] = source_row(from, first + row, 2 * gates) + (size_t)side * gates;
            if (t) states[s] = out + ((size_t)previous * 2 + side) * dim;
        }
        if (t) product(layer->recurrent[side], ws, active, states, inputs, sums);
        for (int s = 0; s < active; s++) {
            const int row = b.starts[s] + (side ? b.lengths[s] - 1 - t : t);
            float *c = cells + (size_t)s * dim, *h = out + ((size_t)row * 2 + side) * dim;
            lstm_cell(t ? sums[s] + 3 * dim : NULL, t ? sums[s] : inputs[s], dim, c, c, h);
        }
    }
    release(ws, m0);
}

// Multiply rows of `width` numbers with the input weights of a layer: the pre-activations of both directions.
static void multiply_inputs(const ef_layer *layer, ef_workspace *ws, int n, const float *x, int width, float *z) {
    const size_t gates = 4 * (size_t)layer->dim;
    if (layer->is_joint) product_of_rows(layer->input[0], ws, n, x, width, z, 2 * gates);
    else for (int side = 0; side < 2; side++)
        product_of_rows(layer->input[side], ws, n, x + side * (width / 2), width, z + side * gates, 2 * gates);
}

// ------------------------------------------------------------------------------------------------ words as inputs
// Number equal words (those of the same form and ids) alike. Return how many different ones there are; `items` gets the
// number of each word, `examples` a word of each number.
static int find_items(const ef_encoder *E, ef_workspace *ws, const ef_words *words, int n_words, int32_t *items,
                      int32_t *examples) {
    mark m0 = here(ws);
    int size = 16, n = 0;
    while (size < 2 * n_words) size *= 2;
    int32_t *slots = TAKE(ws, int32_t, size);
    memset(slots, -1, sizeof(int32_t) * (size_t)size);
    for (int i = 0; i < n_words; i++) {
        uint32_t hash = words->forms ? (uint32_t)words->forms[i] : 0;
        for (int t = 0; t < E->n_tables; t++) hash = hash * 0x9e3779b1u + (uint32_t)words->ids[(size_t)t * n_words + i];
        hash *= 0x85ebca6bu;
        for (uint32_t at = hash >> 7;; at++) {
            int32_t *slot = &slots[at & (uint32_t)(size - 1)];
            int is_same = *slot >= 0 && (!words->forms || words->forms[examples[*slot]] == words->forms[i]);
            for (int t = 0; t < E->n_tables && is_same; t++) {
                const int32_t *ids = words->ids + (size_t)t * n_words;
                is_same = ids[examples[*slot]] == ids[i];
            }
            if (*slot < 0) examples[n] = i, *slot = n++;
            else if (!is_same) continue;
            items[i] = *slot;
            break;
        }
    }
    release(ws, m0);
    return n;
}

// Put the inputs of some words side by side: rows of the tables, the vector of the form, the spelling.
static void gather_inputs(const ef_encoder *E, const ef_words *words, int n_words, const int32_t *which, int n,
                          const float *spelling, float *x) {
    for (int i = 0; i < n; i++) {
        float *to = x + (size_t)i * E->input_dim;
        for (int t = 0; t < E->n_tables; t++) {
            const int32_t id = words->ids[(size_t)t * n_words + which[i]], dim = E->table_dims[t];
            memcpy(to, E->tables[t] + (size_t)id * dim, sizeof(float) * (size_t)dim);
            to += dim;
        }
        if (E->form_dim) {
            const float *vector = words->form_vectors + (size_t)words->forms[which[i]] * E->form_dim;
            memcpy(to, vector, sizeof(float) * (size_t)E->form_dim);
            to += E->form_dim;
        }
        if (spelling) {
            const int dim = E->characters->output_dim;
            memcpy(to, spelling + (size_t)words->forms[which[i]] * dim, sizeof(float) * (size_t)dim);
        }
    }
}

// Project n rows of inputs and multiply them with the weights of the first layer, if there are such.
static void transform_inputs(const ef_encoder *E, ef_workspace *ws, int n, const float *x, float *out) {
    mark m0 = here(ws);
    int width = E->input_dim;
    if (E->project) {
        const int stride = width_of(E->project), n_columns = E->project->n;
        float *projected = TAKE(ws, float, (size_t)n * stride), *packed = TAKE(ws, float, (size_t)n * n_columns);
        product_of_rows(E->project, ws, n, x, width, projected, stride);
        for (int i = 0; i < n; i++) {
            float *to = packed + (size_t)i * n_columns;
            memcpy(to, projected + (size_t)i * stride, sizeof(float) * (size_t)n_columns);
            tanh_all(to, n_columns);
        }
        x = packed, width = n_columns;
    }
    if (E->n_layers) multiply_inputs(&E->layers[0], ws, n, x, width, out);
    else memcpy(out, x, sizeof(float) * (size_t)n * (size_t)width);
    release(ws, m0);
}

// Prepare the inputs of all sequences of a call.
static source read_inputs(const ef_encoder *E, ef_workspace *ws, const ef_words *words, int n_words,
                          const float *spelling) {
    if (E->n_layers && E->layers[0].table) return (source){words->ids, E->layers[0].table};
    const size_t width = E->n_layers ? 8 * (size_t)E->layers[0].dim : (size_t)E->output_dim;
    int32_t *items = NULL, *examples = NULL;
    int n = n_words;
    if (!words->vectors) {
        items = TAKE(ws, int32_t, n_words), examples = TAKE(ws, int32_t, n_words);
        n = find_items(E, ws, words, n_words, items, examples);
    }
    float *rows = TAKE(ws, float, (size_t)n * width);
    mark m0 = here(ws);
    float *x = words->vectors ? NULL : TAKE(ws, float, (size_t)BLOCK * E->input_dim);
    for (int begin = 0; begin < n; begin += BLOCK) {
        const int m = n - begin < BLOCK ? n - begin : BLOCK;
        if (x) gather_inputs(E, words, n_words, examples + begin, m, spelling, x);
        transform_inputs(E, ws, m, x ? x : words->vectors + (size_t)begin * E->input_dim, rows + (size_t)begin * width);
    }
    release(ws, m0);
    return (source){items, rows};
}

// Encode one batch, whose first row in the source is `first`: out[row] has `output_dim` numbers.
static void encode_batch(const ef_encoder *E, ef_workspace *ws, source from, int first, batch b, float *out) {
    mark m0 = here(ws);
    const float *x = NULL;
    for (int l = 0; l < E->n_layers; l++) {
        const ef_layer *layer = &E->layers[l];
        if (l) {
            float *z = TAKE(ws, float, (size_t)b.n_rows * 8 * (size_t)layer->dim);
            multiply_inputs(layer, ws, b.n_rows, x, 2 * E->layers[l - 1].dim, z);
            from = (source){NULL, z};
        }
        float *to = l + 1 < E->n_layers ? TAKE(ws, float, (size_t)b.n_rows * 2 * (size_t)layer->dim) : out;
        for (int side = 0; side < 2; side++) run_direction(layer, side, ws, b, from, l ? 0 : first, to);
        x = to;
    }
    const size_t width = (size_t)E->output_dim;
    for (int i = 0; i < b.n_rows && !E->n_layers; i++)
        memcpy(out + (size_t)i * width, source_row(from, first + i, width), sizeof(float) * width);
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
        encode_batch(E->characters, ws, (source){words->characters, E->characters->layers[0].table}, first, b, states);
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
    if (words->vectors) return E->n_layers && E->layers[0].table ? -1 : n;
    if (!words->ids || !are_ids(E, words->ids, n)) return -1;
    if (!E->characters && !E->form_dim) return n;
    if (words->n_forms < 0 || !words->forms || !are_below(words->forms, n, words->n_forms)) return -1;
    if (E->form_dim && !words->form_vectors) return -1;
    if (!E->characters) return n;
    if (!words->characters || !words->form_lengths) return -1;
    if (!are_lengths(words->form_lengths, words->n_forms, &n_characters)) return -1;
    return are_ids(E->characters, words->characters, n_characters) ? n : -1;
}
