/* Montgomery products of four and six words with mulx, adcx and adox: two carry chains run side by side.
 *
 * The same value as fe_mul_ref, word for word.  Each round adds one row a * b[i] to t, then m p with m = -t/p mod 2^64, and drops the
 * word that became zero; with p's top bit clear the row's last carry fits in one word (Botrel, El Housni, ePrint 2022/1400,
 * alg. 2).  Only for CPUs where field_cpu_has_adx() is true; call sites choose by compiling twice (README.md). */
#ifndef CUZK_FIELD_X86_64_MONT_ADX_H
#define CUZK_FIELD_X86_64_MONT_ADX_H

#include "base/dialect.h"

/* What the assembly reads is named to the compiler; without optimisation that would take registers of its own, so there the
 * assembly claims all memory instead. */
#if defined(__OPTIMIZE__)
#define ADX_READS(a, b) , "m"(*(a)), "m"(*(b))
#define ADX_CLOBBERS
#else
#define ADX_READS(a, b)
#define ADX_CLOBBERS , "memory"
#endif

/* Operands: addresses of a, b, p (p followed by -1/p mod 2^64), t in registers, hi and lo scratch, the multiplier in rdx.
 * OF carries the sums of low halves, CF those of high halves. */

/* t = a * b[0], the word above in hi */
#define ADX_ROW_START(b0) "movq " b0 "(%[b]), %%rdx\n\t"
#define ADX_FIRST_LOW     "mulxq (%[a]), %[t0], %[t1]\n\t"
#define ADX_FIRST(op, at, below, above)                                                                                \
    "mulxq " at "(%[a]), %[lo], " above "\n\t" op " %[lo], " below "\n\t"

/* t += a * b[i], the word above in hi */
#define ADX_ROW_LOW(bi)                                                                                                \
    "movq " bi "(%[b]), %%rdx\n\txorl %k[lo], %k[lo]\n\t"                                                               \
    "mulxq (%[a]), %[lo], %[hi]\n\tadoxq %[lo], %[t0]\n\t"
#define ADX_ROW(at, t) "adcxq %[hi], " t "\n\tmulxq " at "(%[a]), %[lo], %[hi]\n\tadoxq %[lo], " t "\n\t"
#define ADX_ROW_END    "movl $0, %k[lo]\n\tadcxq %[lo], %[hi]\n\tadoxq %[lo], %[hi]\n\t"

/* (hi, t) = (t + m p) / 2^64 */
#define ADX_REDUCE_LOW(inv)                                                                                            \
    "movq " inv "(%[p]), %%rdx\n\timulq %[t0], %%rdx\n\txorl %k[lo], %k[lo]\n\t"                                        \
    "mulxq (%[p]), %[lo], %[next]\n\tadcxq %[t0], %[lo]\n\tmovq %[next], %[t0]\n\t"
#define ADX_REDUCE(at, t, above) "adcxq " above ", " t "\n\tmulxq " at "(%[p]), %[lo], " above "\n\tadoxq %[lo], " t "\n\t"
#define ADX_REDUCE_END(top)      "movl $0, %k[lo]\n\tadcxq %[lo], " top "\n\tadoxq %[hi], " top "\n\t"

#define ADX4_REDUCE                                                                                                    \
    ADX_REDUCE_LOW("32") ADX_REDUCE("8", "%[t0]", "%[t1]") ADX_REDUCE("16", "%[t1]", "%[t2]")                          \
    ADX_REDUCE("24", "%[t2]", "%[t3]") ADX_REDUCE_END("%[t3]")
#define ADX4_ROUND(bi)                                                                                                 \
    ADX_ROW_LOW(bi) ADX_ROW("8", "%[t1]") ADX_ROW("16", "%[t2]") ADX_ROW("24", "%[t3]") ADX_ROW_END ADX4_REDUCE

#define ADX6_REDUCE                                                                                                    \
    ADX_REDUCE_LOW("48") ADX_REDUCE("8", "%[t0]", "%[t1]") ADX_REDUCE("16", "%[t1]", "%[t2]")                          \
    ADX_REDUCE("24", "%[t2]", "%[t3]") ADX_REDUCE("32", "%[t3]", "%[t4]") ADX_REDUCE("40", "%[t4]", "%[t5]")           \
    ADX_REDUCE_END("%[t5]")
#define ADX6_ROUND(bi)                                                                                                 \
    ADX_ROW_LOW(bi) ADX_ROW("8", "%[t1]") ADX_ROW("16", "%[t2]") ADX_ROW("24", "%[t3]") ADX_ROW("32", "%[t4]")         \
    ADX_ROW("40", "%[t5]") ADX_ROW_END ADX6_REDUCE

/* r = a b / 2^256 mod p.  In: a, b < p, p[4] = -1/p mod 2^64. */
static inline __attribute__((always_inline, unused)) void mont_mul4_adx(uint64_t *r, const uint64_t *a, const uint64_t *b,
                                                                        const uint64_t (*p)[5])
{
    uint64_t t0, t1, t2, t3, hi, lo, next, s0, s1;
    __asm__(ADX_ROW_START("0") ADX_FIRST_LOW ADX_FIRST("addq", "8", "%[t1]", "%[t2]") ADX_FIRST("adcq", "16", "%[t2]", "%[t3]")
                ADX_FIRST("adcq", "24", "%[t3]", "%[hi]") "adcq $0, %[hi]\n\t" ADX4_REDUCE
                ADX4_ROUND("8") ADX4_ROUND("16") ADX4_ROUND("24")
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [hi] "=&r"(hi), [lo] "=&r"(lo), [next] "=&r"(next)
            : [a] "r"(a), [b] "r"(b), [p] "r"(*p) ADX_READS((const uint64_t(*)[4])a, (const uint64_t(*)[4])b)
            : "rdx", "cc" ADX_CLOBBERS);
    __asm__("movq %[t0], %[s0]\n\tsubq (%[p]), %[s0]\n\tmovq %[t1], %[s1]\n\tsbbq 8(%[p]), %[s1]\n\t"
            "movq %[t2], %[s2]\n\tsbbq 16(%[p]), %[s2]\n\tmovq %[t3], %[s3]\n\tsbbq 24(%[p]), %[s3]\n\t"
            "cmovncq %[s0], %[t0]\n\tcmovncq %[s1], %[t1]\n\tcmovncq %[s2], %[t2]\n\tcmovncq %[s3], %[t3]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(hi),
              [s3] "=&r"(lo)
            : [p] "r"(*p)
            : "cc");
    r[0] = t0;
    r[1] = t1;
    r[2] = t2;
    r[3] = t3;
}

/* r = a b / 2^384 mod p.  In: a, b < p, p[6] = -1/p mod 2^64. */
static inline __attribute__((always_inline, unused)) void mont_mul6_adx(uint64_t *r, const uint64_t *a, const uint64_t *b,
                                                                        const uint64_t (*p)[7])
{
    uint64_t t0, t1, t2, t3, t4, t5, hi, lo, next, s0, s1, s2;
    __asm__(ADX_ROW_START("0") ADX_FIRST_LOW ADX_FIRST("addq", "8", "%[t1]", "%[t2]") ADX_FIRST("adcq", "16", "%[t2]", "%[t3]")
                ADX_FIRST("adcq", "24", "%[t3]", "%[t4]") ADX_FIRST("adcq", "32", "%[t4]", "%[t5]")
                ADX_FIRST("adcq", "40", "%[t5]", "%[hi]") "adcq $0, %[hi]\n\t" ADX6_REDUCE
                ADX6_ROUND("8") ADX6_ROUND("16") ADX6_ROUND("24") ADX6_ROUND("32") ADX6_ROUND("40")
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5), [hi] "=&r"(hi),
              [lo] "=&r"(lo), [next] "=&r"(next)
            : [a] "r"(a), [b] "r"(b), [p] "r"(*p) ADX_READS((const uint64_t(*)[6])a, (const uint64_t(*)[6])b)
            : "rdx", "cc" ADX_CLOBBERS);
    __asm__("movq %[t0], %[s0]\n\tsubq (%[p]), %[s0]\n\tmovq %[t1], %[s1]\n\tsbbq 8(%[p]), %[s1]\n\t"
            "movq %[t2], %[s2]\n\tsbbq 16(%[p]), %[s2]\n\tmovq %[t3], %[s3]\n\tsbbq 24(%[p]), %[s3]\n\t"
            "movq %[t4], %[s4]\n\tsbbq 32(%[p]), %[s4]\n\tmovq %[t5], %[s5]\n\tsbbq 40(%[p]), %[s5]\n\t"
            "cmovncq %[s0], %[t0]\n\tcmovncq %[s1], %[t1]\n\tcmovncq %[s2], %[t2]\n\tcmovncq %[s3], %[t3]\n\t"
            "cmovncq %[s4], %[t4]\n\tcmovncq %[s5], %[t5]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5), [s0] "=&r"(s0),
              [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(hi), [s4] "=&r"(lo), [s5] "=&r"(next)
            : [p] "r"(*p)
            : "cc");
    r[0] = t0;
    r[1] = t1;
    r[2] = t2;
    r[3] = t3;
    r[4] = t4;
    r[5] = t5;
}

#undef ADX_READS
#undef ADX_CLOBBERS
#undef ADX_ROW_START
#undef ADX_FIRST_LOW
#undef ADX_FIRST
#undef ADX_ROW_LOW
#undef ADX_ROW
#undef ADX_ROW_END
#undef ADX_REDUCE_LOW
#undef ADX_REDUCE
#undef ADX_REDUCE_END
#undef ADX4_REDUCE
#undef ADX4_ROUND
#undef ADX6_REDUCE
#undef ADX6_ROUND

#endif
