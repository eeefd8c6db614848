/* bench_field [FILTER]: nanoseconds a field or point operation takes on one thread, portable and with mulx/adx. */
#include "bench_field_ops.h"
#include "field/field_cpu.h"

int main(int argc, char **argv)
{
    const char *filter = argc > 1 ? argv[1] : "";
    bench_field_portable(filter);
#if defined(CUZK_BENCH_ADX)
    if (field_cpu_has_adx() && field_selftest_adx()) bench_field_adx(filter);
#endif
    return 0;
}
