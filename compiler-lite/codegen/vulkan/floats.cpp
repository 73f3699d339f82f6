// Operations on floats. What LLVM may not contract or reorder is marked so that drivers leave it as it is; f16 is
// computed in f32 and rounded, bf16 is only moved (lower_math has made f32 of its operations).
#include "compiler-lite/codegen/vulkan/function_writer.hpp"
#include "llvm/ADT/StringSwitch.h"

namespace baton::compiler_lite::codegen::vulkan {

namespace LLVM = mlir::LLVM;
using mlir::Type;

namespace {

unsigned held_width(Type type) { return type.isF64() ? 64 : 32; }

spv::Op arithmetic(mlir::Operation* op) {
  if (llvm::isa<LLVM::FAddOp>(op)) return spv::kFAdd;
  if (llvm::isa<LLVM::FSubOp>(op)) return spv::kFSub;
  if (llvm::isa<LLVM::FMulOp>(op)) return spv::kFMul;
  if (llvm::isa<LLVM::FDivOp>(op)) return spv::kFDiv;
  return spv::Op{};
}

bool may_contract(mlir::Operation* op) {
  auto flags = llvm::dyn_cast_or_null<LLVM::FastmathFlagsInterface>(op);
  return flags && LLVM::bitEnumContainsAny(flags.getFastmathAttr().getValue(), LLVM::FastmathFlags::contract);
}

}  // namespace

Id FunctionWriter::exact(Id made, mlir::Operation* op) {
  if (!may_contract(op)) writer_.decorate(made, spv::kNoContraction);
  return made;
}

// Bits of a float as an integer that holds them, and back.
Id FunctionWriter::bits_of(Type scalar, Id value) {
  if (scalar.isF16()) return half_bits(value);
  if (scalar.isF32() || scalar.isF64()) return writer_.op(spv::kBitcast, writer_.int_type(held_width(scalar)), {value});
  if (scalar.isInteger(1)) {
    return writer_.op(spv::kSelect, writer_.int_type(32), {value, writer_.number(1), writer_.number(0)});
  }
  return value;
}

Id FunctionWriter::of_bits(Type scalar, Id bits) {
  if (scalar.isF16()) return half_of_bits(bits);
  if (scalar.isF32() || scalar.isF64()) return writer_.op(spv::kBitcast, type_of(scalar), {bits});
  if (scalar.isInteger(1)) {
    const Id low = binary(spv::kBitwiseAnd, 32, bits, writer_.number(1));
    return writer_.op(spv::kINotEqual, writer_.bool_type(), {low, writer_.number(0)});
  }
  return cut(bits, scalar.isIntOrFloat() ? scalar.getIntOrFloatBitWidth() : 64);
}

// An f32 rounded to what an f16 can hold, ties to even, by its bits: drivers may round a conversion as they like.
Id FunctionWriter::rounded_to_half(Id value) {
  const Id u32 = writer_.int_type(32), f32 = writer_.float_type(32), truth = writer_.bool_type();
  const auto number = [&](uint32_t bits) { return writer_.number(bits); };
  const auto choose = [&](Id condition, Id yes, Id no) { return writer_.op(spv::kSelect, u32, {condition, yes, no}); };
  const Id bits = writer_.op(spv::kBitcast, u32, {value});
  const Id sign = binary(spv::kBitwiseAnd, 32, bits, number(0x80000000));
  const Id size = binary(spv::kBitwiseAnd, 32, bits, number(0x7FFFFFFF));
  // Drops thirteen bits; a small number loses more, by adding a number whose last place is the smallest f16.
  const Id odd = binary(spv::kBitwiseAnd, 32, binary(spv::kShiftRightLogical, 32, size, number(13)), number(1));
  const Id up = binary(spv::kIAdd, 32, binary(spv::kIAdd, 32, size, number(0xFFF)), odd);
  const Id normal = binary(spv::kBitwiseAnd, 32, up, number(0xFFFFE000));
  const Id half = writer_.float_number(32, 0x3F000000);
  const Id raised = exact(writer_.op(spv::kFAdd, f32, {writer_.op(spv::kBitcast, f32, {size}), half}), nullptr);
  const Id small = writer_.op(spv::kBitcast, u32, {exact(writer_.op(spv::kFSub, f32, {raised, half}), nullptr)});
  const Id is_small = writer_.op(spv::kULessThan, truth, {size, number(0x38800000)});
  const Id is_large = writer_.op(spv::kUGreaterThanEqual, truth, {normal, number(0x47800000)});
  const Id is_nan = writer_.op(spv::kUGreaterThan, truth, {size, number(0x7F800000)});
  Id rounded = choose(is_large, number(0x7F800000), normal);
  rounded = choose(is_small, small, rounded);
  rounded = choose(is_nan, number(0x7FC00000), rounded);
  return writer_.op(spv::kBitcast, f32, {binary(spv::kBitwiseOr, 32, rounded, sign)});
}

// Of an f32 that an f16 can hold.
Id FunctionWriter::half_bits(Id value) {
  const Id u32 = writer_.int_type(32), f32 = writer_.float_type(32), truth = writer_.bool_type();
  const auto number = [&](uint32_t bits) { return writer_.number(bits); };
  const Id bits = writer_.op(spv::kBitcast, u32, {value});
  const Id sign = binary(spv::kBitwiseAnd, 32, binary(spv::kShiftRightLogical, 32, bits, number(16)), number(0x8000));
  const Id size = binary(spv::kBitwiseAnd, 32, bits, number(0x7FFFFFFF));
  const Id rebased = binary(spv::kISub, 32, size, number(0x38000000));
  const Id normal = binary(spv::kShiftRightLogical, 32, rebased, number(13));
  const Id raised =
      exact(writer_.op(spv::kFAdd, f32, {writer_.op(spv::kBitcast, f32, {size}), writer_.float_number(32, 0x3F000000)}),
            nullptr);
  const Id small = binary(spv::kISub, 32, writer_.op(spv::kBitcast, u32, {raised}), number(0x3F000000));
  const Id is_small = writer_.op(spv::kULessThan, truth, {size, number(0x38800000)});
  const Id is_special = writer_.op(spv::kUGreaterThanEqual, truth, {size, number(0x7F800000)});
  const Id payload = binary(spv::kBitwiseAnd, 32, binary(spv::kShiftRightLogical, 32, size, number(13)), number(0x3FF));
  const Id special = binary(spv::kBitwiseOr, 32, payload, number(0x7C00));
  Id all = writer_.op(spv::kSelect, u32, {is_small, small, normal});
  all = writer_.op(spv::kSelect, u32, {is_special, special, all});
  return binary(spv::kBitwiseOr, 32, all, sign);
}

Id FunctionWriter::half_of_bits(Id bits) {
  const Id u32 = writer_.int_type(32), f32 = writer_.float_type(32), truth = writer_.bool_type();
  const auto number = [&](uint32_t each) { return writer_.number(each); };
  const Id sign = binary(spv::kShiftLeftLogical, 32, binary(spv::kBitwiseAnd, 32, bits, number(0x8000)), number(16));
  const Id size = binary(spv::kBitwiseAnd, 32, bits, number(0x7FFF));
  const Id moved = binary(spv::kShiftLeftLogical, 32, size, number(13));
  const Id normal = binary(spv::kIAdd, 32, moved, number(0x38000000));
  const Id special = binary(spv::kIAdd, 32, moved, number(0x70000000));
  // As many of the smallest f16.
  const Id count = writer_.op(spv::kConvertUToF, f32, {size});
  const Id small = writer_.op(
      spv::kBitcast, u32, {exact(writer_.op(spv::kFMul, f32, {count, writer_.float_number(32, 0x33800000)}), nullptr)});
  const Id is_small = writer_.op(spv::kULessThan, truth, {size, number(0x400)});
  const Id is_special = writer_.op(spv::kUGreaterThanEqual, truth, {size, number(0x7C00)});
  Id all = writer_.op(spv::kSelect, u32, {is_special, special, normal});
  all = writer_.op(spv::kSelect, u32, {is_small, small, all});
  return writer_.op(spv::kBitcast, f32, {binary(spv::kBitwiseOr, 32, all, sign)});
}

Id FunctionWriter::compare_floats(LLVM::FCmpPredicate predicate, Id a, Id b) {
  using P = LLVM::FCmpPredicate;
  const Id truth = writer_.bool_type();
  const auto either_nan = [&] {
    return writer_.op(spv::kLogicalOr, truth,
                      {writer_.op(spv::kIsNan, truth, {a}), writer_.op(spv::kIsNan, truth, {b})});
  };
  switch (predicate) {
    case P::_false: return writer_.truth(false);
    case P::_true: return writer_.truth(true);
    case P::ord: return writer_.op(spv::kLogicalNot, truth, {either_nan()});
    case P::uno: return either_nan();
    case P::oeq: return writer_.op(spv::kFOrdEqual, truth, {a, b});
    case P::ogt: return writer_.op(spv::kFOrdGreaterThan, truth, {a, b});
    case P::oge: return writer_.op(spv::kFOrdGreaterThanEqual, truth, {a, b});
    case P::olt: return writer_.op(spv::kFOrdLessThan, truth, {a, b});
    case P::ole: return writer_.op(spv::kFOrdLessThanEqual, truth, {a, b});
    case P::one: return writer_.op(spv::kFOrdNotEqual, truth, {a, b});
    case P::ueq: return writer_.op(spv::kFUnordEqual, truth, {a, b});
    case P::ugt: return writer_.op(spv::kFUnordGreaterThan, truth, {a, b});
    case P::uge: return writer_.op(spv::kFUnordGreaterThanEqual, truth, {a, b});
    case P::ult: return writer_.op(spv::kFUnordLessThan, truth, {a, b});
    case P::ule: return writer_.op(spv::kFUnordLessThanEqual, truth, {a, b});
    case P::une: return writer_.op(spv::kFUnordNotEqual, truth, {a, b});
  }
  return 0;
}

// maximum and minimum take NaN and order zeros by their sign; maxnum and minnum leave NaN out. GLSL's promise neither.
Id FunctionWriter::larger_or_smaller(mlir::Operation* op, Type type, Id a, Id b) {
  const bool larger = llvm::isa<LLVM::MaximumOp, LLVM::MaxNumOp>(op);
  const bool takes_nan = llvm::isa<LLVM::MaximumOp, LLVM::MinimumOp>(op);
  const Id truth = writer_.bool_type(), held = type_of(type);
  const auto choose = [&](Id condition, Id yes, Id no) { return writer_.op(spv::kSelect, held, {condition, yes, no}); };
  const Id beyond = writer_.op(larger ? spv::kFOrdGreaterThan : spv::kFOrdLessThan, truth, {a, b});
  Id result = choose(beyond, a, b);
  if (takes_nan) {
    const unsigned width = held_width(type);
    const Id word = writer_.int_type(width);
    const Id bits_a = writer_.op(spv::kBitcast, word, {a}), bits_b = writer_.op(spv::kBitcast, word, {b});
    // Of equal ones: the signs of zeros, joined; other bits are the same.
    const Id joined = binary(larger ? spv::kBitwiseAnd : spv::kBitwiseOr, width, bits_a, bits_b);
    const Id equal = writer_.op(spv::kFOrdEqual, truth, {a, b});
    result = choose(equal, writer_.op(spv::kBitcast, held, {joined}), result);
  }
  const Id nan_a = writer_.op(spv::kIsNan, truth, {a}), nan_b = writer_.op(spv::kIsNan, truth, {b});
  result = choose(nan_b, takes_nan ? b : a, result);
  return choose(nan_a, takes_nan ? a : b, result);
}

Id FunctionWriter::float_operation(mlir::Operation* op, Type type, llvm::ArrayRef<Id> operands) {
  const Id held = type_of(type);
  const unsigned width = held_width(type);
  if (const spv::Op how = arithmetic(op); how != spv::Op{}) return exact(writer_.op(how, held, operands), op);
  const uint64_t sign_bit = uint64_t{1} << (width - 1);
  const Id word = writer_.int_type(width), sign = number_of_width(width, sign_bit),
           rest = number_of_width(width, sign_bit - 1);
  const auto bits = [&](Id value) { return writer_.op(spv::kBitcast, word, {value}); };
  const auto value = [&](Id of_bits) { return writer_.op(spv::kBitcast, held, {of_bits}); };
  // By bits: drivers may leave the sign of NaN and zero out.
  if (llvm::isa<LLVM::FNegOp>(op)) return value(binary(spv::kBitwiseXor, width, bits(operands[0]), sign));
  if (llvm::isa<LLVM::FAbsOp>(op)) return value(binary(spv::kBitwiseAnd, width, bits(operands[0]), rest));
  if (llvm::isa<LLVM::CopySignOp>(op)) {
    return value(binary(spv::kBitwiseOr, width, binary(spv::kBitwiseAnd, width, bits(operands[0]), rest),
                        binary(spv::kBitwiseAnd, width, bits(operands[1]), sign)));
  }
  if (llvm::isa<LLVM::MaximumOp, LLVM::MinimumOp, LLVM::MaxNumOp, LLVM::MinNumOp>(op)) {
    return larger_or_smaller(op, type, operands[0], operands[1]);
  }
  if (llvm::isa<LLVM::FMAOp, LLVM::FMulAddOp>(op)) return exact(writer_.glsl(spv::kFma, held, operands), nullptr);
  if (llvm::isa<LLVM::SqrtOp>(op)) return writer_.glsl(spv::kSqrt, held, operands);
  if (llvm::isa<LLVM::FFloorOp>(op)) return writer_.glsl(spv::kFloor, held, operands);
  if (llvm::isa<LLVM::FCeilOp>(op)) return writer_.glsl(spv::kCeil, held, operands);
  if (llvm::isa<LLVM::FTruncOp>(op)) return writer_.glsl(spv::kTrunc, held, operands);
  if (llvm::isa<LLVM::RoundEvenOp, LLVM::RintOp, LLVM::NearbyintOp>(op)) {
    return writer_.glsl(spv::kRoundEven, held, operands);
  }
  return 0;
}

// Whether the float is of one of these classes: the bits of `classes` stand for NaN that signals, quiet NaN, and by
// sign -infinity, normal, subnormal, zero, then the same upwards.
Id FunctionWriter::is_of_classes(Type type, Id value, uint32_t classes) {
  const unsigned width = type.isF16() ? 16 : held_width(type), fraction = type.isF16() ? 10 : width == 32 ? 23 : 52;
  const Id truth = writer_.bool_type(), bits = bits_of(type, value);
  const uint64_t sign_bit = uint64_t{1} << (width - 1), hidden = uint64_t{1} << fraction;
  const uint64_t infinity = (sign_bit - 1) & ~(hidden - 1);
  const Id size = binary(spv::kBitwiseAnd, width, bits, number_of_width(width, sign_bit - 1));
  const Id is_negative = writer_.op(spv::kUGreaterThanEqual, truth, {bits, number_of_width(width, sign_bit)});
  const Id is_positive = writer_.op(spv::kLogicalNot, truth, {is_negative});
  const auto between = [&](uint64_t low, uint64_t high) {
    const Id from = writer_.op(spv::kUGreaterThanEqual, truth, {size, number_of_width(width, low)});
    const Id to = writer_.op(spv::kULessThanEqual, truth, {size, number_of_width(width, high)});
    return writer_.op(spv::kLogicalAnd, truth, {from, to});
  };
  const struct {
    uint32_t negative, positive;
    uint64_t low, high;
  } kinds[] = {{1, 1, infinity + 1, infinity + hidden / 2 - 1},
               {2, 2, infinity + hidden / 2, sign_bit - 1},
               {4, 512, infinity, infinity},
               {8, 256, hidden, infinity - 1},
               {16, 128, 1, hidden - 1},
               {32, 64, 0, 0}};
  Id found = writer_.truth(false);
  for (const auto& kind : kinds) {
    const bool down = classes & kind.negative, up = classes & kind.positive;
    if (!down && !up) continue;
    Id is = between(kind.low, kind.high);
    if (!down || !up) is = writer_.op(spv::kLogicalAnd, truth, {is, down ? is_negative : is_positive});
    found = writer_.op(spv::kLogicalOr, truth, {found, is});
  }
  return found;
}

bool FunctionWriter::write_float(mlir::Operation* op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0) return false;
  const auto types = scalars_of(op->getOperand(0).getType());
  if (!llvm::isa<mlir::FloatType>(types[0]) || types[0].isBF16()) return false;
  Ids made;
  for (size_t i = 0; i < types.size(); ++i) {
    Ids operands;
    for (const mlir::Value operand : op->getOperands()) operands.push_back(ids(operand)[i]);
    Id each;
    if (auto comparison = llvm::dyn_cast<LLVM::FCmpOp>(op)) {
      each = compare_floats(comparison.getPredicate(), operands[0], operands[1]);
    } else if (auto test = llvm::dyn_cast<LLVM::IsFPClass>(op)) {
      each = is_of_classes(types[i], operands[0], test.getBit());
    } else {
      each = float_operation(op, types[i], operands);
      if (each != 0 && types[i].isF16() && !llvm::isa<LLVM::FNegOp, LLVM::FAbsOp>(op)) each = rounded_to_half(each);
    }
    if (each == 0) return false;
    made.push_back(each);
  }
  set(op, made);
  return true;
}

Id FunctionWriter::convert_float(mlir::Operation* op, Type from, Type to, Id value) {
  const auto resize_float = [&](Id each, unsigned before, unsigned after) {
    return before == after ? each : writer_.op(spv::kFConvert, writer_.float_type(after), {each});
  };
  if (from.isBF16() || to.isBF16()) {
    (void)refuse(op, "bf16 is only moved there");
    return value;
  }
  if (llvm::isa<LLVM::FPExtOp>(op)) return resize_float(value, held_width(from), held_width(to));
  if (llvm::isa<LLVM::FPTruncOp>(op)) {
    if (to.isF32()) return resize_float(value, 64, 32);
    return rounded_to_half(from.isF64() ? rounded_to_odd(value) : value);
  }
  if (llvm::isa<LLVM::FPToSIOp, LLVM::FPToUIOp>(op)) {
    if (to.isInteger(1)) {
      return writer_.op(spv::kFUnordNotEqual, writer_.bool_type(), {value, zero_of(from)});
    }
    const spv::Op how = llvm::isa<LLVM::FPToSIOp>(op) ? spv::kConvertFToS : spv::kConvertFToU;
    return cut(writer_.op(how, type_of(to), {value}), to.getIntOrFloatBitWidth());
  }
  const bool is_signed = llvm::isa<LLVM::SIToFPOp>(op);
  const Id held = type_of(to);
  if (from.isInteger(1)) {
    const Id one = to.isF64() ? writer_.float_number(64, uint64_t{0x3FF} << 52) : writer_.float_number(32, 0x3F800000);
    const Id made = writer_.op(spv::kSelect, held, {value, one, zero_of(to)});
    return is_signed ? exact(writer_.op(spv::kFSub, held, {zero_of(to), made}), nullptr) : made;
  }
  const Id source = is_signed ? sign_extended(value, from.getIntOrFloatBitWidth()) : value;
  const Id made = writer_.op(is_signed ? spv::kConvertSToF : spv::kConvertUToF, held, {source});
  return to.isF16() ? rounded_to_half(made) : made;
}

// An f64 as an f32 that, rounded further, becomes what the f64 would have: inexact ones have an odd last bit.
Id FunctionWriter::rounded_to_odd(Id value) {
  const Id u32 = writer_.int_type(32), f64 = writer_.float_type(64), truth = writer_.bool_type();
  const Id near = writer_.op(spv::kFConvert, writer_.float_type(32), {value});
  const Id back = writer_.op(spv::kFConvert, f64, {near}), bits = writer_.op(spv::kBitcast, u32, {near});
  const auto size = [&](Id of) {
    const Id word = writer_.op(spv::kBitcast, writer_.int_type(64), {of});
    return binary(spv::kBitwiseAnd, 64, word, writer_.number64(~uint64_t{0} >> 1));
  };
  const Id size_back = size(back), size_value = size(value);
  const Id differs = writer_.op(spv::kFOrdNotEqual, truth, {back, value});
  const Id is_even =
      writer_.op(spv::kIEqual, truth, {binary(spv::kBitwiseAnd, 32, bits, writer_.number(1)), writer_.number(0)});
  const Id is_above = writer_.op(spv::kUGreaterThan, truth, {size_back, size_value});
  const Id moved = writer_.op(
      spv::kSelect, u32,
      {is_above, binary(spv::kISub, 32, bits, writer_.number(1)), binary(spv::kIAdd, 32, bits, writer_.number(1))});
  const Id moves = writer_.op(spv::kLogicalAnd, truth, {differs, is_even});
  return writer_.op(spv::kBitcast, writer_.float_type(32), {writer_.op(spv::kSelect, u32, {moves, moved, bits})});
}

// Between any types of as many bits: as words of 8 bits that are put together again where widths differ.
bool FunctionWriter::write_bitcast(mlir::Operation* op) {
  if (!llvm::isa<LLVM::BitcastOp>(op)) return false;
  const auto from = scalars_of(op->getOperand(0).getType()), to = scalars_of(op->getResult(0).getType());
  const Ids values = ids(op->getOperand(0));
  const auto width_of = [](Type type) {
    return llvm::isa<LLVM::LLVMPointerType>(type) ? 64u : type.getIntOrFloatBitWidth();
  };
  const unsigned before = width_of(from[0]), after = width_of(to[0]);
  Ids bits, made;
  for (size_t i = 0; i < values.size(); ++i) bits.push_back(bits_of(from[i], values[i]));
  if (before != after) {
    Ids joined;
    const unsigned narrow = std::min(before, after), wide = std::max(before, after), parts = wide / narrow;
    for (size_t i = 0; i < to.size(); ++i) {
      if (before > after) {
        const Id shift = number_of_width(before, (i % parts) * after);
        joined.push_back(
            cut(resize(binary(spv::kShiftRightLogical, before, bits[i / parts], shift), before, after), after));
        continue;
      }
      Id whole = 0;
      for (size_t part = 0; part < parts; ++part) {
        const Id wider = resize(bits[i * parts + part], before, after);
        const Id shifted =
            part == 0 ? wider : binary(spv::kShiftLeftLogical, after, wider, number_of_width(after, part * before));
        whole = part == 0 ? shifted : binary(spv::kBitwiseOr, after, whole, shifted);
      }
      joined.push_back(whole);
    }
    bits = joined;
  }
  for (size_t i = 0; i < to.size(); ++i) made.push_back(of_bits(to[i], bits[i]));
  set(op, made);
  return true;
}

}  // namespace baton::compiler_lite::codegen::vulkan
