/* Montgomery products, sums and differences of four and six words with mulx, adcx and adox: two carry chains run side by side.
 *
 * The same values as fe_mul_ref, fe_add_ref and fe_sub_ref, word for word.  Each round adds one row a * b[i] to t, then m p with m = -t/p mod 2^64, and drops the
 * word that became zero; with p's top bit clear the row's last carry fits in one word (Botrel, El Housni, ePrint 2022/1400,
 * alg. 2).  Only for CPUs where field_cpu_has_adx() is true; call sites choose by compiling twice (README.md). */
#ifndef CUZK_FIELD_X86_64_MONT_ADX_H
#define CUZK_FIELD_X86_64_MONT_ADX_H

#include "base/dialect.h"

/* What the assembly of four words reads is named to the compiler; without optimisation that would take registers of its own, so there
 * it claims all memory instead.  Six words always do: 13 registers are taken, and frame and base pointers may be two more. */
#if defined(__OPTIMIZE__)
#define ADX_READS(a, b)  , "m"(*(const uint64_t(*)[4])(a)), "m"(*(const uint64_t(*)[4])(b))
#define ADX_READS2(a, b) , "m"(*(const uint64_t(*)[8])(a)), "m"(*(const uint64_t(*)[8])(b))
#define ADX_CLOBBERS
#else
#define ADX_READS(a, b)
#define ADX_READS2(a, b)
#define ADX_CLOBBERS , "memory"
#endif

/* Operands: addresses of a, b, p (p followed by -1/p mod 2^64), t in registers, hi and lo scratch, the multiplier in rdx.
 * OF carries the sums of low halves, CF those of high halves. */

/* t = a * b[0], the word above in hi */
#define ADX_ROW_START "movq (%[b]), %%rdx\n\tmulxq (%[a]), %[t0], %[t1]\n\t"
#define ADX_FIRST(op, at, below, above)                                                                                \
    "mulxq " at "(%[a]), %[lo], " above "\n\t" op " %[lo], " below "\n\t"

/* t += a * b[i], the word above in hi */
#define ADX_ROW_LOW(a0, bi)                                                                                            \
    "movq " bi "(%[b]), %%rdx\n\txorl %k[lo], %k[lo]\n\t"                                                               \
    "mulxq " a0 "(%[a]), %[lo], %[hi]\n\tadoxq %[lo], %[t0]\n\t"
#define ADX_ROW(at, t) "adcxq %[hi], " t "\n\tmulxq " at "(%[a]), %[lo], %[hi]\n\tadoxq %[lo], " t "\n\t"
#define ADX_ROW_END    "movl $0, %k[lo]\n\tadcxq %[lo], %[hi]\n\tadoxq %[lo], %[hi]\n\t"

/* (hi, t) = (t + m p) / 2^64 */
#define ADX_REDUCE_LOW(inv)                                                                                            \
    "movq " inv "(%[p]), %%rdx\n\timulq %[t0], %%rdx\n\txorl %k[lo], %k[lo]\n\t"                                        \
    "mulxq (%[p]), %[lo], %[next]\n\tadcxq %[t0], %[lo]\n\tmovq %[next], %[t0]\n\t"
#define ADX_REDUCE(at, t, above) "adcxq " above ", " t "\n\tmulxq " at "(%[p]), %[lo], " above "\n\tadoxq %[lo], " t "\n\t"
#define ADX_REDUCE_END(top)      "movl $0, %k[lo]\n\tadcxq %[lo], " top "\n\tadoxq %[hi], " top "\n\t"

#define ADX4_START                                                                                                     \
    ADX_ROW_START ADX_FIRST("addq", "8", "%[t1]", "%[t2]") ADX_FIRST("adcq", "16", "%[t2]", "%[t3]")                   \
    ADX_FIRST("adcq", "24", "%[t3]", "%[hi]") "adcq $0, %[hi]\n\t"
#define ADX4_ROW(a0, bi)                                                                                               \
    ADX_ROW_LOW(a0, bi) ADX_ROW(a0 "+8", "%[t1]") ADX_ROW(a0 "+16", "%[t2]") ADX_ROW(a0 "+24", "%[t3]") ADX_ROW_END
#define ADX4_REDUCE                                                                                                    \
    ADX_REDUCE_LOW("32") ADX_REDUCE("8", "%[t0]", "%[t1]") ADX_REDUCE("16", "%[t1]", "%[t2]")                          \
    ADX_REDUCE("24", "%[t2]", "%[t3]") ADX_REDUCE_END("%[t3]")
#define ADX4_ROUND(bi) ADX4_ROW("0", bi) ADX4_REDUCE

#define ADX6_START                                                                                                     \
    ADX_ROW_START ADX_FIRST("addq", "8", "%[t1]", "%[t2]") ADX_FIRST("adcq", "16", "%[t2]", "%[t3]")                   \
    ADX_FIRST("adcq", "24", "%[t3]", "%[t4]") ADX_FIRST("adcq", "32", "%[t4]", "%[t5]")                                \
    ADX_FIRST("adcq", "40", "%[t5]", "%[hi]") "adcq $0, %[hi]\n\t"
#define ADX6_ROW(a0, bi)                                                                                               \
    ADX_ROW_LOW(a0, bi) ADX_ROW(a0 "+8", "%[t1]") ADX_ROW(a0 "+16", "%[t2]") ADX_ROW(a0 "+24", "%[t3]")                \
    ADX_ROW(a0 "+32", "%[t4]") ADX_ROW(a0 "+40", "%[t5]") ADX_ROW_END
#define ADX6_REDUCE                                                                                                    \
    ADX_REDUCE_LOW("48") ADX_REDUCE("8", "%[t0]", "%[t1]") ADX_REDUCE("16", "%[t1]", "%[t2]")                          \
    ADX_REDUCE("24", "%[t2]", "%[t3]") ADX_REDUCE("32", "%[t3]", "%[t4]") ADX_REDUCE("40", "%[t4]", "%[t5]")           \
    ADX_REDUCE_END("%[t5]")
#define ADX6_ROUND(bi) ADX6_ROW("0", bi) ADX6_REDUCE

/* The second row of a round with two: its top word is added to the first's. */
#define ADX_SECOND(row) "movq %[hi], %[next]\n\t" row "addq %[next], %[hi]\n\t"
#define ADX4_SECOND(bi) ADX_SECOND(ADX4_ROW("32", bi)) ADX4_REDUCE
#define ADX6_SECOND(bi) ADX_SECOND(ADX6_ROW("48", bi)) ADX6_REDUCE

/* t minus p if that is not negative */
#define ADX_MINUS(op, t, s, at) "movq " t ", " s "\n\t" op " " at "(%[p]), " s "\n\t"
#define ADX_KEEP(t, s)          "cmovncq " s ", " t "\n\t"
#define ADX4_FINISH                                                                                                    \
    ADX_MINUS("subq", "%[t0]", "%[s0]", "0") ADX_MINUS("sbbq", "%[t1]", "%[s1]", "8")                                  \
    ADX_MINUS("sbbq", "%[t2]", "%[s2]", "16") ADX_MINUS("sbbq", "%[t3]", "%[s3]", "24")                                \
    ADX_KEEP("%[t0]", "%[s0]") ADX_KEEP("%[t1]", "%[s1]") ADX_KEEP("%[t2]", "%[s2]") ADX_KEEP("%[t3]", "%[s3]")
#define ADX6_FINISH                                                                                                    \
    ADX_MINUS("subq", "%[t0]", "%[s0]", "0") ADX_MINUS("sbbq", "%[t1]", "%[s1]", "8")                                  \
    ADX_MINUS("sbbq", "%[t2]", "%[s2]", "16") ADX_MINUS("sbbq", "%[t3]", "%[s3]", "24")                                \
    ADX_MINUS("sbbq", "%[t4]", "%[s4]", "32") ADX_MINUS("sbbq", "%[t5]", "%[s5]", "40")                                \
    ADX_KEEP("%[t0]", "%[s0]") ADX_KEEP("%[t1]", "%[s1]") ADX_KEEP("%[t2]", "%[s2]") ADX_KEEP("%[t3]", "%[s3]")        \
    ADX_KEEP("%[t4]", "%[s4]") ADX_KEEP("%[t5]", "%[s5]")

#define ADX_FN static inline __attribute__((always_inline, unused)) void

ADX_FN adx4_finish(uint64_t *r, uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3, const uint64_t (*p)[5])
{
    uint64_t s0, s1, s2, s3;
    __asm__(ADX4_FINISH
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2),
              [s3] "=&r"(s3)
            : [p] "r"(*p)
            : "cc");
    r[0] = t0;
    r[1] = t1;
    r[2] = t2;
    r[3] = t3;
}

ADX_FN adx6_finish(uint64_t *r, uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3, uint64_t t4, uint64_t t5,
                   const uint64_t (*p)[7])
{
    uint64_t s0, s1, s2, s3, s4, s5;
    __asm__(ADX6_FINISH
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5), [s0] "=&r"(s0),
              [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [s4] "=&r"(s4), [s5] "=&r"(s5)
            : [p] "r"(*p)
            : "cc");
    r[0] = t0;
    r[1] = t1;
    r[2] = t2;
    r[3] = t3;
    r[4] = t4;
    r[5] = t5;
}

/* r = a b / 2^256 mod p.  In: a, b < p, or < 2p where 4p < 2^256; p[4] = -1/p mod 2^64. */
ADX_FN mont_mul4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t (*p)[5])
{
    uint64_t t0, t1, t2, t3, hi, lo, next;
    __asm__(ADX4_START ADX4_REDUCE ADX4_ROUND("8") ADX4_ROUND("16") ADX4_ROUND("24")
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [hi] "=&r"(hi), [lo] "=&r"(lo), [next] "=&r"(next)
            : [a] "r"(a), [b] "r"(b), [p] "r"(*p) ADX_READS(a, b)
            : "rdx", "cc" ADX_CLOBBERS);
    adx4_finish(r, t0, t1, t2, t3, p);
}

/* r = a b / 2^384 mod p.  In: a, b < p, or < 2p where 4p < 2^384; p[6] = -1/p mod 2^64. */
ADX_FN mont_mul6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t (*p)[7])
{
    uint64_t t0, t1, t2, t3, t4, t5, hi, lo, next;
    __asm__(ADX6_START ADX6_REDUCE ADX6_ROUND("8") ADX6_ROUND("16") ADX6_ROUND("24") ADX6_ROUND("32") ADX6_ROUND("40")
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5), [hi] "=&r"(hi),
              [lo] "=&r"(lo), [next] "=&r"(next)
            : [a] "r"(a), [b] "r"(b), [p] "r"(*p)
            : "rdx", "cc", "memory");
    adx6_finish(r, t0, t1, t2, t3, t4, t5, p);
}

/* r = (a[0..3] b[0..3] + a[4..7] b[4..7]) / 2^256 mod p: one reduction for two products.  In: all four <= p, 4p < 2^256, so that
 * rounds stay below 4p 2^64 and the sum below 2p. */
ADX_FN mont_dot4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t (*p)[5])
{
    uint64_t t0, t1, t2, t3, hi, lo, next;
    __asm__(ADX4_START ADX4_SECOND("32") ADX4_ROW("0", "8") ADX4_SECOND("40") ADX4_ROW("0", "16") ADX4_SECOND("48")
                ADX4_ROW("0", "24") ADX4_SECOND("56")
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [hi] "=&r"(hi), [lo] "=&r"(lo), [next] "=&r"(next)
            : [a] "r"(a), [b] "r"(b), [p] "r"(*p) ADX_READS2(a, b)
            : "rdx", "cc" ADX_CLOBBERS);
    adx4_finish(r, t0, t1, t2, t3, p);
}

/* r = (a[0..5] b[0..5] + a[6..11] b[6..11]) / 2^384 mod p.  In: all four <= p, 4p < 2^384. */
ADX_FN mont_dot6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t (*p)[7])
{
    uint64_t t0, t1, t2, t3, t4, t5, hi, lo, next;
    __asm__(ADX6_START ADX6_SECOND("48") ADX6_ROW("0", "8") ADX6_SECOND("56") ADX6_ROW("0", "16") ADX6_SECOND("64")
                ADX6_ROW("0", "24") ADX6_SECOND("72") ADX6_ROW("0", "32") ADX6_SECOND("80") ADX6_ROW("0", "40") ADX6_SECOND("88")
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5), [hi] "=&r"(hi),
              [lo] "=&r"(lo), [next] "=&r"(next)
            : [a] "r"(a), [b] "r"(b), [p] "r"(*p)
            : "rdx", "cc", "memory");
    adx6_finish(r, t0, t1, t2, t3, t4, t5, p);
}

/* r = a + b mod p.  In: a, b < p. */
ADX_FN mont_add4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t (*p)[5])
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    __asm__("addq %[b0], %[t0]\n\tadcq %[b1], %[t1]\n\tadcq %[b2], %[t2]\n\tadcq %[b3], %[t3]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3)
            : [b0] "rm"(b[0]), [b1] "rm"(b[1]), [b2] "rm"(b[2]), [b3] "rm"(b[3])
            : "cc");
    adx4_finish(r, t0, t1, t2, t3, p);
}

/* r = a - b mod p.  In: a, b < p. */
ADX_FN mont_sub4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t (*p)[5])
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], s0 = (*p)[0], s1 = (*p)[1], s2 = (*p)[2], s3 = (*p)[3], zero = 0;
    __asm__("subq %[b0], %[t0]\n\tsbbq %[b1], %[t1]\n\tsbbq %[b2], %[t2]\n\tsbbq %[b3], %[t3]\n\t"
            "cmovncq %[zero], %[s0]\n\tcmovncq %[zero], %[s1]\n\tcmovncq %[zero], %[s2]\n\tcmovncq %[zero], %[s3]\n\t"
            "addq %[s0], %[t0]\n\tadcq %[s1], %[t1]\n\tadcq %[s2], %[t2]\n\tadcq %[s3], %[t3]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2),
              [s3] "+&r"(s3)
            : [b0] "m"(b[0]), [b1] "m"(b[1]), [b2] "m"(b[2]), [b3] "m"(b[3]), [zero] "r"(zero)
            : "cc");
    r[0] = t0;
    r[1] = t1;
    r[2] = t2;
    r[3] = t3;
}

ADX_FN mont_add6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t (*p)[7])
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    __asm__("addq (%[b]), %[t0]\n\tadcq 8(%[b]), %[t1]\n\tadcq 16(%[b]), %[t2]\n\tadcq 24(%[b]), %[t3]\n\t"
            "adcq 32(%[b]), %[t4]\n\tadcq 40(%[b]), %[t5]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5)
            : [b] "r"(b)
            : "cc", "memory");
    adx6_finish(r, t0, t1, t2, t3, t4, t5, p);
}

ADX_FN mont_sub6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t (*p)[7])
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5], mask;
    __asm__("subq (%[b]), %[t0]\n\tsbbq 8(%[b]), %[t1]\n\tsbbq 16(%[b]), %[t2]\n\tsbbq 24(%[b]), %[t3]\n\t"
            "sbbq 32(%[b]), %[t4]\n\tsbbq 40(%[b]), %[t5]\n\tsbbq %[mask], %[mask]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5), [mask] "=&r"(mask)
            : [b] "r"(b)
            : "cc", "memory");
    const uint64_t s0 = (*p)[0] & mask, s1 = (*p)[1] & mask, s2 = (*p)[2] & mask, s3 = (*p)[3] & mask, s4 = (*p)[4] & mask,
                   s5 = (*p)[5] & mask;
    __asm__("addq %[s0], %[t0]\n\tadcq %[s1], %[t1]\n\tadcq %[s2], %[t2]\n\tadcq %[s3], %[t3]\n\tadcq %[s4], %[t4]\n\t"
            "adcq %[s5], %[t5]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5)
            : [s0] "rm"(s0), [s1] "rm"(s1), [s2] "rm"(s2), [s3] "rm"(s3), [s4] "rm"(s4), [s5] "rm"(s5)
            : "cc");
    r[0] = t0;
    r[1] = t1;
    r[2] = t2;
    r[3] = t3;
    r[4] = t4;
    r[5] = t5;
}

#undef ADX_READS
#undef ADX_READS2
#undef ADX_CLOBBERS
#undef ADX_ROW_START
#undef ADX_ROW
#undef ADX_FIRST
#undef ADX_ROW_LOW
#undef ADX_ROW_END
#undef ADX_REDUCE
#undef ADX_REDUCE_LOW
#undef ADX_REDUCE_END
#undef ADX4_START
#undef ADX4_ROW
#undef ADX4_REDUCE
#undef ADX4_ROUND
#undef ADX6_START
#undef ADX6_ROW
#undef ADX6_REDUCE
#undef ADX6_ROUND
#undef ADX_SECOND
#undef ADX4_SECOND
#undef ADX6_SECOND
#undef ADX_MINUS
#undef ADX_KEEP
#undef ADX4_FINISH
#undef ADX6_FINISH
#undef ADX_FN

#endif
