#define _POSIX_C_SOURCE 200112L  // posix_memalign
// The compiled core of easyfirst: encodes words and parses sentences. It is compiled once for each instruction set
// (EF_ISA), and all it exports is a table of functions. The definition of the network is easyfirst/nn; tests hold the
// core to it.
#include "explore.h"

static int32_t core_product(const ef_matrix *M, ef_workspace *ws, int32_t m, const float *x, float *out) {
    if (m < 0) return EF_BAD_INPUT;
    if (setjmp(ws->failed)) return EF_NO_MEMORY;
    restart(ws);
    for (int begin = 0; begin < m; begin += BLOCK) {
        mark m0 = here(ws);
        const int rows = m - begin < BLOCK ? m - begin : BLOCK;
        float *found = TAKE(ws, float, (size_t)rows * width_of(M));
        product_of_rows(M, ws, rows, x + (size_t)begin * M->k, M->k, found, width_of(M));
        for (int i = 0; i < rows; i++)
            memcpy(out + (size_t)(begin + i) * M->n, found + (size_t)i * width_of(M), sizeof(float) * (size_t)M->n);
        release(ws, m0);
    }
    return EF_OK;
}

static int32_t core_encode(const ef_encoder *E, ef_workspace *ws, const ef_words *words, int32_t group, float *out) {
    const int64_t n_words = count_words(E, words);
    if (n_words < 0 || group < 1) return EF_BAD_INPUT;
    if (setjmp(ws->failed)) return EF_NO_MEMORY;
    restart(ws);
    const source from = read_inputs(E, ws, words, (int)n_words, words->vectors ? NULL : spell(E, ws, words));
    for (int begin = 0, first = 0; begin < words->n_sequences; begin += group) {
        mark m0 = here(ws);
        const int n = words->n_sequences - begin < group ? words->n_sequences - begin : group;
        batch b = batch_of(ws, n, words->lengths + begin);
        encode_batch(E, ws, from, first, b, out + (size_t)first * E->output_dim);
        first += b.n_rows;
        release(ws, m0);
    }
    return EF_OK;
}

// Parse one group of sentences, from the word `first` on. `inputs` are those of each member.
static int parse_group(const ef_member *const *members, int n_members, ef_workspace *ws, const source *inputs, int first,
                       batch b, int rows, const ef_steps *to, void (*observe)(const ef_decision *), ef_counts *counts) {
    loop L = start_loop(members, n_members, ws, b);
    L.observe = observe;
    for (int m = 0; m < n_members; m++) {
        mark m0 = here(ws);
        float *vectors = TAKE(ws, float, (size_t)(b.n_rows + 1) * members[m]->vector_dim);
        encode_batch(members[m]->words, ws, inputs[m], first, b, vectors);
        start_nodes(&L, m, ws, vectors);
        release(ws, m0);
    }
    const ef_steps here_on = {to->heads + first, to->modifiers + first, to->relations + first,
                              to->scores + first, to->margins + first, to->label_margins + first,
                              to->lost_margins + first,
                              to->relation_scores + (size_t)first * members[0]->n_relations};
    const int status = run_loop(&L, ws, b, rows, &here_on);
    add_counts(&L, counts);
    return status;
}

static int32_t core_parse(const ef_member *const *members, int32_t n_members, ef_workspace *ws, const ef_words *words,
                          int32_t group, int32_t rows, const ef_steps *to, void (*observe)(const ef_decision *),
                          ef_counts *counts) {
    const int64_t n_words = count_words(members[0]->words, words);
    if (n_words < 0 || group < 1 || rows < 1) return EF_BAD_INPUT;
    for (int m = 1; m < n_members; m++)
        if (count_words(members[m]->words, words) < 0) return EF_BAD_INPUT;
    if (setjmp(ws->failed)) return EF_NO_MEMORY;
    restart(ws);
    source *inputs = TAKE(ws, source, n_members);
    for (int m = 0; m < n_members; m++) {
        const ef_encoder *E = members[m]->words;
        inputs[m] = read_inputs(E, ws, words, (int)n_words, spell(E, ws, words));
    }
    int status = EF_OK;
    for (int begin = 0, first = 0; begin < words->n_sequences && !status; begin += group) {
        mark m0 = here(ws);
        const int n = words->n_sequences - begin < group ? words->n_sequences - begin : group;
        batch b = batch_of(ws, n, words->lengths + begin);
        status = parse_group(members, n_members, ws, inputs, first, b, rows, to, observe, counts);
        first += b.n_rows;
        release(ws, m0);
    }
    return status;
}

static int32_t core_explore(const ef_member *M, ef_workspace *ws, int32_t n_sentences, const int32_t *lengths,
                            const float *vectors, int32_t rows, const ef_teacher *teacher, ef_explored *to,
                            ef_counts *counts) {
    int64_t n;
    if (n_sentences < 1 || rows < 1 || !are_lengths(lengths, n_sentences, &n)) return EF_BAD_INPUT;
    for (int64_t i = 0; i < n; i++)
        if (teacher->heads[i] < 0 || teacher->heads[i] > n + 1 || teacher->relations[i] >= M->n_relations)
            return EF_BAD_INPUT;
    if (setjmp(ws->failed)) return EF_NO_MEMORY;
    restart(ws);
    batch b = batch_of(ws, n_sentences, lengths);
    loop L = start_loop(&M, 1, ws, b);
    mark m0 = here(ws);
    float *padded = TAKE(ws, float, (size_t)(n + 1) * M->vector_dim);
    memcpy(padded, vectors, sizeof(float) * (size_t)n * M->vector_dim);
    start_nodes(&L, 0, ws, padded);
    release(ws, m0);
    const int status = run_exploration(&L, ws, b, rows, teacher, to);
    add_counts(&L, counts);
    return status;
}

static void core_activate(float *x, int32_t n, int32_t is_tanh) {  // n: a multiple of 8
    if (is_tanh) tanh_all(x, n);
    else {
#define EXP(i, n) store_wide(x + i, exp_of(load_wide(x + i, n)), n)
        IN_WIDE(n, EXP);
#undef EXP
    }
}

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)
#define JOINED(a, b) a##b
#define TABLE_OF(isa) JOINED(ef_functions_, isa)

const ef_functions TABLE_OF(EF_ISA) = {
    .isa = NAME_OF(EF_ISA),
    .sizes = {sizeof(ef_block), sizeof(ef_layer), sizeof(ef_encoder), sizeof(ef_words), sizeof(ef_member),
              sizeof(ef_steps), sizeof(ef_teacher), sizeof(ef_explored), sizeof(ef_decision), sizeof(ef_counts)},
    .workspace_new = workspace_new,
    .workspace_free = workspace_free,
    .matrix_new = matrix_new,
    .matrix_fill = matrix_fill,
    .matrix_view = matrix_view,
    .matrix_free = matrix_free,
    .product = core_product,
    .encode = core_encode,
    .parse = core_parse,
    .explore = core_explore,
    .activate = core_activate,
};
