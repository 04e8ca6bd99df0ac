// Error exploration (section 5.2 and Algorithm 4; parsing/exploration.py, parsing/oracle.py): the loop of training. It
// follows the best correct action or the best wrong one, and records attachments and violations of the margin.
//
// A version numbers the state of one side of a node: the leaves come first, by row, then every attachment, in order, gives
// the next number to the side of the head that it changed.
#include "loop.h"

typedef struct {
    const ef_teacher *teacher;
    ef_explored *to;
    int32_t *n_missing;    // by row: how many gold modifiers have not been attached to any head
    uint8_t *is_gone;      // by row: whether it has left the pending list; a missing head counts as gone
    int64_t *versions[2];  // by side and row
    int64_t n_attachments;
} exploration;

typedef struct {
    action action;
    float score;
} scored;

static exploration start_exploration(ef_workspace *ws, int n, const ef_teacher *teacher, ef_explored *to) {
    exploration X = {.teacher = teacher, .to = to};
    X.n_missing = TAKE(ws, int32_t, n + 2), X.is_gone = TAKE(ws, uint8_t, n + 2);
    memset(X.n_missing, 0, sizeof(int32_t) * (size_t)(n + 2));
    memset(X.is_gone, 0, (size_t)(n + 2));
    X.is_gone[n + 1] = 1;
    for (int i = 0; i < n; i++) X.n_missing[teacher->heads[i]]++;
    for (int side = 0; side < 2; side++) {
        X.versions[side] = TAKE(ws, int64_t, n + 1);
        for (int i = 0; i <= n; i++) X.versions[side][i] = i;
    }
    to->n_violations = 0;
    return X;
}

// ------------------------------------------------------------------------------------------------------ the oracle
typedef enum { WRONG, GOLD, FREE } verdict;  // correct under no relation, under the gold one only, or under any

INLINE verdict judge(const exploration *X, int h, int m) {
    const int64_t head = X->teacher->heads[m];
    if (X->n_missing[m]) return WRONG;
    if (X->is_gone[head]) return FREE;
    return head != h ? WRONG : X->teacher->relations[m] < 0 ? FREE : GOLD;
}

INLINE void improve(scored *best, action a, float score) {  // the first of equal ones stays
    if (score > best->score) *best = (scored){a, score};
}

// Find the best correct and the best wrong action of the sentence that begins at `start`.
static void best_of_each(const loop *L, const exploration *X, int start, scored *correct, scored *wrong) {
    int row = start;
    while (X->is_gone[row]) row++;
    const action first = {row, L->next[row], 0, 0};
    *correct = *wrong = (scored){first, -INFINITY};
    for (int right; (right = L->next[row]) != L->outside; row = right)
        for (int side = 0; side < 2; side++) {
            action a = {row, right, side, L->relations[2 * row + side]};
            const float best = L->best[2 * row + side];
            const int m = modifier_of(a);
            const verdict found = judge(X, head_of(a), m);
            if (found != GOLD) {
                improve(found == FREE ? correct : wrong, a, best);
                continue;
            }
            const float *scores = L->scores + (size_t)row * L->score_width + side * L->n_relations;
            const int gold = (int)X->teacher->relations[m];
            if (a.relation != gold) improve(wrong, a, best);
            for (int r = 0; r < L->n_relations && a.relation == gold; r++) {
                action other = a;
                other.relation = r;
                if (r != gold) improve(wrong, other, scores[r]);
            }
            a.relation = gold;
            improve(correct, a, scores[gold]);
        }
}

// ------------------------------------------------------------------------------------------------------- recording
static void record_violation(const loop *L, exploration *X, int32_t *around, scored correct, scored wrong) {
    const int64_t at = X->to->n_violations++;
    const action actions[2] = {correct.action, wrong.action};
    int64_t *window = X->to->windows + at * 4 * L->n_slots;
    for (int i = 0; i < 2; i++) {
        rows_around(L, actions[i].left, L->n_slots / 2, around);
        for (int slot = 0; slot < L->n_slots; slot++)
            for (int side = 0; side < 2; side++) *window++ = X->versions[side][around[slot + 1]];
        X->to->actions[2 * at + i] = actions[i].side * L->n_relations + actions[i].relation;
    }
    X->to->losses[at] = X->teacher->margin - correct.score + wrong.score;
}

static void record_attachment(const loop *L, exploration *X, action a) {
    const int64_t at = X->n_attachments++;
    const int h = head_of(a), m = modifier_of(a);
    X->to->sides[at] = a.side;
    X->to->before[at] = X->versions[a.side][h];
    for (int side = 0; side < 2; side++) X->to->modifiers[2 * at + side] = X->versions[side][m];
    X->to->relations[at] = a.relation;
    X->versions[a.side][h] = L->outside + 1 + at;
    X->n_missing[X->teacher->heads[m]]--;
    X->is_gone[m] = 1;
}

// Decide which action a sentence takes, and record what the loss needs.
static action follow(const loop *L, exploration *X, int start, int32_t *around) {
    scored correct, wrong;
    best_of_each(L, X, start, &correct, &wrong);
    const float lead = correct.score - wrong.score;
    const int is_close = lead < X->teacher->margin;
    if (is_close) record_violation(L, X, around, correct, wrong);
    const double *random = X->teacher->random;
    const int is_bold = random && random[X->n_attachments] < X->teacher->explore_prob;
    const action chosen = random && (lead < 0 || (is_close && is_bold)) ? wrong.action : correct.action;
    record_attachment(L, X, chosen);
    return chosen;
}

// Explore the sentences of a batch whose leaves are made.
static int run_exploration(loop *L, ef_workspace *ws, batch b, int rows, const ef_teacher *teacher, ef_explored *to) {
    if (!score_all(L, ws)) return EF_NOT_FINITE;
    exploration X = start_exploration(ws, b.n_rows, teacher, to);
    scratch S = take_scratch(L, ws, b.n, rows);
    int status = EF_OK;
    for (int t = 0, active = b.n; t + 1 < b.lengths[0] && !status; t++) {
        while (b.lengths[active - 1] <= t + 1) active--;
        for (int s = 0; s < active; s++) S.chosen[s] = follow(L, &X, b.starts[s], S.around);
        status = take_step(L, ws, b, t, active, rows, &S);
    }
    return status;
}
