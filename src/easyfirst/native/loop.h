// The parser's loop (Algorithm 1; parsing/loop.py): a group of sentences in lock step, the easiest attachment first.
//
// Attachments that look likely are worked out together with the one that was chosen, because reading the weights takes
// longer than using them for one row. What was worked out stays valid until the head or the modifier changes, and is
// used if the attachment is chosen by then, so looking ahead changes nothing in the result.
#include "nodes.h"

// An attachment that was worked out for the pair of a row, while `right` is its right neighbour.
typedef struct {
    int32_t right, side, relation;  // right is -1 if there is none
} prepared;

typedef struct {
    const ef_member *const *members;
    int n_members, n_relations, n_slots;
    int outside;                       // the row of whatever is beyond either end of a pending list
    float **states, **projections, **fresh;  // of each member, by row; fresh: by row of pend[i]
    float *scores;                     // by row of pend[i], each score_width wide
    int score_width;
    float *best;                       // [row][side]: the best score of a pair and direction, -INFINITY without a pair
    int32_t *relations;                // [row][side]: its relation
    int32_t *next, *previous;          // the pending lists
    prepared *ready;                   // by row of pend[i]
    void (*observe)(const ef_decision *);  // called with every decision, unless it is NULL
    ef_counts counts;
} loop;

static loop start_loop(const ef_member *const *members, int n_members, ef_workspace *ws, batch b) {
    const int n = b.n_rows;
    loop L = {.members = members, .n_members = n_members, .outside = n};
    L.n_relations = members[0]->n_relations, L.n_slots = members[0]->n_slots;
    L.score_width = scores_width(members[0]);
    L.states = TAKE(ws, float *, n_members), L.projections = TAKE(ws, float *, n_members);
    L.fresh = TAKE(ws, float *, n_members);
    L.scores = TAKE(ws, float, (size_t)n * L.score_width);
    L.best = TAKE(ws, float, 2 * (size_t)(n + V)), L.relations = TAKE(ws, int32_t, 2 * (size_t)(n + 1));
    L.next = TAKE(ws, int32_t, n + 1), L.previous = TAKE(ws, int32_t, n + 1), L.ready = TAKE(ws, prepared, n + 1);
    for (int m = 0; m < n_members; m++) {
        L.states[m] = TAKE(ws, float, (size_t)(n + 1) * state_width(members[m]));
        L.projections[m] = TAKE(ws, float, (size_t)(n + 1) * projection_width(members[m]));
        L.fresh[m] = TAKE(ws, float, (size_t)(n + 1) * fresh_width(members[m]));
    }
    for (int i = 0; i <= n; i++) {
        L.next[i] = i + 1, L.previous[i] = i - 1;
        L.ready[i].right = -1;
    }
    for (int i = 0; i < 2 * (n + V); i++) L.best[i] = -INFINITY;
    for (int s = 0; s < b.n; s++) L.previous[b.starts[s]] = L.next[b.starts[s] + b.lengths[s] - 1] = n;
    L.next[n] = L.previous[n] = n;
    return L;
}

// Make the leaves of a member. The vectors have room for one more at the end, the padding.
static void start_nodes(loop *L, int member, ef_workspace *ws, float *vectors) {
    const ef_member *M = L->members[member];
    memcpy(vectors + (size_t)L->outside * M->vector_dim, M->padding, sizeof(float) * (size_t)M->vector_dim);
    make_leaves(M, ws, L->outside + 1, vectors, L->states[member], L->projections[member]);
}

static void add_counts(const loop *L, ef_counts *to) {
    if (!to) return;
    to->attachments += L->counts.attachments;
    to->computed += L->counts.computed;
    to->passes += L->counts.passes;
}

// Write the rows around `row`: n before it and n after it.
INLINE void rows_around(const loop *L, int row, int n, int32_t *to) {
    to[n] = row;
    for (int i = n; i-- > 0;) to[i] = L->previous[to[i + 1]];
    for (int i = n; i < 2 * n; i++) to[i + 1] = L->next[to[i]];
}

// Score the pairs of rows by their windows. Return whether all scores are finite.
static int score_pairs(loop *L, ef_workspace *ws, int n, const int32_t *left, const int32_t *windows) {
    mark m0 = here(ws);
    float **to = TAKE(ws, float *, n), sum = 0;
    for (int i = 0; i < n; i++) to[i] = L->scores + (size_t)left[i] * L->score_width;
    for (int m = 0; m < L->n_members; m++)
        score_windows(L->members[m], ws, n, windows, L->projections[m], m ? (const float *const *)to : NULL, to);
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            const float *scores = to[i] + side * L->n_relations;
            float best = scores[0];
            int relation = 0;
            for (int r = 0; r < L->n_relations; r++) {
                sum += scores[r] * 0.0f;  // not a number if the score is not finite
                if (scores[r] > best) best = scores[r], relation = r;
            }
            L->best[2 * left[i] + side] = best;
            L->relations[2 * left[i] + side] = relation;
        }
    release(ws, m0);
    return sum == 0;
}

// Score all pairs of a group, before anything is attached.
static int score_all(loop *L, ef_workspace *ws) {
    enum { AT_ONCE = 256 };
    mark m0 = here(ws);
    const int k = L->n_slots / 2 - 1;
    int32_t *left = TAKE(ws, int32_t, AT_ONCE), *windows = TAKE(ws, int32_t, AT_ONCE * (size_t)L->n_slots);
    int32_t *around = TAKE(ws, int32_t, 2 * (k + 1) + 1);
    int is_finite = 1;
    for (int row = 0, n = 0; row < L->outside && is_finite; row++) {
        if (L->next[row] != L->outside) {
            rows_around(L, row, k + 1, around);
            memcpy(windows + (size_t)n * L->n_slots, around + 1, sizeof(int32_t) * (size_t)L->n_slots);
            left[n++] = row;
        }
        if (n == AT_ONCE || row == L->outside - 1) {
            is_finite = score_pairs(L, ws, n, left, windows);
            n = 0;
        }
    }
    release(ws, m0);
    return is_finite;
}

// Collect the pairs whose window has the row h, at most n_slots of them, with their windows. Return how many.
static int pairs_with(const loop *L, int h, int32_t *around, int32_t *left, int32_t *windows) {
    const int k = L->n_slots / 2 - 1, reach = L->n_slots - 1;
    int n = 0;
    rows_around(L, h, reach, around);
    for (int at = reach - k - 1; at <= reach + k; at++) {
        if (around[at] == L->outside || around[at + 1] == L->outside) continue;
        memcpy(windows + (size_t)n * L->n_slots, around + at - k, sizeof(int32_t) * (size_t)L->n_slots);
        left[n++] = around[at];
    }
    return n;
}

// ---------------------------------------------------------------------------------------------------- decisions
typedef struct {
    int32_t left, right, side, relation;
} action;

INLINE int head_of(action a) { return a.side ? a.left : a.right; }
INLINE int modifier_of(action a) { return a.side ? a.right : a.left; }

// Choose the best-scored action of a sentence; the first of equal ones.
static action easiest(const loop *L, int start, int length) {
    const float *best = L->best + 2 * (size_t)start;
    const int n = 2 * length;
    vec most = load(best);
    int i = V;
    for (; i + V <= n; i += V) most = max_of(most, load(best + i));
    float top = most[0];
    for (int j = 0; j < V && j < n; j++) top = most[j] > top || j == 0 ? most[j] : top;
    for (; i < n; i++) top = best[i] > top ? best[i] : top;
    int cell = 0;
    while (best[cell] != top) cell++;
    const int left = start + cell / 2;
    return (action){left, L->next[left], cell % 2, L->relations[2 * start + cell]};
}

INLINE float larger(float a, float b) { return a > b ? a : b; }
INLINE float pair_best(const loop *L, int left) { return larger(L->best[2 * left], L->best[2 * left + 1]); }

// Record by how much an action of this score beat the arc to the word of row m, which it makes impossible.
INLINE void lose(const ef_steps *to, int m, float score, float lost) {
    if (score - lost < to->lost_margins[m]) to->lost_margins[m] = score - lost;
}

// Record a decision with its margins (Attachment in parsing/derivation.py says what they are).
static void record(const loop *L, action a, int start, int step, const ef_steps *to) {
    if (L->observe)
        L->observe(&(ef_decision){a.left, a.side, a.relation, L->outside, L->score_width, L->next, L->previous, L->scores});
    const int at = start + step;
    const float score = L->best[2 * a.left + a.side];
    float rival = L->best[2 * a.left + !a.side], rival_relation = -INFINITY;
    rival = larger(rival, L->best[2 * L->previous[a.left] + 1]);
    rival = larger(rival, L->best[2 * a.right]);
    const float *scores = L->scores + (size_t)a.left * L->score_width + a.side * L->n_relations;
    for (int r = 0; r < L->n_relations; r++)
        if (r != a.relation) rival_relation = larger(rival_relation, scores[r]);
    to->heads[at] = head_of(a) - start + 1;
    to->modifiers[at] = modifier_of(a) - start + 1;
    to->relations[at] = a.relation;
    to->scores[at] = score;
    to->margins[at] = score - rival;
    to->label_margins[at] = score - rival_relation;
    const int other = a.side ? L->next[a.right] : L->previous[a.left];  // the other neighbour of the modifier
    lose(to, head_of(a), score, L->best[2 * a.left + !a.side]);
    if (other != L->outside) lose(to, other, score, L->best[a.side ? 2 * a.right + 1 : 2 * other]);
    memcpy(to->relation_scores + (size_t)at * L->n_relations, scores, sizeof(float) * (size_t)L->n_relations);
}

// ------------------------------------------------------------------------------------------------- looking ahead
INLINE int is_ready(const loop *L, action a) {
    const prepared *ready = &L->ready[a.left];
    return ready->right == a.right && ready->side == a.side && ready->relation == a.relation;
}

// Collect up to `room` further actions of a sentence to work out with a chosen one: the best of those pairs that are
// better than both their neighbours. Return how many.
static int look_ahead(const loop *L, action chosen, int room, action *found) {
    int n = 0, row = chosen.left;
    while (L->previous[row] != L->outside) row = L->previous[row];
    for (float before = -INFINITY, here = pair_best(L, row), after; L->next[row] != L->outside; row = L->next[row]) {
        after = pair_best(L, L->next[row]);
        const int is_peak = here > before && here >= after && row != chosen.left;
        const int side = L->best[2 * row + 1] > L->best[2 * row];
        const action a = {row, L->next[row], side, L->relations[2 * row + side]};
        if (is_peak && !is_ready(L, a)) {
            int at = n < room ? n++ : room;  // the place of the worst
            for (; at && pair_best(L, found[at - 1].left) < here; at--)
                if (at < room) found[at] = found[at - 1];
            if (at < room) found[at] = a;
        }
        before = here, here = after;
    }
    return n;
}

// Work out what actions make of their heads.
static void prepare(loop *L, ef_workspace *ws, int n, const action *actions) {
    mark m0 = here(ws);
    attachment *items = TAKE(ws, attachment, n);
    for (int m = 0; m < L->n_members; m++) {
        const ef_member *M = L->members[m];
        const size_t width = (size_t)state_width(M), fresh = (size_t)fresh_width(M);
        int at = 0;
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < n; i++) {
                if (actions[i].side != side) continue;
                float *head = L->states[m] + (size_t)head_of(actions[i]) * width;
                float *modifier = L->states[m] + (size_t)modifier_of(actions[i]) * width;
                items[at++] = (attachment){head, modifier, side, actions[i].relation,
                                           L->fresh[m] + (size_t)actions[i].left * fresh};
            }
        work_out(M, ws, n, items);
    }
    for (int i = 0; i < n; i++)
        L->ready[actions[i].left] = (prepared){actions[i].right, actions[i].side, actions[i].relation};
    L->counts.computed += n;
    L->counts.passes += n > 0;
    release(ws, m0);
}

// Attach a modifier to its head, and take it out of the pending list.
static void attach(loop *L, action a) {
    const int h = head_of(a), m = modifier_of(a);
    for (int i = 0; i < L->n_members; i++) {
        const ef_member *M = L->members[i];
        attachment item = {.head = L->states[i] + (size_t)h * (size_t)state_width(M), .side = a.side,
                           .fresh = L->fresh[i] + (size_t)a.left * (size_t)fresh_width(M)};
        make_attachment(M, &item, L->projections[i] + (size_t)h * (size_t)projection_width(M));
    }
    const int before = L->previous[m], after = L->next[m];
    if (before != L->outside) L->next[before] = after;
    if (after != L->outside) L->previous[after] = before;
    L->ready[a.left].right = L->ready[a.right].right = L->ready[L->previous[h]].right = -1;
    for (int side = 0; side < 2; side++) L->best[2 * a.left + side] = L->best[2 * a.right + side] = -INFINITY;
    L->counts.attachments++;
}

// Memory for one step of a group.
typedef struct {
    action *chosen, *actions;  // of each sentence; those to be worked out
    int32_t *missing, *around, *left, *windows;
} scratch;

static scratch take_scratch(const loop *L, ef_workspace *ws, int n_sentences, int rows) {
    const size_t n = (size_t)n_sentences, S = (size_t)L->n_slots;
    return (scratch){
        .chosen = TAKE(ws, action, n),
        .actions = TAKE(ws, action, n_sentences > rows ? n_sentences : rows),
        .missing = TAKE(ws, int32_t, n),
        .around = TAKE(ws, int32_t, 2 * S),
        .left = TAKE(ws, int32_t, n * S),
        .windows = TAKE(ws, int32_t, n * S * S),
    };
}

// Make the attachments that the first `active` sentences have chosen for step t, and score the pairs that they change.
// The last attachment of a sentence is not made, because nothing is scored after it. `rows`: how many attachments to work
// out at once.
static int take_step(loop *L, ef_workspace *ws, batch b, int t, int active, int rows, scratch *S) {
    int n_missing = 0, n = 0, n_pairs = 0;
    for (int s = 0; s < active; s++)
        if (b.lengths[s] != t + 2 && !is_ready(L, S->chosen[s])) S->missing[n_missing++] = s;
    for (int i = 0; i < n_missing; i++) {
        const action chosen = S->chosen[S->missing[i]];
        S->actions[n++] = chosen;
        int room = rows / n_missing - 1, left_over = b.lengths[S->missing[i]] - t - 3;
        if (room > left_over) room = left_over;
        if (room > 0) n += look_ahead(L, chosen, room, S->actions + n);
    }
    prepare(L, ws, n, S->actions);
    for (int s = 0; s < active; s++) {
        if (b.lengths[s] == t + 2) continue;
        attach(L, S->chosen[s]);
        int32_t *windows = S->windows + (size_t)n_pairs * L->n_slots;
        n_pairs += pairs_with(L, head_of(S->chosen[s]), S->around, S->left + n_pairs, windows);
    }
    return !n_pairs || score_pairs(L, ws, n_pairs, S->left, S->windows) ? EF_OK : EF_NOT_FINITE;
}

// Parse the sentences of a group whose leaves are made.
static int run_loop(loop *L, ef_workspace *ws, batch b, int rows, const ef_steps *to) {
    if (!score_all(L, ws)) return EF_NOT_FINITE;
    scratch S = take_scratch(L, ws, b.n, rows);
    int status = EF_OK;
    for (int t = 0, active = b.n; t + 1 < b.lengths[0] && !status; t++) {
        while (b.lengths[active - 1] <= t + 1) active--;
        for (int s = 0; s < active; s++) {
            S.chosen[s] = easiest(L, b.starts[s], b.lengths[s]);
            record(L, S.chosen[s], b.starts[s], t, to);
        }
        status = take_step(L, ws, b, t, active, rows, &S);
    }
    return status;
}
