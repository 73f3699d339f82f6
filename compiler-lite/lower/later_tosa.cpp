#include "compiler-lite/lower/later_tosa.hpp"

#include "compiler-lite/dialects/all.hpp"
#include "compiler-lite/lower/later_tosa_text.hpp"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

// Rewrites one operation after the other; false at what MLIR 19 has no word for, and then why() says what would do.
class Rewriter {
 public:
  explicit Rewriter(MLIRContext* context) : builder_(context) {}
  bool rewrite(Operation* op);
  StringRef why() const { return why_; }

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
  static SmallVector<int64_t> numbers_of(DenseIntElementsAttr list) {
    return llvm::to_vector(
        llvm::map_range(list.getValues<APInt>(), [](const APInt& each) { return each.getSExtValue(); }));
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
      attributes.set(name, builder_.getDenseI64ArrayAttr(numbers_of(list)));
    }
    return becomes(op, op->getName().getStringRef(), op->getOperands().take_front(first), attributes);
  }
  bool zero_points(Operation* op, unsigned first, Attributes& attributes);
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
  bool pool(Operation* op, Attributes& attributes);
  bool rescale(Operation* op, Attributes& attributes);
  bool variable(Operation* op, Attributes& attributes);
  bool as_in_19(Operation* op, StringRef name, Attributes& attributes);
  // Nothing where the constant has another number of elements than one.
  static std::optional<int64_t> number_of(Value value) {
    const auto one = dyn_cast_or_null<DenseIntElementsAttr>(constant_of(value));
    if (!one || one.getNumElements() != 1) return std::nullopt;
    return (*one.getValues<APInt>().begin()).getSExtValue();
  }
  bool refuse(StringRef why) {
    why_ = why;
    return false;
  }

  OpBuilder builder_;
  StringRef why_ = "sizes, permutations, shifts and zero points that are constants of tosa";
};

// Operands from `first` on, which MLIR 19 has as an attribute.
bool Rewriter::zero_points(Operation* op, unsigned first, Attributes& attributes) {
  const StringRef name = op->getName().getStringRef();
  SmallVector<int64_t> points;
  for (const Value each : op->getOperands().drop_front(first)) {
    const DenseElementsAttr constant = constant_of(each);
    if (!constant) return false;
    const bool is_zero = matchPattern(constant, m_Zero()) || matchPattern(constant, m_AnyZeroFloat());
    const std::optional<int64_t> number = is_zero ? std::optional<int64_t>(0) : number_of(each);
    if (!number) return false;
    points.push_back(*number);
  }
  if (points.size() != 2) return false;
  if (points[0] != 0 || points[1] != 0) {
    const bool is_product = name == "tosa.matmul", is_convolution = name.contains("conv");
    const StringRef kind = is_product ? "matmul_quant" : is_convolution ? "conv_quant" : "unary_quant";
    const StringRef a = is_product ? "a_zp" : "input_zp";
    const StringRef b = is_product ? "b_zp" : is_convolution ? "weight_zp" : "output_zp";
    const std::string text =
        (kind + "<" + a + " = " + Twine(points[0]) + ", " + b + " = " + Twine(points[1]) + ">").str();
    attributes.set("quantization_info",
                   OpaqueAttr::get(builder_.getStringAttr("tosa"), text, NoneType::get(builder_.getContext())));
  }
  return becomes(op, name, op->getOperands().take_front(first), attributes);
}

bool Rewriter::multiplication(Operation* op, Attributes& attributes) {
  if (op->getNumOperands() != 3) return false;
  const std::optional<int64_t> shift = number_of(op->getOperand(2));
  if (!shift) return false;
  attributes.set("shift", builder_.getI8IntegerAttr(static_cast<int8_t>(*shift)));
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
  const Value amounts = constant(op, DenseElementsAttr::get(pairs, ArrayRef<int64_t>(numbers_of(list))));
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

// Kernel, stride and padding may be lists of sizes, and stand behind the zero points then.
bool Rewriter::pool(Operation* op, Attributes& attributes) {
  const StringRef name = op->getName().getStringRef();
  const bool is_average = name.starts_with("tosa.avg"), is_adaptive = name.ends_with("_adaptive");
  const unsigned first = is_average ? 3 : 1;
  if (!is_adaptive)
    return is_average ? zero_points(op, 1, attributes) : becomes(op, name, op->getOperands(), attributes);
  if (op->getNumOperands() != first + 3) return false;
  constexpr llvm::StringLiteral kWords[] = {"kernel", "stride", "pad"};
  for (const auto& [i, word] : llvm::enumerate(kWords)) {
    const DenseIntElementsAttr list = list_of(op->getOperand(first + static_cast<unsigned>(i)));
    if (!list) return false;
    attributes.set(word, builder_.getDenseI64ArrayAttr(numbers_of(list)));
  }
  builder_.setInsertionPoint(op);
  OperationState state(op->getLoc(), is_average ? "tosa.avg_pool2d" : "tosa.max_pool2d",
                       op->getOperands().take_front(first), op->getResultTypes(), attributes);
  Operation* made = builder_.create(state);
  op->replaceAllUsesWith(made);
  op->erase();
  return is_average ? zero_points(made, 1, attributes) : true;
}

bool Rewriter::rescale(Operation* op, Attributes& attributes) {
  const auto is = [&](StringRef name) {
    const auto value = dyn_cast_or_null<BoolAttr>(attributes.erase(name));
    return value && value.getValue();
  };
  const bool has_unsigned_input = is("input_unsigned");
  if (is("output_unsigned") || has_unsigned_input) return refuse("integers that have a sign");
  if (op->getNumOperands() != 5) return false;
  const auto multiplier = dyn_cast_or_null<DenseIntElementsAttr>(constant_of(op->getOperand(1)));
  const auto shift = dyn_cast_or_null<DenseIntElementsAttr>(constant_of(op->getOperand(2)));
  const std::optional<int64_t> input = number_of(op->getOperand(3)), output = number_of(op->getOperand(4));
  if (!multiplier || !shift || !input || !output) return false;
  const auto rounding = dyn_cast_or_null<StringAttr>(attributes.erase("rounding_mode"));
  attributes.set("input_zp", builder_.getI32IntegerAttr(static_cast<int32_t>(*input)));
  attributes.set("output_zp", builder_.getI32IntegerAttr(static_cast<int32_t>(*output)));
  attributes.set("multiplier", builder_.getDenseI32ArrayAttr(llvm::to_vector_of<int32_t>(numbers_of(multiplier))));
  attributes.set("shift", builder_.getDenseI8ArrayAttr(llvm::to_vector_of<int8_t>(numbers_of(shift))));
  attributes.set("double_round", builder_.getBoolAttr(rounding && rounding == "DOUBLE_ROUND"));
  return becomes(op, "tosa.rescale", op->getOperands().take_front(1), attributes);
}

bool Rewriter::variable(Operation* op, Attributes& attributes) {
  const Attribute name = attributes.erase("name");
  const Attribute named = attributes.erase("sym_name");
  const auto text = dyn_cast_or_null<StringAttr>(name ? name : named);
  if (!text) return false;
  Attributes now;
  const StringRef kind = op->getName().getStringRef();
  if (kind == "tosa.variable") {
    now.set("sym_name", text);
    now.set("sym_visibility", builder_.getStringAttr("private"));
    now.set("is_mutable", builder_.getUnitAttr());
    now.set("type", attributes.get("type"));
    if (const Attribute value = attributes.get("initial_value")) now.set("value", value);
    return becomes(op, "ml_program.global", {}, now);
  }
  now.set("global", FlatSymbolRefAttr::get(text));
  const bool is_write = op->getNumOperands() > 0;
  return becomes(op, is_write ? "ml_program.global_store" : "ml_program.global_load", op->getOperands(), now);
}

bool Rewriter::rewrite(Operation* op) {
  const StringRef name = op->getName().getStringRef();
  Attributes attributes = attributes_of(op);
  if (const auto nan = dyn_cast_or_null<StringAttr>(attributes.erase("nan_mode")); nan && nan != "PROPAGATE") {
    return refuse("nan_mode PROPAGATE");
  }
  if (op->getNumRegions() > 0 || name == "tosa.yield" || name == "tosa.const_shape") return true;
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
  if (name == "tosa.negate") return zero_points(op, 1, attributes);
  if (name.contains("_pool2d")) return pool(op, attributes);
  if (name == "tosa.rescale") return rescale(op, attributes);
  if (name.starts_with("tosa.variable")) return variable(op, attributes);
  return as_in_19(op, name, attributes);
}

bool Rewriter::as_in_19(Operation* op, StringRef name, Attributes& attributes) {
  if (const auto rounding = dyn_cast_or_null<StringAttr>(attributes.erase("rounding_mode"))) {
    attributes.set("double_round", builder_.getBoolAttr(rounding == "DOUBLE_ROUND"));
  }
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

// What the dialect of this compiler has itself.
bool is_our_own(Operation* op) {
  return llvm::StringSwitch<bool>(op->getName().stripDialect())
      .Cases("const_shape", "const", "reshape", "matmul", "clamp", "negate", true)
      .Default(false);
}

enum class Outcome : uint8_t { kRewritten, kRefused, kOurOwn };

Outcome rewrite_all(ModuleOp module) {
  SmallVector<Operation*> found;
  module.walk([&](Operation* op) {
    if (is_tosa(op)) found.push_back(op);
  });
  const bool is_ours = llvm::all_of(found, is_our_own);
  Rewriter rewriter(module.getContext());
  for (Operation* op : found) {
    if (rewriter.rewrite(op)) continue;
    if (is_ours) return Outcome::kOurOwn;
    emitError(op->getLoc()) << op->getName() << " is not lowered in this form; with " << rewriter.why() << " it is.";
    return Outcome::kRefused;
  }
  SmallVector<Operation*> lists;
  module.walk([&](Operation* op) {
    if (op->getName().getStringRef() == "tosa.const_shape") lists.push_back(op);
  });
  for (Operation* op : lists) {
    if (op->use_empty()) {
      op->erase();
      continue;
    }
    Operation* user = *op->getUsers().begin();
    emitError(user->getLoc()) << user->getName() << " is not lowered: MLIR 19's tosa has no word for it.";
    return Outcome::kRefused;
  }
  return Outcome::kRewritten;
}

}  // namespace

std::optional<EarlierTosa> earlier_tosa(StringRef source, StringRef name) {
  DialectRegistry registry;
  register_dialects_but_tosa(registry);
  registry.insert<LaterTosaDialect, ml_program::MLProgramDialect, index::IndexDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source, name), llvm::SMLoc());
  EarlierTosa earlier;
  llvm::raw_string_ostream diagnostics(earlier.diagnostics);
  const SourceMgrDiagnosticHandler handler(sources, &context, diagnostics);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module) return std::nullopt;  // The reader of MLIR 19's form, or of ours, says what is wrong.
  const Outcome outcome = rewrite_all(*module);
  if (outcome == Outcome::kOurOwn) return std::nullopt;
  diagnostics.flush();
  if (outcome == Outcome::kRefused) return earlier;
  earlier.diagnostics.clear();
  llvm::raw_string_ostream stream(earlier.text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  (*module).print(stream, flags.printGenericOpForm());
  stream.flush();
  return earlier;
}

}  // namespace baton::compiler_lite::lower
