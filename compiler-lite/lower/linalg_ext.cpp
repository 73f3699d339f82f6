// Operations of iree_linalg_ext → those of tm_tensor, where it has the same ones, and linalg.
#include "compiler-lite/lower/linalg_ext.hpp"

#include "compiler-lite/codegen/by_element.hpp"
#include "compiler-lite/dialects/tm_tensor/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

LinalgExtOperation::LinalgExtOperation(Operation* operation) : op(operation) {
  // Text in generic form may hold anything; what is not there is taken for nothing.
  const auto segments = op->getAttrOfType<DenseI32ArrayAttr>(iree_linalg_ext::kSegments);
  if (!segments || segments.size() != 3 || op->getNumRegions() != 1) return;
  const ArrayRef<int32_t> counts = segments.asArrayRef();
  const auto total = static_cast<int64_t>(counts[0]) + counts[1] + counts[2];
  if (llvm::any_of(counts, [](int32_t each) { return each < 0; }) || total != op->getNumOperands()) return;
  const auto all = op->getOperands();
  inputs.assign(all.begin(), all.begin() + counts[0]);
  outputs.assign(all.begin() + counts[0], all.begin() + counts[0] + counts[1]);
  others.assign(all.begin() + counts[0] + counts[1], all.end());
}

LogicalResult LinalgExtOperation::refuse(const Twine& instead) const {
  return emitError(op->getLoc()) << op->getName() << " is not lowered in this form; " << instead << ".";
}

namespace {

using Ext = LinalgExtOperation;

RankedTensorType type_of(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }
bool is_tensor(Value value) { return isa<RankedTensorType>(value.getType()); }
Type element_of(Value tensor) { return type_of(tensor).getElementType(); }

// The region takes scalars of these types and yields one of that type.
bool region_is(const Ext& ext, ArrayRef<Type> arguments, Type yielded) {
  Region& region = ext.op->getRegion(0);
  if (!region.hasOneBlock() || region.front().empty()) return false;
  auto yield = dyn_cast<tm_tensor::YieldOp>(region.front().back());
  return yield && region.front().getArgumentTypes() == TypeRange(arguments) &&
         yield.getValues().getTypes() == TypeRange(yielded);
}

Value called(OpBuilder& builder, const Ext& ext, ValueRange scalars) {
  IRMapping values;
  Block& block = ext.op->getRegion(0).front();
  values.map(block.getArguments(), scalars);
  for (Operation& each : block.without_terminator()) builder.clone(each, values);
  return values.lookupOrDefault(block.getTerminator()->getOperand(0));
}

std::optional<SmallVector<int64_t>> numbers_of(Attribute attribute) {
  if (const auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attribute)) return llvm::to_vector(list.asArrayRef());
  SmallVector<int64_t> numbers;
  if (const auto list = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    for (const APInt& each : list.getValues<APInt>()) numbers.push_back(each.getSExtValue());
    return numbers;
  }
  const auto list = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!list) return std::nullopt;
  for (const Attribute each : list) {
    const auto number = dyn_cast<IntegerAttr>(each);
    if (!number) return std::nullopt;
    numbers.push_back(number.getValue().getSExtValue());
  }
  return numbers;
}

// Nothing where the tensor has no such dimension.
std::optional<unsigned> dimension_of(const Ext& ext, RankedTensorType type) {
  const auto number = ext.op->getAttrOfType<IntegerAttr>("dimension");
  if (!number || number.getInt() < 0 || number.getInt() >= type.getRank()) return std::nullopt;
  return static_cast<unsigned>(number.getInt());
}

// Different dimensions of the first `count`.
std::optional<SmallVector<int64_t>> dimensions_of(const Ext& ext, StringRef name, int64_t count) {
  auto numbers = numbers_of(ext.op->getAttr(name));
  if (!numbers) return std::nullopt;
  SmallVector<bool> seen(static_cast<size_t>(count));
  for (const int64_t each : *numbers) {
    if (each < 0 || each >= count || seen[static_cast<size_t>(each)]) return std::nullopt;
    seen[static_cast<size_t>(each)] = true;
  }
  return numbers;
}

void replace(IRRewriter& rewriter, const Ext& ext, ValueRange made) {
  SmallVector<Value> results;
  for (const auto& [value, type] : llvm::zip_equal(made, ext.op->getResultTypes())) {
    const bool is_same = value.getType() == type;
    results.push_back(is_same ? value : rewriter.create<tensor::CastOp>(ext.op->getLoc(), type, value).getResult());
  }
  rewriter.replaceOp(ext.op, results);
}

// An operation of tm_tensor with this one's region, or `region`.
Operation* tm_tensor_operation(IRRewriter& rewriter, const Ext& ext, StringRef name, ValueRange inputs,
                               ValueRange outputs, ArrayRef<NamedAttribute> attributes) {
  OperationState state(ext.op->getLoc(), name);
  state.addOperands(inputs);
  state.addOperands(outputs);
  state.addAttributes(attributes);
  state.addAttribute("operandSegmentSizes", rewriter.getDenseI32ArrayAttr({static_cast<int32_t>(inputs.size()),
                                                                           static_cast<int32_t>(outputs.size())}));
  state.addTypes(outputs.getTypes());
  state.addRegion();
  return rewriter.create(state);
}

Value by_element(IRRewriter& rewriter, const Ext& ext, Value like, Type element,
                 function_ref<Value(OpBuilder&, Location, ArrayRef<Value>)> write) {
  const auto rank = static_cast<size_t>(type_of(like).getRank());
  return codegen::make_by_element(rewriter, ext.op->getLoc(), tensor::getMixedSizes(rewriter, ext.op->getLoc(), like),
                                  element, {},
                                  [&](OpBuilder& body, Location at, ValueRange) {
                                    return write(body, at, codegen::this_element(body, at, rank));
                                  })
      .getResult(0);
}

LogicalResult lower_scan(IRRewriter& rewriter, const Ext& ext) {
  const auto inclusive = ext.op->getAttrOfType<BoolAttr>("inclusive");
  const auto dimension = dimension_of(ext, type_of(ext.inputs.front()));
  if (!inclusive || !dimension || ext.outputs.size() != 2 || !ext.has_region()) {
    return ext.refuse("a scan with a dimension, inclusive(), and two outs is");
  }
  Operation* scan = tm_tensor_operation(rewriter, ext, tm_tensor::ScanOp::getOperationName(), ext.inputs, ext.outputs,
                                        {rewriter.getNamedAttr("dimension", rewriter.getI64IntegerAttr(*dimension)),
                                         rewriter.getNamedAttr("inclusive", inclusive)});
  scan->getRegion(0).takeBody(ext.op->getRegion(0));
  if (failed(verify(scan))) return failure();
  replace(rewriter, ext, scan->getResults());
  return success();
}

// What is sorted stands in ins or, where there are none, in outs.
LogicalResult lower_sort(IRRewriter& rewriter, const Ext& ext) {
  const ArrayRef<Value> rows = ext.inputs.empty() ? ext.outputs : ext.inputs;
  const auto dimension = rows.empty() ? std::nullopt : dimension_of(ext, type_of(rows.front()));
  if (!dimension || rows.size() != ext.op->getNumResults() || !ext.has_region()) {
    return ext.refuse("a sort with a dimension, and one result for each tensor is");
  }
  Operation* sort = tm_tensor_operation(rewriter, ext, tm_tensor::SortOp::getOperationName(), {}, rows,
                                        {rewriter.getNamedAttr("dimension", rewriter.getI64IntegerAttr(*dimension))});
  sort->getRegion(0).takeBody(ext.op->getRegion(0));
  if (failed(verify(sort))) return failure();
  replace(rewriter, ext, sort->getResults());
  return success();
}

// The first `count` dimensions as one, which is new where there are none.
Value with_one_batch(IRRewriter& rewriter, Location where, Value tensor, int64_t count) {
  const RankedTensorType type = type_of(tensor);
  if (count == 1) return tensor;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  if (count == 0) {
    shape.push_back(1);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      groups.push_back(d == 0 ? ReassociationIndices{0, 1} : ReassociationIndices{d + 1});
    }
    llvm::append_range(shape, type.getShape());
    return rewriter.create<tensor::ExpandShapeOp>(where, type.clone(shape), tensor, groups);
  }
  groups.push_back(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  for (int64_t d = count; d < type.getRank(); ++d) groups.push_back({d});
  return rewriter.create<tensor::CollapseShapeOp>(where, tensor, groups);
}

Value with_depth(IRRewriter& rewriter, Location where, Value indices) {
  const RankedTensorType type = type_of(indices);
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    groups.push_back(d + 1 < type.getRank() ? ReassociationIndices{d} : ReassociationIndices{d, d + 1});
  }
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  return rewriter.create<tensor::ExpandShapeOp>(where, type.clone(shape), indices, groups);
}

LogicalResult lower_scatter(IRRewriter& rewriter, const Ext& ext) {
  const bool is_good = ext.inputs.size() == 2 && ext.outputs.size() == 1 && ext.op->getNumResults() == 1 &&
                       ext.has_region() && type_of(ext.inputs[1]).getRank() > 0;
  const auto map = is_good ? dimensions_of(ext, "dimension_map", type_of(ext.outputs[0]).getRank()) : std::nullopt;
  const StringRef instead = "a scatter of updates by indices whose last dimension is as long as dimension_map is";
  if (!map || map->empty()) return ext.refuse(instead);
  const auto depth = static_cast<int64_t>(map->size());
  Value updates = ext.inputs[0], indices = ext.inputs[1];
  const int64_t out_rank = type_of(ext.outputs[0]).getRank();
  const int64_t slice = type_of(updates).getRank() - (type_of(indices).getRank() - 1);
  const int64_t last = type_of(indices).getShape().back();
  const bool has_depth = last == depth && slice >= out_rank - depth && slice <= out_rank;
  if (!has_depth && depth != 1) return ext.refuse(instead);
  if (!has_depth) indices = with_depth(rewriter, ext.op->getLoc(), indices);
  const int64_t batch = type_of(indices).getRank() - 1;
  if (type_of(updates).getRank() < batch) return ext.refuse(instead);
  updates = with_one_batch(rewriter, ext.op->getLoc(), updates, batch);
  indices = with_one_batch(rewriter, ext.op->getLoc(), indices, batch);
  Operation* scatter =
      tm_tensor_operation(rewriter, ext, tm_tensor::ScatterOp::getOperationName(), {updates, indices}, ext.outputs,
                          {rewriter.getNamedAttr("dimension_map", rewriter.getDenseI64ArrayAttr(*map)),
                           rewriter.getNamedAttr("unique_indices", rewriter.getBoolAttr(false))});
  scatter->getRegion(0).takeBody(ext.op->getRegion(0));
  if (failed(verify(scatter))) return failure();
  replace(rewriter, ext, scatter->getResults());
  return success();
}

// Each element of the result is that of the source which its indices name; the last dimensions are those of a slice.
LogicalResult lower_gather(IRRewriter& rewriter, const Ext& ext) {
  const StringRef instead = "a gather from a source by indices whose last dimension is as long as dimension_map is";
  if (ext.inputs.size() != 2 || ext.outputs.size() != 1 || ext.op->getNumResults() != 1) return ext.refuse(instead);
  const Value source = ext.inputs[0], indices = ext.inputs[1], out = ext.outputs[0];
  const auto map = numbers_of(ext.op->getAttr("dimension_map"));
  const int64_t rank = type_of(source).getRank();
  if (!map || !dimensions_of(ext, "dimension_map", std::min<int64_t>(rank, static_cast<int64_t>(map->size())))) {
    return ext.refuse(instead);
  }
  const auto depth = static_cast<int64_t>(map->size());
  const int64_t batch = type_of(out).getRank() - (rank - depth), index_rank = type_of(indices).getRank();
  const bool has_depth = index_rank == batch + 1;
  if (batch < 0 || depth == 0 || (has_depth ? type_of(indices).getShape().back() != depth : depth != 1) ||
      (!has_depth && index_rank != batch) || !element_of(indices).isIntOrIndex()) {
    return ext.refuse(instead);
  }
  const Type element = element_of(source);
  if (ext.has_region() ? !region_is(ext, {element, element_of(out)}, element_of(out)) : element != element_of(out)) {
    return ext.refuse("one whose region takes and yields elements is");
  }
  const auto write = [&](OpBuilder& body, Location where, ArrayRef<Value> point) -> Value {
    SmallVector<Value> from(static_cast<size_t>(rank));
    for (const auto& [i, d] : llvm::enumerate(*map)) {
      SmallVector<Value> at(point.take_front(static_cast<size_t>(batch)));
      if (has_depth) at.push_back(body.create<arith::ConstantIndexOp>(where, static_cast<int64_t>(i)));
      const Value index = body.create<tensor::ExtractOp>(where, indices, at);
      from[static_cast<size_t>(d)] = getValueOrCreateCastToIndexLike(body, where, body.getIndexType(), index);
    }
    for (int64_t d = depth; d < rank; ++d) from[static_cast<size_t>(d)] = point[static_cast<size_t>(batch + d - depth)];
    const Value found = body.create<tensor::ExtractOp>(where, source, from);
    if (!ext.has_region()) return found;
    return called(body, ext, {found, body.create<tensor::ExtractOp>(where, out, point)});
  };
  replace(rewriter, ext, by_element(rewriter, ext, out, element_of(out), write));
  return success();
}

LogicalResult lower_reverse(IRRewriter& rewriter, const Ext& ext) {
  const bool is_good = ext.inputs.size() == 1 && ext.op->getNumResults() == 1;
  const auto dimensions = is_good ? dimensions_of(ext, "dimensions", type_of(ext.inputs[0]).getRank()) : std::nullopt;
  if (!dimensions) return ext.refuse("a reversal of one tensor along its dimensions is");
  const Value input = ext.inputs[0];
  const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, ext.op->getLoc(), input);
  const auto write = [&](OpBuilder& body, Location where, ArrayRef<Value> point) -> Value {
    SmallVector<Value> from(point);
    for (const int64_t d : *dimensions) {
      const Value size = getValueOrCreateConstantIndexOp(body, where, sizes[static_cast<size_t>(d)]);
      const Value last = body.create<arith::SubIOp>(where, size, body.create<arith::ConstantIndexOp>(where, 1));
      from[static_cast<size_t>(d)] = body.create<arith::SubIOp>(where, last, point[static_cast<size_t>(d)]);
    }
    return body.create<tensor::ExtractOp>(where, input, from);
  };
  replace(rewriter, ext, by_element(rewriter, ext, input, element_of(input), write));
  return success();
}

Value as_element(OpBuilder& builder, Location where, Value index, Type type) {
  return type.isIndex() ? index : builder.create<arith::IndexCastOp>(where, type, index).getResult();
}

// The number of each element along the dimension.
Value numbers_along(IRRewriter& rewriter, const Ext& ext, unsigned dimension, Type type) {
  return by_element(rewriter, ext, ext.inputs[0], type, [&](OpBuilder& body, Location where, ArrayRef<Value> point) {
    return as_element(body, where, point[dimension], type);
  });
}

// Which of two elements is kept, and where it stands, one after the other along the dimension.
LogicalResult lower_arg_compare(IRRewriter& rewriter, const Ext& ext) {
  const StringRef instead = "one of values with outs for the value and its index is";
  const bool has_tensors = !ext.inputs.empty() && ext.inputs.size() <= 2 && ext.outputs.size() == 2 &&
                           ext.op->getNumResults() == 2 && ext.others.size() <= 1;
  const auto dimension = has_tensors ? dimension_of(ext, type_of(ext.inputs[0])) : std::nullopt;
  if (!dimension || !ext.has_region()) return ext.refuse(instead);
  const Type element = element_of(ext.inputs[0]), index_type = element_of(ext.outputs[1]);
  const auto rank = static_cast<unsigned>(type_of(ext.inputs[0]).getRank());
  const bool has_base = !ext.others.empty();
  const bool is_good =
      element_of(ext.outputs[0]) == element && index_type.isIntOrIndex() &&
      type_of(ext.outputs[0]).getRank() == rank - 1 && type_of(ext.outputs[1]).getRank() == rank - 1 &&
      (!has_base || ext.others[0].getType().isIndex()) &&
      (ext.inputs.size() == 1 || element_of(ext.inputs[1]) == index_type) &&
      llvm::all_equal(llvm::map_range(ext.inputs, [](Value each) { return type_of(each).getShape(); })) &&
      region_is(ext, {element, element}, rewriter.getI1Type());
  if (!is_good) return ext.refuse(instead);
  SmallVector<AffineMap> maps(ext.inputs.size(), rewriter.getMultiDimIdentityMap(rank));
  maps.append(2, rewriter.getMultiDimIdentityMap(rank).dropResult(*dimension));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops[*dimension] = utils::IteratorType::reduction;
  auto found = rewriter.create<linalg::GenericOp>(
      ext.op->getLoc(), ValueRange(ext.outputs).getTypes(), ext.inputs, ext.outputs, maps, loops,
      [&](OpBuilder& body, Location where, ValueRange elements) {
        const Value best = elements.drop_back().back(), best_index = elements.back();
        const Value is_better = called(body, ext, {elements[0], best});
        Value index = elements[1];
        if (ext.inputs.size() == 1) {
          index = body.create<linalg::IndexOp>(where, *dimension);
          if (has_base) index = body.create<arith::AddIOp>(where, index, ext.others[0]);
          index = as_element(body, where, index, index_type);
        }
        const Value value = body.create<arith::SelectOp>(where, is_better, elements[0], best);
        const Value its_index = body.create<arith::SelectOp>(where, is_better, index, best_index);
        body.create<linalg::YieldOp>(where, ValueRange{value, its_index});
      });
  replace(rewriter, ext, found.getResults());
  return success();
}

// tm_tensor.sort of `rows`, by what the region says of the first of them.
Operation* sorted(IRRewriter& rewriter, const Ext& ext, ArrayRef<Value> rows, unsigned dimension) {
  Operation* sort = tm_tensor_operation(rewriter, ext, tm_tensor::SortOp::getOperationName(), {}, rows,
                                        {rewriter.getNamedAttr("dimension", rewriter.getI64IntegerAttr(dimension))});
  Block& block = sort->getRegion(0).emplaceBlock();
  for (const Value each : rows) {
    block.addArguments({element_of(each), element_of(each)}, {ext.op->getLoc(), ext.op->getLoc()});
  }
  const OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&block);
  const Value is_first = called(rewriter, ext, block.getArguments().take_front(2));
  rewriter.create<tm_tensor::YieldOp>(ext.op->getLoc(), is_first);
  return sort;
}

// The first of the sorted rows. What outs hold competes where there may be fewer elements than are wanted.
LogicalResult lower_topk(IRRewriter& rewriter, const Ext& ext) {
  const StringRef instead = "one of values, and maybe indices, with outs for as many is";
  const size_t results = ext.op->getNumResults();
  const bool has_tensors = !ext.inputs.empty() && (results == 1 || results == 2) && ext.outputs.size() == results &&
                           ext.inputs.size() <= results;
  const auto dimension = has_tensors ? dimension_of(ext, type_of(ext.inputs[0])) : std::nullopt;
  if (!dimension || !region_is(ext, {element_of(ext.inputs[0]), element_of(ext.inputs[0])}, rewriter.getI1Type())) {
    return ext.refuse(instead);
  }
  SmallVector<Value> rows(ext.inputs);
  const Location where = ext.op->getLoc();
  for (const auto& [row, out] : llvm::zip(rows, ext.outputs)) {
    if (element_of(row) != element_of(out) || type_of(row).getRank() != type_of(out).getRank())
      return ext.refuse(instead);
  }
  if (rows.size() < results) {
    const Type type = element_of(ext.outputs[1]);
    if (!type.isIntOrIndex() || type_of(ext.outputs[1]).getRank() != type_of(rows[0]).getRank())
      return ext.refuse(instead);
    rows.push_back(numbers_along(rewriter, ext, *dimension, type));
  }
  const int64_t count = type_of(rows[0]).getDimSize(*dimension),
                wanted = type_of(ext.outputs[0]).getDimSize(*dimension);
  if (ShapedType::isDynamic(count) || ShapedType::isDynamic(wanted) || count < wanted) {
    for (const auto& [row, out] : llvm::zip(rows, ext.outputs)) {
      row = rewriter.create<tensor::ConcatOp>(where, *dimension, ValueRange{row, out});
    }
  }
  Operation* sort = sorted(rewriter, ext, rows, *dimension);
  if (failed(verify(sort))) return failure();
  SmallVector<Value> firsts;
  for (const auto& [row, out] : llvm::zip(sort->getResults(), ext.outputs)) {
    const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, where, out);
    const SmallVector<OpFoldResult> none(sizes.size(), rewriter.getIndexAttr(0)),
        one(sizes.size(), rewriter.getIndexAttr(1));
    firsts.push_back(rewriter.create<tensor::ExtractSliceOp>(where, row, none, sizes, one));
  }
  replace(rewriter, ext, firsts);
  return success();
}

LogicalResult lower_softmax(IRRewriter& rewriter, const Ext& ext) {
  const bool is_good = ext.inputs.size() == 1 && ext.outputs.size() == 1 && ext.op->getNumResults() == 1;
  const auto dimension = is_good ? dimension_of(ext, type_of(ext.inputs[0])) : std::nullopt;
  if (!dimension) return ext.refuse("one of a tensor along a dimension is");
  rewriter.replaceOpWithNewOp<linalg::SoftmaxOp>(ext.op, ext.op->getResultTypes(), ext.inputs[0], ext.outputs[0],
                                                 static_cast<int64_t>(*dimension));
  return success();
}

LogicalResult lower(IRRewriter& rewriter, Operation* op) {
  const Ext ext(op);
  const StringRef name = op->getName().stripDialect();
  SmallVector<Value> tensors(ext.inputs);
  const bool has_scale = name == "attention" && tensors.size() > 3 && !is_tensor(tensors[3]);
  if (has_scale) tensors.erase(tensors.begin() + 3);
  llvm::append_range(tensors, ext.outputs);
  const bool are_tensors = llvm::all_of(tensors, is_tensor) && llvm::all_of(op->getResults(), is_tensor);
  if (!are_tensors || tensors.empty() || (ext.inputs.empty() && name != "sort")) return ext.refuse("tensors are taken");
  if (name == "scan") return lower_scan(rewriter, ext);
  if (name == "sort") return lower_sort(rewriter, ext);
  if (name == "scatter") return lower_scatter(rewriter, ext);
  if (name == "gather") return lower_gather(rewriter, ext);
  if (name == "reverse") return lower_reverse(rewriter, ext);
  if (name == "arg_compare") return lower_arg_compare(rewriter, ext);
  if (name == "topk" || name == "topk_v2") return lower_topk(rewriter, ext);
  if (name == "softmax") return lower_softmax(rewriter, ext);
  if (name == "attention") return lower_attention(rewriter, ext);
  return ext.refuse("an operation of linalg is");
}

}  // namespace

LogicalResult linalg_ext_to_linalg(ModuleOp module) {
  SmallVector<Operation*> found;
  module.walk([&](Operation* op) {
    if (isa_and_nonnull<iree_linalg_ext::LinalgExtDialect>(op->getDialect())) found.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation* op : found) {
    rewriter.setInsertionPoint(op);
    if (failed(lower(rewriter, op))) return failure();
  }
  return success();
}

}  // namespace baton::compiler_lite::lower
