// The executable that is made, for a function `f` of one tensor and one i32:
//
//   stream.executable private @f_f32_f32_i32_executable {
//     stream.executable.export public @f_entry_point workgroups() -> (index, index, index) { 1, 1, 1 }
//     builtin.module {
//       func.func private @f(memref<f32>, index, memref<f32>, index, i32) attributes {llvm.bareptr = [true]}
//       func.func @f_entry_point(%in: !stream.binding, %out: !stream.binding, %k: i32, %in_dims: index, %out_dims:
//       index)
//     }
//   }
#include "compiler-lite/specs/flow_dispatch_rewrite.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/iree_codegen/dialect.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

namespace baton::compiler_lite::specs {
namespace {

using mlir::cast;
using mlir::dyn_cast;
using mlir::FunctionType;
using mlir::LogicalResult;
using mlir::MemRefType;
using mlir::ModuleOp;
using mlir::OpBuilder;
using mlir::PatternRewriter;
using mlir::RankedTensorType;
using mlir::ShapedType;
using mlir::Type;
using mlir::Value;

// How a kernel sees a tensor: row-major, from an offset on that is only known when it runs. Strides are known as far as
// the inner dimensions are.
MemRefType view_type(RankedTensorType tensor) {
  llvm::SmallVector<int64_t> strides(static_cast<size_t>(tensor.getRank()), ShapedType::kDynamic);
  int64_t stride = 1;
  for (size_t dim = strides.size(); dim-- > 0;) {
    strides[dim] = stride;
    if (tensor.isDynamicDim(static_cast<unsigned>(dim))) break;
    stride *= tensor.getDimSize(static_cast<unsigned>(dim));
  }
  return MemRefType::get(tensor.getShape(), tensor.getElementType(),
                         mlir::StridedLayoutAttr::get(tensor.getContext(), ShapedType::kDynamic, strides));
}

// What one executable is made for.
struct Kernel {
  std::string function, entry, executable;
  llvm::SmallVector<RankedTensorType> tensors;  // inputs, then results
  llvm::SmallVector<Type> others;
  FunctionType entry_type;     // bindings, others, one index for each dynamic dimension
  FunctionType function_type;  // base and offset for each tensor, others
};

LogicalResult add_tensors(const FlowDispatchRewrite& rewrite, llvm::StringRef what, llvm::ArrayRef<Value> values,
                          Kernel& kernel) {
  for (const auto [index, value] : llvm::enumerate(values)) {
    const auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (!tensor) {
      return mlir::emitError(rewrite.root->getLoc())
             << "The spec gives rewriteAsFlowDispatch " << what << " " << index << " of type " << value.getType()
             << "; only ranked tensors become bindings.";
    }
    kernel.tensors.push_back(tensor);
  }
  return mlir::success();
}

LogicalResult describe(const FlowDispatchRewrite& rewrite, Kernel& kernel) {
  if (failed(add_tensors(rewrite, "input", rewrite.inputs, kernel)) ||
      failed(add_tensors(rewrite, "replaced value", rewrite.replaced, kernel))) {
    return mlir::failure();
  }
  mlir::MLIRContext* context = rewrite.root->getContext();
  kernel.function = rewrite.function.str();
  kernel.entry = kernel.function + "_entry_point";
  kernel.executable = kernel.function;
  llvm::raw_string_ostream name(kernel.executable);
  const Type index = mlir::IndexType::get(context);
  llvm::SmallVector<Type> entry(kernel.tensors.size(), stream::BindingType::get(context));
  llvm::SmallVector<Type> arguments;
  size_t dims = 0;
  for (const RankedTensorType tensor : kernel.tensors) {
    name << "_" << tensor.getElementType();
    arguments.append({MemRefType::get({}, tensor.getElementType()), index});
    dims += static_cast<size_t>(tensor.getNumDynamicDims());
  }
  for (const Value other : rewrite.others) {
    name << "_" << other.getType();
    kernel.others.push_back(other.getType());
  }
  name << "_executable";
  llvm::append_range(entry, kernel.others);
  llvm::append_range(arguments, kernel.others);
  entry.append(dims, index);
  kernel.entry_type = FunctionType::get(context, entry, {});
  kernel.function_type = FunctionType::get(context, arguments, {});
  return mlir::success();
}

// Whether the executable is the one that would be made. Its name says nothing about shapes.
bool serves(mlir::Operation* executable, const Kernel& kernel) {
  if (!mlir::isa<stream::ExecutableOp>(executable)) return false;
  bool same = false;
  llvm::SmallVector<Type> views;
  executable->walk([&](mlir::func::FuncOp function) {
    if (function.getName() == kernel.entry) same = function.getFunctionType() == kernel.entry_type;
  });
  executable->walk([&](stream::BindingSubspanOp subspan) { views.push_back(subspan.getResult().getType()); });
  llvm::SmallVector<Type> wanted;
  for (const RankedTensorType tensor : kernel.tensors) wanted.push_back(view_type(tensor));
  return same && views == wanted;
}

void make_count(OpBuilder& builder, mlir::Location loc, mlir::Region& region) {
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&region);
  const Value one = builder.create<mlir::arith::ConstantIndexOp>(loc, 1);
  builder.create<stream::ReturnOp>(loc, mlir::ValueRange{one, one, one});
}

// The function that the export names: unpacks the bindings for the user's function.
void make_entry(OpBuilder& builder, mlir::Location loc, const Kernel& kernel) {
  auto entry = builder.create<mlir::func::FuncOp>(loc, kernel.entry, kernel.entry_type);
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block* body = entry.addEntryBlock();
  builder.setInsertionPointToStart(body);
  const Value zero = builder.create<mlir::arith::ConstantIndexOp>(loc, 0);
  const Type index = builder.getIndexType();
  mlir::ArrayRef<mlir::BlockArgument> dims =
      body->getArguments().drop_front(kernel.tensors.size() + kernel.others.size());
  llvm::SmallVector<Value> arguments;
  for (const auto [binding, tensor] : llvm::enumerate(kernel.tensors)) {
    const MemRefType view = view_type(tensor);
    const auto count = static_cast<size_t>(tensor.getNumDynamicDims());
    const llvm::SmallVector<Value> sizes(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(count));
    dims = dims.drop_front(count);
    const Value span = builder.create<stream::BindingSubspanOp>(
        loc, view, body->getArgument(static_cast<unsigned>(binding)), zero, sizes);
    llvm::SmallVector<Type> parts{MemRefType::get({}, tensor.getElementType()), index};
    parts.append(2 * static_cast<size_t>(tensor.getRank()), index);
    auto metadata = builder.create<iree_codegen::ExtractStridedMetadataOp>(loc, parts, span);
    arguments.append({metadata->getResult(0), metadata->getResult(1)});
  }
  for (size_t i = 0; i < kernel.others.size(); ++i) {
    arguments.push_back(body->getArgument(static_cast<unsigned>(kernel.tensors.size() + i)));
  }
  builder.create<mlir::func::CallOp>(loc, kernel.function, mlir::TypeRange(), arguments);
  builder.create<mlir::func::ReturnOp>(loc);
}

void make_executable(OpBuilder& builder, mlir::Location loc, const Kernel& kernel) {
  auto executable = builder.create<stream::ExecutableOp>(loc, builder.getStringAttr("private"),
                                                         builder.getStringAttr(kernel.executable));
  builder.createBlock(&executable.getBody());
  auto exported = builder.create<stream::ExecutableExportOp>(loc, builder.getStringAttr("public"),
                                                             builder.getStringAttr(kernel.entry), mlir::StringAttr());
  make_count(builder, loc, exported.getWorkgroupCount());
  auto inner = builder.create<ModuleOp>(loc);
  builder.setInsertionPointToStart(inner.getBody());
  auto function = builder.create<mlir::func::FuncOp>(loc, kernel.function, kernel.function_type);
  function.setPrivate();
  function->setAttr("llvm.bareptr", builder.getBoolArrayAttr({true}));
  make_entry(builder, loc, kernel);
}

// The executable, found or made. Two shapes of the same element types get two executables.
void provide_executable(PatternRewriter& rewriter, const FlowDispatchRewrite& rewrite, Kernel& kernel) {
  auto program = rewrite.root->getParentOfType<ModuleOp>();
  const std::string name = kernel.executable;
  for (int attempt = 0;; ++attempt) {
    if (attempt != 0) kernel.executable = name + "_" + std::to_string(attempt - 1);
    mlir::Operation* existing = mlir::SymbolTable::lookupSymbolIn(program, kernel.executable);
    if (!existing) break;
    if (serves(existing, kernel)) return;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(program.getBody());
  make_executable(rewriter, rewrite.root->getLoc(), kernel);
}

// One value for each `?` of the types of `values`.
llvm::SmallVector<Value> make_dims(PatternRewriter& rewriter, mlir::Location loc, llvm::ArrayRef<Value> values) {
  llvm::SmallVector<Value> dims;
  for (const Value value : values) {
    const auto tensor = cast<RankedTensorType>(value.getType());
    for (int64_t dim = 0; dim < tensor.getRank(); ++dim) {
      if (tensor.isDynamicDim(static_cast<unsigned>(dim))) {
        dims.push_back(rewriter.createOrFold<mlir::tensor::DimOp>(loc, value, dim));
      }
    }
  }
  return dims;
}

// The given dimensions of the replaced values, those of static ones left out.
mlir::FailureOr<llvm::SmallVector<Value>> pick_dims(const FlowDispatchRewrite& rewrite) {
  llvm::SmallVector<bool> dynamic;
  for (const Value value : rewrite.replaced) {
    for (const int64_t size : cast<RankedTensorType>(value.getType()).getShape()) {
      dynamic.push_back(ShapedType::isDynamic(size));
    }
  }
  const bool all = dynamic.size() == rewrite.replaced_dims.size();
  llvm::SmallVector<Value> dims;
  for (const auto [position, dim] : llvm::enumerate(rewrite.replaced_dims)) {
    const bool keep = all ? dynamic[position] : !mlir::matchPattern(dim, mlir::m_Constant());
    if (keep) dims.push_back(dim);
  }
  const auto wanted = static_cast<size_t>(llvm::count(dynamic, true));
  if (dims.size() == wanted) return dims;
  return mlir::emitError(rewrite.root->getLoc())
         << "The spec gives rewriteAsFlowDispatch " << dims.size()
         << " dynamic dimensions for the replaced values, which have " << wanted << ".";
}

}  // namespace

void load_dispatch_dialects(mlir::MLIRContext* context) {
  context->loadDialect<flow::FlowDialect, stream::StreamDialect, iree_codegen::IREECodegenDialect,
                       mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::tensor::TensorDialect>();
}

LogicalResult rewrite_as_flow_dispatch(PatternRewriter& rewriter, const FlowDispatchRewrite& rewrite) {
  Kernel kernel;
  if (failed(describe(rewrite, kernel))) return mlir::failure();
  const mlir::FailureOr<llvm::SmallVector<Value>> result_dims = pick_dims(rewrite);
  if (failed(result_dims)) return mlir::failure();
  provide_executable(rewriter, rewrite, kernel);

  const mlir::Location loc = rewrite.root->getLoc();
  rewriter.setInsertionPoint(rewrite.root);
  const llvm::SmallVector<Value> input_dims = make_dims(rewriter, loc, rewrite.inputs);
  llvm::SmallVector<Value> arguments = rewrite.inputs;
  llvm::append_range(arguments, rewrite.others);
  llvm::append_range(arguments, input_dims);
  llvm::append_range(arguments, *result_dims);
  llvm::SmallVector<Type> types;
  for (const Value value : rewrite.replaced) types.push_back(value.getType());
  const auto entry = mlir::SymbolRefAttr::get(rewriter.getContext(), kernel.executable,
                                              mlir::FlatSymbolRefAttr::get(rewriter.getContext(), kernel.entry));
  auto dispatch = rewriter.create<flow::DispatchOp>(loc, types, mlir::ValueRange(), rewriter.getArrayAttr({entry}),
                                                    arguments, input_dims, *result_dims, mlir::ArrayAttr());
  for (const auto [value, made] : llvm::zip_equal(rewrite.replaced, dispatch->getResults())) {
    rewriter.replaceAllUsesWith(value, made);
  }
  // What else was matched is dead now, if nothing outside of the match uses it; the driver or the passes behind it see
  // that.
  if (rewrite.root->use_empty()) rewriter.eraseOp(rewrite.root);
  return mlir::success();
}

}  // namespace baton::compiler_lite::specs
