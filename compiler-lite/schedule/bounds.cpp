#include "compiler-lite/schedule/bounds.hpp"

#include "compiler-lite/schedule/recording.hpp"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
using llvm::Twine;
using mlir::Location;
using mlir::OpFoldResult;
using mlir::Value;

namespace {

void* key_of(OpFoldResult value) { return value.getOpaqueValue(); }

}  // namespace

// Whether it was compared in a block that every way to here passes; if not, it counts as compared from now on.
bool Bounds::is_known(Predicate predicate, OpFoldResult a, OpFoldResult b) {
  mlir::Block* here = builder_.getInsertionBlock();
  const auto number = static_cast<unsigned>(predicate);
  const bool either_way = predicate == Predicate::eq && key_of(b) < key_of(a);
  const std::pair<void*, void*> sides = either_way ? std::pair(key_of(b), key_of(a)) : std::pair(key_of(a), key_of(b));
  const auto at = [&](mlir::Block* block) { return Comparison(block, number, sides.first, sides.second); };
  return made_.contains(at(&here->getParent()->front())) || !made_.insert(at(here)).second;
}

void Bounds::compare(Location location, Predicate predicate, OpFoldResult a, OpFoldResult b, const Twine& sentence,
                     Value unless) {
  if (predicate != Predicate::ult && a == b) return;
  if (predicate == Predicate::ule && mlir::isConstantIntValue(a, 0)) return;
  const auto known_a = mlir::getConstantIntValue(a), known_b = mlir::getConstantIntValue(b);
  if (known_a && known_b &&
      arith::applyCmpPredicate(predicate, llvm::APInt(64, static_cast<uint64_t>(*known_a)),
                               llvm::APInt(64, static_cast<uint64_t>(*known_b)))) {
    return;
  }
  if (!unless && is_known(predicate, a, b)) return;
  Value holds =
      builder_.create<arith::CmpIOp>(location, predicate, mlir::getValueOrCreateConstantIndexOp(builder_, location, a),
                                     mlir::getValueOrCreateConstantIndexOp(builder_, location, b));
  if (unless) holds = builder_.create<arith::OrIOp>(location, holds, unless);
  require(location, holds, predicate == Predicate::eq ? Fault::kInvalidArgument : Fault::kOutOfRange, sentence, a, b);
}

void Bounds::equal(Location location, OpFoldResult a, OpFoldResult b, const Twine& sentence) {
  compare(location, Predicate::eq, a, b, sentence, {});
}
void Bounds::below(Location location, OpFoldResult a, OpFoldResult b, const Twine& sentence, Value unless) {
  compare(location, Predicate::ult, a, b, sentence, unless);
}
void Bounds::at_most(Location location, OpFoldResult a, OpFoldResult b, const Twine& sentence, Value unless) {
  compare(location, Predicate::ule, a, b, sentence, unless);
}

void Bounds::require(Location location, Value holds, Fault fault, const Twine& sentence, OpFoldResult first,
                     OpFoldResult second) {
  const Value truth = builder_.create<arith::ConstantIntOp>(location, 1, 1);
  const Value fails = builder_.createOrFold<arith::XOrIOp>(location, holds, truth);
  auto choice = builder_.create<mlir::scf::IfOp>(location, fails, /*withElseRegion=*/false);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(choice.thenBlock());
  hal_.call(builder_, location, "bounds.fail",
            {hal_.i32(builder_, location, static_cast<int64_t>(fault)), hal_.bytes(builder_, location, sentence.str()),
             mlir::getValueOrCreateConstantIndexOp(builder_, location, first),
             mlir::getValueOrCreateConstantIndexOp(builder_, location, second)});
}

Value float_product(mlir::OpBuilder& builder, Location location, llvm::ArrayRef<OpFoldResult> sizes) {
  const mlir::Type f64 = builder.getF64Type();
  int64_t known = 1;
  Value product;
  for (const OpFoldResult size : sizes) {
    if (const auto constant = mlir::getConstantIntValue(size)) {
      known *= *constant;
      continue;
    }
    const Value bits = builder.create<arith::IndexCastOp>(location, builder.getI64Type(), llvm::cast<Value>(size));
    const Value factor = builder.create<arith::UIToFPOp>(location, f64, bits);  // A negative one is 2^63 or more.
    product = product ? builder.create<arith::MulFOp>(location, product, factor).getResult() : factor;
  }
  const auto rest = builder.getF64FloatAttr(static_cast<double>(known));
  const Value constant = builder.create<arith::ConstantOp>(location, rest);
  if (!product) return constant;
  return known == 1 ? product : builder.create<arith::MulFOp>(location, product, constant).getResult();
}

Value is_product(mlir::OpBuilder& builder, Location location, llvm::ArrayRef<OpFoldResult> sizes, OpFoldResult whole) {
  const Value product = float_product(builder, location, sizes);
  const Value wanted = float_product(builder, location, whole);
  return builder.create<arith::CmpFOp>(location, arith::CmpFPredicate::OEQ, product, wanted);
}

}  // namespace baton::compiler_lite::schedule
