// One block at a time: its threads as fibers that change places where CUDA's threads may.
#include "cuda_host_block.h"
#include "cuda_pipeline_primitives.h"

#include "base/dialect.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <vector>

#if defined(SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

extern "C" {
extern char __start_cuda_host_shared[] __attribute__((weak));
extern char __stop_cuda_host_shared[] __attribute__((weak));
}

namespace {

enum { THREADS_MAX = 1024, STACK_BYTES = 256 << 10, GUARD_BYTES = 4 << 10, STRIDE = STACK_BYTES + GUARD_BYTES };

// What never returns leaves its frame's marks behind: it has none.
#define NO_MARKS __attribute__((no_sanitize("address")))

// -- changing stacks --

#if defined(__x86_64__)
typedef void *context;
extern "C" void cuda_host_switch(void **from, void *to);
asm(".text\n"
    ".type cuda_host_switch, @function\n"
    "cuda_host_switch:\n"
    "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
    "    ret\n"
    ".size cuda_host_switch, .-cuda_host_switch\n");
NO_MARKS void context_make(context *c, char *stack, void (*entry)(void))
{
    void **top = (void **)(stack + STACK_BYTES);
    *--top = nullptr; // the entry's return address: it never returns; keeps the stack as the ABI wants it at a function's start
    *--top = (void *)entry;
    for (int i = 0; i < 6; i++) *--top = nullptr;
    *c = top;
}
inline void context_switch(context *from, context *to) { cuda_host_switch(from, *to); }
#else
typedef ucontext_t context;
NO_MARKS void context_make(context *c, char *stack, void (*entry)(void))
{
    getcontext(c);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = STACK_BYTES;
    c->uc_link = nullptr;
    makecontext(c, entry, 0);
}
inline void context_switch(context *from, context *to) { swapcontext(from, to); }
#endif

// -- one block --

enum wait_kind { RUNS, WAITS_BLOCK, WAITS_WARP, ENDED };

struct copy {
    void *to;
    const void *from;
    size_t bytes, zeros;
    unsigned batch;
};

struct fiber {
    context at;
    void *fake_stack; // AddressSanitizer's
    uint3 index;
    wait_kind wait;
    int line;
    // what it brought to its warp, and got
    cuda_host_warp_op op;
    uint32_t mask;
    uint64_t value, result;
    unsigned from;
    // asynchronous copies
    std::vector<copy> copies;
    unsigned batch;
};

struct warp {
    uint32_t alive, waits;
};

struct {
    char *stacks;
    fiber fibers[THREADS_MAX];
    warp warps[THREADS_MAX / 32];
    uint16_t ready[THREADS_MAX];
    unsigned ready_count, count, now;
    // __syncthreads
    unsigned arrived, trues, trues_before;
    context host;
    void *host_fake;
    const void *host_stack;
    size_t host_stack_bytes;
    const std::function<void()> *thread;
    const char *name;
    cuda_host_random random;
    uint32_t bits; // of random, for frequent small choices
    unsigned bits_left;
    char *shared;
    std::string wrong;
    bool dirty; // fibers were left in the middle
} b;
thread_local bool in_kernel;

char *stack_of(unsigned t) { return b.stacks + (size_t)t * STRIDE + GUARD_BYTES; }

bool coin(unsigned log2) // true once in 2^log2
{
    if (b.bits_left < log2) {
        b.bits = (uint32_t)b.random.next();
        b.bits_left = 32;
    }
    const bool hit = (b.bits & ((1u << log2) - 1)) == 0;
    b.bits >>= log2;
    b.bits_left -= log2;
    return hit;
}

void before_switch(void **fake, const void *bottom, size_t bytes)
{
#if defined(SANITIZE_ADDRESS)
    __sanitizer_start_switch_fiber(fake, bottom, bytes);
#else
    (void)fake;
    (void)bottom;
    (void)bytes;
#endif
}
void after_switch(void *fake, const void **bottom, size_t *bytes)
{
#if defined(SANITIZE_ADDRESS)
    __sanitizer_finish_switch_fiber(fake, bottom, bytes);
#else
    (void)fake;
    (void)bottom;
    (void)bytes;
#endif
}

NO_MARKS __attribute__((noreturn)) void to_host(bool ended)
{
    fiber *f = &b.fibers[b.now];
    before_switch(ended ? nullptr : &f->fake_stack, b.host_stack, b.host_stack_bytes);
    context_switch(&f->at, &b.host);
    abort(); // not continued
}

// The running fiber stops here; another of those that can go on takes its place.
NO_MARKS void next(bool ended)
{
    fiber *f = &b.fibers[b.now];
    if (b.ready_count == 0) to_host(ended);
    const unsigned k = b.random.below(b.ready_count), t = b.ready[k];
    b.ready[k] = b.ready[--b.ready_count];
    if (t == b.now) return;
    b.now = t;
    threadIdx = b.fibers[t].index;
    before_switch(ended ? nullptr : &f->fake_stack, stack_of(t), STACK_BYTES);
    context_switch(&f->at, &b.fibers[t].at);
    after_switch(f->fake_stack, nullptr, nullptr);
}

void make_ready(unsigned t)
{
    b.fibers[t].wait = RUNS;
    b.ready[b.ready_count++] = (uint16_t)t;
}

const char *op_name(const fiber *f)
{
    static const char *const names[] = { "__syncwarp", "a shuffle", "a vote", "__match_any_sync", "__match_all_sync", "__reduce_add_sync", "__reduce_min_sync",
                                         "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync" };
    return names[f->op];
}

// What the threads of the block do, in runs of threads that do the same.
std::string where(void)
{
    std::string text;
    char line[200];
    for (unsigned t = 0; t < b.count;) {
        const fiber *f = &b.fibers[t];
        unsigned end = t + 1;
        while (end < b.count && b.fibers[end].wait == f->wait && (f->wait == ENDED || f->wait == RUNS || b.fibers[end].line == f->line) &&
               (f->wait != WAITS_WARP || (b.fibers[end].mask == f->mask && b.fibers[end].op == f->op)))
            end++;
        if (f->wait == WAITS_BLOCK) snprintf(line, sizeof line, "\n  threads %u to %u wait at __syncthreads, line %d", t, end - 1, f->line);
        else if (f->wait == WAITS_WARP) snprintf(line, sizeof line, "\n  threads %u to %u wait at %s, line %d, mask %08x", t, end - 1, op_name(f), f->line, f->mask);
        else snprintf(line, sizeof line, "\n  threads %u to %u %s", t, end - 1, f->wait == ENDED ? "have ended" : "run");
        text += line;
        t = end;
    }
    return text;
}

// For good: nothing on the fiber's stack may own memory.
__attribute__((noreturn)) void give_up(const char *what)
{
    b.wrong = what;
    b.wrong += where();
    b.ready_count = 0;
    to_host(false);
}

// The results of a warp's operation whose lanes are all there.
void warp_complete(unsigned w, uint32_t lanes)
{
    fiber *const f = &b.fibers[w * 32];
    const unsigned first = (unsigned)__builtin_ctz(lanes);
    for (uint32_t m = lanes; m; m &= m - 1) {
        const fiber *g = &f[__builtin_ctz(m)];
        if (g->op != f[first].op || g->line != f[first].line || g->mask != f[first].mask) give_up("lanes of one warp meet at different calls:");
    }
    uint64_t all = 0;
    bool begun = false;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        const uint64_t v = f[lane].value;
        const uint32_t x = (uint32_t)all, y = (uint32_t)v;
        switch (f[first].op) {
        case CUDA_HOST_BALLOT: all |= (uint64_t)(v != 0) << lane; break;
        case CUDA_HOST_MATCH_ALL: all |= (uint64_t)(v == f[first].value) << lane; break;
        case CUDA_HOST_ADD: all = (uint32_t)(x + y); break;
        case CUDA_HOST_MIN: all = !begun || y < x ? y : x; break;
        case CUDA_HOST_MAX: all = !begun || y > x ? y : x; break;
        case CUDA_HOST_MIN_SIGNED: all = !begun || (int32_t)y < (int32_t)x ? y : x; break;
        case CUDA_HOST_MAX_SIGNED: all = !begun || (int32_t)y > (int32_t)x ? y : x; break;
        case CUDA_HOST_AND: all = begun ? x & y : y; break;
        case CUDA_HOST_OR: all = x | y; break;
        case CUDA_HOST_XOR: all = x ^ y; break;
        default: break;
        }
        begun = true;
    }
    if (f[first].op == CUDA_HOST_MATCH_ALL && all != lanes) all = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        fiber *g = &f[__builtin_ctz(m)];
        switch (g->op) {
        case CUDA_HOST_SHUFFLE: // a lane that does not take part gives anything
            g->result = g->from < 32 && lanes >> g->from & 1 ? f[g->from].value : b.random.next();
            break;
        case CUDA_HOST_MATCH_ANY:
            g->result = 0;
            for (uint32_t n = lanes; n; n &= n - 1) g->result |= (uint64_t)(f[__builtin_ctz(n)].value == g->value) << __builtin_ctz(n);
            break;
        default: g->result = all;
        }
    }
    b.warps[w].waits &= ~lanes;
}

void copies_make(fiber *f, unsigned batches_left)
{
    size_t kept = 0;
    for (const copy &c : f->copies) {
        if (c.batch + batches_left >= f->batch) {
            f->copies[kept++] = c;
            continue;
        }
        memcpy(c.to, c.from, c.bytes - c.zeros);
        memset((char *)c.to + c.bytes - c.zeros, 0, c.zeros);
    }
    f->copies.resize(kept);
}

void fiber_begin(void)
{
    const void *bottom = nullptr;
    size_t bytes = 0;
    after_switch(nullptr, &bottom, &bytes);
    if (b.host_stack_bytes) return;
    b.host_stack = bottom; // the first fiber of a grid comes from there
    b.host_stack_bytes = bytes;
}

void fiber_end(void)
{
    fiber *f = &b.fibers[b.now];
    f->wait = ENDED;
    copies_make(f, 0);
    warp *w = &b.warps[b.now / 32];
    w->alive &= ~(1u << (b.now & 31));
    // lanes that waited for this one, among others
    for (uint32_t m = w->waits; m; m &= m - 1) {
        const unsigned first = b.now & ~31u;
        const uint32_t lanes = b.fibers[first + (unsigned)__builtin_ctz(m)].mask & w->alive;
        if ((w->waits & lanes) != lanes) continue;
        warp_complete(b.now / 32, lanes);
        for (uint32_t n = lanes; n; n &= n - 1) make_ready(first + (unsigned)__builtin_ctz(n));
        m = (m & ~lanes) | (m & (0u - m)); // without those; the lowest goes now
    }
}

NO_MARKS void fiber_main(void)
{
    fiber_begin();
    (*b.thread)();
    fiber_end();
    next(true);
    abort(); // nobody goes back to a fiber that has ended
}

void stacks_make(void)
{
    if (b.stacks) return;
    void *p = mmap(nullptr, (size_t)THREADS_MAX * STRIDE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) abort();
    b.stacks = (char *)p;
    for (unsigned t = 0; t < THREADS_MAX; t++) mprotect(b.stacks + (size_t)t * STRIDE, GUARD_BYTES, PROT_NONE);
}

void run_block(dim3 block)
{
    b.ready_count = 0;
    b.arrived = b.trues = 0;
    memset(b.warps, 0, sizeof b.warps);
    for (unsigned t = 0; t < b.count; t++) {
        fiber *f = &b.fibers[t];
        f->index = { t % block.x, t / block.x % block.y, t / (block.x * block.y) };
        f->fake_stack = nullptr;
        f->copies.clear();
        f->batch = 0;
        context_make(&f->at, stack_of(t), fiber_main);
        b.warps[t / 32].alive |= 1u << (t & 31);
        make_ready(t);
    }
    const unsigned k = b.random.below(b.count), t = b.ready[k];
    b.ready[k] = b.ready[--b.ready_count];
    b.now = t;
    threadIdx = b.fibers[t].index;
    before_switch(&b.host_fake, stack_of(t), STACK_BYTES);
    context_switch(&b.host, &b.fibers[t].at);
    after_switch(b.host_fake, nullptr, nullptr);
    if (b.wrong.empty())
        for (unsigned i = 0; i < b.count; i++)
            if (b.fibers[i].wait != ENDED) {
                b.wrong = "threads wait for each other for ever:" + where();
                break;
            }
#if defined(SANITIZE_ADDRESS)
    if (!b.wrong.empty()) __asan_unpoison_memory_region(b.stacks, (size_t)THREADS_MAX * STRIDE); // frames that nobody will leave
#endif
}

unsigned gcd(unsigned x, unsigned y) { return y ? gcd(y, x % y) : x; }

} // namespace

// -- what kernels call --

unsigned cuda_host_lane(void) { return b.now & 31; }

uint64_t cuda_host_warp(cuda_host_warp_op op, int line, uint32_t mask, uint64_t value, unsigned from)
{
    fiber *f = &b.fibers[b.now];
    warp *w = &b.warps[b.now / 32];
    f->op = op;
    f->line = line;
    f->mask = mask;
    f->value = value;
    f->from = from;
    f->wait = WAITS_WARP;
    w->waits |= 1u << (b.now & 31);
    if (!(mask >> (b.now & 31) & 1)) give_up("a lane calls with a mask that leaves it out:");
    const uint32_t lanes = mask & w->alive;
    if ((w->waits & lanes) == lanes) {
        warp_complete(b.now / 32, lanes);
        for (uint32_t n = lanes & ~(1u << (b.now & 31)); n; n &= n - 1) make_ready(b.now / 32 * 32 + (unsigned)__builtin_ctz(n));
        f->wait = RUNS;
        if (coin(2)) return f->result; // the last to come goes on, sometimes
        make_ready(b.now);
    }
    next(false);
    return f->result;
}

unsigned cuda_host_block(int line, bool value)
{
    fiber *f = &b.fibers[b.now];
    b.trues += value;
    if (++b.arrived == b.count) { // all threads of the block: one that has ended is missed
        b.trues_before = b.trues;
        b.arrived = b.trues = 0;
        for (unsigned t = 0; t < b.count; t++) {
            if (t != b.now && b.fibers[t].line != line) {
                f->wait = WAITS_BLOCK;
                f->line = line;
                give_up("threads meet at different __syncthreads:");
            }
            make_ready(t);
        }
    } else {
        f->wait = WAITS_BLOCK;
        f->line = line;
    }
    next(false);
    return b.trues_before;
}

void cuda_host_atomic(void)
{
    if (!coin(3)) return;
    make_ready(b.now);
    next(false);
}

void *cuda_host_dynamic_shared(void) { return b.shared; }

void cuda_host_trap(const char *what) { give_up(what); }

void cuda_host_copy_async(void *to, const void *from, size_t bytes, size_t zeros)
{
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes || (uintptr_t)to % bytes || (uintptr_t)from % bytes)
        give_up("an asynchronous copy of a size or alignment that does not exist:");
    fiber *f = &b.fibers[b.now];
    f->copies.push_back({ to, from, bytes, zeros, f->batch });
}
void cuda_host_copy_commit(void) { b.fibers[b.now].batch++; }
void cuda_host_copy_wait(unsigned batches_left) { copies_make(&b.fibers[b.now], batches_left); }

bool cuda_host_in_kernel(void) { return in_kernel; }

// -- what the queues call --

std::string cuda_host_run_grid(const char *name, dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()> &thread, uint64_t seed)
{
    stacks_make();
    b.random.state = seed;
    b.count = block.x * block.y * block.z;
    b.thread = &thread;
    b.name = name;
    b.wrong.clear();
    b.host_stack_bytes = 0;
    void *shared = nullptr; // of exactly this size, so that AddressSanitizer sees its ends
    if (posix_memalign(&shared, 16, shared_bytes ? shared_bytes : 1) != 0) abort();
    b.shared = (char *)shared;
    blockDim = block;
    gridDim = grid;
    in_kernel = true;
    // every block once, in steps of a number that shares no factor with their count
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    unsigned step = 1;
    if (blocks > 1)
        do step = 1 + b.random.below((unsigned)blocks);
        while (gcd(step, (unsigned)blocks) != 1);
    uint64_t at = b.random.below((unsigned)blocks);
    for (uint64_t i = 0; i < blocks && b.wrong.empty(); i++, at = (at + step) % blocks) {
        blockIdx = { (unsigned)(at % grid.x), (unsigned)(at / grid.x % grid.y), (unsigned)(at / ((uint64_t)grid.x * grid.y)) };
        const int garbage = 1 + (int)b.random.below(255);
        memset(b.shared, garbage, shared_bytes);
        // all arrays of all kernels: too many bytes for every block of a large grid
        if ((i < 4 || coin(3)) && __start_cuda_host_shared) memset(__start_cuda_host_shared, garbage, (size_t)(__stop_cuda_host_shared - __start_cuda_host_shared));
        run_block(block);
    }
    in_kernel = false;
    free(shared);
    if (b.wrong.empty()) return b.wrong;
    char place[200];
    snprintf(place, sizeof place, "%s, block (%u, %u, %u) of (%u, %u, %u), %u threads: ", name, blockIdx.x, blockIdx.y, blockIdx.z, grid.x, grid.y, grid.z, b.count);
    return place + b.wrong;
}
