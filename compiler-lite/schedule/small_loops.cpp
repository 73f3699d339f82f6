#include "compiler-lite/schedule/small_loops.hpp"

#include "compiler-lite/codegen/fusion_rules.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/kernel.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/division.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "compiler-lite/schedule/handed_on.hpp"
#include "compiler-lite/schedule/small_loop_rules.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "compiler-lite/schedule/turns.hpp"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Transforms/RegionUtils.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

// What one dispatch may take: a few milliseconds, which is how late a deadline may be.
constexpr double kDispatchStepsMax = 1 << 22;
// Of a loop that is called again: about a millisecond, beside which a call is nothing.
constexpr double kStretchSteps = 1 << 20;

// A loop whose turns keep at least kItemsMin items apart is divided into about kWorkgroupsWanted workgroups.
constexpr int64_t kItemsMin = 8, kWorkgroupsWanted = 256;
// How often fewer items are tried, each time that many times fewer, where a workgroup has no room.
constexpr int kLengthsTried = 4, kShorter = 8;
// A workgroup that does all is as good where its turns take no longer than so many of those of a part.
constexpr double kWorthParts = 1.5;

// A number as a tensor of one element.
mlir::RankedTensorType tensor_of(mlir::Type number) {
  return mlir::RankedTensorType::get({}, number.isIndex() ? mlir::IntegerType::get(number.getContext(), 64) : number);
}

Value to_tensor(OpBuilder& builder, Location location, Value number) {
  const mlir::RankedTensorType type = tensor_of(number.getType());
  if (number.getType().isIndex()) {
    number = builder.create<arith::IndexCastOp>(location, type.getElementType(), number);
  }
  return builder.create<tensor::FromElementsOp>(location, type, number);
}

Value to_number(OpBuilder& builder, Location location, Value tensor, mlir::Type type) {
  const Value number = builder.create<tensor::ExtractOp>(location, tensor, mlir::ValueRange());
  return type.isIndex() ? builder.create<arith::IndexCastOp>(location, type, number).getResult() : number;
}

// Numbers, and tensors of one number: a group has its own.
bool is_cloned(Value value) {
  mlir::Attribute constant;
  if (value.getDefiningOp<tensor::EmptyOp>()) return true;
  if (!mlir::matchPattern(value, mlir::m_Constant(&constant))) return false;
  const auto elements = llvm::dyn_cast<mlir::ElementsAttr>(constant);
  return !elements || elements.isSplat();
}

// The same loop with its number among what it carries, before the loop.
scf::WhileOp as_while(scf::ForOp loop) {
  OpBuilder builder(loop);
  SmallVector<Value> inits = {loop.getLowerBound()};
  llvm::append_range(inits, loop.getInitArgs());
  const auto compare = [&](OpBuilder& body, Location at, mlir::ValueRange carried) {
    const Value goes_on =
        body.create<arith::CmpIOp>(at, arith::CmpIPredicate::slt, carried.front(), loop.getUpperBound());
    body.create<scf::ConditionOp>(at, goes_on, carried);
  };
  const auto turn = [&](OpBuilder& body, Location at, mlir::ValueRange carried) {
    mlir::IRMapping values;
    values.map(loop.getBody()->getArguments(), carried);
    for (mlir::Operation& op : loop.getBody()->without_terminator()) body.clone(op, values);
    SmallVector<Value> next = {body.create<arith::AddIOp>(at, carried.front(), loop.getStep())};
    for (const Value value : loop.getYieldedValues()) next.push_back(values.lookupOrDefault(value));
    body.create<scf::YieldOp>(at, next);
  };
  return builder.create<scf::WhileOp>(loop.getLoc(), mlir::ValueRange(inits).getTypes(), inits, compare, turn);
}

// A loop whose workgroups have so many items each.
struct Parts {
  const Division& division;
  int64_t length;
};

// One loop as a group, and its dispatch.
class Outline {
 public:
  // `turns`: how many turns a dispatch does at most; all of them where it is nothing. Then the loop is a scf.while.
  Outline(mlir::LoopLikeOpInterface loop, std::optional<int64_t> turns, std::optional<Parts> parts = std::nullopt)
      : loop_(loop), turns_(turns), parts_(parts) {
    carried_ = SmallVector<Value>(loop.getInits());
    collect();
  }

  bool is_narrow() const {
    llvm::SmallPtrSet<Value, 16> read(captured_.begin(), captured_.end());
    read.insert(carried_.begin(), carried_.end());
    size_t numbers = 0;
    for (const Value value : carried_) numbers += is_tensor(value) ? 0 : 1;
    return codegen::is_narrow(read) && read.size() + numbers < 24;
  }

  mlir::func::FuncOp write_group(mlir::ModuleOp groups, llvm::StringRef name) {
    SmallVector<mlir::Type> types, results;
    for (const Value value : carried_) types.push_back(carried_type(value));
    for (const Value value : captured_) types.push_back(value.getType());
    for (unsigned i = 0; i < carried_.size(); ++i) add_result(i, results);
    OpBuilder builder = OpBuilder::atBlockEnd(groups.getBody());
    if (turns_) results.push_back(tensor_of(builder.getI1Type()));
    auto group = builder.create<mlir::func::FuncOp>(location(), name, builder.getFunctionType(types, results));
    group->setAttr(codegen::kUndivided, builder.getUnitAttr());
    group->setAttr("tied_operands", ties(builder));
    mlir::Block* const body = group.addEntryBlock();
    builder.setInsertionPointToStart(body);
    mlir::IRMapping values;
    for (const Value value : constants_) builder.clone(*value.getDefiningOp(), values);
    if (parts_) begin_parts(builder, group);
    for (auto [value, argument] : llvm::zip(captured_, body->getArguments().drop_front(carried_.size()))) {
      values.map(value, part_of(builder, value, argument));
    }
    SmallVector<Value> inits;
    for (auto [value, argument] : llvm::zip(carried_, body->getArguments())) {
      inits.push_back(turns_ && !is_tensor(value) ? to_number(builder, location(), argument, value.getType())
                                                  : part_of(builder, value, argument));
    }
    SmallVector<Value> after = turns_ ? write_stretch(builder, inits, values) : write_loop(builder, inits, values);
    SmallVector<Value> returned;
    for (auto [i, value] : llvm::enumerate(after)) {
      if (i < carried_.size() && !is_returned(static_cast<unsigned>(i))) continue;
      returned.push_back(is_tensor(value) ? value : to_tensor(builder, location(), value));
      if (i < carried_.size())
        with_part(builder, carried_[i], body->getArgument(static_cast<unsigned>(i)), returned.back());
    }
    builder.create<mlir::func::ReturnOp>(location(), returned);
    return group;
  }

  void replace(mlir::func::FuncOp group) {
    OpBuilder builder(loop_);
    const SmallVector<Value> results = turns_ ? write_host_loop(builder, group) : dispatch(builder, group, carried_);
    size_t next = 0;
    for (unsigned i = 0; i < carried_.size(); ++i) {
      if (!is_returned(i)) continue;
      Value value = carried_result(i);
      const Value result = results[next++];
      value.replaceAllUsesWith(is_tensor(value) ? result : to_number(builder, location(), result, value.getType()));
    }
    loop_.erase();
  }

 private:
  Location location() const { return loop_->getLoc(); }

  void collect() {
    llvm::SetVector<Value> used;
    mlir::getUsedValuesDefinedAbove(loop_->getRegions(), used);
    if (auto counted = llvm::dyn_cast<scf::ForOp>(*loop_)) {
      for (const Value bound : {counted.getLowerBound(), counted.getUpperBound(), counted.getStep()})
        used.insert(bound);
    }
    for (const Value value : used) (is_cloned(value) ? constants_ : captured_).push_back(value);
  }

  mlir::Type carried_type(Value value) const {
    return turns_ && !is_tensor(value) ? mlir::Type(tensor_of(value.getType())) : value.getType();
  }
  // The loop's result for what it carries, which has its place.
  Value carried_result(unsigned i) const { return loop_->getResult(i); }
  bool is_returned(unsigned i) const { return turns_ || is_tensor(carried_[i]) || !carried_result(i).use_empty(); }
  void add_result(unsigned i, SmallVector<mlir::Type>& results) const {
    if (!is_returned(i)) return;
    const mlir::Type type = carried_[i].getType();
    results.push_back(is_tensor(type) ? type : tensor_of(type));
  }

  // What all workgroups carry they begin with alike: none may write it where another reads it.
  bool is_in_place(unsigned i) const {
    if (parts_) return dimension_of(carried_[i]).has_value();
    return turns_ || is_tensor(carried_[i]);
  }

  // The same for the dispatch and for its group.
  mlir::ArrayAttr ties(OpBuilder& builder) const {
    SmallVector<int64_t> ties;
    for (unsigned i = 0; i < carried_.size(); ++i) {
      if (is_returned(i)) ties.push_back(is_in_place(i) ? int64_t{i} : -1);
    }
    if (turns_) ties.push_back(-1);
    return builder.getI64ArrayAttr(ties);
  }

  SmallVector<Value> write_loop(OpBuilder& builder, llvm::ArrayRef<Value> inits, mlir::IRMapping& values) {
    // In its places alone: elsewhere the loop reads what it was before.
    mlir::Operation* const copy = builder.clone(*loop_, values);
    auto made = llvm::cast<mlir::LoopLikeOpInterface>(copy);
    for (auto [operand, init] : llvm::zip_equal(made.getInitsMutable(), inits)) operand.set(init);
    if (parts_) parts_->division.narrow(values, first_, parts_->length);
    return SmallVector<Value>(copy->getResults());
  }

  std::optional<unsigned> dimension_of(Value value) const {
    return parts_ ? parts_->division.dimension_of(value) : std::nullopt;
  }

  void begin_parts(OpBuilder& builder, mlir::func::FuncOp group) {
    group->setAttr(codegen::kWorkgroups, builder.getI64IntegerAttr(parts_->division.size() / parts_->length));
    const Value length = builder.create<arith::ConstantIndexOp>(location(), parts_->length);
    first_ = builder.create<arith::MulIOp>(location(), codegen::make_workgroup_id(builder, location(), 0), length);
  }

  struct Slice {
    SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
  };
  Slice slice_of(OpBuilder& builder, Value value, unsigned dimension) const {
    Slice slice;
    for (const auto& [i, size] : llvm::enumerate(llvm::cast<mlir::RankedTensorType>(value.getType()).getShape())) {
      const bool is_divided = i == dimension;
      slice.offsets.push_back(is_divided ? mlir::OpFoldResult(first_) : builder.getIndexAttr(0));
      slice.sizes.push_back(builder.getIndexAttr(is_divided ? parts_->length : size));
      slice.strides.push_back(builder.getIndexAttr(1));
    }
    return slice;
  }

  // What a workgroup has of `argument`, which is all of `value`.
  Value part_of(OpBuilder& builder, Value value, Value argument) const {
    const std::optional<unsigned> dimension = dimension_of(value);
    if (!dimension) return argument;
    const Slice slice = slice_of(builder, value, *dimension);
    return builder.create<tensor::ExtractSliceOp>(location(), argument, slice.offsets, slice.sizes, slice.strides);
  }
  // `part` becomes all of `value`, of which a workgroup writes its own.
  void with_part(OpBuilder& builder, Value value, Value argument, Value& part) const {
    const std::optional<unsigned> dimension = dimension_of(value);
    if (!dimension) return;
    const Slice slice = slice_of(builder, value, *dimension);
    part = builder.create<tensor::InsertSliceOp>(location(), part, argument, slice.offsets, slice.sizes, slice.strides);
  }

  // The loop, until it ends or has done its turns; then whether it goes on.
  SmallVector<Value> write_stretch(OpBuilder& builder, llvm::ArrayRef<Value> inits, const mlir::IRMapping& outside) {
    auto loop = llvm::cast<scf::WhileOp>(*loop_);
    SmallVector<Value> first(inits);
    first.push_back(builder.create<arith::ConstantIndexOp>(location(), 0));
    SmallVector<mlir::Type> types(mlir::ValueRange(first).getTypes());
    types.push_back(builder.getI1Type());
    const auto inline_block = [&](OpBuilder& body, mlir::Block& block, mlir::ValueRange arguments) {
      mlir::IRMapping values(outside);
      values.map(block.getArguments(), arguments.take_front(block.getNumArguments()));
      for (mlir::Operation& op : block.without_terminator()) body.clone(op, values);
      return values;
    };
    const auto compare = [&](OpBuilder& body, Location at, mlir::ValueRange carried) {
      const mlir::IRMapping values = inline_block(body, *loop.getBeforeBody(), carried);
      const Value goes_on = values.lookupOrDefault(loop.getConditionOp().getCondition());
      const Value last = body.create<arith::ConstantIndexOp>(at, *turns_);
      const Value is_short = body.create<arith::CmpIOp>(at, arith::CmpIPredicate::slt, carried.back(), last);
      SmallVector<Value> handed(carried);
      handed.push_back(goes_on);
      body.create<scf::ConditionOp>(at, body.create<arith::AndIOp>(at, goes_on, is_short), handed);
    };
    const auto turn = [&](OpBuilder& body, Location at, mlir::ValueRange carried) {
      const mlir::IRMapping values = inline_block(body, *loop.getAfterBody(), carried);
      SmallVector<Value> next;
      for (const Value value : loop.getYieldOp().getOperands()) next.push_back(values.lookupOrDefault(value));
      const Value one = body.create<arith::ConstantIndexOp>(at, 1);
      next.push_back(body.create<arith::AddIOp>(at, carried[inits.size()], one));
      body.create<scf::YieldOp>(at, next);
    };
    auto made = builder.create<scf::WhileOp>(location(), types, first, compare, turn);
    SmallVector<Value> after(made.getResults().take_front(inits.size()));
    after.push_back(made.getResults().back());
    return after;
  }

  SmallVector<Value> dispatch(OpBuilder& builder, mlir::func::FuncOp group, mlir::ValueRange carried) const {
    SmallVector<Value> arguments(carried);
    llvm::append_range(arguments, captured_);
    auto made = builder.create<flow::DispatchOp>(location(), group.getResultTypes(), mlir::ValueRange(),
                                                 builder.getArrayAttr({group_symbol(group.getSymNameAttr())}),
                                                 arguments, mlir::ValueRange(), mlir::ValueRange(), ties(builder));
    return SmallVector<Value>(made.getResults());
  }

  SmallVector<Value> write_host_loop(OpBuilder& builder, mlir::func::FuncOp group) const {
    SmallVector<Value> inits;
    for (const Value value : carried_) {
      inits.push_back(is_tensor(value) ? value : to_tensor(builder, location(), value));
    }
    const auto stretch = [&](OpBuilder& body, Location at, mlir::ValueRange carried) {
      const SmallVector<Value> results = dispatch(body, group, carried);
      const Value goes_on = to_number(body, at, results.back(), body.getI1Type());
      body.create<scf::ConditionOp>(at, goes_on, llvm::ArrayRef(results).drop_back());
    };
    const auto again = [](OpBuilder& body, Location at, mlir::ValueRange carried) {
      body.create<scf::YieldOp>(at, carried);
    };
    auto made = builder.create<scf::WhileOp>(location(), mlir::ValueRange(inits).getTypes(), inits, stretch, again);
    return SmallVector<Value>(made.getResults());
  }

  mlir::LoopLikeOpInterface loop_;
  std::optional<int64_t> turns_;
  std::optional<Parts> parts_;
  Value first_;  // The number of a workgroup's first item.
  SmallVector<Value> carried_, captured_, constants_;
};

class Outliner {
 public:
  Outliner(mlir::ModuleOp module, Workgroups workgroups, RoomTest has_room)
      : module_(module), workgroups_(workgroups), has_room_(has_room) {}

  void visit(util::FuncOp function) {
    function_ = function;
    rules_.emplace(function, workgroups_);
    visit(function.getBody());
  }

 private:
  void visit(mlir::Region& region) {
    for (mlir::Block& block : region) {
      for (mlir::Operation& op : llvm::make_early_inc_range(block)) {
        auto loop = llvm::dyn_cast<mlir::LoopLikeOpInterface>(op);
        if (loop && contains_tensors(loop) && outline(loop)) continue;
        if (!llvm::isa<scf::SCFDialect>(op.getDialect())) continue;
        for (mlir::Region& inner : op.getRegions()) visit(inner);
      }
    }
  }

  bool outline(mlir::LoopLikeOpInterface loop) {
    const std::optional<double> each = rules_->steps_of_turn(loop);
    if (outline_in_parts(loop, each)) return true;
    if (!each || *each > kDispatchStepsMax) return false;
    const std::optional<double> turns = turns_at_most(loop);
    if (turns && *turns * *each <= kDispatchStepsMax) return outline(loop, std::nullopt);
    const int64_t stretch = std::max<int64_t>(1, static_cast<int64_t>(kStretchSteps / *each));
    auto counted = llvm::dyn_cast<scf::ForOp>(*loop);
    if (!counted) return outline(loop, stretch);
    scf::WhileOp same = as_while(counted);
    counted.replaceAllUsesWith(same.getResults().drop_front());
    if (outline(same, stretch)) {
      counted.erase();
      return true;
    }
    for (auto [other, result] : llvm::zip_equal(same.getResults().drop_front(), counted.getResults())) {
      other.replaceAllUsesWith(result);
    }
    same.erase();
    return false;
  }

  // Where a turn takes `whole` steps of one workgroup, if it is a small one.
  bool outline_in_parts(mlir::LoopLikeOpInterface loop, std::optional<double> whole) {
    const std::optional<double> turns = turns_at_most(loop);
    if (!turns || workgroups_ == Workgroups::kOnCores || workgroups_ == Workgroups::kAny) return false;
    if (!SmallLoopRules::is_short(loop)) return false;
    llvm::DenseSet<std::pair<Value, unsigned>> seen;
    for (const Value value : loop.getInits()) {
      const auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
      for (unsigned i = 0; type && i < type.getRank(); ++i) {
        if (type.isDynamicDim(i) || type.getDimSize(i) < kItemsMin || seen.contains({value, i})) continue;
        const std::optional<Division> division = Division::find(loop, value, i);
        if (!division) continue;
        if (!rules_->has_all_inside(loop)) return false;
        for (const Value other : loop.getInits()) {
          if (const auto dimension = division->dimension_of(other)) seen.insert({other, *dimension});
        }
        if (outline_in_parts(loop, *division, *turns, whole)) return true;
      }
    }
    return false;
  }

  bool outline_in_parts(mlir::LoopLikeOpInterface loop, const Division& division, double turns,
                        std::optional<double> whole) {
    int64_t length = std::max<int64_t>(1, division.size() / kWorkgroupsWanted);
    for (int tries = 0; tries < kLengthsTried; ++tries, length = std::max<int64_t>(1, length / kShorter)) {
      while (division.size() % length != 0) --length;
      Outline outline(loop, std::nullopt, Parts{division, length});
      if (!outline.is_narrow()) return false;
      mlir::OwningOpRef<mlir::ModuleOp> scratch = mlir::ModuleOp::create(loop.getLoc());
      mlir::func::FuncOp group = outline.write_group(*scratch, "group");
      SmallLoopRules rules = SmallLoopRules::of_parts(group, workgroups_);
      std::optional<double> each;
      for (auto part : group.getOps<mlir::LoopLikeOpInterface>()) each = rules.steps_of_turn(part);
      // One workgroup after another, where there are more than a device has room for.
      const double rounds = std::max(1.0, double(division.size()) / double(length * kWorkgroupsWanted));
      const bool is_brief = each && *each * turns * rounds <= kDispatchStepsMax;
      if (is_brief && whole && *whole * turns <= kDispatchStepsMax && *each * kWorthParts > *whole) return false;
      if (is_brief && place(outline, group)) return true;
      if (length == 1) return false;
    }
    return false;
  }

  bool outline(mlir::LoopLikeOpInterface loop, std::optional<int64_t> turns) {
    Outline outline(loop, turns);
    if (!outline.is_narrow()) return false;
    mlir::OwningOpRef<mlir::ModuleOp> scratch = mlir::ModuleOp::create(loop.getLoc());
    return place(outline, outline.write_group(*scratch, "group"));
  }

  // Puts the group among the others and the loop's place into its hands, where there is room for it.
  bool place(Outline& outline, mlir::func::FuncOp group) {
    const auto [same, is_new] = groups_.try_emplace(group_text(group), nullptr);
    if (is_new && has_room_(group)) {
      group.setSymName(symbol_name((function_.getSymName() + "_loop_" + llvm::Twine(count_++)).str()));
      mlir::ModuleOp groups = group_module(module_);
      group->moveBefore(groups.getBody(), groups.getBody()->end());
      same->second = group;
    }
    if (!same->second) return false;
    outline.replace(same->second);
    return true;
  }

  mlir::ModuleOp module_;
  Workgroups workgroups_;
  RoomTest has_room_;
  util::FuncOp function_;
  std::optional<SmallLoopRules> rules_;
  llvm::StringMap<mlir::func::FuncOp> groups_;  // By text; null where there is no room.
  unsigned count_ = 0;
};

}  // namespace

mlir::LogicalResult outline_small_loops(mlir::ModuleOp module, Workgroups workgroups, RoomTest has_room) {
  hand_all_on(module);
  Outliner outliner(module, workgroups, has_room);
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    if (!function.isExternal()) outliner.visit(function);
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
