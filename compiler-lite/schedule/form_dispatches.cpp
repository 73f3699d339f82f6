#include "compiler-lite/schedule/form_dispatches.hpp"

#include "compiler-lite/codegen/fusion_rules.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/placement/devices.hpp"
#include "compiler-lite/schedule/attention_groups.hpp"
#include "compiler-lite/schedule/libraries.hpp"
#include "compiler-lite/schedule/row_groups.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Value;

// Scalars that only say what shape something has; the host knows them.
bool is_shape(Operation* op) {
  return llvm::isa<tensor::FromElementsOp>(op) && llvm::all_of(op->getUses(), [](mlir::OpOperand& use) {
           return llvm::isa<tensor::ReshapeOp>(use.getOwner()) && use.getOperandNumber() == 1;
         });
}

// A kernel of its own, or the last operation of one.
bool is_root(Operation* op) {
  if (!llvm::any_of(op->getResultTypes(), [](mlir::Type type) { return is_tensor(type); })) return false;
  if (llvm::isa<linalg::FillOp>(op)) return false;  // A command, unless a reader takes it in.
  if (is_shape(op)) return false;
  if (llvm::isa<linalg::LinalgOp>(op)) return true;
  return llvm::isa<tensor::PadOp, tensor::ConcatOp, tensor::GenerateOp, tensor::GatherOp, tensor::ScatterOp,
                   tensor::InsertSliceOp, tensor::ExtractSliceOp, tensor::InsertOp, tensor::FromElementsOp,
                   tensor::SplatOp>(op);
}

// Whether slicing this way leaves elements where they are, one after the other: a view, or a plain copy.
bool is_contiguous(mlir::RankedTensorType whole, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                   llvm::ArrayRef<mlir::OpFoldResult> strides) {
  if (llvm::any_of(strides, [](mlir::OpFoldResult stride) { return !mlir::isConstantIntValue(stride, 1); }))
    return false;
  // Leading dimensions of one element, then one of any size, then all of the rest.
  size_t first = 0;
  while (first < sizes.size() && mlir::isConstantIntValue(sizes[first], 1)) ++first;
  for (size_t i = first + 1; i < sizes.size(); ++i) {
    const auto size = mlir::getConstantIntValue(sizes[i]);
    if (!size || whole.isDynamicDim(static_cast<unsigned>(i)) || *size != whole.getDimSize(static_cast<unsigned>(i))) {
      return false;
    }
  }
  return true;
}

// What the scheduler does without a kernel.
bool is_view_or_copy(Operation* op) {
  if (auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) {
    return is_contiguous(slice.getSourceType(), slice.getMixedSizes(), slice.getMixedStrides());
  }
  if (auto slice = llvm::dyn_cast<tensor::InsertSliceOp>(op)) {
    return is_contiguous(slice.getDestType(), slice.getMixedSizes(), slice.getMixedStrides());
  }
  return false;
}

// What groups may do.
struct Liberties {
  bool takes_sizes;  // Ask tensors for their sizes themselves.
  bool
      skips_elements;  // Read a slice of every second element, or fewer, where it lies: for threads that is as good as its copy.
};

// A slice whose readers all read their operands, or elements by index, where those lie: each group gets its own, and no
// kernel copies it. Which groups its readers go to doesn't matter then.
bool is_read_in_place(Operation* op, Liberties liberties) {
  auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice || is_view_or_copy(op) || !(slice.hasUnitStride() || liberties.skips_elements)) return false;
  return llvm::all_of(op->getUsers(), [&](Operation* user) {
    Operation* const root = op->getBlock()->findAncestorOpInBlock(*user);
    auto reader = llvm::dyn_cast_or_null<linalg::GenericOp>(root);
    return reader && (user == root || llvm::isa<tensor::ExtractOp>(user)) && !codegen::is_product(reader) &&
           (slice.hasUnitStride() || (user == root && reader.getNumReductionLoops() == 0)) &&
           !root->hasAttr(codegen::kAttention) && !joins_by_mark(op, root) &&
           llvm::none_of(reader.getOutputs(), [&](Value init) { return init == slice.getResult(); });
  });
}

// Cheap and without memory: each group gets its own.
bool is_cloned(Operation* op) {
  if (llvm::isa<tensor::EmptyOp, tensor::DimOp>(op)) return true;
  mlir::Attribute value;
  if (!mlir::matchPattern(op, mlir::m_Constant(&value))) return false;
  const auto elements = llvm::dyn_cast<mlir::ElementsAttr>(value);
  return !elements || elements.isSplat();
}

// A tensor of the same number everywhere, or of anything, that a sum reads: where its size is open a kernel has no room for it.
bool counts_open_steps(Operation* producer, Operation* consumer) {
  auto reader = llvm::dyn_cast<linalg::LinalgOp>(consumer);
  if (!llvm::isa<linalg::FillOp, tensor::EmptyOp>(producer) || !reader || reader.getNumReductionLoops() == 0) {
    return false;
  }
  const Value tensor = producer->getResult(0);
  return !llvm::cast<mlir::RankedTensorType>(tensor.getType()).hasStaticShape() &&
         llvm::is_contained(reader.getDpsInputs(), tensor);
}

// Products, convolutions, sums: what follows element by element costs nothing while their tile is at hand.
bool is_reduction(Operation* op) {
  auto structured = llvm::dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.getNumReductionLoops() != 0 && structured->getNumResults() == 1;
}

// Of which a kernel has one: what two of them keep at hand is more than a workgroup of a GPU has.
bool is_product(Operation* op) {
  auto structured = llvm::dyn_cast<linalg::LinalgOp>(op);
  return structured && codegen::is_product(structured);
}

// With rows and columns, of which a workgroup keeps a tile at hand.
bool has_tiles(Operation* op) {
  auto structured = llvm::dyn_cast<linalg::LinalgOp>(op);
  return structured && codegen::product_form(structured);
}

// Reads its operand element by element in the order in which it writes.
bool reads_in_place(Operation* op, Value operand) {
  auto consumer = llvm::dyn_cast<linalg::GenericOp>(op);
  if (!consumer || consumer.getNumReductionLoops() != 0) return false;
  return llvm::all_of(consumer->getOpOperands(), [&](mlir::OpOperand& each) {
    return each.get() != operand || consumer.getMatchingIndexingMap(&each).isIdentity();
  });
}

// Reads elements by index in its body, as a concatenation does, so that no tile of the producer is all that it needs.
bool reads_by_index(Operation* consumer, Operation* producer) {
  return llvm::any_of(producer->getUsers(), [&](Operation* user) { return consumer->isProperAncestor(user); });
}

class Group {
 public:
  Group(Operation* root, Liberties liberties) : rows_(Rows::of(root)), liberties_(liberties) { insert(root); }
  // Of attention, the last operation first.
  Group(llvm::ArrayRef<Operation*> attention, Liberties liberties) : is_attention_(true), liberties_(liberties) {
    for (Operation* op : attention) insert(op);
  }
  bool is_attention() const { return is_attention_; }

  // Along rows only where something is reduced along them; what goes element by element has been fused as far as it
  // should be.
  void grow() {
    if (is_attention_) return grow_once();
    if (rows_) {
      grow_once();
      if (llvm::any_of(operations_, [&](Operation* op) { return rows_->reduces(op); })) return;
      Operation* first = root();
      rows_.reset();
      operations_.clear();
      read_.clear();
      steps_ = 0;
      insert(first);
    }
    grow_once();
  }

  bool contains(Operation* op) const { return operations_.contains(op); }
  Operation* root() const { return operations_[0]; }

  // Operations behind what they use, in program order otherwise. What is cloned may stand anywhere, in other blocks, too:
  // it comes right before its first user, so that equal groups are equal text.
  SmallVector<Operation*> in_order() const {
    SmallVector<Operation*> here, sorted;
    for (Operation* op : operations_) {
      if (op->getBlock() == root()->getBlock() && !is_cloned(op)) here.push_back(op);
    }
    llvm::sort(here, [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); });
    llvm::SmallPtrSet<Operation*, 16> seen;
    for (Operation* op : here) add_behind_operands(op, seen, sorted);
    return sorted;
  }

  static void visit_operands(Operation* op, llvm::function_ref<void(Value)> visit) {
    op->walk([&](Operation* inner) {
      for (Value operand : inner->getOperands()) {
        if (!op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
            operand.getParentBlock()->getParentOp() != op) {
          visit(operand);
        }
      }
    });
  }

 private:
  void insert(Operation* op) {
    operations_.insert(op);
    if (!is_cloned(op)) steps_ += codegen::count_steps(op);
    for (const Value result : op->getResults()) read_.erase(result);
    visit_operands(op, [&](Value operand) {
      if (!operand.getDefiningOp() || !contains(operand.getDefiningOp())) read_.insert(operand);
    });
  }

  // Whether the kernel is still narrow once it computes this, too; what adds nothing may join a wide one.
  bool stays_narrow(Operation* producer) const {
    llvm::SmallPtrSet<Value, 16> read = read_;
    for (const Value result : producer->getResults()) read.erase(result);
    visit_operands(producer, [&](Value operand) { read.insert(operand); });
    return read.size() <= read_.size() || codegen::is_narrow(read);
  }

  void grow_once() {
    for (size_t i = 0; i < operations_.size(); ++i) {
      const auto visit = [&](Value operand) {
        if (Operation* producer = operand.getDefiningOp(); producer && joins(producer, operations_[i])) {
          insert(producer);
        }
      };
      visit_operands(operations_[i], visit);
    }
  }

  bool joins(Operation* producer, Operation* consumer) {
    if (contains(producer) || counts_open_steps(producer, consumer)) return false;
    if (is_cloned(producer)) return liberties_.takes_sizes || !llvm::isa<tensor::DimOp>(producer);
    if (producer->getBlock() != root()->getBlock()) return false;
    if (llvm::isa<linalg::FillOp>(producer)) {
      return llvm::isa<mlir::DestinationStyleOpInterface>(consumer);  // Cheaper again than kept.
    }
    if (is_attention_ || producer->hasAttr(codegen::kAttention)) return false;
    if (is_read_in_place(producer, liberties_)) return true;
    if (const std::optional<bool> by_mark = joins_by_mark(producer, consumer)) return *by_mark;
    if (reads_by_index(consumer, producer)) return false;
    const bool only_here = llvm::all_of(producer->getUsers(), [&](Operation* user) {
      return contains(ancestor_in(user)) || llvm::isa<tensor::DimOp>(user);
    });
    if (!only_here || !stays_narrow(producer)) return false;
    if (steps_ + codegen::count_steps(producer) > codegen::kStepsMax) return false;
    if (has_tiles(producer) && llvm::any_of(operations_, has_tiles)) return false;
    if (rows_ && rows_->join(producer, consumer)) {
      const int64_t bytes = rows_->kept_bytes(producer);
      if (kept_bytes_ + bytes > kKeptBytesMax) return false;
      kept_bytes_ += bytes;
      return true;
    }
    if (!is_reduction(producer) || !reads_in_place(consumer, producer->getResult(0))) return false;
    if (rows_ && !rows_->divide(producer)) return false;
    return !is_product(producer) || llvm::none_of(operations_, is_product);
  }

  void add_behind_operands(Operation* op, llvm::SmallPtrSetImpl<Operation*>& seen,
                           SmallVector<Operation*>& sorted) const {
    if (!seen.insert(op).second) return;
    visit_operands(op, [&](Value operand) {
      Operation* producer = operand.getDefiningOp();
      if (producer && contains(producer)) add_behind_operands(producer, seen, sorted);
    });
    sorted.push_back(op);
  }

  Operation* ancestor_in(Operation* user) const { return root()->getBlock()->findAncestorOpInBlock(*user); }

  llvm::SetVector<Operation*> operations_;
  llvm::SmallPtrSet<Value, 16> read_;  // What comes from outside.
  std::optional<Rows> rows_;
  bool is_attention_ = false;
  Liberties liberties_;
  int64_t kept_bytes_ = 0;
  int64_t steps_ = 0;  // codegen::count_steps
};

// Writes groups as functions, each body once.
class GroupWriter {
 public:
  explicit GroupWriter(mlir::ModuleOp module) : module_(module), symbols_(group_module(module)) {}

  mlir::LogicalResult outline(const Group& group, llvm::StringRef function_name) {
    Operation* root = group.root();
    OpBuilder builder(root);
    SmallVector<Value> sizes;
    if (mlir::failed(result_sizes(builder, root, sizes))) return mlir::failure();

    const SmallVector<Operation*> operations = group.in_order();
    SmallVector<Value> captured = find_captured(group, operations);
    const LibraryMarks library_marks = take_marks(operations, captured);
    for (Operation* op : operations) op->removeAttr(codegen::kAttention);
    mlir::func::FuncOp function = write_function(operations, captured, root);
    if (group.is_attention()) function->setAttr(codegen::kAttention, builder.getUnitAttr());
    const llvm::StringRef kind = root->getName().stripDialect();
    const mlir::SymbolRefAttr entry = names_.intern(function, [&](size_t number) {
      return symbol_name((function_name + "_" + llvm::Twine(number) + "_" + kind).str());
    });

    SmallVector<Value> argument_sizes;
    for (const Value value : captured) add_sizes(builder, value, argument_sizes);
    auto dispatch = builder.create<flow::DispatchOp>(root->getLoc(), root->getResultTypes(), mlir::ValueRange(),
                                                     builder.getArrayAttr({entry}), captured, argument_sizes, sizes,
                                                     mlir::ArrayAttr());
    for (const mlir::NamedAttribute& mark : library_marks) dispatch->setAttr(mark.getName(), mark.getValue());
    root->replaceAllUsesWith(dispatch.getResults());
    root->erase();
    return mlir::success();
  }

  // Nothing was outlined: no trace is left.
  void finish() {
    if (symbols_.getBody()->empty()) symbols_.erase();
  }

 private:
  // Of all results, from what the operation is given.
  static mlir::LogicalResult result_sizes(OpBuilder& builder, Operation* root, SmallVector<Value>& sizes) {
    const auto is_dynamic = [](mlir::Type type) { return !llvm::cast<mlir::RankedTensorType>(type).hasStaticShape(); };
    if (!llvm::any_of(root->getResultTypes(), is_dynamic)) return mlir::success();
    if (auto insert = llvm::dyn_cast<tensor::InsertOp>(root)) {
      add_sizes(builder, insert.getDest(), sizes);
      return mlir::success();
    }
    mlir::ReifiedRankedShapedTypeDims shapes;
    if (mlir::failed(mlir::reifyResultShapes(builder, root, shapes))) {
      return root->emitOpError("has a result whose sizes can't be told before it is computed");
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
      const auto type = llvm::cast<mlir::RankedTensorType>(root->getResult(static_cast<unsigned>(i)).getType());
      for (unsigned d = 0; d < type.getRank(); ++d) {
        if (!type.isDynamicDim(d)) continue;
        sizes.push_back(mlir::getValueOrCreateConstantIndexOp(builder, root->getLoc(), shapes[i][d]));
      }
    }
    return mlir::success();
  }

  static SmallVector<Value> find_captured(const Group& group, llvm::ArrayRef<Operation*> operations) {
    llvm::SetVector<Value> captured;
    for (Operation* op : operations) {
      Group::visit_operands(op, [&](Value operand) {
        if (!operand.getDefiningOp() || !group.contains(operand.getDefiningOp())) captured.insert(operand);
      });
    }
    return captured.takeVector();
  }

  mlir::func::FuncOp write_function(llvm::ArrayRef<Operation*> operations, llvm::ArrayRef<Value> captured,
                                    Operation* root) {
    SmallVector<mlir::Type> types;
    for (const Value value : captured) types.push_back(value.getType());
    OpBuilder builder = OpBuilder::atBlockEnd(symbols_.getBody());
    const auto type = builder.getFunctionType(types, root->getResultTypes());
    auto function = builder.create<mlir::func::FuncOp>(root->getLoc(), "group", type);
    mlir::Block* body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    mlir::IRMapping values;
    for (size_t i = 0; i < captured.size(); ++i) values.map(captured[i], body->getArgument(static_cast<unsigned>(i)));
    for (Operation* op : operations) builder.clone(*op, values);
    SmallVector<Value> results;
    for (const Value result : root->getResults()) results.push_back(values.lookup(result));
    builder.create<mlir::func::ReturnOp>(root->getLoc(), results);
    return function;
  }

  mlir::ModuleOp module_;
  mlir::ModuleOp symbols_;
  GroupNames names_;
};

// What only a group used is gone with it.
void erase_unused(mlir::Block& block) {
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (mlir::isOpTriviallyDead(&op)) op.erase();
  }
}

mlir::LogicalResult form_in_block(mlir::Block& block, llvm::StringRef function_name, Liberties liberties,
                                  GroupWriter& writer) {
  // Consumers first, so that producers can join them.
  SmallVector<Operation*> order;
  for (Operation& op : llvm::reverse(block)) order.push_back(&op);
  llvm::DenseSet<Operation*> taken;
  SmallVector<Group> groups;
  for (Operation* op : order) {
    if (taken.contains(op) || !is_root(op) || is_view_or_copy(op) || is_read_in_place(op, liberties)) continue;
    const SmallVector<Operation*> attention = attention_of(op);
    Group group = attention.empty() ? Group(op, liberties) : Group(attention, liberties);
    group.grow();
    for (Operation* member : group.in_order()) {
      if (is_root(member)) taken.insert(member);
    }
    groups.push_back(std::move(group));
  }
  for (const Group& group : llvm::reverse(groups)) {
    if (mlir::failed(writer.outline(group, function_name))) return mlir::failure();
  }
  erase_unused(block);
  return mlir::success();
}

}  // namespace

mlir::ModuleOp group_module(mlir::ModuleOp module) {
  if (auto existing = module.lookupSymbol<mlir::ModuleOp>(kGroupModule)) return existing;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto groups = builder.create<mlir::ModuleOp>(module.getLoc(), kGroupModule);
  groups.setVisibility(mlir::SymbolTable::Visibility::Private);
  return groups;
}

mlir::SymbolRefAttr group_symbol(mlir::StringAttr name) {
  return mlir::SymbolRefAttr::get(name.getContext(), kGroupModule, {mlir::FlatSymbolRefAttr::get(name)});
}

std::string group_text(mlir::func::FuncOp group) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // In its own scope: by default the whole module is verified and numbered for it.
  group->print(stream, mlir::OpPrintingFlags().useLocalScope().assumeVerified());
  return text;
}

mlir::SymbolRefAttr GroupNames::intern(mlir::func::FuncOp group, llvm::function_ref<std::string(size_t)> name) {
  const auto [known, is_new] = names_.try_emplace(group_text(group));
  const auto symbol = [&] { return group_symbol(mlir::StringAttr::get(group.getContext(), known->second)); };
  if (is_new) {
    known->second = name(names_.size() - 1);
    group.setSymName(known->second);
    return symbol();
  }
  const mlir::SymbolRefAttr equal = symbol();
  group.erase();
  return equal;
}

void add_sizes(OpBuilder& builder, Value value, llvm::SmallVectorImpl<Value>& sizes) {
  const auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  for (unsigned d = 0; type && d < type.getRank(); ++d) {
    if (type.isDynamicDim(d)) sizes.push_back(builder.createOrFold<tensor::DimOp>(value.getLoc(), value, d));
  }
}

std::string symbol_name(llvm::StringRef name) {
  std::string symbol = name.str();
  std::replace_if(
      symbol.begin(), symbol.end(), [](char c) { return !llvm::isAlnum(c) && c != '_'; }, '_');
  return symbol;
}

mlir::LogicalResult form_dispatches(mlir::ModuleOp module, bool on_blocks) {
  // A tensor that is asked for its size only may be on another device.
  const Liberties liberties{!placement::Devices(module).several(), on_blocks};
  GroupWriter writer(module);
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    for (mlir::Block& block : function.getBody()) {
      if (mlir::failed(form_in_block(block, function.getSymName(), liberties, writer))) return mlir::failure();
    }
  }
  writer.finish();
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
