/* The native contender's functions, one for each question, and what keeps their work from being optimised away. */
#ifndef BATON_BENCH_VM_NATIVE_H_
#define BATON_BENCH_VM_NATIVE_H_

#include <stdint.h>

/* The value passes through here: the compiler knows neither where it came from nor what it is now. No instruction. */
#define BATON_BENCH_OPAQUE(value) __asm__ volatile("" : "+r"(value))
#define BATON_BENCH_OPAQUE_F64(value) __asm__ volatile("" : "+x"(value))
#define BATON_BENCH_NOINLINE __attribute__((noinline))

#ifdef __cplusplus
extern "C" {
#endif

void entry(void);
int32_t checked_call(int32_t a, int32_t b);
int32_t internal_call(int32_t n);
int32_t native_import(int32_t n);
int32_t integer_loop(int32_t n);
int32_t counted_loop(int32_t n);
double float_loop(int32_t n);
void blob_reduction_prepare(int32_t n);
int32_t blob_reduction(int32_t n);
int32_t live_registers(int32_t n);

/* What every contender's `native_import` program calls. */
static inline int32_t bench_mix(int32_t a, int32_t b) { return a ^ (b + 1); }

#ifdef __cplusplus
}
#endif

#endif
