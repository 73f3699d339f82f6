#include "compiler-lite/schedule/recording.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/dialects/vm/dialect.hpp"
#include "hal/interface/numbers.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

constexpr int64_t kReads = static_cast<int64_t>(baton::hal::Access::kRead);
constexpr int64_t kWrites = static_cast<int64_t>(baton::hal::Access::kWrite);
constexpr int64_t kUnstated = 0;  // Transfers know theirs.

class Writer {
 public:
  Writer(OpBuilder& builder, HalCalls& hal, const Recording& recording, Value device, bool only_constants)
      : builder_(builder),
        hal_(hal),
        recording_(recording),
        device_(device),
        only_constants_(only_constants),
        slots_(recording.slots()) {}

  Value write(llvm::ArrayRef<Value> region_offsets) {
    region_offsets_ = region_offsets;
    const Location start = recording_.commands.front().location;
    const int slot_count = recording_.slab_slot() + (recording_.plan.has_slab() ? 1 : 0);
    commands_ =
        hal_.call(builder_, start, "command_buffer.create",
                  {device_, hal_.bytes(builder_, start, recording_.plan.name), hal_.i32(builder_, start, slot_count),
                   hal_.i32(builder_, start, static_cast<int32_t>(recording_.open_constants.size()))});
    for (size_t i = 0; i < recording_.commands.size(); ++i) {
      const Command& command = recording_.commands[i];
      if (recording_.plan.commands[i].barrier_before) {
        hal_.call(builder_, command.location, "command_buffer.barrier", {commands_});
      }
      write_command(command);
    }
    return hal_.call(builder_, start, "command_buffer.finish", {commands_});
  }

 private:
  // A value where it is needed: constants are made again in an initializer.
  Value use(Location location, Value value) {
    if (!only_constants_) return value;
    const auto constant = llvm::cast<mlir::TypedAttr>(fold_constant(value));
    return builder_.create<arith::ConstantOp>(location, constant);
  }

  Value load(Location location, llvm::StringRef global, mlir::Type type) {
    return builder_.create<util::GlobalLoadOp>(location, type, mlir::UnitAttr(),
                                               mlir::FlatSymbolRefAttr::get(builder_.getContext(), global));
  }

  std::string on_device(const std::string& global) const { return global_on(recording_.device, global); }

  static int64_t access_of(const Range& range) { return (range.reads ? kReads : 0) | (range.writes ? kWrites : 0); }

  Value add(Location location, Value a, Value b) { return builder_.createOrFold<arith::AddIOp>(location, a, b); }

  // Slot with the bits of `access`, buffer, offset, length.
  void append(Location location, const Range& range, int64_t access, llvm::SmallVectorImpl<Value>& operands) {
    const Storage& storage = recording_.plan.storages[range.storage];
    const bool is_at_begin = range.window || !range.offset;
    Value offset = is_at_begin ? hal_.index(builder_, location, 0) : use(location, range.offset);
    int64_t slot = 0;
    Value buffer;
    if (range.window) {
      buffer = hal_.null(builder_, location, hal_.buffer_type());
      slot = recording_.first_window_slot() + static_cast<int>(*range.window);
    } else if (storage.kind == StorageKind::kConstant) {
      buffer = load(location, recording_.sources[range.storage].constant_global, hal_.buffer_type());
    } else {
      buffer = hal_.null(builder_, location, hal_.buffer_type());
      slot = slots_[range.storage];
    }
    if (storage.kind == StorageKind::kTransient) {
      slot = recording_.slab_slot();
      const Value begin = storage.bytes == kUnknown ? region_offsets_[storage.region]
                                                    : hal_.index(builder_, location, storage.slab_offset);
      offset = add(location, begin, offset);
    }
    slot |= access << baton::hal::kSlotAccessShift;
    operands.append({hal_.index(builder_, location, slot | range.type), buffer, offset, use(location, range.bytes)});
  }

  void write_command(const Command& command) {
    switch (command.kind) {
      case Command::Kind::kDispatch: return write_where_needed(command, command.needless_flags);
      case Command::Kind::kFillBuffer: return write_fill_buffer(command);
      case Command::Kind::kCopyBuffer: return write_copy_buffer(command);
      case Command::Kind::kCustom: return write_custom(command);
    }
  }

  void write_where_needed(const Command& command, llvm::ArrayRef<std::string> needless_flags) {
    if (needless_flags.empty()) return write_first_there(command, command.alternatives);
    const Value needless = load(command.location, needless_flags.front(), builder_.getI1Type());
    auto choice = builder_.create<mlir::scf::IfOp>(command.location, needless, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(choice.elseBlock());
    write_where_needed(command, needless_flags.drop_front());
  }

  // The first of the alternatives that is there, else the dispatch.
  void write_first_there(const Command& command, llvm::ArrayRef<Command::Alternative> alternatives) {
    if (alternatives.empty()) return write_dispatch(command);
    const Location location = command.location;
    const Value is_there = load(location, alternatives.front().flag, builder_.getI1Type());
    auto choice = builder_.create<mlir::scf::IfOp>(location, is_there, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(choice.thenBlock());
    write_alternative(location, alternatives.front());
    builder_.setInsertionPointToStart(choice.elseBlock());
    write_first_there(command, alternatives.drop_front());
  }

  void write_alternative(Location location, const Command::Alternative& alternative) {
    SmallVector<Value> operands = {commands_};
    for (const Range& range : alternative.ranges) append(location, range, access_of(range), operands);
    for (const Value number : alternative.numbers) operands.push_back(use(location, number));
    builder_.create<vm::CallVariadicOp>(
        location, mlir::TypeRange(), mlir::FlatSymbolRefAttr::get(builder_.getContext(), alternative.callee), operands,
        builder_.getDenseI32ArrayAttr({static_cast<int32_t>(alternative.numbers.size())}));
  }

  Value entry_point_of(const Command& command) {
    const auto ordinal = [&](const EntryPoint& entry) {
      return load(command.location, on_device(entry.ordinal_global), builder_.getI32Type());
    };
    Value chosen = ordinal(command.choices.empty() ? *command.entry_point : *command.choices.back().otherwise);
    for (size_t i = command.choices.size(); i-- > 0;) {
      const EntryPoint& first = i == 0 ? *command.entry_point : *command.choices[i - 1].otherwise;
      chosen = builder_.create<arith::SelectOp>(command.location, use(command.location, command.choices[i].condition),
                                                ordinal(first), chosen);
    }
    return chosen;
  }

  void write_dispatch(const Command& command) {
    const Location location = command.location;
    SmallVector<Value> operands = {
        commands_, load(location, on_device(command.entry_point->executable_global), hal_.executable_type()),
        entry_point_of(command)};
    Value has_blocks;
    if (!command.block_grid.empty()) {
      has_blocks = load(location, on_device(command.entry_point->blocks_global), builder_.getI1Type());
    }
    for (size_t axis = 0; axis < command.grid.size(); ++axis) {
      Value size = use(location, command.grid[axis]);
      if (has_blocks) {
        const Value blocks = use(location, command.block_grid[axis]);
        size = builder_.createOrFold<arith::SelectOp>(location, has_blocks, blocks, size);
      }
      operands.push_back(builder_.createOrFold<arith::IndexCastOp>(location, builder_.getI32Type(), size));
    }
    SmallVector<Value> words(command.constants), pairs;
    for (const Command::ConstantSlot& open : command.constant_slots) {
      words[open.constant] = hal_.i32(builder_, location, 0);
      pairs.push_back(hal_.i32(builder_, location, static_cast<int32_t>(open.constant)));
      pairs.push_back(hal_.i32(builder_, location, static_cast<int32_t>(open.slot)));
    }
    for (const Value word : words) operands.push_back(use(location, word));
    llvm::append_range(operands, pairs);
    for (const Range& range : command.ranges) append(location, range, access_of(range), operands);
    const auto word_count = static_cast<int32_t>(words.size()),
               range_count = static_cast<int32_t>(command.ranges.size());
    if (pairs.empty()) {
      hal_.call(builder_, location, "command_buffer.dispatch", operands, {word_count, range_count});
    } else {
      hal_.call(builder_, location, "command_buffer.dispatch_with_slots", operands,
                {word_count, static_cast<int32_t>(pairs.size() / 2), range_count});
    }
  }

  void write_fill_buffer(const Command& command) {
    SmallVector<Value> operands = {commands_};
    append(command.location, command.ranges[0], kUnstated, operands);
    operands.push_back(use(command.location, command.pattern));
    operands.push_back(hal_.i32(builder_, command.location, command.pattern_bytes));
    hal_.call(builder_, command.location, "command_buffer.fill_buffer", operands);
  }

  void write_copy_buffer(const Command& command) {
    SmallVector<Value> operands = {commands_};
    append(command.location, command.ranges[0], kUnstated, operands);
    append(command.location, command.ranges[1], kUnstated, operands);
    hal_.call(builder_, command.location, "command_buffer.copy_buffer", operands);
  }

  void write_custom(const Command& command) {
    SmallVector<Value> operands = {commands_};
    for (const CustomOperand& operand : command.operands) {
      if (operand.value) {
        operands.push_back(use(command.location, operand.value));
      } else {
        // What it writes it may read, too: a part of a result is kept, or added to.
        const Range& range = command.ranges[operand.range];
        append(command.location, range, range.writes ? kReads | kWrites : kReads, operands);
      }
    }
    builder_.create<util::CallOp>(command.location, command.callee, mlir::TypeRange(), operands);
  }

  OpBuilder& builder_;
  HalCalls& hal_;
  const Recording& recording_;
  Value device_;
  bool only_constants_;
  std::vector<int> slots_;
  llvm::ArrayRef<Value> region_offsets_;
  Value commands_;
};

bool is_constant(Value value) { return !value || fold_constant(value); }

int64_t known(Value value) {
  if (!value) return 0;
  return fold_integer(value).value_or(kUnknown);
}

}  // namespace

mlir::Attribute fold_constant(Value value) {
  mlir::Attribute attribute;
  if (mlir::matchPattern(value, mlir::m_Constant(&attribute))) return attribute;
  mlir::Operation* op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || op->getNumResults() != 1 || !mlir::isPure(op)) return {};
  SmallVector<mlir::Attribute> operands;
  for (const Value operand : op->getOperands()) {
    operands.push_back(fold_constant(operand));
    if (!operands.back()) return {};
  }
  SmallVector<mlir::OpFoldResult> results;
  if (mlir::failed(op->fold(operands, results)) || results.size() != 1) return {};
  if (const auto folded = llvm::dyn_cast<mlir::Attribute>(results[0])) return folded;
  return fold_constant(llvm::cast<Value>(results[0]));
}

std::optional<int64_t> fold_integer(Value value) {
  const auto integer = llvm::dyn_cast_or_null<mlir::IntegerAttr>(fold_constant(value));
  if (!integer) return std::nullopt;
  return integer.getValue().getSExtValue();
}

unsigned Recording::add_storage(Storage storage, StorageSource source) {
  plan.storages.push_back(std::move(storage));
  sources.push_back(std::move(source));
  return static_cast<unsigned>(plan.storages.size() - 1);
}

void Recording::add_command(Command command, std::string text) {
  PlannedCommand planned{.text = std::move(text)};
  for (const Range& range : command.ranges) {
    planned.touches.push_back({.storage = range.storage,
                               .offset = known(range.offset),
                               .bytes = fold_integer(range.bytes).value_or(kUnknown),
                               .reads = range.reads,
                               .writes = range.writes});
  }
  plan.commands.push_back(std::move(planned));
  commands.push_back(std::move(command));
}

void Recording::open_windows() {
  const auto open = [&](Range& range) {
    const StorageKind kind = plan.storages[range.storage].kind;
    const bool has_slot = kind == StorageKind::kExternal || kind == StorageKind::kResult;
    if (!has_slot || is_constant(range.offset) || !is_constant(range.bytes)) return;
    const auto is_same = [&](const Window& window) {
      return window.storage == range.storage && window.offset == range.offset && window.bytes == range.bytes;
    };
    const auto found = llvm::find_if(windows, is_same);
    range.window = static_cast<unsigned>(found - windows.begin());
    if (found == windows.end()) windows.push_back({range.storage, range.offset, range.bytes});
  };
  for (Command& command : commands) {
    if (command.kind == Command::Kind::kCustom) continue;  // It may ask where its range lies.
    for (Range& range : command.ranges) open(range);
    for (Command::Alternative& alternative : command.alternatives) {
      for (Range& range : alternative.ranges) open(range);
    }
  }
}

void Recording::open_numbers() {
  const auto slot_of = [&](Value word) {
    const auto found = llvm::find(open_constants, word);
    const auto slot = static_cast<unsigned>(found - open_constants.begin());
    if (found == open_constants.end()) open_constants.push_back(word);
    return slot;
  };
  for (Command& command : commands) {
    for (unsigned i = 0; i < command.constants.size(); ++i) {
      const Value word = command.constants[i];
      if (!is_constant(word)) command.constant_slots.push_back({i, slot_of(word)});
    }
  }
  if (depends_on_constants_only()) return;
  open_constants.clear();
  for (Command& command : commands) command.constant_slots.clear();
}

bool Recording::depends_on_constants_only() const {
  for (const Command& command : commands) {
    const bool has_open_words = !command.constant_slots.empty();
    if (!llvm::all_of(command.grid, is_constant)) return false;
    if (!has_open_words && !llvm::all_of(command.constants, is_constant)) return false;
    if (!llvm::all_of(command.block_grid, is_constant) || !is_constant(command.pattern)) return false;
    for (const Command::Choice& choice : command.choices) {
      if (!is_constant(choice.condition)) return false;
    }
    for (const Command::Alternative& alternative : command.alternatives) {
      if (!llvm::all_of(alternative.numbers, is_constant)) return false;
    }
    for (const Range& range : command.ranges) {
      if ((!range.window && !is_constant(range.offset)) || !is_constant(range.bytes)) return false;
    }
    for (const CustomOperand& operand : command.operands) {
      if (!is_constant(operand.value)) return false;
    }
  }
  return llvm::none_of(plan.storages, [](const Storage& storage) {
    return storage.kind == StorageKind::kTransient && storage.bytes == kUnknown;
  });
}

std::vector<int> Recording::slots() const {
  std::vector<int> slots;
  int next = 0;
  for (const Storage& storage : plan.storages) {
    const bool has_slot =
        storage.used && (storage.kind == StorageKind::kExternal || storage.kind == StorageKind::kResult);
    slots.push_back(has_slot ? next++ : -1);
  }
  return slots;
}

int Recording::first_window_slot() const {
  int count = 0;
  for (const int slot : slots()) count = std::max(count, slot + 1);
  return count;
}

Value write_recording(OpBuilder& builder, HalCalls& hal, const Recording& recording, Value device,
                      llvm::ArrayRef<Value> region_offsets, bool only_constants) {
  return Writer(builder, hal, recording, device, only_constants).write(region_offsets);
}

}  // namespace baton::compiler_lite::schedule
