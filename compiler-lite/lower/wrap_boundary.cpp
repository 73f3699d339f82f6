// The ABI: tensors cross the boundary of a module as buffer views, work in flight as fences.
//
//   util.func @main(%x: tensor<?xf32>) -> tensor<?xf32>
// becomes, with the model "coarse-fences", a function of (view, wait fence, signal fence) -> view whose body imports
// its arguments after `wait` and has a barrier that signals `signal` once its results are ready. With "sync" there are
// no fences: whoever calls or returns has waited.
//
// An export keeps its body in place, so that what matches patterns stands between the imports and exports. One that is
// also called from inside leaves a private copy behind for those calls.
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/hal_calls.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "compiler-lite/placement/devices.hpp"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

constexpr StringRef kCoarseFences = "coarse-fences";

bool is_tensor(Type type) { return isa<RankedTensorType>(type); }
bool has_tensors(FunctionType type) {
  return llvm::any_of(type.getInputs(), is_tensor) || llvm::any_of(type.getResults(), is_tensor);
}

// Wraps exports and imports. Its many methods are one for each kind of value and each direction in which it crosses.
class BoundaryWrapper {
 public:
  BoundaryWrapper(ModuleOp module, bool fences_by_default)
      : module_(module), builder_(module.getContext()), fences_by_default_(fences_by_default) {}

  LogicalResult run() {
    SmallVector<util::FuncOp> functions(module_.getOps<util::FuncOp>());
    for (util::FuncOp function : functions) {
      if (failed(check_types(function))) return failure();
    }
    for (util::FuncOp function : functions) {
      if (function.isExternal()) wrap_import(function);
    }
    for (util::FuncOp function : functions) {
      if (!function.isExternal() && function.isPublic() && !function->hasAttr("iree.abi.stub")) wrap_export(function);
    }
    return success();
  }

 private:
  bool with_fences(util::FuncOp function) const {
    if (const auto model = function->getAttrOfType<StringAttr>("iree.abi.model")) return model == kCoarseFences;
    return fences_by_default_;
  }

  // Names a model that there is, and types that can cross.
  LogicalResult check_types(util::FuncOp function) {
    if (const Attribute model = function->getAttr("iree.abi.model")) {
      const auto name = dyn_cast<StringAttr>(model);
      if (!name || (name != "sync" && name != kCoarseFences)) {
        return function.emitOpError() << "has iree.abi.model " << model
                                      << "; the models are \"sync\" and \"coarse-fences\"";
      }
    }
    const auto crosses = [](Type type) { return !isa<UnrankedTensorType, MemRefType, VectorType>(type); };
    const bool inside = function.isPrivate() && !function.isExternal();
    for (const Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes())) {
      if (inside || crosses(type)) continue;
      return function.emitOpError() << "has the type " << type
                                    << " at the boundary, where ranked tensors, scalars and references cross";
    }
    return success();
  }

  Type view_type() { return hal::BufferViewType::get(builder_.getContext()); }
  Type fence_type() { return hal::FenceType::get(builder_.getContext()); }
  Type boundary_type(Type type) { return is_tensor(type) ? view_type() : type; }

  FunctionType boundary_type(FunctionType type, bool fences) {
    SmallVector<Type> inputs, results;
    for (const Type input : type.getInputs()) inputs.push_back(boundary_type(input));
    for (const Type result : type.getResults()) results.push_back(boundary_type(result));
    if (fences) inputs.append(2, fence_type());
    return builder_.getFunctionType(inputs, results);
  }

  // The sizes that `?` stands for in the type of a view.
  SmallVector<Value> dims_of_view(Location location, Value view, RankedTensorType type) {
    SmallVector<Value> dims;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(static_cast<unsigned>(i))) continue;
      dims.push_back(
          builder_.create<hal::BufferViewDimOp>(location, builder_.getIndexType(), view, builder_.getIndexAttr(i)));
    }
    return dims;
  }
  SmallVector<Value> dims_of_tensor(Location location, Value tensor) {
    SmallVector<Value> dims;
    const auto type = cast<RankedTensorType>(tensor.getType());
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (type.isDynamicDim(static_cast<unsigned>(i)))
        dims.push_back(builder_.createOrFold<tensor::DimOp>(location, tensor, i));
    }
    return dims;
  }

  struct Crossing {
    StringAttr name = {};
    TypeAttr encoding = {};
    bool consume = false;
    Attribute affinity = {};
  };
  Crossing crossing(DictionaryAttr attributes, const Twine& otherwise) {
    Crossing found;
    if (attributes) {
      found.name = attributes.getAs<StringAttr>("iree.abi.name");
      found.encoding = attributes.getAs<TypeAttr>("iree.abi.encoding");
      found.consume = attributes.contains("iree.abi.consume");
      found.affinity = attributes.get(placement::kAffinity);
    }
    if (!found.name && !otherwise.isTriviallyEmpty()) found.name = builder_.getStringAttr(otherwise);
    return found;
  }

  Value import_view(Location location, Value view, RankedTensorType type, Value wait, const Crossing& crossing) {
    const SmallVector<Value> dims = dims_of_view(location, view, type);
    return builder_.create<hal::TensorImportOp>(location, type, wait,
                                                crossing.consume ? builder_.getUnitAttr() : UnitAttr(), view, Value(),
                                                crossing.name, crossing.encoding, dims, crossing.affinity);
  }
  Value export_tensor(Location location, Value tensor, const Crossing& crossing) {
    const SmallVector<Value> dims = dims_of_tensor(location, tensor);
    return builder_.create<hal::TensorExportOp>(location, view_type(), tensor, crossing.name, crossing.encoding, dims,
                                                mlir::Attribute());
  }

  // Replaces the tensors among `values` by themselves behind a barrier that signals `fence`.
  void join(Location location, MutableArrayRef<Value> values, Value fence) {
    SmallVector<Value> tensors;
    for (const Value value : values) {
      if (is_tensor(value.getType())) tensors.push_back(value);
    }
    SmallVector<Type> types;
    for (const Value tensor : tensors) types.push_back(tensor.getType());
    auto barrier = builder_.create<hal::TensorBarrierOp>(location, types, tensors, fence);
    unsigned next = 0;
    for (Value& value : values) {
      if (is_tensor(value.getType())) value = barrier.getResult(next++);
    }
  }

  // Exports ----------------------------------------------------------------------------------------------------------

  void wrap_export(util::FuncOp function) {
    const bool fences = with_fences(function);
    describe(function, fences);
    if (!has_tensors(function.getFunctionType()) && !fences) return;
    keep_for_inner_calls(function);
    const FunctionType type = function.getFunctionType();
    Block& entry = function.getBody().front();
    builder_.setInsertionPointToStart(&entry);
    const Location location = function.getLoc();
    const unsigned arguments = entry.getNumArguments();
    Value wait, signal;
    if (fences) {
      wait = entry.addArgument(fence_type(), location);
      signal = entry.addArgument(fence_type(), location);
    }
    for (unsigned i = 0; i < arguments; ++i) import_argument(function, entry.getArgument(i), i, wait);
    function.walk([&](util::ReturnOp returned) {
      use_storage(function, returned, arguments, wait);
      export_results(function, returned, signal);
    });
    finish(function, boundary_type(type, fences));
    function->setAttr("iree.abi.stub", builder_.getUnitAttr());
  }

  void import_argument(util::FuncOp function, BlockArgument argument, unsigned number, Value wait) {
    const auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) return;
    argument.setType(view_type());
    SmallPtrSet<Operation*, 8> mine;
    Operation* before = builder_.getInsertionPoint() == builder_.getInsertionBlock()->begin()
                            ? nullptr
                            : &*std::prev(builder_.getInsertionPoint());
    const Value imported = import_view(argument.getLoc(), argument, type, wait,
                                       crossing(function.getArgAttrDict(number), "input" + Twine(number)));
    for (auto at = before ? std::next(before->getIterator()) : builder_.getInsertionBlock()->begin();
         at != builder_.getInsertionPoint(); ++at) {
      mine.insert(&*at);
    }
    argument.replaceAllUsesExcept(imported, mine);
  }

  // Results for which an argument is the storage (iree.abi.output = N) go there.
  void use_storage(util::FuncOp function, util::ReturnOp returned, unsigned arguments, Value wait) {
    builder_.setInsertionPoint(returned);
    for (unsigned i = 0; i < arguments; ++i) {
      const DictionaryAttr attributes = function.getArgAttrDict(i);
      const auto number = attributes ? attributes.getAs<IntegerAttr>("iree.abi.output") : IntegerAttr();
      if (!number || number.getInt() < 0 || number.getInt() >= returned.getNumOperands()) continue;
      const auto result = static_cast<unsigned>(number.getInt());
      const Value tensor = returned.getOperand(result);
      if (!is_tensor(tensor.getType())) continue;
      const SmallVector<Value> dims = dims_of_tensor(returned.getLoc(), tensor);
      returned->setOperand(result,
                           builder_.create<hal::TensorAliasOp>(returned.getLoc(), tensor.getType(), wait, tensor, dims,
                                                               function.getBody().getArgument(i), mlir::Attribute()));
    }
  }

  void export_results(util::FuncOp function, util::ReturnOp returned, Value signal) {
    builder_.setInsertionPoint(returned);
    SmallVector<Value> values(returned.getOperands());
    if (signal) join(returned.getLoc(), values, signal);
    for (unsigned i = 0; i < values.size(); ++i) {
      if (!is_tensor(values[i].getType())) continue;
      values[i] =
          export_tensor(returned.getLoc(), values[i], crossing(function.getResultAttrDict(i), "output" + Twine(i)));
    }
    returned->setOperands(values);
  }

  void finish(util::FuncOp function, FunctionType type) {
    function.setFunctionType(type);
    function.removeTiedOperandsAttr();
    // They described tensors, and stand in the imports and exports now.
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
  }

  void keep_for_inner_calls(util::FuncOp function) {
    bool called = false;
    module_.walk([&](util::CallOp call) { called = called || call.getCallee() == function.getSymName(); });
    if (!called) return;
    builder_.setInsertionPointAfter(function);
    util::FuncOp inner = cast<util::FuncOp>(builder_.clone(*function));
    std::string name = ("_" + function.getSymName()).str();
    while (module_.lookupSymbol(name)) name = "_" + name;
    inner.setSymName(name);
    inner.setPrivate();
    inner->removeAttr("iree.reflection");
    module_.walk([&](util::CallOp call) {
      if (call.getCallee() == function.getSymName()) call.setCallee(name);
    });
  }

  // "0,2": the numbers of the arguments that the function may write; who calls gives them away.
  std::string consumed_arguments(util::FuncOp function) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      const DictionaryAttr attributes = function.getArgAttrDict(i);
      if (attributes && attributes.contains("iree.abi.consume") && is_tensor(function.getArgumentTypes()[i]))
        stream << (text.empty() ? "" : ",") << i;
    }
    return text;
  }

  // "sync func @main(%input0: tensor<?xf32>) -> (%output0: tensor<?xf32>)", for the run tool, for callers of any language and for people: the types
  // that they see.
  void describe(util::FuncOp function, bool fences) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    const auto list = [&](TypeRange types, StringRef stem, auto attributes_of) {
      stream << "(";
      for (unsigned i = 0; i < types.size(); ++i) {
        const DictionaryAttr attributes = attributes_of(i);
        const auto name = attributes ? attributes.template getAs<StringAttr>("iree.abi.name") : StringAttr();
        const auto encoding = attributes ? attributes.template getAs<TypeAttr>("iree.abi.encoding") : TypeAttr();
        stream << (i == 0 ? "%" : ", %") << (name ? name.getValue().str() : (stem + Twine(i)).str()) << ": "
               << (encoding ? encoding.getValue() : types[i]);
      }
      stream << ")";
    };
    stream << (fences ? "async func @" : "sync func @") << function.getSymName();
    list(function.getArgumentTypes(), "input", [&](unsigned i) { return function.getArgAttrDict(i); });
    stream << " -> ";
    list(function.getResultTypes(), "output", [&](unsigned i) { return function.getResultAttrDict(i); });

    NamedAttrList entries;
    if (const auto given = function->getAttrOfType<DictionaryAttr>("iree.reflection"))
      entries.append(given.begin(), given.end());
    const auto declared = function->getAttrOfType<StringAttr>("iree.abi.declaration");
    entries.set("iree.abi.declaration", declared ? declared : builder_.getStringAttr(text));
    if (fences) entries.set("iree.abi.model", builder_.getStringAttr(kCoarseFences));
    if (const std::string consumed = consumed_arguments(function); !consumed.empty())
      entries.set("iree.abi.consumes", builder_.getStringAttr(consumed));
    function->setAttr("iree.reflection", entries.getDictionary(builder_.getContext()));
    function->removeAttr("iree.abi.declaration");
    function->removeAttr("iree.abi.model");
  }

  // Imports ----------------------------------------------------------------------------------------------------------

  void wrap_import(util::FuncOp function) {
    // Commands are recorded, and see the tensors' storage.
    if (function->hasAttr("iree.abi.streamable")) return;
    const FunctionType type = function.getFunctionType();
    const bool fences = with_fences(function) && (has_tensors(type) || function->hasAttr("iree.abi.model"));
    function->removeAttr("iree.abi.model");
    if (!has_tensors(type) && !fences) return;
    SmallVector<util::CallOp> calls;
    module_.walk([&](util::CallOp call) {
      if (call.getCallee() == function.getSymName()) calls.push_back(call);
    });
    for (util::CallOp call : calls) wrap_call(function, call, fences);
    finish(function, boundary_type(type, fences));
  }

  void wrap_call(util::FuncOp function, util::CallOp call, bool fences) {
    builder_.setInsertionPoint(call);
    const Location location = call.getLoc();
    SmallVector<Value> operands(call.getOperands());
    const bool returns_tensors = llvm::any_of(call.getResultTypes(), is_tensor);
    const bool has_effects = !function->hasAttr("nosideeffects");
    Value wait, signal;
    if (fences) {
      const bool takes_tensors = llvm::any_of(call.getOperandTypes(), is_tensor);
      wait = takes_tensors ? new_fence(location) : no_fence(location);
      signal = returns_tensors || has_effects ? new_fence(location) : no_fence(location);
      if (takes_tensors) join(location, operands, wait);
    }
    for (unsigned i = 0; i < operands.size(); ++i) {
      if (is_tensor(operands[i].getType()))
        operands[i] = export_tensor(location, operands[i], crossing(function.getArgAttrDict(i), ""));
    }
    if (fences) operands.append({wait, signal});
    SmallVector<Type> types;
    for (const Type type : call.getResultTypes()) types.push_back(boundary_type(type));
    auto made = builder_.create<util::CallOp>(location, call.getCallee(), types, operands);
    if (fences && has_effects && !returns_tensors) await(location, signal);
    for (unsigned i = 0; i < call.getNumResults(); ++i) {
      Value result = made.getResult(i);
      if (const auto type = dyn_cast<RankedTensorType>(call.getResult(i).getType())) {
        result = import_view(location, result, type, signal, crossing(function.getResultAttrDict(i), ""));
      }
      call.getResult(i).replaceAllUsesWith(result);
    }
    call.erase();
  }

  Value no_fence(Location location) { return builder_.create<util::NullOp>(location, fence_type()); }

  Value new_fence(Location location) {
    const Value first = builder_.create<arith::ConstantIndexOp>(location, 0);
    const Value device = hal_calls_.call(builder_, location, "devices.get", first);
    return builder_.create<hal::FenceCreateOp>(location, fence_type(), device, builder_.getStringAttr("None"));
  }

  // Waits until the callee has signalled, and fails as it did.
  void await(Location location, Value fence) {
    const Value for_ever = builder_.create<arith::ConstantOp>(location, builder_.getI32IntegerAttr(-1));
    builder_.create<hal::FenceAwaitOp>(location, builder_.getI32Type(), ValueRange{fence}, for_ever,
                                       builder_.getStringAttr("None"));
    hal_calls_.call(builder_, location, "fence.check", fence);
  }

  ModuleOp module_;
  HalCalls hal_calls_{module_};
  OpBuilder builder_;
  bool fences_by_default_;
};

// Sizes of imported tensors are what their views were asked for: tensor.dim of one is that value.
void fold_dims_of_imports(ModuleOp module) {
  module.walk([](tensor::DimOp dim) {
    auto import = dim.getSource().getDefiningOp<hal::TensorImportOp>();
    const std::optional<int64_t> wanted = dim.getConstantIndex();
    if (!import || !wanted) return;
    const auto type = cast<RankedTensorType>(import.getTarget().getType());
    if (*wanted < 0 || *wanted >= type.getRank() || !type.isDynamicDim(static_cast<unsigned>(*wanted))) return;
    unsigned before = 0;
    for (int64_t i = 0; i < *wanted; ++i) before += type.isDynamicDim(static_cast<unsigned>(i)) ? 1 : 0;
    dim.replaceAllUsesWith(import.getTargetDims()[before]);
    dim.erase();
  });
}

}  // namespace

LogicalResult wrap_boundary(ModuleOp module, bool fences_by_default) {
  if (failed(BoundaryWrapper(module, fences_by_default).run())) return failure();
  fold_dims_of_imports(module);
  return success();
}

}  // namespace baton::compiler_lite::lower
