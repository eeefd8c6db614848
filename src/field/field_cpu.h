/* Which faster multiplications this CPU can run, and whether they are right. */
#ifndef CUZK_FIELD_FIELD_CPU_H
#define CUZK_FIELD_FIELD_CPU_H

#include "base/dialect.h"

/** Whether the CPU has BMI2 and ADX, that is, may run code compiled with CUZK_FIELD_ADX. */
bool field_cpu_has_adx(void);

/** Whether the CPU and the operating system have AVX-512 F and IFMA. */
bool field_cpu_has_ifma(void);

/** Compares the operations of CUZK_FIELD_ADX with their portable definitions, word for word, in all four prime fields and both Fp2: on every pair of edge values (0, 1, p-1,
 * words of all ones, single carries) and on pseudo-random pairs from a fixed seed.
 * Out     false: a product differed; the portable code must be used, and the CPU or the build distrusted.
 * Thread  any.  Cost  about 5 ms.  Must not be called unless field_cpu_has_adx(). */
bool field_selftest_adx(void);

#endif
