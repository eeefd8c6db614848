/* Keeps addresses from libFuzzer, linked between it and the compiler's calls (ld --wrap): it puts compared values into later inputs, and
 * where a run's memory lies, or how long the path of the sources is, would then decide which inputs are tried. */
#include <stdbool.h>
#include <stdint.h>

void __real___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __wrap___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __real___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b);
void __wrap___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b);

/* Memory of a 64-bit process on Linux: the heap, the stack, and code that may lie anywhere. */
static bool is_address(uint64_t x) { return x >> 40 != 0 && x >> 48 == 0; }

/* Tail calls, as libFuzzer tells comparisons apart by where they return to. */
void __wrap___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b)
{
    if (!is_address(a) && !is_address(b))
        __attribute__((musttail)) return __real___sanitizer_cov_trace_cmp8(a, b);
}

void __wrap___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b)
{
    if (!is_address(a) && !is_address(b))
        __attribute__((musttail)) return __real___sanitizer_cov_trace_const_cmp8(a, b);
}
