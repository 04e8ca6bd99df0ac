// Memory: a workspace hands out pieces that are valid until a call ends, and keeps its blocks for the next call,
// because fresh pages from the system take time. A call that runs out of memory jumps back to its start.
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include "api.h"

enum { ALIGNMENT = 64, FIRST_BLOCK = 1 << 16 };

typedef struct block {
    struct block *below;
    size_t size, used;
    char *memory;
} block;

struct ef_workspace {
    block *top;
    uint64_t limit, total;  // bytes it may take from the system (0: any number), and has taken
    size_t needed;          // what a call before this one needed, if that was in several blocks
    jmp_buf failed;
};

typedef struct { block *top; size_t used; } mark;

static void *aligned(size_t size) {
#ifdef _WIN32
    return _aligned_malloc(size, ALIGNMENT);
#else
    void *memory = NULL;
    return posix_memalign(&memory, ALIGNMENT, size) ? NULL : memory;
#endif
}

static void aligned_free(void *memory) {
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

static void drop_block(ef_workspace *ws) {
    block *top = ws->top;
    ws->top = top->below;
    ws->total -= top->size;
    aligned_free(top->memory);
    free(top);
}

// Add a block. Return whether there is memory for it.
static int add_block(ef_workspace *ws, size_t size) {
    block *made = ws->limit && (size > ws->limit || ws->total > ws->limit - size) ? NULL : malloc(sizeof *made);
    char *memory = made ? aligned(size) : NULL;
    if (!memory) {
        free(made);
        return 0;
    }
    *made = (block){.below = ws->top, .size = size, .used = 0, .memory = memory};
    ws->top = made;
    ws->total += size;
    return 1;
}

// Take `n` elements of `size` bytes. The memory is not initialised.
static void *take(ef_workspace *ws, size_t n, size_t size) {
    if (n > (SIZE_MAX >> 2) / size) longjmp(ws->failed, 1);
    size_t bytes = (n * size + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;  // reading a vector past the end is harmless
    block *top = ws->top;
    if (!top || top->size - top->used < bytes) {
        size_t least = ws->limit ? 0 : ws->total ? ws->total / 4 : ws->needed > FIRST_BLOCK ? ws->needed : FIRST_BLOCK;
        if (!(least > bytes && add_block(ws, least)) && !add_block(ws, bytes)) longjmp(ws->failed, 1);
        top = ws->top;
    }
    void *memory = top->memory + top->used;
    top->used += bytes;
    return memory;
}

#define TAKE(ws, type, n) ((type *)take(ws, (size_t)(n), sizeof(type)))

static mark here(const ef_workspace *ws) { return (mark){ws->top, ws->top ? ws->top->used : 0}; }

// Give back everything that was taken since the mark. Of the blocks added since then, the first one is kept.
static void release(ef_workspace *ws, mark m) {
    while (ws->top != m.top && ws->top->below != m.top) drop_block(ws);
    if (ws->top == m.top) {
        if (ws->top) ws->top->used = m.used;
    } else {
        ws->top->used = 0;
    }
}

// Start a call: everything is free again. Several blocks will be replaced by one that is as large as all of them.
static void restart(ef_workspace *ws) {
    if (ws->top && ws->top->below) {
        ws->needed = ws->total;
        while (ws->top) drop_block(ws);
    }
    if (ws->top) ws->top->used = 0;
}

static ef_workspace *workspace_new(uint64_t limit) {
    ef_workspace *ws = calloc(1, sizeof *ws);
    if (ws) ws->limit = limit;
    return ws;
}

static void workspace_free(ef_workspace *ws) {
    if (!ws) return;
    while (ws->top) drop_block(ws);
    free(ws);
}
