// The interface between the core and Python: plain structures, and one table of functions for each instruction set.
// easyfirst/native/library.py declares the same structures with ctypes; `sizes` in the table lets it check that.
#ifndef EASYFIRST_API_H
#define EASYFIRST_API_H
#include <stdint.h>

enum ef_status { EF_OK, EF_NO_MEMORY, EF_BAD_INPUT, EF_NOT_FINITE };
enum ef_precision { EF_FLOAT32, EF_INT8, EF_INT8_A7 };  // weights of 8 bits with activations of 14 or of 7 bits

typedef struct ef_matrix ef_matrix;        // packed weights, see matrix.h
typedef struct ef_workspace ef_workspace;  // memory that calls reuse, see memory.h

// A part of a matrix: rows of an array in C order, times a factor. Row k of a matrix is its bias.
typedef struct {
    const float *from;
    int32_t stride;         // numbers from a row of the array to the next
    int32_t rows, columns;  // of the part
    int32_t row, column;    // where it goes
    float factor;
} ef_block;

// One layer of a BiLSTM. Every width is padded to a multiple of 8 with zeros. A row of pre-activations has the gates
// input, output, candidate, forget of the forward direction, then those of the backward direction; they are exponents,
// that is multiplied by -1 (gates) or -2 (candidate). The first step of a sequence has no use for the forget gate.
typedef struct {
    int32_t dim;                    // of each direction
    int32_t is_joint;               // 1: both directions read the same input; 0: each its own half of it
    const ef_matrix *input[2];      // joint: input[0] has the columns of both directions, input[1] is not used
    const ef_matrix *recurrent[2];  // forward, backward
    const float *table;             // instead of `input`, in a first layer: rows of finished pre-activations
    int32_t n_rows;                 // of the table
} ef_layer;

// What a sequence is encoded with: embeddings, vectors of forms and spelling side by side, a projection, a BiLSTM.
typedef struct ef_encoder {
    int32_t n_tables;
    const float *const *tables;
    const int32_t *table_rows, *table_dims;
    int32_t form_dim;                     // of vectors that come with the forms of words; 0: none
    const struct ef_encoder *characters;  // NULL: none. Its outputs at both ends of a form are the form's spelling
    const ef_matrix *project;             // NULL: none. Followed by tanh
    int32_t n_layers;
    const ef_layer *layers;
    int32_t input_dim, output_dim;
} ef_encoder;

// Sequences, longest first, one after the other.
typedef struct {
    int32_t n_sequences;
    const int32_t *lengths;
    const int32_t *ids;      // [n_tables][n_words]: rows of the tables
    const float *vectors;    // [n_words][input_dim], instead of ids
    const int32_t *forms;    // [n_words]: the number of each word's form
    int32_t n_forms;
    const float *form_vectors;  // [n_forms][form_dim]
    const int32_t *characters, *form_lengths;  // the spelling of the forms, longest first
} ef_words;

// The tree encoder and the scorer of one network (sections 3 and 4.4 of the paper).
typedef struct {
    const ef_encoder *words;
    int32_t dim, vector_dim;  // of e_l (and of e_r), and of v_i
    int32_t n_layers, n_slots, hidden_dim, n_relations;
    const float *padding;             // [vector_dim]
    const ef_matrix *const *steps;    // [n_layers][2]: input above state
    const ef_matrix *const *leaves;   // [n_layers][2]: views of these, input alone and without the forget gate
    const ef_matrix *encode;          // W^e without the rows of the relations
    const float *relations;           // [n_relations][vector_dim]: what a relation adds to it
    const ef_matrix *slots;           // [2 * dim] -> [n_slots][2 * hidden_dim]
    const ef_matrix *sides[2];        // views: the rows of `slots` for e_l and for e_r, without the bias
    const ef_matrix *labelled;        // [hidden_dim] -> [2 * n_relations]
    const float *unlabelled;          // [2][hidden_dim]
} ef_member;

// Derivations: from the first word of a sentence on, a value for each step. The last place of a sentence is not used.
typedef struct {
    int32_t *heads, *modifiers, *relations;  // words are numbered from 1 in each sentence
    float *scores, *margins, *label_margins;
    float *lost_margins;     // of each word, in place of a step: infinite at the start
    float *relation_scores;  // [n_words][n_relations]: of the arc with each relation
} ef_steps;

// What exploration follows (Algorithm 4). Words are numbered through all sentences; the outside comes after them.
typedef struct {
    const int64_t *heads;      // [n_words]: the outside for a root, outside + 1 if it is missing
    const int64_t *relations;  // [n_words]: -1 if it is missing
    float margin;
    double explore_prob;
    const double *random;      // a number from 0 to 1 for every attachment; NULL: always follow the correct action
} ef_teacher;

// What exploration found (Attachments and Violations in parsing/exploration.py): room for n_words - n_sequences of each.
typedef struct {
    int64_t *sides, *before, *modifiers, *relations;  // of attachments; modifiers: [n][2]
    int64_t *windows, *actions;                       // of violations: [n][2][n_slots][2] and [n][2]
    float *losses;
    int64_t n_violations;
} ef_explored;

// A decision as it is made, for explanations: an action on the pair of row `left`, the pending list and all scores. A
// row of scores, by row of pend[i], is `width` wide. Row `outside` is beyond the ends of the pending list.
typedef struct {
    int32_t left, side, relation, outside, width;
    const int32_t *next, *previous;
    const float *scores;
} ef_decision;

// Counts what the loop did, for benchmarks and tests.
typedef struct {
    int64_t attachments, computed, passes;
} ef_counts;

typedef struct {
    const char *isa;
    int32_t sizes[10];  // of the structures above, in order
    ef_workspace *(*workspace_new)(uint64_t limit);
    void (*workspace_free)(ef_workspace *);
    int32_t (*matrix_new)(int32_t k, int32_t n, int32_t precision, ef_matrix **made);
    int32_t (*matrix_fill)(ef_matrix *, const ef_block *, int32_t n_blocks);
    int32_t (*matrix_view)(const ef_matrix *, int32_t row, int32_t k, int32_t n, int32_t has_bias, ef_matrix **made);
    void (*matrix_free)(ef_matrix *);
    int32_t (*product)(const ef_matrix *, ef_workspace *, int32_t m, const float *x, float *out);
    int32_t (*encode)(const ef_encoder *, ef_workspace *, const ef_words *, int32_t group, float *out);
    int32_t (*parse)(const ef_member *const *, int32_t n_members, ef_workspace *, const ef_words *, int32_t group,
                     int32_t rows, const ef_steps *, void (*observe)(const ef_decision *), ef_counts *);
    int32_t (*explore)(const ef_member *, ef_workspace *, int32_t n_sentences, const int32_t *lengths,
                       const float *vectors, int32_t rows, const ef_teacher *, ef_explored *, ef_counts *);
    void (*activate)(float *x, int32_t n, int32_t is_tanh);
} ef_functions;

#endif
