#include "compiler-lite/schedule/kept_recordings.hpp"

#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// Beyond it comparing costs what recording does.
constexpr size_t kKeysMax = 16;

// Through what is computed from its operands alone.
void add_keys(Value value, llvm::SetVector<Value>& keys, llvm::DenseSet<Value>& seen) {
  if (!value || !seen.insert(value).second || fold_constant(value)) return;
  mlir::Operation* op = value.getDefiningOp();
  const bool is_computed = op && op->getNumRegions() == 0 && op->getNumOperands() > 0 && mlir::isPure(op);
  if (!is_computed) {
    keys.insert(value);
    return;
  }
  for (const Value operand : op->getOperands()) add_keys(operand, keys, seen);
}

// A number as 64 bits. Floats are compared by their bits: a zero with a sign is another value, and what is no number is
// itself.
Value as_key(OpBuilder& builder, Location location, Value number) {
  const mlir::Type i64 = builder.getI64Type(), index = builder.getIndexType();
  if (number.getType().isIndex()) return number;
  if (llvm::isa<mlir::FloatType>(number.getType())) {
    const mlir::Type bits = builder.getIntegerType(number.getType().getIntOrFloatBitWidth());
    number = builder.create<arith::BitcastOp>(location, bits, number);
  }
  if (number.getType() != i64) number = builder.create<arith::ExtUIOp>(location, i64, number);
  return builder.create<arith::IndexCastOp>(location, index, number);
}

}  // namespace

std::optional<SmallVector<Value>> find_keys(const Recording& recording, llvm::ArrayRef<Value> region_offsets) {
  llvm::SetVector<Value> keys;
  llvm::DenseSet<Value> seen;
  const auto add = [&](Value value) { add_keys(value, keys, seen); };
  for (const Value offset : region_offsets) add(offset);
  for (const Command& command : recording.commands) {
    for (const Value size : command.grid) add(size);
    for (const Value size : command.block_grid) add(size);
    for (const Value word : command.constants) add(word);
    for (const Command::Choice& choice : command.choices) add(choice.condition);
    for (const CustomOperand& operand : command.operands) add(operand.value);
    for (const Command::Alternative& alternative : command.alternatives) {
      for (const Value number : alternative.numbers) add(number);
    }
    for (const Range& range : command.ranges) {
      if (!range.window) add(range.offset);
      add(range.bytes);
    }
    add(command.pattern);
  }
  const auto is_number = [](Value key) { return key.getType().isIntOrIndexOrFloat(); };
  if (keys.size() > kKeysMax || !llvm::all_of(keys, is_number)) return std::nullopt;
  return keys.takeVector();
}

Value write_kept_recording(OpBuilder& builder, Program& program, Location location, llvm::StringRef name,
                           llvm::ArrayRef<Value> keys, llvm::function_ref<Value()> record) {
  HalCalls& hal = program.hal();
  const mlir::Type type = hal.kept_recordings_type();
  const std::string global = program.add_global("kept." + name.str(), type, location);
  OpBuilder& initializer = program.initializer();
  initializer.create<util::GlobalStoreOp>(location, hal.call(initializer, location, "kept_recordings.create", {}),
                                          global);

  const Value kept = builder.create<util::GlobalLoadOp>(location, type, mlir::UnitAttr(),
                                                        mlir::FlatSymbolRefAttr::get(builder.getContext(), global));
  SmallVector<Value> numbers = {kept};
  for (const Value key : keys) numbers.push_back(as_key(builder, location, key));
  const auto count = static_cast<int32_t>(keys.size());
  const Value known = hal.call(builder, location, "kept_recordings.find", numbers, {count});
  const Value found = known.getDefiningOp()->getResult(1);
  const Value fits =
      builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, known, hal.i32(builder, location, 0));
  auto choice = builder.create<mlir::scf::IfOp>(location, found.getType(), fits, /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  builder.create<mlir::scf::YieldOp>(location, found);
  builder.setInsertionPointToStart(choice.elseBlock());
  const Value made = record();
  SmallVector<Value> kept_as(numbers);
  kept_as.insert(kept_as.begin() + 1, made);
  hal.call(builder, location, "kept_recordings.keep", kept_as, {count});
  builder.create<mlir::scf::YieldOp>(location, made);
  return choice.getResult(0);
}

}  // namespace baton::compiler_lite::schedule
