#include "compiler-lite/schedule/kept_recordings.hpp"

#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite {
namespace {

namespace arith = mlir::arith;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// A program that goes back and forth between two shapes, as one over a first and further pieces does, records twice.
constexpr unsigned kKept = 2;
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

// One recording that is kept, and what it was made for, in globals.
struct Entry {
  std::string recording, made;
  std::vector<std::string> keys;
};

class KeptRecordings {
 public:
  KeptRecordings(OpBuilder& builder, Program& program, Location location, llvm::ArrayRef<Value> keys)
      : builder_(builder), program_(program), location_(location), type_(program.hal().recording_type()) {
    for (const Value key : keys) keys_.push_back(as_bits(key));
  }

  Value write(llvm::StringRef name, llvm::function_ref<Value()> record) {
    for (unsigned i = 0; i < kKept; ++i) entries_.push_back(add_entry(name));
    return write_from(0, record);
  }

 private:
  // Floats are compared by their bits: a zero with a sign is another value, and what is no number is itself.
  Value as_bits(Value key) {
    if (!llvm::isa<mlir::FloatType>(key.getType())) return key;
    const mlir::Type bits = builder_.getIntegerType(key.getType().getIntOrFloatBitWidth());
    return builder_.create<arith::BitcastOp>(location_, bits, key);
  }

  Entry add_entry(llvm::StringRef name) {
    const std::string stem = "kept." + name.str();
    Entry entry{program_.add_global(stem, type_, location_, /*is_mutable=*/true),
                program_.add_global(stem + ".made", builder_.getI32Type(), location_, true),
                {}};
    for (const Value key : keys_) {
      entry.keys.push_back(program_.add_global(stem + ".key", key.getType(), location_, true));
    }
    return entry;
  }

  Value load(const std::string& global, mlir::Type type) {
    return builder_.create<util::GlobalLoadOp>(location_, type, mlir::UnitAttr(),
                                               mlir::FlatSymbolRefAttr::get(builder_.getContext(), global));
  }
  void store(Value value, const std::string& global) { builder_.create<util::GlobalStoreOp>(location_, value, global); }

  // The entry if it fits, else the next one; behind the last, a new one.
  Value write_from(unsigned number, llvm::function_ref<Value()> record) {
    if (number == entries_.size()) return keep(record());
    const Entry& entry = entries_[number];
    Value fits =
        builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ne, load(entry.made, builder_.getI32Type()),
                                       program_.hal().i32(builder_, location_, 0));
    for (size_t i = 0; i < keys_.size(); ++i) {
      const Value same = builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, keys_[i],
                                                        load(entry.keys[i], keys_[i].getType()));
      fits = builder_.create<arith::AndIOp>(location_, fits, same);
    }
    auto choice = builder_.create<mlir::scf::IfOp>(location_, type_, fits, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(choice.thenBlock());
    builder_.create<mlir::scf::YieldOp>(location_, load(entry.recording, type_));
    builder_.setInsertionPointToStart(choice.elseBlock());
    builder_.create<mlir::scf::YieldOp>(location_, write_from(number + 1, record));
    return choice.getResult(0);
  }

  // As the first; those before it move on by one, the oldest is dropped.
  Value keep(Value made) {
    for (size_t i = entries_.size() - 1; i > 0; --i) {
      const Entry &from = entries_[i - 1], &to = entries_[i];
      store(load(from.recording, type_), to.recording);
      store(load(from.made, builder_.getI32Type()), to.made);
      for (size_t k = 0; k < keys_.size(); ++k) store(load(from.keys[k], keys_[k].getType()), to.keys[k]);
    }
    store(made, entries_[0].recording);
    store(program_.hal().i32(builder_, location_, 1), entries_[0].made);
    for (size_t k = 0; k < keys_.size(); ++k) store(keys_[k], entries_[0].keys[k]);
    return made;
  }

  OpBuilder& builder_;
  Program& program_;
  Location location_;
  mlir::Type type_;
  SmallVector<Value> keys_;
  std::vector<Entry> entries_;
};

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
    for (const Range& range : command.ranges) {
      add(range.offset);
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
  return KeptRecordings(builder, program, location, keys).write(name, record);
}

}  // namespace baton::compiler_lite
