// Operations on integers of any width up to 64 bits: held in 32 or 64, zeros above.
#include "compiler-lite/codegen/vulkan/function_writer.hpp"
#include "llvm/ADT/StringSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::codegen::vulkan {

namespace LLVM = mlir::LLVM;
using mlir::Type;

namespace {

// i1 counts as one bit, index as 32, pointers as what they are held in.
unsigned width_of(Type type) {
  if (auto pointer = llvm::dyn_cast<LLVM::LLVMPointerType>(type)) return pointer.getAddressSpace() == 3 ? 32 : 64;
  return llvm::isa<mlir::IndexType>(type) ? 32 : type.getIntOrFloatBitWidth();
}

// "add" of "llvm.add" and of "llvm.intr.add".
llvm::StringRef short_name(mlir::Operation* op) {
  llvm::StringRef name = op->getName().getStringRef();
  name.consume_front("llvm.");
  name.consume_front("intr.");
  return name;
}

spv::Op plain_operation(llvm::StringRef name) {
  return llvm::StringSwitch<spv::Op>(name)
      .Case("add", spv::kIAdd)
      .Case("sub", spv::kISub)
      .Case("mul", spv::kIMul)
      .Case("and", spv::kBitwiseAnd)
      .Case("or", spv::kBitwiseOr)
      .Case("xor", spv::kBitwiseXor)
      .Case("shl", spv::kShiftLeftLogical)
      .Case("lshr", spv::kShiftRightLogical)
      .Case("udiv", spv::kUDiv)
      .Case("urem", spv::kUMod)
      .Default(spv::Op{});
}

spv::Op truth_operation(llvm::StringRef name) {
  return llvm::StringSwitch<spv::Op>(name)
      .Cases("add", "sub", "xor", spv::kLogicalNotEqual)
      .Cases("mul", "and", "umin", "smax", spv::kLogicalAnd)
      .Cases("or", "umax", "smin", spv::kLogicalOr)
      .Default(spv::Op{});
}

}  // namespace

Id FunctionWriter::binary(spv::Op op, unsigned width, Id a, Id b) {
  return writer_.op(op, writer_.int_type(stored_width(width)), {a, b});
}

// Clears the bits above the width.
Id FunctionWriter::cut(Id value, unsigned width) {
  if (width == 32 || width == 64) return value;
  return binary(spv::kBitwiseAnd, width, value, number_of_width(width, (uint64_t{1} << width) - 1));
}

Id FunctionWriter::sign_extended(Id value, unsigned width) {
  const unsigned held = stored_width(width);
  if (width == held) return value;
  const Id by = number_of_width(width, held - width);
  return binary(spv::kShiftRightArithmetic, width, binary(spv::kShiftLeftLogical, width, value, by), by);
}

Id FunctionWriter::resize(Id value, unsigned from, unsigned to) {
  if (stored_width(from) == stored_width(to)) return value;
  return writer_.op(spv::kUConvert, writer_.int_type(stored_width(to)), {value});
}

Id FunctionWriter::both_halves(Id low, Id high) {
  const Id wide = resize(high, 32, 64);
  return binary(spv::kBitwiseOr, 64, resize(low, 32, 64), binary(spv::kShiftLeftLogical, 64, wide, writer_.number(32)));
}

Id FunctionWriter::count_zeros(Id value, unsigned width, bool leading) {
  const Id u32 = writer_.int_type(32), truth = writer_.bool_type();
  if (width > 32) {
    const Id low = resize(value, 64, 32);
    const Id high = resize(binary(spv::kShiftRightLogical, 64, value, writer_.number(32)), 64, 32);
    const Id first = leading ? high : low, second = leading ? low : high;
    const Id none = writer_.op(spv::kIEqual, truth, {first, writer_.number(0)});
    const Id beyond = binary(spv::kIAdd, 32, count_zeros(second, 32, leading), writer_.number(32));
    Id count = writer_.op(spv::kSelect, u32, {none, beyond, count_zeros(first, 32, leading)});
    if (leading && width < 64) count = binary(spv::kISub, 32, count, writer_.number(64 - width));
    return resize(count, 32, 64);
  }
  if (leading) {
    // Of zero the highest bit is -1.
    const Id highest = writer_.glsl(spv::kFindUMsb, u32, {value});
    return binary(spv::kISub, 32, writer_.number(width - 1), highest);
  }
  const Id none = writer_.op(spv::kIEqual, truth, {value, writer_.number(0)});
  return writer_.op(spv::kSelect, u32, {none, writer_.number(width), writer_.glsl(spv::kFindILsb, u32, {value})});
}

Id FunctionWriter::count_ones(Id value, unsigned width) {
  const Id u32 = writer_.int_type(32);
  if (width <= 32) return writer_.op(spv::kBitCount, u32, {value});
  const Id high = resize(binary(spv::kShiftRightLogical, 64, value, writer_.number(32)), 64, 32);
  const Id both = binary(spv::kIAdd, 32, count_ones(resize(value, 64, 32), 32), count_ones(high, 32));
  return resize(both, 32, 64);
}

Id FunctionWriter::compare(LLVM::ICmpPredicate predicate, Type type, Id a, Id b) {
  using P = LLVM::ICmpPredicate;
  const Id truth = writer_.bool_type();
  const bool is_signed = predicate == P::slt || predicate == P::sle || predicate == P::sgt || predicate == P::sge;
  unsigned width = width_of(type);
  if (width == 1) {
    if (predicate == P::eq || predicate == P::ne) {
      return writer_.op(predicate == P::eq ? spv::kLogicalEqual : spv::kLogicalNotEqual, truth, {a, b});
    }
    const Id yes = writer_.number(is_signed ? ~0u : 1u), no = writer_.number(0);
    a = writer_.op(spv::kSelect, writer_.int_type(32), {a, yes, no});
    b = writer_.op(spv::kSelect, writer_.int_type(32), {b, yes, no});
    width = 32;
  }
  if (is_signed) a = sign_extended(a, width), b = sign_extended(b, width);
  constexpr spv::Op kOps[] = {spv::kIEqual,       spv::kINotEqual,         spv::kSLessThan, spv::kSLessThanEqual,
                              spv::kSGreaterThan, spv::kSGreaterThanEqual, spv::kULessThan, spv::kULessThanEqual,
                              spv::kUGreaterThan, spv::kUGreaterThanEqual};
  return writer_.op(kOps[static_cast<size_t>(predicate)], truth, {a, b});
}

// Zero for a name that is no operation on two integers.
Id FunctionWriter::integer(llvm::StringRef name, Type type, Id a, Id b) {
  using P = LLVM::ICmpPredicate;
  const unsigned width = width_of(type);
  if (width == 1) {
    const spv::Op op = truth_operation(name);
    // What is left shifts by nothing or divides by one.
    return op == spv::Op{} ? a : writer_.op(op, writer_.bool_type(), {a, b});
  }
  if (const spv::Op op = plain_operation(name); op != spv::Op{}) return cut(binary(op, width, a, b), width);
  const auto pick = [&](P predicate) {
    return writer_.op(spv::kSelect, type_of(type), {compare(predicate, type, a, b), a, b});
  };
  if (name == "smax") return pick(P::sgt);
  if (name == "smin") return pick(P::slt);
  if (name == "umax") return pick(P::ugt);
  if (name == "umin") return pick(P::ult);
  if (name == "ashr") return cut(binary(spv::kShiftRightArithmetic, width, sign_extended(a, width), b), width);
  if (name == "sdiv" || name == "srem") {
    const Id x = sign_extended(a, width), y = sign_extended(b, width);
    const Id quotient = binary(spv::kSDiv, width, x, y);
    if (name == "sdiv") return cut(quotient, width);
    // OpSRem says nothing of negative numbers in Vulkan.
    return cut(binary(spv::kISub, width, x, binary(spv::kIMul, width, quotient, y)), width);
  }
  const Id zero = number_of_width(width, 0), most = number_of_width(width, ~uint64_t{0} >> (64 - width));
  if (name == "usub.sat") {
    const Id less = compare(P::ult, type, a, b);
    return writer_.op(spv::kSelect, type_of(type), {less, zero, cut(binary(spv::kISub, width, a, b), width)});
  }
  if (name == "uadd.sat") {
    const Id sum = cut(binary(spv::kIAdd, width, a, b), width);
    return writer_.op(spv::kSelect, type_of(type), {compare(P::ult, type, sum, a), most, sum});
  }
  return 0;
}

namespace {

// Whether a sum or difference of signed numbers left their range: the signs say it.
bool is_overflow(llvm::StringRef name) { return name.ends_with(".with.overflow"); }

}  // namespace

bool FunctionWriter::write_integer(mlir::Operation* op) {
  using P = LLVM::ICmpPredicate;
  const llvm::StringRef name = short_name(op);
  if (op->getNumResults() != 1 || op->getNumOperands() == 0) return false;
  if (auto comparison = llvm::dyn_cast<LLVM::ICmpOp>(op)) {
    const auto scalars = scalars_of(comparison.getLhs().getType());
    const Ids as = ids(comparison.getLhs()), bs = ids(comparison.getRhs());
    Ids made;
    for (size_t i = 0; i < scalars.size(); ++i) {
      made.push_back(compare(comparison.getPredicate(), scalars[i], as[i], bs[i]));
    }
    set(op, made);
    return true;
  }
  const auto types = scalars_of(op->getOperand(0).getType());
  if (!llvm::isa<mlir::IntegerType>(types[0])) return false;
  const Ids as = ids(op->getOperand(0));
  const Ids bs = op->getNumOperands() > 1 ? ids(op->getOperand(1)) : as;
  const unsigned width = width_of(types[0]);
  if (is_overflow(name)) {
    const Id truth = writer_.bool_type(), zero = number_of_width(width, 0);
    const bool adds = name.contains("add"), multiplies = name.contains("mul"), is_signed = name.starts_with("s");
    if (multiplies && (is_signed || width > 32)) return false;
    const spv::Op how = adds ? spv::kIAdd : multiplies ? spv::kIMul : spv::kISub;
    const Id result = cut(binary(how, width, as[0], bs[0]), width);
    Id left;
    if (multiplies) {
      const Id whole = binary(spv::kIMul, 64, resize(as[0], 32, 64), resize(bs[0], 32, 64));
      left = writer_.op(spv::kINotEqual, truth,
                        {binary(spv::kShiftRightLogical, 64, whole, writer_.number(width)), writer_.number64(0)});
    } else if (!is_signed) {
      left = adds ? compare(P::ult, types[0], result, as[0]) : compare(P::ult, types[0], as[0], bs[0]);
    } else {
      const Id first = binary(spv::kBitwiseXor, width, as[0], adds ? result : bs[0]);
      const Id second = binary(spv::kBitwiseXor, width, adds ? bs[0] : as[0], result);
      left = compare(P::slt, types[0], binary(spv::kBitwiseAnd, width, first, second), zero);
    }
    set(op, {result, left});
    return true;
  }
  Ids made;
  for (size_t i = 0; i < as.size(); ++i) {
    Id each = 0;
    const Id a = as[i], b = bs[i];
    if (name == "ctlz" || name == "cttz") each = count_zeros(a, width, name == "ctlz");
    if (name == "ctpop") each = count_ones(a, width);
    if (name == "abs") {
      const Id zero = number_of_width(width, 0);
      const Id negated = cut(binary(spv::kISub, width, zero, a), width);
      each = writer_.op(spv::kSelect, type_of(types[i]), {compare(P::slt, types[i], a, zero), negated, a});
    }
    if (name == "fshl" || name == "fshr") {
      const Id size = number_of_width(width, width), one = number_of_width(width, 1);
      const Id by = binary(spv::kUMod, width, ids(op->getOperand(2))[i], size);
      const Id rest = binary(spv::kISub, width, number_of_width(width, width - 1), by);
      const bool left = name == "fshl";
      const Id high = left ? binary(spv::kShiftLeftLogical, width, a, by)
                           : binary(spv::kShiftLeftLogical, width, binary(spv::kShiftLeftLogical, width, a, one), rest);
      const Id low = left ? binary(spv::kShiftRightLogical, width, binary(spv::kShiftRightLogical, width, b, one), rest)
                          : binary(spv::kShiftRightLogical, width, b, by);
      each = cut(binary(spv::kBitwiseOr, width, high, low), width);
    }
    if (name == "bswap" || name == "bitreverse") each = turned(name == "bswap", a, width);
    if (each == 0) each = integer(name, types[i], a, b);
    if (each == 0) return false;
    made.push_back(each);
  }
  set(op, made);
  return true;
}

// Bytes or bits in the other order.
Id FunctionWriter::turned(bool bytes, Id value, unsigned width) {
  if (width > 32) {
    const Id low = resize(value, 64, 32);
    const Id high = resize(binary(spv::kShiftRightLogical, 64, value, writer_.number(32)), 64, 32);
    const Id all = both_halves(turned(bytes, high, 32), turned(bytes, low, 32));
    return width == 64 ? all : binary(spv::kShiftRightLogical, 64, all, writer_.number(64 - width));
  }
  Id all;
  if (bytes) {
    const auto shifted = [&](spv::Op how, uint32_t by, uint32_t mask) {
      return binary(spv::kBitwiseAnd, 32, binary(how, 32, value, writer_.number(by)), writer_.number(mask));
    };
    const Id outer = binary(spv::kBitwiseOr, 32, shifted(spv::kShiftLeftLogical, 24, 0xFF000000),
                            shifted(spv::kShiftRightLogical, 24, 0xFF));
    const Id inner = binary(spv::kBitwiseOr, 32, shifted(spv::kShiftLeftLogical, 8, 0xFF0000),
                            shifted(spv::kShiftRightLogical, 8, 0xFF00));
    all = binary(spv::kBitwiseOr, 32, outer, inner);
  } else {
    all = writer_.op(spv::kBitReverse, writer_.int_type(32), {value});
  }
  return width == 32 ? all : binary(spv::kShiftRightLogical, 32, all, writer_.number(32 - width));
}

Id FunctionWriter::convert_integer(mlir::Operation* op, Type from, Type to, Id value) {
  const unsigned before = width_of(from), after = width_of(to);
  const bool is_signed = llvm::isa<LLVM::SExtOp>(op);
  if (before == 1) {
    const Id yes = number_of_width(after, is_signed ? ~uint64_t{0} >> (64 - after) : 1);
    return after == 1 ? value : writer_.op(spv::kSelect, type_of(to), {value, yes, number_of_width(after, 0)});
  }
  if (after == 1) {
    const Id low = binary(spv::kBitwiseAnd, before, value, number_of_width(before, 1));
    return writer_.op(spv::kINotEqual, writer_.bool_type(), {low, number_of_width(before, 0)});
  }
  if (is_signed) {
    const Id wide = sign_extended(value, before);
    if (stored_width(before) == stored_width(after)) return cut(wide, after);
    return cut(writer_.op(spv::kSConvert, writer_.int_type(64), {wide}), after);
  }
  return cut(resize(value, before, after), after);
}

bool FunctionWriter::write_cast(mlir::Operation* op) {
  const bool integers = llvm::isa<LLVM::TruncOp, LLVM::ZExtOp, LLVM::SExtOp, LLVM::PtrToIntOp, LLVM::IntToPtrOp,
                                  mlir::arith::TruncIOp, mlir::arith::IndexCastUIOp, mlir::arith::ExtUIOp>(op);
  const bool floats =
      llvm::isa<LLVM::FPTruncOp, LLVM::FPExtOp, LLVM::FPToSIOp, LLVM::FPToUIOp, LLVM::SIToFPOp, LLVM::UIToFPOp>(op);
  if (!integers && !floats) return false;
  const auto from = scalars_of(op->getOperand(0).getType()), to = scalars_of(op->getResult(0).getType());
  const Ids values = ids(op->getOperand(0));
  Ids made;
  for (size_t i = 0; i < values.size(); ++i) {
    made.push_back(integers ? convert_integer(op, from[i], to[i], values[i])
                            : convert_float(op, from[i], to[i], values[i]));
  }
  set(op, made);
  return true;
}

}  // namespace baton::compiler_lite::codegen::vulkan
