/* What crosses the door: 8-byte slots, and text. Frozen. */
#ifndef BATON_MODULES_SDK_VALUE_H_
#define BATON_MODULES_SDK_VALUE_H_

#include <stdint.h>

/* A register. An i32 or f32 lives in the low half and the high half is zero: write them through baton_value_of_i32 and
 * baton_value_of_f32, or clear `bits` first. */
typedef union baton_value {
  uint64_t bits;
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  struct baton_object* ref;
} baton_value;

static inline baton_value baton_value_of_i32(int32_t number) {
  baton_value value;
  value.bits = (uint32_t)number;
  return value;
}
static inline baton_value baton_value_of_i64(int64_t number) {
  baton_value value;
  value.i64 = number;
  return value;
}
static inline baton_value baton_value_of_f32(float number) {
  baton_value value;
  value.bits = 0;
  value.f32 = number;
  return value;
}
static inline baton_value baton_value_of_f64(double number) {
  baton_value value;
  value.f64 = number;
  return value;
}

/* Bytes of UTF-8 text, not terminated. */
typedef struct baton_string {
  const char* data;
  uint64_t size;
} baton_string;

#endif
