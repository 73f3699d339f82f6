#include "compiler-lite/lower/later_tosa.hpp"

#include "compiler-lite/dialects/all.hpp"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Parser/Parser.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

// `%a, %b {attributes} : (types) -> types`, the form of all operations without regions.
ParseResult parse_operation(OpAsmParser& parser, OperationState& state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) || parser.resolveOperands(operands, type.getInputs(), loc, state.operands)) {
    return failure();
  }
  state.addTypes(type.getResults());
  return success();
}

// Operations of any name, to be renamed; lists of sizes have no type of MLIR 19, and no operation keeps one.
class LaterTosaDialect final : public Dialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LaterTosaDialect)
  explicit LaterTosaDialect(MLIRContext* context)
      : Dialect(getDialectNamespace(), context, TypeID::get<LaterTosaDialect>()) {
    allowUnknownOperations();
  }
  static StringRef getDialectNamespace() { return "tosa"; }
  std::optional<ParseOpHook> getParseOperationHook(StringRef) const override { return parse_operation; }
  Type parseType(DialectAsmParser& parser) const override {
    int64_t rank = 0;
    if (parser.parseKeyword("shape") || parser.parseLess() || parser.parseInteger(rank) || parser.parseGreater()) {
      return {};
    }
    return NoneType::get(getContext());
  }
};

// Rewrites one operation after the other; false at what MLIR 19 has no word for.
class Rewriter {
 public:
  explicit Rewriter(MLIRContext* context) : builder_(context) {}
  bool rewrite(Operation* op);

 private:
  using Attributes = NamedAttrList;
  static Attributes attributes_of(Operation* op) {
    Attributes all(op->getDiscardableAttrDictionary());
    if (const auto inherent = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute())) {
      for (const NamedAttribute each : inherent) all.set(each.getName(), each.getValue());
    }
    return all;
  }
  static DenseIntElementsAttr list_of(Value shape) {
    Operation* op = shape.getDefiningOp();
    if (!op || op->getName().getStringRef() != "tosa.const_shape") return {};
    return dyn_cast_or_null<DenseIntElementsAttr>(attributes_of(op).get("values"));
  }
  static DenseElementsAttr constant_of(Value value) {
    Operation* op = value.getDefiningOp();
    if (!op || op->getName().getStringRef() != "tosa.const") return {};
    const Attributes all = attributes_of(op);
    return dyn_cast_or_null<DenseElementsAttr>(all.get("value") ? all.get("value") : all.get("values"));
  }
  // Operands from `first` on are lists of sizes, and become attributes of these names.
  bool lists(Operation* op, unsigned first, ArrayRef<StringRef> names, Attributes& attributes) {
    if (op->getNumOperands() != first + names.size()) return false;
    for (const auto& [i, name] : llvm::enumerate(names)) {
      const DenseIntElementsAttr list = list_of(op->getOperand(first + static_cast<unsigned>(i)));
      if (!list) return false;
      attributes.set(name, builder_.getDenseI64ArrayAttr(llvm::to_vector(llvm::map_range(
                               list.getValues<APInt>(), [](const APInt& each) { return each.getSExtValue(); }))));
    }
    return becomes(op, op->getName().getStringRef(), op->getOperands().take_front(first), attributes);
  }
  // Operands from `first` on are zero points, all zero.
  bool zero_points(Operation* op, unsigned first, const Attributes& attributes) {
    for (const Value each : op->getOperands().drop_front(first)) {
      const DenseElementsAttr zero = constant_of(each);
      if (!zero || !(matchPattern(zero, m_Zero()) || matchPattern(zero, m_AnyZeroFloat()))) return false;
    }
    return becomes(op, op->getName().getStringRef(), op->getOperands().take_front(first), attributes);
  }
  bool becomes(Operation* op, StringRef name, ValueRange operands, const Attributes& attributes) {
    builder_.setInsertionPoint(op);
    OperationState state(op->getLoc(), name, operands, op->getResultTypes(), attributes);
    op->replaceAllUsesWith(builder_.create(state));
    op->erase();
    return true;
  }
  Value constant(Operation* before, DenseElementsAttr value) {
    builder_.setInsertionPoint(before);
    OperationState state(before->getLoc(), "tosa.const", ValueRange(), {value.getType()},
                         {builder_.getNamedAttr("value", value)});
    return builder_.create(state)->getResult(0);
  }
  bool multiplication(Operation* op, Attributes& attributes);
  bool transposition(Operation* op, Attributes& attributes);
  bool padding(Operation* op, Attributes& attributes);
  bool clamp(Operation* op, Attributes& attributes);
  bool convolution(Operation* op, Attributes& attributes);

  OpBuilder builder_;
};

bool Rewriter::multiplication(Operation* op, Attributes& attributes) {
  if (op->getNumOperands() != 3) return false;
  const auto shift = dyn_cast_or_null<DenseIntElementsAttr>(constant_of(op->getOperand(2)));
  if (!shift || shift.getNumElements() != 1) return false;
  attributes.set("shift",
                 builder_.getI8IntegerAttr(static_cast<int8_t>((*shift.getValues<APInt>().begin()).getSExtValue())));
  return becomes(op, "tosa.mul", op->getOperands().take_front(2), attributes);
}

bool Rewriter::transposition(Operation* op, Attributes& attributes) {
  const auto order = dyn_cast_or_null<DenseI32ArrayAttr>(attributes.erase("perms"));
  if (!order || op->getNumOperands() != 1) return false;
  const auto type = RankedTensorType::get({order.size()}, builder_.getI32Type());
  const Value operand = constant(op, DenseElementsAttr::get(type, order.asArrayRef()));
  return becomes(op, "tosa.transpose", {op->getOperand(0), operand}, attributes);
}

bool Rewriter::padding(Operation* op, Attributes& attributes) {
  if (op->getNumOperands() != 3) return false;
  const DenseIntElementsAttr list = list_of(op->getOperand(1));
  DenseElementsAttr value = constant_of(op->getOperand(2));
  if (!list || !value || value.getNumElements() != 1) return false;
  const auto pairs = RankedTensorType::get({list.getNumElements() / 2, 2}, builder_.getI64Type());
  const auto numbers =
      llvm::to_vector(llvm::map_range(list.getValues<APInt>(), [](const APInt& each) { return each.getSExtValue(); }));
  const Value amounts = constant(op, DenseElementsAttr::get(pairs, ArrayRef<int64_t>(numbers)));
  const Value filling = constant(op, value.reshape(RankedTensorType::get({}, value.getElementType())));
  return becomes(op, "tosa.pad", {op->getOperand(0), amounts, filling}, attributes);
}

bool Rewriter::clamp(Operation* op, Attributes& attributes) {
  const Attribute min = attributes.erase("min_val"), max = attributes.erase("max_val");
  if (!min || !max) return false;
  const auto number = [](Attribute value) {
    const auto integer = dyn_cast<IntegerAttr>(value);
    return integer ? integer.getValue().getSExtValue() : 0;
  };
  const auto real = [&](Attribute value) {
    const auto it = dyn_cast<FloatAttr>(value);
    return builder_.getF32FloatAttr(it ? static_cast<float>(it.getValueAsDouble()) : 0.0F);
  };
  attributes.set("min_int", builder_.getI64IntegerAttr(number(min)));
  attributes.set("max_int", builder_.getI64IntegerAttr(number(max)));
  attributes.set("min_fp", real(min));
  attributes.set("max_fp", real(max));
  return becomes(op, "tosa.clamp", op->getOperands(), attributes);
}

bool Rewriter::convolution(Operation* op, Attributes& attributes) {
  attributes.erase("acc_type");
  const auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (op->getNumOperands() != 5 || !type) return false;
  if (op->getName().getStringRef() == "tosa.transpose_conv2d") {
    attributes.set("out_shape", builder_.getDenseI64ArrayAttr(type.getShape()));
  }
  return zero_points(op, 3, attributes);
}

bool Rewriter::rewrite(Operation* op) {
  const StringRef name = op->getName().getStringRef();
  Attributes attributes = attributes_of(op);
  if (const auto nan = dyn_cast_or_null<StringAttr>(attributes.erase("nan_mode")); nan && nan != "PROPAGATE") {
    return false;
  }
  if (op->getNumRegions() > 0 || name == "tosa.rescale") return false;
  if (name == "tosa.const_shape") return true;
  if (name == "tosa.const") {
    if (const Attribute values = attributes.erase("values")) attributes.set("value", values);
    return becomes(op, name, {}, attributes);
  }
  if (name == "tosa.reshape") return lists(op, 1, {"new_shape"}, attributes);
  if (name == "tosa.slice") return lists(op, 1, {"start", "size"}, attributes);
  if (name == "tosa.tile") return lists(op, 1, {"multiples"}, attributes);
  if (name == "tosa.resize") return lists(op, 1, {"scale", "offset", "border"}, attributes);
  if (name == "tosa.mul") return multiplication(op, attributes);
  if (name == "tosa.transpose") return transposition(op, attributes);
  if (name == "tosa.pad") return padding(op, attributes);
  if (name == "tosa.clamp") return clamp(op, attributes);
  if (name.contains("conv")) return convolution(op, attributes);
  if (name == "tosa.matmul") return zero_points(op, 2, attributes);
  if (name == "tosa.negate" || name == "tosa.avg_pool2d") return zero_points(op, 1, attributes);
  // MLIR 19 divides integers of 32 bits only.
  const bool is_equal = llvm::all_equal(op->getOperandTypes());
  const StringRef now = llvm::StringSwitch<StringRef>(name)
                            .Case("tosa.intdiv", is_equal ? "arith.divsi" : "tosa.int_div")
                            .Case("tosa.reduce_product", "tosa.reduce_prod")
                            .Case("tosa.sin", "math.sin")
                            .Case("tosa.cos", "math.cos")
                            .Default(name);
  return becomes(op, now, op->getOperands(), attributes);
}

bool is_tosa(Operation* op) { return op->getName().getDialectNamespace() == "tosa"; }

bool rewrite_all(ModuleOp module) {
  SmallVector<Operation*> found;
  module.walk([&](Operation* op) {
    if (is_tosa(op)) found.push_back(op);
  });
  Rewriter rewriter(module.getContext());
  for (Operation* op : found) {
    if (!rewriter.rewrite(op)) return false;
  }
  SmallVector<Operation*> lists;
  module.walk([&](Operation* op) {
    if (op->getName().getStringRef() == "tosa.const_shape") lists.push_back(op);
  });
  for (Operation* op : lists) {
    if (!op->use_empty()) return false;
    op->erase();
  }
  return true;
}

}  // namespace

std::optional<std::string> earlier_tosa(StringRef source, StringRef name) {
  DialectRegistry registry;
  register_dialects_but_tosa(registry);
  registry.insert<LaterTosaDialect, ml_program::MLProgramDialect, index::IndexDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source, name), llvm::SMLoc());
  std::string unheard;  // The reader of MLIR 19's form, or of ours, says what is wrong.
  llvm::raw_string_ostream diagnostics(unheard);
  const SourceMgrDiagnosticHandler handler(sources, &context, diagnostics);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module || !rewrite_all(*module)) return std::nullopt;
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  (*module).print(stream, flags.printGenericOpForm());
  return text;
}

}  // namespace baton::compiler_lite::lower
