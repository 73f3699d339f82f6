#include "compiler-lite/emit/scalar_ops.hpp"

#include "llvm/ADT/StringMap.h"

namespace baton::compiler_lite::emit {

using bytecode::Opcode;
using bytecode::ValueType;

namespace {

constexpr Opcode kNone = Opcode::nop;

struct ScalarRow {
  const char* operation;
  Opcode by_type[4];  // i32, i64, f32, f64
};

#define INTEGER(operation, name) {operation, {Opcode::name##_i32, Opcode::name##_i64, kNone, kNone}},
#define FLOAT(operation, name) {operation, {kNone, kNone, Opcode::name##_f32, Opcode::name##_f64}},

// clang-format off
constexpr ScalarRow kScalarRows[] = {
    INTEGER("arith.addi", add)
    INTEGER("arith.subi", sub)
    INTEGER("arith.muli", mul)
    INTEGER("arith.divsi", div_s)
    INTEGER("arith.divui", div_u)
    INTEGER("arith.remsi", rem_s)
    INTEGER("arith.remui", rem_u)
    INTEGER("arith.ceildivsi", ceildiv_s)
    INTEGER("arith.ceildivui", ceildiv_u)
    INTEGER("arith.floordivsi", floordiv_s)
    INTEGER("arith.andi", and)
    INTEGER("arith.ori", or)
    INTEGER("arith.xori", xor)
    INTEGER("arith.shli", shl)
    INTEGER("arith.shrsi", shr_s)
    INTEGER("arith.shrui", shr_u)
    INTEGER("arith.minsi", min_s)
    INTEGER("arith.minui", min_u)
    INTEGER("arith.maxsi", max_s)
    INTEGER("arith.maxui", max_u)
    INTEGER("math.absi", abs)
    INTEGER("math.ctlz", ctlz)
    INTEGER("math.cttz", cttz)
    INTEGER("math.ctpop", ctpop)
    INTEGER("math.ipowi", pow)
    FLOAT("arith.addf", add)
    FLOAT("arith.subf", sub)
    FLOAT("arith.mulf", mul)
    FLOAT("arith.divf", div)
    FLOAT("arith.remf", rem)
    FLOAT("arith.negf", neg)
    FLOAT("arith.minimumf", minimum)
    FLOAT("arith.maximumf", maximum)
    FLOAT("arith.minnumf", minnum)
    FLOAT("arith.maxnumf", maxnum)
    FLOAT("math.absf", abs)
    FLOAT("math.copysign", copysign)
    FLOAT("math.fma", fma)
    FLOAT("math.floor", floor)
    FLOAT("math.ceil", ceil)
    FLOAT("math.trunc", trunc)
    FLOAT("math.round", round)
    FLOAT("math.roundeven", roundeven)
    FLOAT("math.sqrt", sqrt)
    FLOAT("math.rsqrt", rsqrt)
    FLOAT("math.cbrt", cbrt)
    FLOAT("math.exp", exp)
    FLOAT("math.exp2", exp2)
    FLOAT("math.expm1", expm1)
    FLOAT("math.log", log)
    FLOAT("math.log2", log2)
    FLOAT("math.log10", log10)
    FLOAT("math.log1p", log1p)
    FLOAT("math.sin", sin)
    FLOAT("math.cos", cos)
    FLOAT("math.tan", tan)
    FLOAT("math.asin", asin)
    FLOAT("math.acos", acos)
    FLOAT("math.atan", atan)
    FLOAT("math.atan2", atan2)
    FLOAT("math.sinh", sinh)
    FLOAT("math.cosh", cosh)
    FLOAT("math.tanh", tanh)
    FLOAT("math.asinh", asinh)
    FLOAT("math.acosh", acosh)
    FLOAT("math.atanh", atanh)
    FLOAT("math.erf", erf)
    FLOAT("math.powf", pow)
    FLOAT("math.fpowi", powi)
};
// clang-format on

struct ConversionRow {
  const char* operation;
  ValueType from, to;
  Opcode opcode;
};

constexpr ValueType i32 = ValueType::kI32, i64 = ValueType::kI64, f32 = ValueType::kF32, f64 = ValueType::kF64;

constexpr ConversionRow kConversionRows[] = {
    {"arith.extsi", i32, i64, Opcode::extend_s_i64_i32},     {"arith.extui", i32, i64, Opcode::extend_u_i64_i32},
    {"arith.trunci", i64, i32, Opcode::trunc_i32_i64},       {"arith.index_cast", i32, i64, Opcode::extend_s_i64_i32},
    {"arith.index_cast", i64, i32, Opcode::trunc_i32_i64},   {"arith.index_castui", i32, i64, Opcode::extend_u_i64_i32},
    {"arith.index_castui", i64, i32, Opcode::trunc_i32_i64}, {"arith.sitofp", i32, f32, Opcode::convert_s_f32_i32},
    {"arith.sitofp", i64, f32, Opcode::convert_s_f32_i64},   {"arith.sitofp", i32, f64, Opcode::convert_s_f64_i32},
    {"arith.sitofp", i64, f64, Opcode::convert_s_f64_i64},   {"arith.uitofp", i32, f32, Opcode::convert_u_f32_i32},
    {"arith.uitofp", i64, f32, Opcode::convert_u_f32_i64},   {"arith.uitofp", i32, f64, Opcode::convert_u_f64_i32},
    {"arith.uitofp", i64, f64, Opcode::convert_u_f64_i64},   {"arith.fptosi", f32, i32, Opcode::convert_s_i32_f32},
    {"arith.fptosi", f32, i64, Opcode::convert_s_i64_f32},   {"arith.fptosi", f64, i32, Opcode::convert_s_i32_f64},
    {"arith.fptosi", f64, i64, Opcode::convert_s_i64_f64},   {"arith.fptoui", f32, i32, Opcode::convert_u_i32_f32},
    {"arith.fptoui", f32, i64, Opcode::convert_u_i64_f32},   {"arith.fptoui", f64, i32, Opcode::convert_u_i32_f64},
    {"arith.fptoui", f64, i64, Opcode::convert_u_i64_f64},   {"arith.extf", f32, f64, Opcode::extend_f64_f32},
    {"arith.truncf", f64, f32, Opcode::trunc_f32_f64},
};

}  // namespace

std::optional<Opcode> scalar_opcode(llvm::StringRef operation, ValueType type) {
  if (type == ValueType::kRef) return std::nullopt;
  for (const ScalarRow& row : kScalarRows) {
    if (operation != row.operation) continue;
    const Opcode opcode = row.by_type[static_cast<size_t>(type)];
    return opcode == kNone ? std::nullopt : std::optional<Opcode>(opcode);
  }
  return std::nullopt;
}

std::optional<Opcode> conversion_opcode(llvm::StringRef operation, ValueType from, ValueType to) {
  for (const ConversionRow& row : kConversionRows) {
    if (operation == row.operation && from == row.from && to == row.to) return row.opcode;
  }
  return std::nullopt;
}

}  // namespace baton::compiler_lite::emit
