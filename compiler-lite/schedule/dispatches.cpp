#include "compiler-lite/schedule/dispatches.hpp"

#include <numeric>

#include "compiler-lite/schedule/custom_commands.hpp"
#include "compiler-lite/schedule/element_numbers.hpp"
#include "compiler-lite/schedule/hal_ops.hpp"
#include "compiler-lite/schedule/plan.hpp"
#include "compiler-lite/schedule/scalar_words.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using mlir::failed;
using mlir::failure;
using mlir::Location;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

int64_t tied_operand(mlir::ArrayAttr ties, unsigned result) {
  if (!ties || result >= ties.size()) return -1;
  return llvm::cast<mlir::IntegerAttr>(ties[result]).getInt();
}

// A number that divides it for sure, up to kTransientAlignment.
int64_t divisor_of(Value number) {
  int64_t found = 1;
  if (const std::optional<int64_t> known = fold_integer(number)) {
    found = *known;
  } else if (auto sum = number.getDefiningOp<mlir::arith::AddIOp>()) {
    found = std::gcd(divisor_of(sum.getLhs()), divisor_of(sum.getRhs()));
  } else if (auto product = number.getDefiningOp<mlir::arith::MulIOp>()) {
    found = divisor_of(product.getLhs()) * divisor_of(product.getRhs());
  }
  return std::gcd(found, kTransientAlignment);
}

bool is_aligned(const Place& place) { return !place.offset || divisor_of(place.offset) == kTransientAlignment; }

}  // namespace

// The region that makes a grid of the workload, inlined here.
mlir::FailureOr<SmallVector<Value>> Dispatches::inline_workgroup_count(flow::DispatchOp op, mlir::Block& body) {
  mlir::IRMapping values;
  unsigned next = 0;
  for (const mlir::BlockArgument argument : body.getArguments()) {
    const bool is_device = llvm::isa<hal::DeviceType>(argument.getType());
    if (!is_device && next >= op.getWorkload().size()) {
      return op.emitOpError("gives ") << op.getWorkload().size() << " workload values, and its export takes more";
    }
    values.map(argument, is_device ? function_.device(function_.number_of(op)) : op.getWorkload()[next++]);
  }
  for (Operation& inner : body.without_terminator()) {
    Operation* clone = builder_.clone(inner, values);
    if (auto query = llvm::dyn_cast<hal::DeviceQueryOp>(clone)) {
      values.map(inner.getResults(), mlir::ValueRange(write_query(function_, query)));
      clone->erase();
      continue;
    }
    SmallVector<Value> folded;
    if (failed(builder_.tryFold(clone, folded)) || folded.size() != clone->getNumResults()) continue;
    for (const auto [from, to] : llvm::zip(inner.getResults(), folded)) values.map(from, to);
    clone->erase();
  }
  SmallVector<Value> grid;
  for (const Value size : body.getTerminator()->getOperands()) grid.push_back(values.lookupOrDefault(size));
  return grid;
}

mlir::FailureOr<SmallVector<Value>> Dispatches::own_grid_of(flow::DispatchOp op, const EntryPoint& entry) {
  if (entry.workgroup_count && !entry.workgroup_count->empty()) {
    if (!entry.workgroup_count->hasOneBlock()) {
      return op.emitOpError("calls '") << entry.name << "', whose grid is computed in several blocks; one is inlined";
    }
    return inline_workgroup_count(op, entry.workgroup_count->front());
  }
  if (op.getWorkload().size() > 3) {
    return op.emitOpError("has a workload of ") << op.getWorkload().size() << ", and its export has no region that "
                                                << "makes a grid of three of it";
  }
  SmallVector<Value> grid(op.getWorkload());
  while (grid.size() < 3) grid.push_back(hal_.index(builder_, op.getLoc(), 1));
  return grid;
}

// Whether an export with a condition is the one to call.
mlir::FailureOr<Value> Dispatches::condition_of(flow::DispatchOp op, const EntryPoint& entry) {
  auto function = function_.program.module().lookupSymbol<util::FuncOp>(entry.condition);
  SmallVector<Value> operands;
  unsigned next = 0;
  for (const mlir::Type type : function.getArgumentTypes()) {
    const bool is_device = llvm::isa<hal::DeviceType>(type);
    if (!is_device && next >= op.getWorkload().size()) {
      return op.emitOpError("gives ") << op.getWorkload().size() << " workload values, and the condition of '"
                                      << entry.name << "' takes more";
    }
    operands.push_back(is_device ? function_.device(function_.number_of(op)) : op.getWorkload()[next++]);
  }
  auto call =
      builder_.create<util::CallOp>(op.getLoc(), entry.condition, mlir::TypeRange(builder_.getI1Type()), operands);
  return call.getResult(0);
}

// The grid, of the export itself or of the one that its condition leads to.
LogicalResult Dispatches::grid_of(flow::DispatchOp op, const EntryPoint& entry, Command& command) {
  if (entry.kernel) return success();  // With the constants.
  mlir::FailureOr<SmallVector<Value>> grid = own_grid_of(op, entry);
  if (failed(grid)) return failure();
  SmallVector<SmallVector<Value>> grids = {*grid};
  for (const EntryPoint* each = &entry; each->fallback; each = each->fallback) {
    const mlir::FailureOr<Value> holds = condition_of(op, *each);
    if (failed(holds) || failed(grid = own_grid_of(op, *each->fallback))) return failure();
    command.choices.push_back({*holds, each->fallback});
    grids.push_back(*grid);
  }
  command.grid = grids.back();
  for (size_t i = command.choices.size(); i-- > 0;) {
    for (size_t axis = 0; axis < command.grid.size() && axis < grids[i].size(); ++axis) {
      command.grid[axis] = builder_.createOrFold<mlir::arith::SelectOp>(op.getLoc(), command.choices[i].condition,
                                                                        grids[i][axis], command.grid[axis]);
    }
  }
  return success();
}

// A number travels to a kernel in 32 bits: as a size without a sign, else with one. A constant is checked now.
LogicalResult Dispatches::require_word(flow::DispatchOp op, Value value, bool has_sign) {
  if (!value.getType().isIndex()) return success();
  if (const std::optional<int64_t> known = fold_integer(value)) {
    const bool fits = has_sign ? llvm::isInt<32>(*known) : llvm::isUInt<32>(static_cast<uint64_t>(*known));
    if (fits) return success();
    return op.emitOpError("passes the number ") << *known << ", which doesn't fit into the 32 bits that a kernel gets";
  }
  // By comparing: a cast to 32 bits and back would be folded away.
  const Location location = op.getLoc();
  const auto number = [&](int64_t constant) { return hal_.index(builder_, location, constant); };
  const char* const sentence = "A number passed to a kernel doesn't fit into its 32 bits: $0.";
  if (!has_sign) {
    function_.bounds.below(location, value, builder_.getIndexAttr(int64_t{1} << 32), sentence);
    return success();
  }
  const Value moved = builder_.create<mlir::arith::AddIOp>(location, value, number(int64_t{1} << 31));
  const Value same =
      builder_.create<mlir::arith::CmpIOp>(location, mlir::arith::CmpIPredicate::ult, moved, number(int64_t{1} << 32));
  function_.bounds.require(location, same, Bounds::Fault::kOutOfRange, sentence, value, value);
  return success();
}

LogicalResult Dispatches::constants_of(flow::DispatchOp op, const EntryPoint& entry, Command& command) {
  const Location location = op.getLoc();
  if (entry.kernel) {
    SmallVector<SmallVector<Value>> result_sizes;
    unsigned first = 0;
    for (const Value result : op.getResults()) {
      const unsigned count = static_cast<unsigned>(type_of(result).getNumDynamicDims());
      result_sizes.emplace_back(op.getResultDims().slice(first, count));
      first += count;
    }
    const auto value_of = [&](const codegen::KernelConstant& constant) -> Value {
      using Source = codegen::KernelConstant::Source;
      if (constant.source == Source::kArgument) return op.getArguments()[constant.index];
      const bool of_argument = constant.source == Source::kArgumentSize;
      const Value tensor = of_argument ? op.getArguments()[constant.index] : op.getResult(constant.index);
      const unsigned position = type_of(tensor).getDynamicDimIndex(constant.dimension);
      return of_argument ? places_.of(tensor).sizes[position] : result_sizes[constant.index][position];
    };
    for (const codegen::KernelConstant& constant : entry.kernel->constants) {
      const bool has_sign = constant.source == codegen::KernelConstant::Source::kArgument;
      if (failed(require_word(op, value_of(constant), has_sign))) return failure();
    }
    command.constants = codegen::pack_constants(builder_, location, *entry.kernel, value_of);
    command.grid = codegen::build_grid(builder_, location, *entry.kernel, value_of);
    if (entry.block_kernel) command.block_grid = codegen::build_grid(builder_, location, *entry.block_kernel, value_of);
    return success();
  }
  for (const Value argument : op.getArguments()) {
    if (is_tensor(argument)) continue;
    if (word_count(argument.getType()) == 0) {
      return op.emitOpError("passes a ") << argument.getType() << ", which can't travel in the words of a dispatch";
    }
    if (failed(require_word(op, argument, /*has_sign=*/true))) return failure();
    llvm::append_range(command.constants, pack_words(builder_, location, argument));
  }
  if (!entry.layout) return success();
  if (static_cast<int64_t>(command.constants.size()) != entry.layout.getConstants()) {
    return op.emitOpError("passes ") << command.constants.size() << " words, and the layout of '" << entry.name
                                     << "' has " << entry.layout.getConstants();
  }
  return success();
}

// Where the kernel finds the tensor: where it is, or, as a part of another that the kernel can't take, in a copy.
Place Dispatches::place_for(flow::DispatchOp op, const EntryPoint& entry, const Place& place, Value tensor) {
  return entry.aligns_tensors && !is_aligned(place) ? gatherer_.copy(op, tensor) : place;
}

template <typename Op>
Dispatches::Ties Dispatches::ties_of(Op op) {
  Ties ties;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    const int64_t operand = tied_operand(op.getTiedOperandsAttr(), i);
    if (operand < 0) continue;
    const auto number = static_cast<unsigned>(operand);
    ties.try_emplace(number, gatherer_.tie(op, op.getArguments()[number]));
  }
  return ties;
}

template <typename Op, typename AddRange>
LogicalResult Dispatches::place_results(Op op, llvm::StringRef giver, const Ties& ties, AddRange&& add_range) {
  unsigned first_size = 0;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    const Value result = op.getResult(i);
    if (!is_tensor(result)) return op.emitOpError("gives a ") << result.getType() << "; " << giver << " gives tensors";
    const unsigned size_count = static_cast<unsigned>(type_of(result).getNumDynamicDims());
    const SmallVector<Value> sizes(op.getResultDims().slice(first_size, size_count));
    first_size += size_count;
    const int64_t operand = tied_operand(op.getTiedOperandsAttr(), i);
    if (operand >= 0) {
      Place continued = ties.find(static_cast<unsigned>(operand))->second;
      continued.sizes = sizes;
      places_.place(result, continued);
      continue;
    }
    places_.place(result,
                  {places_.make_pending(op, places_.bytes_of(op.getLoc(), result.getType(), sizes)), {}, sizes});
    add_range(gatherer_.range_of(result, false, true), result);
  }
  return success();
}

LogicalResult Dispatches::schedule(flow::DispatchOp op) {
  const Location location = op.getLoc();
  const auto symbol = llvm::cast<mlir::SymbolRefAttr>(op.getEntryPoints()[0]);
  const EntryPoint* entry = function_.program.executables().find(symbol);
  if (!entry) return op.emitOpError("names ") << symbol << ", which no executable exports";
  memory_bounds_.require_results(op);
  Command command{.kind = Command::Kind::kDispatch, .location = location};
  command.entry_point = entry;
  if (failed(grid_of(op, *entry, command)) || failed(constants_of(op, *entry, command))) return failure();

  Ties ties = ties_of(op);
  for (auto& [number, place] : ties) place = place_for(op, *entry, place, op.getArguments()[number]);
  const auto is_read_only = [&](size_t binding) {
    return entry->layout && binding < entry->layout.getBindings().size() &&
           entry->layout.getBindings()[binding].getReadOnly();
  };
  for (unsigned i = 0; i < op.getArguments().size(); ++i) {
    const Value argument = op.getArguments()[i];
    if (!is_tensor(argument)) continue;
    const auto tied = ties.find(i);
    if (tied == ties.end()) {
      const Place placed = place_for(op, *entry, places_.of(argument), argument);
      command.ranges.push_back(gatherer_.range_of(location, argument, placed, true, false));
    } else {
      if (is_read_only(command.ranges.size())) {
        return op.emitOpError("ties a result to binding ")
               << command.ranges.size() << " of '" << entry->name << "', which its layout calls ReadOnly";
      }
      command.ranges.push_back(gatherer_.range_of(location, argument, tied->second, true, true));
    }
  }
  const auto add_range = [&](Range range, Value) { command.ranges.push_back(range); };
  if (failed(place_results(op, "a kernel", ties, add_range))) return failure();
  if (entry->layout && entry->layout.getBindings().size() != command.ranges.size()) {
    return op.emitOpError("passes ") << command.ranges.size() << " tensors, and the layout of '" << entry->name
                                     << "' has " << entry->layout.getBindings().size() << " bindings";
  }
  add_library_calls(op, command);
  std::string text = "dispatch " + entry->name;
  for (const Command::Alternative& each : command.alternatives) text += " or " + each.callee;
  for (const std::string& flag : command.needless_flags) text += " unless " + flag;
  gatherer_.gather(std::move(command), std::move(text), function_.number_of(op));
  return success();
}

LogicalResult Dispatches::schedule(flow::CallOp op) {
  memory_bounds_.require_results(op);
  Command command{.kind = Command::Kind::kCustom, .location = op.getLoc()};
  command.callee = imported_name(op.getCallee()).str();
  const Ties ties = ties_of(op);
  const auto add_range = [&](Range range, Value tensor) {
    range.type = type_in_slot(tensor);
    command.operands.push_back({{}, static_cast<unsigned>(command.ranges.size())});
    command.ranges.push_back(range);
  };
  for (unsigned i = 0; i < op.getArguments().size(); ++i) {
    const Value argument = op.getArguments()[i];
    if (!is_tensor(argument)) {
      command.operands.push_back({argument, 0});
    } else if (const auto tied = ties.find(i); tied != ties.end()) {
      add_range(gatherer_.range_of(op.getLoc(), argument, tied->second, true, true), argument);
    } else {
      add_range(gatherer_.range_of(argument, true, false), argument);
    }
  }
  if (failed(place_results(op, "a custom command", ties, add_range))) return failure();
  gatherer_.gather(std::move(command), "custom " + op.getCallee().str());
  return success();
}

}  // namespace baton::compiler_lite::schedule
