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

/* A value that says what it is, by the letter that stands in signatures: i I f F, r for a reference. */
typedef struct baton_typed_value {
  baton_value value;
  char letter;
  char reserved[7];
} baton_typed_value;

static inline baton_typed_value baton_typed_value_of(baton_value value, char letter) {
  baton_typed_value typed = {value, letter, {0}};
  return typed;
}
static inline baton_typed_value baton_typed_i32(int32_t number) {
  return baton_typed_value_of(baton_value_of_i32(number), 'i');
}
static inline baton_typed_value baton_typed_i64(int64_t number) {
  return baton_typed_value_of(baton_value_of_i64(number), 'I');
}
static inline baton_typed_value baton_typed_f32(float number) {
  return baton_typed_value_of(baton_value_of_f32(number), 'f');
}
static inline baton_typed_value baton_typed_f64(double number) {
  return baton_typed_value_of(baton_value_of_f64(number), 'F');
}
static inline baton_typed_value baton_typed_ref(struct baton_object* reference) {
  baton_value value;
  value.ref = reference;
  return baton_typed_value_of(value, 'r');
}

/* Bytes of UTF-8 text, not terminated. */
typedef struct baton_string {
  const char* data;
  uint64_t size;
} baton_string;

#endif
