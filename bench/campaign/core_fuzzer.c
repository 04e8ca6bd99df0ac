// A fuzzer of the compiled core: bytes become networks of small sizes and sentences, some of them out of range.
//
// Every array has exactly the size that Python gives it, so that AddressSanitizer sees a read or a write beside it. A
// call must return a status; a derivation must be a tree, and must not depend on how the sentences are grouped, how many
// attachments are worked out at once, and how often memory ran out before. See bench/campaign/core_fuzzing.py.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "api.h"

const ef_functions *ef_functions_for(const char *isa);

enum { MOST_KEPT = 256, ROOM = 32, MAX_TABLES = 3, MAX_WORDS = 4096 };

static const ef_functions *core;  // of the instruction set that the input chooses
static const uint8_t *given;
static size_t n_given;
static uint64_t state;
static void *kept[MOST_KEPT];
static int n_kept, n_matrices;
static ef_matrix *matrices[MOST_KEPT];

static void check(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "ERROR: %s\n", what);
    abort();
}

// The next byte of the input, below a limit; 0 when there are no more.
static int draw(int limit) {
    if (!n_given) return 0;
    n_given--;
    return *given++ % limit;
}

static uint64_t next_random(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static void *keep(size_t n, size_t size) {
    check(n_kept < MOST_KEPT, "too many arrays");
    return kept[n_kept++] = calloc(n ? n : 1, size);
}

// Random weights. One array in some has a number that is huge, or none at all.
static float *weights(size_t n, size_t room, int wildness) {
    float *made = keep(n + room, sizeof(float));
    for (size_t i = 0; i < n; i++) made[i] = (float)((double)(int32_t)next_random() / 2147483648.0);
    if (wildness && n) {
        const float wild[] = {1e30f, -1e30f, INFINITY, NAN, 0.0f, 1e-40f, 100.0f};
        made[next_random() % n] = wild[wildness % 7];
    }
    return made;
}

// A matrix (k, n) with a bias, or NULL if the core refuses its numbers.
static const ef_matrix *matrix(int k, int n, int precision, int wildness) {
    ef_matrix *made;
    check(core->matrix_new(k, n, precision, &made) == EF_OK, "no matrix");
    const ef_block block = {weights((size_t)(k + 1) * n, 0, wildness), n, k + 1, n, 0, 0, 0.5f};
    check(n_matrices < MOST_KEPT, "too many matrices");
    matrices[n_matrices++] = made;
    const int status = core->matrix_fill(made, &block, 1);
    check(status == EF_OK || status == EF_NOT_FINITE || status == EF_BAD_INPUT, "an unknown status of a matrix");
    return status == EF_OK ? made : NULL;
}

static const ef_matrix *view(const ef_matrix *of, int row, int k, int n, int has_bias) {
    ef_matrix *made;
    if (!of) return NULL;
    check(core->matrix_view(of, row, k, n, has_bias, &made) == EF_OK, "no view");
    check(n_matrices < MOST_KEPT, "too many matrices");
    return matrices[n_matrices++] = made;
}

typedef struct {
    int precision, n_tables, rows[MAX_TABLES], dims[MAX_TABLES], n_characters, spelling, n_layers, half;
    int dim, tree_layers, n_slots, hidden, n_relations;
} shape;

static int is_whole;  // whether the core has accepted all weights

static const ef_matrix *part(const ef_matrix *made) {
    if (!made) is_whole = 0;
    return made;
}

static ef_layer layer(int inputs, int dim, int is_joint, int precision) {
    ef_layer made = {.dim = dim, .is_joint = is_joint};
    for (int side = 0; side < 2; side++) made.recurrent[side] = part(matrix(dim, 4 * dim, precision, 0));
    if (is_joint) made.input[0] = part(matrix(inputs, 8 * dim, precision, 0));
    else for (int side = 0; side < 2; side++) made.input[side] = part(matrix(inputs, 4 * dim, precision, 0));
    return made;
}

static ef_encoder *encoder(const shape *s, int wildness) {
    ef_encoder *made = keep(1, sizeof *made);
    const float **tables = keep(MAX_TABLES, sizeof *tables);
    int32_t *rows = keep(MAX_TABLES, sizeof *rows), *dims = keep(MAX_TABLES, sizeof *dims);
    const int precision = s->precision == EF_INT8_A7 ? EF_INT8 : s->precision;
    made->n_tables = s->n_tables, made->tables = tables, made->table_rows = rows, made->table_dims = dims;
    for (int t = 0; t < s->n_tables; t++) {
        tables[t] = weights((size_t)s->rows[t] * s->dims[t], 0, t ? 0 : wildness);
        rows[t] = s->rows[t], dims[t] = s->dims[t];
        made->input_dim += s->dims[t];
    }
    if (s->spelling) {
        ef_encoder *characters = keep(1, sizeof *characters);
        ef_layer *first = keep(1, sizeof *first);
        *first = (ef_layer){.dim = s->spelling, .is_joint = 1, .n_rows = s->n_characters};
        first->table = weights((size_t)s->n_characters * 8 * s->spelling, 0, 0);
        for (int side = 0; side < 2; side++)
            first->recurrent[side] = part(matrix(s->spelling, 4 * s->spelling, precision, 0));
        *characters = (ef_encoder){.tables = tables, .table_rows = rows, .table_dims = dims, .n_layers = 1,
                                   .layers = first, .input_dim = 3, .output_dim = 2 * s->spelling};
        made->characters = characters;
        made->input_dim += characters->output_dim;
    }
    made->project = part(matrix(made->input_dim, 2 * s->half, precision, 0));
    ef_layer *layers = keep(s->n_layers, sizeof *layers);
    for (int i = 0; i < s->n_layers; i++)
        layers[i] = i ? layer(s->half, s->half, 0, precision) : layer(2 * s->half, s->half, 1, precision);
    made->n_layers = s->n_layers, made->layers = layers, made->output_dim = 2 * s->half;
    return made;
}

static ef_member *member(const shape *s, int wildness) {
    ef_member *made = keep(1, sizeof *made);
    const int vector = 2 * s->half, d = s->tree_layers ? s->dim : s->half, p = s->precision;
    const ef_matrix **steps = keep(2 * s->tree_layers, sizeof *steps), **leaves = keep(2 * s->tree_layers, sizeof *leaves);
    *made = (ef_member){.words = encoder(s, wildness & 7), .dim = d, .vector_dim = vector, .n_layers = s->tree_layers,
                        .n_slots = s->n_slots, .hidden_dim = s->hidden, .n_relations = s->n_relations};
    made->padding = weights(vector, ROOM, 0);
    for (int i = 0; i < 2 * s->tree_layers; i++) {
        const int inputs = i < 2 ? vector : d;
        steps[i] = part(matrix(inputs + d, 4 * d, p, 0));
        leaves[i] = part(view(steps[i], 0, inputs, 3 * d, 1));
    }
    made->steps = steps, made->leaves = leaves;
    const ef_matrix *slots = part(matrix(2 * d, s->n_slots * 2 * s->hidden, p, wildness >> 3));
    made->slots = slots;
    if (s->tree_layers) {
        made->encode = part(matrix(2 * d, vector, p, 0));
        made->relations = weights((size_t)s->n_relations * vector, ROOM, 0);
        for (int side = 0; side < 2; side++)
            made->sides[side] = part(view(slots, side * d, d, s->n_slots * 2 * s->hidden, 0));
    }
    made->labelled = part(matrix(s->hidden, 2 * s->n_relations, p, 0));
    made->unlabelled = weights((size_t)2 * s->hidden, ROOM, 0);
    return made;
}

static shape draw_shape(void) {
    shape s = {.precision = draw(3), .n_tables = 1 + draw(MAX_TABLES)};
    for (int t = 0; t < s.n_tables; t++) s.rows[t] = 1 + draw(9), s.dims[t] = 1 + draw(9);
    s.n_characters = 1 + draw(6), s.spelling = 8 * draw(3), s.n_layers = draw(3), s.half = 8 * (1 + draw(2));
    s.dim = 8 * (1 + draw(2)), s.tree_layers = draw(3), s.n_slots = 2 * (1 + draw(3)), s.hidden = 8 * (1 + draw(2));
    s.n_relations = 1 + draw(19);
    return s;
}

// Lengths, most of them sorted; return their sum, or -1 if Python would refuse it.
static int draw_lengths(int32_t *lengths, int n, int most, int is_wild) {
    int64_t total = 0;
    for (int i = 0; i < n; i++) {
        int limit = i && !is_wild ? lengths[i - 1] : most;
        lengths[i] = 1 + draw(limit);
        if (is_wild && draw(16) == 15) lengths[i] = (int[]){0, -1, INT32_MIN, INT32_MAX}[draw(4)];
        total += lengths[i];
    }
    return total < 0 || total > MAX_WORDS ? -1 : (int)total;
}

static int32_t *draw_rows(int n, int limit, int is_wild) {
    int32_t *made = keep(n, sizeof *made);
    for (int i = 0; i < n; i++) made[i] = draw(limit + 1) % limit;
    if (is_wild && n) made[draw(n)] = (int32_t[]){-1, limit, INT32_MAX, INT32_MIN}[draw(4)];
    return made;
}

// Return 0 if Python would refuse these sentences, because sizes do not add up.
static int draw_words(const shape *s, ef_words *words, int *n_words, int wild) {
    const int n = 1 + draw(5), n_forms = 1 + draw(6);
    int32_t *lengths = keep(n, sizeof *lengths), *form_lengths = keep(n_forms, sizeof *form_lengths);
    *n_words = draw_lengths(lengths, n, 24, wild == 1);
    const int n_characters = draw_lengths(form_lengths, n_forms, 9, wild == 2);
    if (*n_words < 0 || n_characters < 0) return 0;
    int32_t *ids = keep((size_t)s->n_tables * *n_words, sizeof *ids);
    for (int t = 0; t < s->n_tables; t++) {
        const int32_t *rows = draw_rows(*n_words, s->rows[t], wild == 3 + t);
        memcpy(ids + (size_t)t * *n_words, rows, sizeof *ids * (size_t)*n_words);
    }
    *words = (ef_words){.n_sequences = n, .lengths = lengths, .ids = ids, .n_forms = n_forms};
    words->forms = draw_rows(*n_words, n_forms, wild == 6);
    words->characters = draw_rows(n_characters, s->n_characters, wild == 7), words->form_lengths = form_lengths;
    return 1;
}

static ef_steps new_steps(int n, int n_relations) {
    return (ef_steps){keep(n, 4), keep(n, 4), keep(n, 4), keep(n, 4), keep(n, 4), keep(n, 4), keep((size_t)n * n_relations, 4)};
}

static double observed;

static void observe(const ef_decision *d) {
    for (int i = 0; i <= d->outside; i++) observed += d->next[i] + d->previous[i];
    check(d->left >= 0 && d->left < d->outside && (d->side == 0 || d->side == 1), "a decision out of range");
}

// Attachments of a sentence: heads that are still pending, and every word but one a modifier once.
static void check_derivation(const ef_steps *to, int first, int n, int n_relations) {
    char *gone = calloc((size_t)n + 1, 1);
    for (int i = first; i < first + n - 1; i++) {
        const int h = to->heads[i], m = to->modifiers[i];
        check(h >= 1 && h <= n && m >= 1 && m <= n && h != m, "a word out of range");
        check(!gone[h] && !gone[m], "a word that is not pending");
        check(to->relations[i] >= 0 && to->relations[i] < n_relations, "a relation out of range");
        check(isfinite(to->scores[i]), "a score that is not finite");
        gone[m] = 1;
    }
    free(gone);
}

static void check_equal(const ef_steps *a, const ef_steps *b, const ef_words *words, int n_relations) {
    const void *const left[] = {a->heads, a->modifiers, a->relations, a->scores, a->margins, a->label_margins};
    const void *const right[] = {b->heads, b->modifiers, b->relations, b->scores, b->margins, b->label_margins};
    for (int s = 0, first = 0; s < words->n_sequences; first += words->lengths[s++]) {
        const size_t n = 4 * (size_t)(words->lengths[s] - 1), from = 4 * (size_t)first;
        for (int i = 0; i < 6; i++)
            check(!memcmp((const char *)left[i] + from, (const char *)right[i] + from, n), "depends on the group");
        check(!memcmp(a->relation_scores + (size_t)first * n_relations, b->relation_scores + (size_t)first * n_relations,
                      n * (size_t)n_relations), "scores of relations depend on the group");
    }
}

static void fuzz_parse(const shape *s, const ef_member *const *members, int n_members) {
    ef_words words;
    int n_words;
    const int wild = draw(24);
    if (!draw_words(s, &words, &n_words, wild)) return;
    ef_steps first = new_steps(n_words, s->n_relations), second = new_steps(n_words, s->n_relations);
    ef_counts counts = {0};
    ef_workspace *small = core->workspace_new(1 + (uint64_t)draw(256) * 4096), *any = core->workspace_new(0);
    check(small && any, "no workspace");
    const int tight = core->parse(members, n_members, small, &words, 16, 4, &second, NULL, &counts);
    check(tight >= EF_OK && tight <= EF_NOT_FINITE, "an unknown status with little memory");
    const int status = core->parse(members, n_members, any, &words, 16, 4, &first, observe, &counts);
    check(status == EF_OK || status == EF_BAD_INPUT || status == EF_NOT_FINITE, "an unknown status");
    check(tight == EF_NO_MEMORY || tight == status, "another status with little memory");
    const int group = 1 + draw(6), rows = 1 + draw(8);
    const int again = core->parse(members, n_members, any, &words, group, rows, &second, NULL, NULL);
    check(again == status, "another status in other groups");
    if (status == EF_OK) {
        for (int i = 0, at = 0; i < words.n_sequences; at += words.lengths[i++])
            check_derivation(&first, at, words.lengths[i], s->n_relations);
        check_equal(&first, &second, &words, s->n_relations);
    }
    core->workspace_free(small);
    core->workspace_free(any);
}

static void fuzz_exploration(const shape *s, const ef_member *member) {
    const int n = 1 + draw(4), vector = member->vector_dim;
    int32_t *lengths = keep(n, sizeof *lengths);
    const int n_words = draw_lengths(lengths, n, 16, draw(8) == 7);
    if (n_words < 0) return;
    int64_t *heads = keep(n_words, 8), *relations = keep(n_words, 8);
    double *chance = keep(n_words, 8);
    for (int i = 0; i < n_words; i++) {
        heads[i] = draw(8) ? draw(n_words + 2) : (int64_t[]){-1, n_words + 2, INT64_MAX, INT64_MIN}[draw(4)];
        relations[i] = draw(s->n_relations + 1) - 1 + (draw(32) == 31) * s->n_relations;
        chance[i] = draw(256) / 256.0;
    }
    const ef_teacher teacher = {heads, relations, 1.0f, 0.1, draw(2) ? chance : NULL};
    const size_t room = n_words > n ? (size_t)(n_words - n) : 0;
    ef_explored to = {keep(room, 8), keep(room, 8), keep(2 * room, 8), keep(room, 8),
                      keep(room * 4 * (size_t)s->n_slots, 8), keep(2 * room, 8), keep(room, 4), 0};
    ef_workspace *any = core->workspace_new(0);
    ef_counts counts = {0};
    const float *vectors = weights((size_t)n_words * vector, 0, draw(16) == 15 ? 1 + draw(6) : 0);
    const int status = core->explore(member, any, n, lengths, vectors, 1 + draw(6), &teacher, &to, &counts);
    check(status == EF_OK || status == EF_BAD_INPUT || status == EF_NOT_FINITE, "an unknown status of exploration");
    if (status == EF_OK) check(to.n_violations >= 0 && to.n_violations <= (int64_t)room, "violations out of range");
    core->workspace_free(any);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const sets[] = {"base", "v3", "v4", "v4vnni"};
    given = data, n_given = size, n_kept = n_matrices = 0, is_whole = 1;
    core = ef_functions_for(sets[draw(4)]);
    if (!core) core = ef_functions_for(NULL);  // not on this machine
    state = 0x9E3779B97F4A7C15ull + (uint64_t)draw(256);
    const int wildness = draw(8) == 7 ? draw(64) : 0, n_members = 1 + draw(2), explores = draw(4) == 3;
    const shape s = draw_shape();
    const ef_member *members[2];
    for (int m = 0; m < n_members; m++) members[m] = member(&s, wildness);
    if (is_whole && explores && s.precision == EF_FLOAT32) fuzz_exploration(&s, members[0]);
    else if (is_whole) fuzz_parse(&s, members, n_members);
    while (n_matrices) core->matrix_free(matrices[--n_matrices]);
    while (n_kept) free(kept[--n_kept]);
    return 0;
}

#ifdef STANDALONE  // without libFuzzer: random bytes for some seconds
int main(int argc, char **argv) {
    const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) * 2654435761u + 1 : 1;
    uint8_t data[2048];
    long n = 0;
    for (; time(NULL) < end; n++) {
        const size_t size = 16 + (size_t)(random % (sizeof data - 16));
        for (size_t i = 0; i < size; i++) random = random * 6364136223846793005ull + 1442695040888963407ull, data[i] = (uint8_t)(random >> 56);
        LLVMFuzzerTestOneInput(data, size);
    }
    fprintf(stderr, "stat::number_of_executed_units: %ld\n", n);
    return 0;
}
#endif
