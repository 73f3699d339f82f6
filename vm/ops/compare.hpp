// Compares and branch conditions: one function per mnemonic. Compares give 1 or 0, branches say whether to go.
#pragma once

#include <cstdint>

#include "vm/ops/integer.hpp"

namespace baton::vm::ops {

inline bool br_if(int32_t condition) { return condition != 0; }
inline bool br_if_not(int32_t condition) { return condition == 0; }

// Adds one to the counter, wrapping, and goes on while it is below the limit.
inline bool next_i32(int32_t& counter, int32_t limit) { return (counter = add_i32(counter, 1)) < limit; }
inline bool next_i64(int64_t& counter, int64_t limit) { return (counter = add_i64(counter, 1)) < limit; }

#define BATON_INTEGER_COMPARE(T, suffix, name, condition)                  \
  inline int32_t cmp_##name##_##suffix(T lhs, T rhs) { return condition; } \
  inline bool br_##name##_##suffix(T lhs, T rhs) { return condition; }
#define BATON_INTEGER_COMPARES(T, suffix)                                        \
  BATON_INTEGER_COMPARE(T, suffix, eq, lhs == rhs)                               \
  BATON_INTEGER_COMPARE(T, suffix, ne, lhs != rhs)                               \
  BATON_INTEGER_COMPARE(T, suffix, lt_s, lhs < rhs)                              \
  BATON_INTEGER_COMPARE(T, suffix, le_s, lhs <= rhs)                             \
  BATON_INTEGER_COMPARE(T, suffix, lt_u, integer::raw(lhs) < integer::raw(rhs))  \
  BATON_INTEGER_COMPARE(T, suffix, le_u, integer::raw(lhs) <= integer::raw(rhs)) \
  inline bool br_eq_imm_##suffix(T lhs, int16_t imm) { return lhs == imm; }      \
  inline bool br_ne_imm_##suffix(T lhs, int16_t imm) { return lhs != imm; }      \
  inline bool br_lt_s_imm_##suffix(T lhs, int16_t imm) { return lhs < imm; }     \
  inline bool br_le_s_imm_##suffix(T lhs, int16_t imm) { return lhs <= imm; }    \
  inline bool br_gt_s_imm_##suffix(T lhs, int16_t imm) { return lhs > imm; }     \
  inline bool br_ge_s_imm_##suffix(T lhs, int16_t imm) { return lhs >= imm; }

BATON_INTEGER_COMPARES(int32_t, i32)
BATON_INTEGER_COMPARES(int64_t, i64)
#undef BATON_INTEGER_COMPARES
#undef BATON_INTEGER_COMPARE

#define BATON_FLOAT_COMPARES(T, suffix)                                               \
  inline int32_t cmp_oeq_##suffix(T lhs, T rhs) { return lhs == rhs; }                \
  inline int32_t cmp_one_##suffix(T lhs, T rhs) { return lhs < rhs || lhs > rhs; }    \
  inline int32_t cmp_olt_##suffix(T lhs, T rhs) { return lhs < rhs; }                 \
  inline int32_t cmp_ole_##suffix(T lhs, T rhs) { return lhs <= rhs; }                \
  inline int32_t cmp_ord_##suffix(T lhs, T rhs) { return lhs == lhs && rhs == rhs; }  \
  inline int32_t cmp_ueq_##suffix(T lhs, T rhs) { return !(lhs < rhs || lhs > rhs); } \
  inline int32_t cmp_une_##suffix(T lhs, T rhs) { return lhs != rhs; }                \
  inline int32_t cmp_ult_##suffix(T lhs, T rhs) { return !(lhs >= rhs); }             \
  inline int32_t cmp_ule_##suffix(T lhs, T rhs) { return !(lhs > rhs); }              \
  inline int32_t cmp_uno_##suffix(T lhs, T rhs) { return lhs != lhs || rhs != rhs; }  \
  inline bool br_eq_##suffix(T lhs, T rhs) { return lhs == rhs; }                     \
  inline bool br_ne_##suffix(T lhs, T rhs) { return lhs != rhs; }                     \
  inline bool br_lt_##suffix(T lhs, T rhs) { return lhs < rhs; }                      \
  inline bool br_le_##suffix(T lhs, T rhs) { return lhs <= rhs; }                     \
  inline bool br_nlt_##suffix(T lhs, T rhs) { return !(lhs < rhs); }                  \
  inline bool br_nle_##suffix(T lhs, T rhs) { return !(lhs <= rhs); }

BATON_FLOAT_COMPARES(float, f32)
BATON_FLOAT_COMPARES(double, f64)
#undef BATON_FLOAT_COMPARES

}  // namespace baton::vm::ops
