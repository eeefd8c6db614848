/* A circuit image's witness on the device: the strands of r1cs/image_program.h, then the bits of the calls that they ran natively.
 * BLS12-381.
 *
 * A strand is a block of one warp: long operations take the warp, groups of short ones an operation a lane.  Prologues have nothing but
 * short ones and take a wide block.
 * Predicted for a 32 GiB partition on an H200: 20 us prologues, 80 us labels, 1.1 ms columns' and nodes' paths (eleven Poseidons, one
 * behind the other), 0.15 ms bits (5,040 calls of 750 operations, 32 calls a warp; 16 MB written). */
#include "field/params_bls12_381.h"

#define FE       fr
#define FE_UPPER BLS12_381_FR
#include "backend/cuda/fe_device.inc.h"

#include "backend/cuda/assign_kernels.h"
#include "backend/cuda/launch.h"
#include "hash/sha256_compress.h"

#include "backend/cuda/fe_device_names.h"

#define WARP 32
#define WIDE 256 /* threads of a block that has a prologue */
#define ALL  0xffffffffu

#define DEVICE static __device__ __forceinline__

#include "backend/cuda/assign_words.inc.cuh"
#include "backend/cuda/assign_poseidon.inc.cuh"

/* A scope while one of its strands runs. */
struct scope_view {
    struct program_scope at;
    uint32_t *words;
};

DEVICE uint8_t *number_at(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, uint32_t slot)
{
    const uint32_t i = slot & NUMBER_IMPORT ? m->imports[s->at.import_numbers + (slot & ~NUMBER_IMPORT)] : s->at.number + slot;
    return (uint8_t *)v->numbers + (size_t)i * sizeof(fe_t);
}

DEVICE void read_number(fe_t *r, const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, uint32_t slot)
{
    fe_read(r, number_at(m, v, s, slot), 1);
}

DEVICE void write_number(const struct assign_view *v, const struct scope_view *s, uint32_t slot, const fe_t *x)
{
    fe_write((uint8_t *)v->numbers + (size_t)(s->at.number + slot) * sizeof(fe_t), x, 1);
}

/* -- short operations -- */

DEVICE void op_source(const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    fe_t x, canonical;
    fe_read(&x, (const uint8_t *)v->source_numbers + (size_t)(s->at.source_number + op->s.a) * sizeof(fe_t), 1);
    canonical = x;
    fe_canon_once(&canonical); /* of any 256-bit number: subtracts the modulus if that can be */
    bool below = true;
    UNROLL for (int i = 0; i < 8; i++) below = below && canonical.v[i] == x.v[i];
    if (!below) atomicOr(v->flags, (uint32_t)ASSIGN_BAD_NUMBER);
    write_number(v, s, op->number, &x);
}

DEVICE void op_index(const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    const uint32_t x = v->source_words[s->at.source_word + op->s.a], bits = op->s.count < 32 ? x & ((1u << op->s.count) - 1) : x;
    if (bits != x) atomicOr(v->flags, (uint32_t)ASSIGN_BAD_INDEX);
    s->words[op->s.dst] = x;
    emit(v->bits, s->at.aux + op->aux, bits);
}

DEVICE void op_to_bits(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    fe_t x;
    read_number(&x, m, v, s, op->s.a);
    UNROLL for (int i = 0; i < 8; i++) {
        s->words[op->s.dst + i] = x.v[i];
        emit(v->bits, s->at.aux + op->aux + 32 * i, i < 7 ? x.v[i] : x.v[i] & 0x7fffffffu);
    }
}

DEVICE void op_pack(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    fe_t x;
    UNROLL for (uint32_t i = 0; i < 8; i++) {
        const uint32_t width = op->s.c > 32 * i ? op->s.c - 32 * i : 0;
        const uint32_t word = i < op->s.count ? s->words[m->arguments[op->s.a + i]] : 0;
        x.v[i] = width >= 32 ? word : word & ((1u << width) - 1);
    }
    write_number(v, s, op->number, &x);
}

DEVICE void op_pack_input(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    uint8_t *to = (uint8_t *)v->inputs + (size_t)(s->at.input + op->s.dst) * sizeof(fe_t);
    uint32_t *words = (uint32_t *)to, at = 0, fill = 0;
    uint64_t pending = 0;
    for (uint32_t i = 0; i < op->s.count; i++) {
        const uint32_t argument = m->arguments[op->s.a + i], width = argument >> 24;
        const uint64_t bits = s->words[argument & 0xffffff] & (((uint64_t)1 << width) - 1);
        pending |= bits << fill;
        fill += width;
        if (fill < 32) continue;
        words[at++] = (uint32_t)pending;
        pending >>= 32;
        fill -= 32;
    }
    if (at < 8) words[at++] = (uint32_t)pending; /* others are zero already */
}

DEVICE void op_input(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    fe_t x;
    read_number(&x, m, v, s, op->s.a);
    fe_write((uint8_t *)v->inputs + (size_t)(s->at.input + op->s.dst) * sizeof(fe_t), &x, 1);
}

DEVICE void op_sum(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    fe_t x, y; /* addition modulo r is the same on plain integers */
    read_number(&x, m, v, s, op->s.a);
    read_number(&y, m, v, s, op->s.b);
    fe_add(&x, &x, &y);
    fe_canon_once(&x);
    write_number(v, s, op->number, &x);
}

DEVICE void op_pick(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    fe_t x;
    read_number(&x, m, v, s, s->words[op->s.dst] >> op->s.c & 1 ? op->s.a : op->s.b);
    write_number(v, s, op->number, &x);
}

DEVICE void op_add(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    uint64_t sum = (uint64_t)op->s.negate << 32 | op->s.c;
    for (uint32_t i = 0; i < op->s.count; i++) sum += s->words[m->arguments[op->s.a + i]];
    s->words[op->s.dst] = (uint32_t)sum;
    emit(v->bits, s->at.aux + op->aux, sum);
}

DEVICE void op_words(const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    const uint32_t code = op->s.code, third = code == STEP_CH || code == STEP_MAJ ? s->words[op->s.c] : 0;
    uint64_t bits;
    s->words[op->s.dst] = word_result(code, op->s.rotate & 0xff, op->s.rotate >> 8, code == STEP_AND && op->s.c, s->words[op->s.a],
                                      s->words[op->s.b], third, op->s.negate, op->s.mask, &bits);
    emit(v->bits, s->at.aux + op->aux, bits);
}

DEVICE void run_short(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, const struct program_op *op)
{
    switch (op->s.code) {
    case STEP_CONST: s->words[op->s.dst] = op->s.a; break;
    case STEP_BSWAP: s->words[op->s.dst] = __byte_perm(s->words[op->s.a], 0, 0x0123); break;
    case STEP_ADD: op_add(m, v, s, op); break;
    case STEP_SOURCE: op_source(v, s, op); break;
    case STEP_INDEX: op_index(v, s, op); break;
    case STEP_TO_BITS: op_to_bits(m, v, s, op); break;
    case STEP_PACK: op_pack(m, v, s, op); break;
    case STEP_SUM: op_sum(m, v, s, op); break;
    case STEP_PICK: op_pick(m, v, s, op); break;
    case STEP_INPUT: op_input(m, v, s, op); break;
    case STEP_PACK_INPUT: op_pack_input(m, v, s, op); break;
    case PROGRAM_IMPORT: s->words[op->s.dst] = v->words[m->imports[s->at.import_words + op->s.a]]; break;
    default: op_words(v, s, op); break;
    }
}

/* -- long operations, by a warp -- */

static __device__ __noinline__ void run_poseidon(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s,
                                                 const struct program_op *op, fe_t *exchange, fe_t *trace)
{
    const struct assign_poseidon *p = m->poseidons + op->s.count;
    struct poseidon_run c;
    fe_t in;
    c.exchange = exchange;
    c.trace = trace;
    c.lane = threadIdx.x;
    c.width = p->width;
    c.out = (uint8_t *)v->numbers + (size_t)(s->at.number + op->number) * sizeof(fe_t);
    fe_set_zero(&in);
    if (c.lane == 0) in.v[0] = (1u << op->s.count) - 1; /* the tag of Merkle nodes and columns */
    else if (c.lane < c.width) read_number(&in, m, v, s, m->arguments[op->s.a + c.lane - 1]);
    poseidon_trace(&c, &in, p, m->constants);
}

/* Every lane computes the same, since the lanes have nothing else to do. */
static __device__ __noinline__ void run_sha256(const struct assign_tables *m, const struct scope_view *s, const struct program_op *op)
{
    const uint32_t constants[64] = SHA256_ROUND_CONSTANTS, *arguments = m->arguments + op->s.a;
    uint32_t state[8], block[16];
    UNROLL for (int i = 0; i < 8; i++) state[i] = s->words[arguments[i]];
    UNROLL for (int i = 0; i < 16; i++) block[i] = s->words[arguments[8 + i]];
    sha256_compress(state, block, constants);
    UNROLL for (uint32_t i = 0; i < 8; i++)
        if (threadIdx.x == i) s->words[op->s.dst + i] = state[i];
}

/* A function without a native one runs with its bits, on one lane. */
DEVICE void run_call(const struct assign_tables *m, const struct assign_view *v, const struct scope_view *s, const struct program_op *op,
                     uint32_t *registers)
{
    const struct word_function *f = m->functions + op->s.b;
    if (f->native == WORD_NATIVE_SHA256) {
        run_sha256(m, s, op);
        return;
    }
    if (threadIdx.x > 0) return;
    struct bit_writer w;
    for (uint32_t i = 0; i < f->argument_count; i++) registers[i] = s->words[m->arguments[op->s.a + i]];
    writer_start(&w, v->bits, s->at.aux + op->aux);
    run_function(m, f, registers, 1, &w);
    writer_end(&w);
    for (uint32_t i = 0; i < f->result_count; i++) s->words[op->s.dst + i] = registers[m->arguments[f->first_result + i]];
}

static __global__ void __launch_bounds__(WIDE) k_strands(struct assign_tables m, struct assign_view v, uint32_t first_item)
{
    __shared__ fe_t exchange[WARP], trace[TRACE_ROOM];
    SHARED_DYNAMIC(uint32_t, registers);
    const struct program_item item = m.items[first_item + blockIdx.x];
    const struct program_strand strand = m.strands[item.strand];
    struct scope_view s;
    s.at = m.scopes[item.scope];
    s.words = v.words + s.at.word;
    for (uint32_t g = strand.first_group; g < strand.first_group + strand.group_count; g++) {
        const struct program_group group = m.groups[g];
        const struct program_op *op = m.ops + group.first_op;
        const uint32_t code = op->s.code;
        if (code == STEP_POSEIDON || code == STEP_CALL) {
            if (threadIdx.x < WARP) {
                if (code == STEP_POSEIDON) run_poseidon(&m, &v, &s, op, exchange, trace);
                else run_call(&m, &v, &s, op, registers);
            }
        } else {
            for (uint32_t i = threadIdx.x; i < group.op_count; i += blockDim.x) run_short(&m, &v, &s, op + i);
        }
        __syncthreads();
    }
}

/* A call a lane, 32 of one function a warp. */
static __global__ void __launch_bounds__(WARP) k_call_bits(struct assign_tables m, struct assign_view v)
{
    SHARED_DYNAMIC(uint32_t, lanes);
    const struct program_job *jobs = m.jobs + (size_t)blockIdx.x * JOB_LANES;
    const struct word_function f = m.functions[m.ops[jobs[0].op].s.b];
    const struct program_job job = jobs[threadIdx.x];
    uint32_t *registers = lanes + threadIdx.x;
    if (job.op == UINT32_MAX) return;
    const struct program_op *op = m.ops + job.op;
    const struct program_scope at = m.scopes[job.scope];
    const uint32_t *words = v.words + at.word;
    struct bit_writer w;
    for (uint32_t i = 0; i < f.argument_count; i++) registers[i * WARP] = words[m.arguments[op->s.a + i]];
    writer_start(&w, v.bits, at.aux + op->aux);
    run_function(&m, &f, registers, WARP, &w);
    writer_end(&w);
    bool same = true;
    for (uint32_t i = 0; i < f.result_count; i++)
        same = same && registers[m.arguments[f.first_result + i] * WARP] == words[op->s.dst + i];
    if (!same) atomicOr(v.flags, (uint32_t)ASSIGN_NOT_NATIVE);
}

extern "C" int assign_strands(const struct assign_tables *m, const struct assign_view *v, uint32_t first, uint32_t count, int wide,
                              unsigned function_registers, void *stream)
{
    LAUNCH(k_strands, count, wide ? WIDE : WARP, function_registers * sizeof(uint32_t), stream)(*m, *v, first);
    return cudaGetLastError();
}

extern "C" int assign_call_bits(const struct assign_tables *m, const struct assign_view *v, uint32_t job_count, unsigned function_registers,
                                void *stream)
{
    LAUNCH(k_call_bits, job_count / JOB_LANES, WARP, function_registers * WARP * sizeof(uint32_t), stream)(*m, *v);
    return cudaGetLastError();
}
