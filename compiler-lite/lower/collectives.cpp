// collectives: flow.collective.* and flow.channel.* → calls of the module `collective` (modules/collective_module), whose
// commands record into the program's command buffer. A channel is there the channel
// of all ranks, or the number of a group that was split from it or has a name.

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/hal_calls.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "llvm/ADT/StringSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

constexpr size_t kSource = 1, kChannel = 2, kTo = 3, kFrom = 4;  // Operands of a collective; the target is first.

// hal/interface/numbers.hpp; 0: there is none of that name.
int32_t reduction_number(StringRef name) {
  return llvm::StringSwitch<int32_t>(name)
      .Case("sum", 1)
      .Case("product", 2)
      .Case("minimum", 3)
      .Case("maximum", 4)
      .Case("average", 5)
      .Default(0);
}

// `si32` and `i32` both mean i32; nothing for a word that is no number type.
std::string element_name(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

bool is_unsigned(StringRef word) { return word.starts_with("ui"); }

LogicalResult check_element(Operation* op, StringRef word, Type element) {
  StringRef plain = word;
  if (!plain.consume_front("s")) plain.consume_front("u");
  if (plain == element_name(element)) return success();
  return op->emitOpError("says that its elements are ") << word << ", and they are " << element;
}

class Conversion {
 public:
  explicit Conversion(ModuleOp module) : module_(module), symbols_(module) {}

  LogicalResult convert(Operation* op) {
    if (auto each = dyn_cast<flow::CollectiveAllReduceOp>(op)) return reduce(each, "collective.all_reduce");
    if (auto each = dyn_cast<flow::CollectiveReduceScatterOp>(op)) return reduce(each, "collective.reduce_scatter");
    if (auto each = dyn_cast<flow::CollectiveAllGatherOp>(op)) return record(each, "collective.all_gather", {});
    if (auto each = dyn_cast<flow::CollectiveAllToAllOp>(op)) return record(each, "collective.all_to_all", {});
    if (auto each = dyn_cast<flow::CollectiveSendRecvOp>(op)) return exchange(each);
    if (isa<flow::ChannelRankOp>(op)) return number(op, "rank");
    if (isa<flow::ChannelCountOp>(op)) return number(op, "count");
    return success();
  }

 private:
  // The number of the channel's group, null for all ranks.
  FailureOr<Value> group_of(Operation* op, Value channel) {
    if (auto made = channel.getDefiningOp<flow::ChannelDefaultOp>()) {
      return made.getGroup() ? group_of_name(made) : Value();
    }
    if (auto split = channel.getDefiningOp<flow::ChannelSplitOp>()) return split_into(split);
    return op->emitOpError(
        "uses a channel that flow.channel.default or flow.channel.split did not make in its function");
  }

  // All ranks, by that name.
  Value group_of_name(flow::ChannelDefaultOp op) {
    if (const Value group = groups_.lookup(op)) return group;
    OpBuilder builder(op);
    const Type buffer = util::BufferType::get(builder.getContext());
    const Value name = builder.create<util::BufferConstantOp>(op.getLoc(), buffer, StringAttr(), op.getGroupAttr(),
                                                              IntegerAttr(), StringAttr());
    return groups_[op] = call(builder, op.getLoc(), "collective.named", builder.getI32Type(),
                              {first_device(builder, op.getLoc()), name});
  }

  Value first_device(OpBuilder& builder, Location location) {
    const Value first = builder.create<arith::ConstantIndexOp>(location, 0);
    return HalCalls(module_).call(builder, location, "devices.get", first);
  }

  // Of all ranks, whether their channel has a name or none: they are the same.
  FailureOr<Value> split_into(flow::ChannelSplitOp op) {
    if (const Value group = groups_.lookup(op)) return group;
    const FailureOr<Value> whole = group_of(op, op.getChannel());
    if (failed(whole)) return failure();
    if (op.getChannel().getDefiningOp<flow::ChannelSplitOp>()) {
      return op.emitOpError("splits a channel that was split; only one of all ranks can be");
    }
    OpBuilder builder(op);
    const Location location = op.getLoc();
    const Type number = builder.getI32Type();
    const auto narrow = [&](Value each) -> Value { return builder.create<arith::IndexCastOp>(location, number, each); };
    const Value device = first_device(builder, location);
    const Value site = builder.create<arith::ConstantIntOp>(location, static_cast<int64_t>(groups_.size()), 32);
    return groups_[op] = call(builder, location, "collective.split", number,
                              {device, site, narrow(op.getColor()), narrow(op.getKey())});
  }

  template <typename Op>
  LogicalResult reduce(Op op, StringRef import) {
    const int32_t reduction = reduction_number(op.getReduction());
    if (reduction == 0) return op.emitOpError("has no reduction '") << op.getReduction() << "'";
    if (is_unsigned(op.getElementType()) && reduction > 2) {
      return op.emitOpError("is ") << op.getReduction() << " of " << op.getElementType()
                                   << "; ranks compare and divide signed integers and floats only";
    }
    OpBuilder builder(op);
    return record(op, import, builder.create<arith::ConstantIntOp>(op.getLoc(), reduction, 32).getResult());
  }

  // One rank's numbers are i32 there, and -1 is nobody in both.
  LogicalResult exchange(flow::CollectiveSendRecvOp op) {
    OpBuilder builder(op);
    const auto narrow = [&](Value rank) -> Value {
      return builder.create<arith::IndexCastOp>(op.getLoc(), builder.getI32Type(), rank);
    };
    const Value to = narrow(op.getArguments()[kTo]), from = narrow(op.getArguments()[kFrom]);
    return record(op, "collective.permute", {to, from});
  }

  template <typename Op>
  LogicalResult record(Op op, StringRef import, ValueRange numbers) {
    const Value source = op.getArguments()[kSource];
    const auto type = cast<RankedTensorType>(source.getType());
    const FailureOr<Value> group = group_of(op, op.getArguments()[kChannel]);
    if (failed(group) || failed(check_element(op, op.getElementType(), type.getElementType()))) return failure();
    OpBuilder builder(op);
    SmallVector<Value> operands = {source}, sizes;
    llvm::append_range(operands, numbers);
    if (*group) operands.push_back(*group);
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (type.isDynamicDim(static_cast<unsigned>(i))) {
        sizes.push_back(builder.createOrFold<tensor::DimOp>(op.getLoc(), source, i));
      }
    }
    const FunctionType function = builder.getFunctionType(ValueRange(operands).getTypes(), op.getType());
    auto call = builder.create<flow::CallOp>(op.getLoc(), TypeRange(op.getType()),
                                             command(*group ? (import + "_in").str() : import.str(), function),
                                             operands, sizes, op.getResultDims(), ArrayAttr());
    op.replaceAllUsesWith(call.getResult(0));
    op.erase();
    return success();
  }

  LogicalResult number(Operation* op, StringRef what) {
    const FailureOr<Value> group = group_of(op, op->getOperand(0));
    if (failed(group)) return failure();
    OpBuilder builder(op);
    const std::string import = ((*group ? "collective.group_" : "collective.") + what).str();
    const Value found =
        call(builder, op->getLoc(), import, builder.getI32Type(), *group ? ValueRange(*group) : ValueRange());
    op->getResult(0).replaceAllUsesWith(
        builder.create<arith::IndexCastOp>(op->getLoc(), builder.getIndexType(), found));
    op->erase();
    return success();
  }

  // Of a function of the host.
  Value call(OpBuilder& builder, Location location, StringRef import, Type result, ValueRange operands) {
    auto function = dyn_cast_or_null<util::FuncOp>(symbols_.lookup(import));
    if (!function) {
      OpBuilder start = OpBuilder::atBlockBegin(module_.getBody());
      function = start.create<util::FuncOp>(location, import, builder.getFunctionType(operands.getTypes(), result));
      function.setPrivate();
      symbols_.insert(function);
    }
    return builder.create<util::CallOp>(location, import, TypeRange(result), operands).getResult(0);
  }

  // A declaration of that type. What stands behind a `$` makes another type of the same import.
  FlatSymbolRefAttr command(StringRef import, FunctionType type) {
    std::string name = import.str();
    for (int number = 1;; ++number) {
      Operation* found = symbols_.lookup(name);
      auto function = dyn_cast_or_null<flow::FuncOp>(found);
      if (function && function.getFunctionType() == type) break;
      if (!found) {
        declare(name, type);
        break;
      }
      name = (import + "$" + Twine(number)).str();
    }
    return FlatSymbolRefAttr::get(module_.getContext(), name);
  }

  void declare(StringRef name, FunctionType type) {
    OpBuilder builder = OpBuilder::atBlockBegin(module_.getBody());
    symbols_.insert(builder.create<flow::FuncOp>(module_.getLoc(), builder.getStringAttr(name), TypeAttr::get(type),
                                                 builder.getStringAttr("private"), ArrayAttr(), ArrayAttr(),
                                                 ArrayAttr()));
  }

  ModuleOp module_;
  SymbolTable symbols_;
  DenseMap<Operation*, Value> groups_;  // Of each split, and of each name.
};

// Whatever still has a channel.
LogicalResult refuse_other_channels(ModuleOp module) {
  constexpr StringLiteral kReason = "; it has to be made in the function whose collectives use it";
  const auto is_channel = [](Type type) { return isa<flow::ChannelType>(type); };
  const WalkResult walked = module.walk([&](Operation* op) {
    for (Region& region : op->getRegions()) {
      for (Block& block : region) {
        for (const BlockArgument argument : block.getArguments()) {
          if (!is_channel(argument.getType())) continue;
          emitError(argument.getLoc()) << "a channel is passed here" << kReason;
          return WalkResult::interrupt();
        }
      }
    }
    auto function = dyn_cast<FunctionOpInterface>(op);
    auto global = dyn_cast<util::GlobalOp>(op);
    const bool passes = llvm::any_of(op->getResultTypes(), is_channel) ||
                        (function && (llvm::any_of(function.getArgumentTypes(), is_channel) ||
                                      llvm::any_of(function.getResultTypes(), is_channel)));
    if (!passes && !(global && is_channel(global.getType()))) return WalkResult::advance();
    op->emitOpError(passes ? "passes" : "keeps") << " a channel" << kReason;
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

bool is_channel_maker(Operation* op) { return isa<flow::ChannelDefaultOp, flow::ChannelSplitOp>(op); }

}  // namespace

LogicalResult collectives_to_calls(ModuleOp module) {
  SmallVector<Operation*> ops, makers;
  module.walk([&](Operation* op) {
    if (is_channel_maker(op)) {
      makers.push_back(op);
    } else if (isa_and_nonnull<flow::FlowDialect>(op->getDialect())) {
      ops.push_back(op);
    }
  });
  Conversion conversion(module);
  for (Operation* op : ops) {
    if (failed(conversion.convert(op))) return failure();
  }
  for (Operation* op : llvm::reverse(makers)) {
    if (!op->use_empty()) return op->emitOpError("makes a channel for something other than a collective");
    op->erase();
  }
  return refuse_other_channels(module);
}

}  // namespace baton::compiler_lite::lower
