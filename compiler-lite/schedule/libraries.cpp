#include "compiler-lite/schedule/libraries.hpp"

#include "compiler-lite/codegen/explain.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/attention_groups.hpp"
#include "compiler-lite/schedule/library_file.hpp"
#include "compiler-lite/schedule/product_epilogue.hpp"
#include "compiler-lite/schedule/product_layout.hpp"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
using llvm::SmallVector;
using mlir::Value;

// Attributes between marking operations and forming groups: which operations belong together, and which one is the
// product.
constexpr llvm::StringLiteral kGroup = "baton.library.group", kProduct = "baton.library.product";

std::string text_of(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string text_of(const LibraryNumber& number) {
  const std::optional<int64_t> known = known_number(number);
  return known ? std::to_string(*known) : "?";
}

// A constant would be made again inside of the kernel, and not handed in.
bool is_constant(Value value) {
  mlir::Attribute attribute;
  return mlir::matchPattern(value, mlir::m_Constant(&attribute));
}

bool begins_with_zero(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  if (!fill) return false;
  const Value number = fill.getInputs()[0];
  return mlir::matchPattern(number, mlir::m_AnyZeroFloat()) || mlir::matchPattern(number, mlir::m_Zero());
}

bool is_least(const LibraryNumber& number, int64_t least) { return known_number(number).value_or(least) >= least; }

int64_t known_work(const ProductLayout& layout) {
  int64_t work = 1;
  for (size_t i = 0; i < 5; ++i) work *= known_number(layout.numbers[i]).value_or(1024);
  return work;
}

// Numbers as attributes: a factor, then pairs.
mlir::ArrayAttr as_attribute(mlir::Builder& builder, llvm::ArrayRef<LibraryNumber> numbers) {
  SmallVector<mlir::Attribute> all;
  for (const LibraryNumber& number : numbers) {
    SmallVector<int64_t> flat = {number.factor};
    for (const auto& [operand, dimension] : number.sizes) flat.append({operand, dimension});
    all.push_back(builder.getDenseI64ArrayAttr(flat));
  }
  return builder.getArrayAttr(all);
}

std::vector<LibraryNumber> as_numbers(mlir::ArrayAttr attribute) {
  std::vector<LibraryNumber> numbers;
  for (const mlir::Attribute each : attribute) {
    const llvm::ArrayRef<int64_t> flat = llvm::cast<mlir::DenseI64ArrayAttr>(each).asArrayRef();
    LibraryNumber number{flat[0], {}};
    for (size_t i = 1; i + 1 < flat.size(); i += 2) {
      number.sizes.push_back({static_cast<unsigned>(flat[i]), static_cast<unsigned>(flat[i + 1])});
    }
    numbers.push_back(std::move(number));
  }
  return numbers;
}

// A product that a library may take.
struct Candidate {
  linalg::LinalgOp op;
  ProductLayout layout;
  std::optional<FoundEpilogue> epilogue;

  std::string elements() const {
    std::string text;
    for (const unsigned operand : {layout.a, layout.b, 2u}) {
      if (!text.empty()) text += ' ';
      text += text_of(mlir::getElementTypeOrSelf(op->getOperand(operand).getType()));
    }
    return text;
  }
  std::string sizes() const {
    std::string text;
    for (size_t i = 0; i < 5; ++i) {
      if (i >= 2 || known_number(layout.numbers[i]) != 1) {
        if (!text.empty()) text += 'x';
        text += text_of(layout.numbers[i]);
      }
    }
    return text;
  }
};

bool knows(const LibraryProduct& row, const Epilogue& epilogue) {
  return (!epilogue.bias || row.bias) &&
         (epilogue.activation.empty() || llvm::is_contained(row.activations, epilogue.activation));
}

// Empty when the row takes the product.
std::string refusal(const LibraryProduct& row, const Candidate& candidate) {
  const ProductLayout& layout = candidate.layout;
  const std::string elements = candidate.elements();
  if (!llvm::is_contained(row.elements, elements)) return "takes no " + elements;
  const auto below = [](const std::string& what, const std::string& has, int64_t least) {
    return "has " + has + " " + what + ", and it is worth it from " + std::to_string(least) + " on";
  };
  if (!is_least(layout.rows(), row.rows)) return below("rows", text_of(layout.rows()), row.rows);
  if (!is_least(layout.columns(), row.columns)) return below("columns", text_of(layout.columns()), row.columns);
  if (!is_least(layout.steps(), row.steps)) return below("steps", text_of(layout.steps()), row.steps);
  const int64_t work = known_work(layout);
  return work < row.work ? below("multiplications", std::to_string(work), row.work) : "";
}

class Marking {
 public:
  Marking(std::vector<LibraryFile> libraries, std::string* explanation)
      : libraries_(std::move(libraries)), explanation_(explanation) {}

  void mark(linalg::LinalgOp op) {
    if (left_.contains(op)) return;
    const std::optional<codegen::ProductForm> form =
        op.hasPureTensorSemantics() ? codegen::product_form(op) : std::nullopt;
    if (!form) return;
    LayoutOrReason found = product_layout(op, *form);
    if (!found.layout) return explain(op, "a product, stays generated: " + std::string(found.reason));
    Candidate candidate{op, std::move(*found.layout), find_epilogue(op, *form)};
    const std::string what = "a product of " + candidate.sizes() + " in " + candidate.elements();
    if (!begins_with_zero(op->getOperand(2))) return explain(op, what + ", stays generated: it adds to something");
    if (is_constant(op->getOperand(0)) || is_constant(op->getOperand(1))) {
      return explain(op, what + ", stays generated: one operand is a constant that kernels make");
    }
    choose(candidate, what);
  }

  // One kernel for all of attention holds no scores in memory; in f32 products of a library are worth theirs.
  void leave_attention(mlir::Operation* root) {
    for (mlir::Operation* op : attention_of(root)) {
      const mlir::Type element = mlir::getElementTypeOrSelf(op->getOperand(0).getType());
      if (!codegen::is_product(llvm::cast<linalg::LinalgOp>(op)) || !(element.isF16() || element.isBF16())) continue;
      left_.insert(op);
      explain(op, "a product, stays generated: it is part of attention, which is one kernel");
    }
  }

 private:
  void choose(Candidate& candidate, const std::string& what) {
    SmallVector<mlir::Attribute> calls;
    std::string taken, refused;
    for (const LibraryFile& library : libraries_) {
      std::string why = "has no row for products";
      for (const LibraryProduct& row : library.products) {
        const std::string said = refusal(row, candidate);
        // A row for these elements says more than one for others.
        if (why.empty() || why.starts_with("has no row") || why.starts_with("takes no")) why = said;
        if (!said.empty()) continue;
        why.clear();
        // The first that takes it says what of the epilogue goes along.
        if (calls.empty() && candidate.epilogue && !knows(row, candidate.epilogue->kind)) candidate.epilogue.reset();
        why = candidate.epilogue && !knows(row, candidate.epilogue->kind) ? "knows no such epilogue" : "";
        if (!why.empty()) continue;
        calls.push_back(call_of(library, row, candidate));
        taken += (taken.empty() ? "" : ", else ") + library.name + "." + command_of(row, candidate);
        break;
      }
      if (!why.empty()) refused += "; " + library.name + ": " + why;
    }
    if (calls.empty()) return explain(candidate.op, what + ", stays generated" + refused);
    write(candidate, calls);
    explain(candidate.op, what + ": " + taken + ", else generated" + refused);
  }

  // The row's name, then what of the epilogue goes along.
  static std::string command_of(const LibraryProduct& row, const Candidate& candidate) {
    if (!candidate.epilogue) return row.command;
    const Epilogue& kind = candidate.epilogue->kind;
    return row.command + (kind.bias ? "_bias" : "") + (kind.activation.empty() ? "" : "_" + kind.activation);
  }

  static mlir::Attribute call_of(const LibraryFile& library, const LibraryProduct& row, const Candidate& candidate) {
    mlir::Builder builder(candidate.op->getContext());
    const bool has_bias = candidate.epilogue && candidate.epilogue->kind.bias;
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("module", builder.getStringAttr(library.name)),
         builder.getNamedAttr("command", builder.getStringAttr(command_of(row, candidate))),
         builder.getNamedAttr("operands", builder.getDenseI64ArrayAttr({candidate.layout.a, candidate.layout.b})),
         builder.getNamedAttr("bias", builder.getI64IntegerAttr(has_bias ? candidate.epilogue->bias_operand : -1)),
         builder.getNamedAttr("numbers", as_attribute(builder, candidate.layout.numbers))});
  }

  void write(const Candidate& candidate, llvm::ArrayRef<mlir::Attribute> calls) {
    mlir::Builder builder(candidate.op->getContext());
    const mlir::Attribute number = builder.getI64IntegerAttr(count_++);
    mlir::Operation* root = candidate.op;
    candidate.op->setAttr(kGroup, number);
    candidate.op->setAttr(kProduct, builder.getUnitAttr());
    if (candidate.epilogue) {
      root = candidate.epilogue->op;
      root->setAttr(kGroup, number);
    }
    root->setAttr(kLibraryCalls, builder.getArrayAttr(calls));
  }

  void explain(mlir::Operation* op, const std::string& line) {
    compiler_lite::explain(explanation_, op->getLoc(), line);
  }

  std::vector<LibraryFile> libraries_;
  std::string* explanation_;
  int64_t count_ = 0;
  llvm::DenseSet<mlir::Operation*> left_;
};

// Where `value` stands in what a group takes.
std::optional<unsigned> argument_of(llvm::ArrayRef<Value> captured, Value value) {
  const auto* found = llvm::find(captured, value);
  if (found == captured.end()) return std::nullopt;
  return static_cast<unsigned>(found - captured.begin());
}

// The same call with arguments of the dispatch in place of operands.
mlir::Attribute with_arguments(mlir::DictionaryAttr call, mlir::Operation* product, mlir::Operation* root,
                               llvm::ArrayRef<Value> captured) {
  mlir::Builder builder(product->getContext());
  SmallVector<int64_t> arguments;
  for (const int64_t operand : llvm::cast<mlir::DenseI64ArrayAttr>(call.get("operands")).asArrayRef()) {
    const std::optional<unsigned> argument = argument_of(captured, product->getOperand(static_cast<unsigned>(operand)));
    if (!argument) return {};
    arguments.push_back(*argument);
  }
  const int64_t bias = llvm::cast<mlir::IntegerAttr>(call.get("bias")).getInt();
  if (bias >= 0) {
    const std::optional<unsigned> argument = argument_of(captured, root->getOperand(static_cast<unsigned>(bias)));
    if (!argument) return {};
    arguments.push_back(*argument);
  }
  std::vector<LibraryNumber> numbers = as_numbers(llvm::cast<mlir::ArrayAttr>(call.get("numbers")));
  for (LibraryNumber& number : numbers) {
    for (auto& [operand, dimension] : number.sizes) {
      operand = argument_of(captured, product->getOperand(operand)).value_or(0);
    }
  }
  return builder.getDictionaryAttr({builder.getNamedAttr("module", call.get("module")),
                                    builder.getNamedAttr("command", call.get("command")),
                                    builder.getNamedAttr("arguments", builder.getDenseI64ArrayAttr(arguments)),
                                    builder.getNamedAttr("numbers", as_attribute(builder, numbers))});
}

}  // namespace

mlir::LogicalResult mark_library_work(mlir::ModuleOp module, const LibraryOptions& options) {
  if (options.files.empty()) return mlir::success();
  std::vector<LibraryFile> libraries;
  for (const std::string& path : options.files) {
    mlir::FailureOr<LibraryFile> library = read_library_file(module.getContext(), path, module.getLoc());
    if (mlir::failed(library)) return mlir::failure();
    libraries.push_back(std::move(*library));
  }
  Marking marking(std::move(libraries), options.explanation);
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    function.walk([&](linalg::LinalgOp op) { marking.leave_attention(op); });
    function.walk([&](linalg::LinalgOp op) { marking.mark(op); });
  }
  return mlir::success();
}

bool is_library_work(mlir::Operation* op) { return op->hasAttr(kGroup); }

std::optional<bool> joins_by_mark(mlir::Operation* producer, mlir::Operation* consumer) {
  const mlir::Attribute one = producer->getAttr(kGroup), other = consumer->getAttr(kGroup);
  if (!one && !other) return std::nullopt;
  return one == other;
}

mlir::ArrayAttr take_marks(llvm::ArrayRef<mlir::Operation*> operations, llvm::ArrayRef<Value> captured) {
  mlir::Operation *product = nullptr, *root = nullptr;
  mlir::ArrayAttr calls;
  for (mlir::Operation* op : operations) {
    if (op->removeAttr(kProduct)) product = op;
    if (const auto found = llvm::dyn_cast_or_null<mlir::ArrayAttr>(op->removeAttr(kLibraryCalls))) {
      root = op;
      calls = found;
    }
    op->removeAttr(kGroup);
  }
  if (!product || !root) return {};
  SmallVector<mlir::Attribute> with;
  for (const mlir::Attribute call : calls) {
    const mlir::Attribute made = with_arguments(llvm::cast<mlir::DictionaryAttr>(call), product, root, captured);
    if (made) with.push_back(made);
  }
  return with.empty() ? mlir::ArrayAttr() : mlir::ArrayAttr::get(product->getContext(), with);
}

std::vector<LibraryCall> library_calls(flow::DispatchOp op) {
  std::vector<LibraryCall> all;
  const auto calls = op->getAttrOfType<mlir::ArrayAttr>(kLibraryCalls);
  if (!calls) return all;
  for (const mlir::Attribute each : calls) {
    const auto call = llvm::cast<mlir::DictionaryAttr>(each);
    LibraryCall& made = all.emplace_back();
    made.module = llvm::cast<mlir::StringAttr>(call.get("module")).str();
    made.command = llvm::cast<mlir::StringAttr>(call.get("command")).str();
    for (const int64_t argument : llvm::cast<mlir::DenseI64ArrayAttr>(call.get("arguments")).asArrayRef()) {
      made.arguments.push_back(static_cast<unsigned>(argument));
    }
    made.numbers = as_numbers(llvm::cast<mlir::ArrayAttr>(call.get("numbers")));
  }
  return all;
}

}  // namespace baton::compiler_lite::schedule
