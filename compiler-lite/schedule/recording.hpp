// Recording: commands that are executed together, while they are gathered, and how they become code that records them.
//
// A recording that depends on nothing but constants is made by an initializer and kept in a global; for GPUs, numbers that its
// kernels get may be said by each execution. Any other is recorded by calls, the last few kept. Both are executed with a table: each external storage, each result and each
// window of them has a slot, all transients share one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler-lite/dialects/hal_calls.hpp"
#include "compiler-lite/schedule/executable.hpp"
#include "compiler-lite/schedule/plan.hpp"

namespace baton::compiler_lite::schedule {

// Part of a storage, as a command uses it.
struct Range {
  unsigned device = 0;  // Whose storage it is.
  unsigned storage = 0;
  mlir::Value offset = {};  // Bytes; null: 0.
  mlir::Value bytes = {};
  bool reads = false;
  bool writes = false;
  int64_t type = 0;                     // Of the tensor, in the bits of a slot argument: what a custom command is told.
  std::optional<unsigned> window = {};  // Which of the recording's windows it is.
};

// Part of an external storage or of a result that lies where a call says, as a step of a loop does: with a slot of its own the
// recording doesn't know where.
struct Window {
  unsigned storage;
  mlir::Value offset, bytes;
};

// An operand of a custom command: a range, or a scalar or object as it is.
struct CustomOperand {
  mlir::Value value = {};  // Null: the range.
  unsigned range = 0;
};

struct Command {
  enum class Kind { kDispatch, kFillBuffer, kCopyBuffer, kCustom };
  Kind kind;
  mlir::Location location;
  std::vector<Range> ranges = {};  // Dispatch: bindings. Fill: target. Copy: source, target. Custom: in order.

  const EntryPoint* entry_point = nullptr;
  // Where a condition doesn't hold it is the next one's turn.
  struct Choice {
    mlir::Value condition;
    const EntryPoint* otherwise;
  };
  std::vector<Choice> choices = {};
  llvm::SmallVector<mlir::Value> grid = {};
  llvm::SmallVector<mlir::Value> block_grid = {};  // Where the entry point has two.
  llvm::SmallVector<mlir::Value> constants = {};
  // Which of them each execution says, and by which of the recording's open constants.
  struct ConstantSlot {
    unsigned constant, slot;
  };
  llvm::SmallVector<ConstantSlot> constant_slots = {};

  // What is recorded instead, the first whose flag is set: calls of libraries' commands.
  struct Alternative {
    std::string flag;  // A global.
    std::string callee;
    std::vector<Range> ranges = {};
    llvm::SmallVector<mlir::Value> numbers = {};
  };
  std::vector<Alternative> alternatives = {};
  // Nothing is recorded where one of these is set: a library's command needs no result of it.
  std::vector<std::string> needless_flags = {};

  mlir::Value pattern = {};  // i64
  unsigned pattern_bytes = 0;

  std::string callee = {};
  std::vector<CustomOperand> operands = {};
};

// What a value folds to, or null.
mlir::Attribute fold_constant(mlir::Value value);
std::optional<int64_t> fold_integer(mlir::Value value);

// Beside each storage of the plan, what code needs of it.
struct StorageSource {
  mlir::Value bytes = {};            // The whole size, index.
  std::string constant_global = {};  // Of kConstant.
};

struct Recording {
  unsigned device = 0;  // By its number.
  Plan plan;
  std::vector<StorageSource> sources;  // As plan.storages.
  std::vector<Command> commands;       // As plan.commands.
  std::vector<Window> windows;
  std::vector<mlir::Value> open_constants;  // By constant slot.

  unsigned add_storage(Storage storage, StorageSource source);
  void add_command(Command command, std::string text);

  // Makes windows of ranges of known size whose place is not known. Kinds of storages are as they stay.
  void open_windows();
  // Gives slots to constants of dispatches that a call knows, where nothing else waits for a call. Windows are open.
  void open_numbers();
  // Whether nothing in it waits for a call.
  bool depends_on_constants_only() const;
  // Slots of external storages and results, in order of storages; -1 for others.
  std::vector<int> slots() const;
  // The slot of the first window; the number of slots() without one.
  int first_window_slot() const;
  // The slot of the slab; the number of slots without one.
  int slab_slot() const { return first_window_slot() + static_cast<int>(windows.size()); }
};

// The code that records, and its result, a !hal.recording. `region_offsets`: where the slab's regions begin.
mlir::Value write_recording(mlir::OpBuilder& builder, HalCalls& hal, const Recording& recording, mlir::Value device,
                            llvm::ArrayRef<mlir::Value> region_offsets, bool only_constants);

}  // namespace baton::compiler_lite::schedule
