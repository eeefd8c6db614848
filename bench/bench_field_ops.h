/* Times of field and point operations, once for the portable build and once for CUZK_FIELD_ADX. */
#ifndef CUZK_BENCH_BENCH_FIELD_OPS_H
#define CUZK_BENCH_BENCH_FIELD_OPS_H

/** Prints one JSON line an operation.  filter: only operations whose name contains it; "" for all. */
void bench_field_portable(const char *filter);
void bench_field_adx(const char *filter);

#endif
