#include "compiler-lite/schedule/libraries.hpp"

#include "compiler-lite/codegen/explain.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/attention_groups.hpp"
#include "compiler-lite/schedule/attention_layout.hpp"
#include "compiler-lite/schedule/convolution_layout.hpp"
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
// product; and what stands between a library and what it reads.
constexpr llvm::StringLiteral kGroup = "baton.library.group", kProduct = "baton.library.product",
                              kPassed = "baton.library.passed";
// On a dispatch of such a one: where its arguments have the operands of its operation, -1 for none.
constexpr llvm::StringLiteral kOperandsAt = "baton.library.operands_at";

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

std::string suffix_of(const Epilogue& kind) {
  return (kind.bias ? "_bias" : "") + (kind.activation.empty() ? "" : "_" + kind.activation);
}

// Why a row leaves what is smaller than it says.
std::string below(const std::string& has, const char* what, int64_t least) {
  return "has " + has + " " + what + ", and it is worth it from " + std::to_string(least) + " on";
}
std::string below(int64_t has, const char* what, int64_t least) { return below(std::to_string(has), what, least); }

// Empty when the row takes the product.
std::string refusal(const LibraryProduct& row, const Candidate& candidate) {
  const ProductLayout& layout = candidate.layout;
  const std::string elements = candidate.elements();
  if (!llvm::is_contained(row.elements, elements)) return "takes no " + elements;
  if (!is_least(layout.rows(), row.rows)) return below(text_of(layout.rows()), "rows", row.rows);
  if (!is_least(layout.columns(), row.columns)) return below(text_of(layout.columns()), "columns", row.columns);
  if (!is_least(layout.steps(), row.steps)) return below(text_of(layout.steps()), "steps", row.steps);
  const int64_t work = known_work(layout);
  return work < row.work ? below(work, "multiplications", row.work) : "";
}

std::string name_of(ConvolutionKind kind) {
  switch (kind) {
    case ConvolutionKind::kForward: return "a convolution of ";
    case ConvolutionKind::kFilterGradient: return "the gradient of a filter, of ";
    case ConvolutionKind::kInputGradient: return "the gradient of an image, of ";
  }
  return "";
}

llvm::StringRef key_of(ConvolutionKind kind) {
  switch (kind) {
    case ConvolutionKind::kForward: return "forward";
    case ConvolutionKind::kFilterGradient: return "filter_gradient";
    case ConvolutionKind::kInputGradient: return "input_gradient";
  }
  return "";
}

// Empty when the row takes the convolution.
std::string refusal(const LibraryConvolution& row, const ConvolutionLayout& layout) {
  if (!llvm::is_contained(row.elements, layout.elements)) return "takes no " + layout.elements;
  if (!llvm::is_contained(row.kinds, key_of(layout.kind))) return "takes none of these";
  if (layout.moves_filter && !row.moved_filter_uses) return "takes none whose filter must be copied into another order";
  if (layout.moves_filter && layout.filter_uses < *row.moved_filter_uses) {
    return below(layout.filter_uses, "uses of a filter that must be copied", *row.moved_filter_uses);
  }
  return layout.work < row.work ? below(layout.work, "multiplications", row.work) : "";
}

// Empty when the row takes the attention.
std::string refusal(const LibraryAttention& row, const AttentionLayout& layout) {
  if (!llvm::is_contained(row.elements, layout.elements)) return "takes no " + layout.elements;
  for (const int64_t depth : {layout.depth, layout.width}) {
    if ((row.depth_multiple > 1 && depth % row.depth_multiple != 0) || (row.depth > 0 && depth > row.depth)) {
      return "takes no rows of " + std::to_string(depth) + " elements";
    }
  }
  if (layout.rows < row.rows) return below(layout.rows, "rows", row.rows);
  return layout.work < row.work ? below(layout.work, "multiplications", row.work) : "";
}

std::string command_of(const LibraryConvolution& row, const ConvolutionLayout& layout) {
  return layout.kind == ConvolutionKind::kForward ? row.command : row.command + "_" + key_of(layout.kind).str();
}

// A call that reads tensors at the ends of paths.
mlir::DictionaryAttr call_of(mlir::MLIRContext* context, const LibraryFile& library, llvm::StringRef command,
                             llvm::ArrayRef<SmallVector<int64_t>> paths, llvm::ArrayRef<int64_t> known) {
  mlir::Builder builder(context);
  SmallVector<mlir::Attribute> read;
  for (const SmallVector<int64_t>& path : paths) read.push_back(builder.getDenseI64ArrayAttr(path));
  std::vector<LibraryNumber> numbers;
  for (const int64_t number : known) numbers.push_back({number, {}});
  return builder.getDictionaryAttr({builder.getNamedAttr("module", builder.getStringAttr(library.name)),
                                    builder.getNamedAttr("command", builder.getStringAttr(command)),
                                    builder.getNamedAttr("paths", builder.getArrayAttr(read)),
                                    builder.getNamedAttr("numbers", as_attribute(builder, numbers))});
}

// The row's name, then what of the epilogue goes along.
std::string command_of(const LibraryProduct& row, const Candidate& candidate) {
  return candidate.epilogue ? row.command + suffix_of(candidate.epilogue->kind) : row.command;
}

mlir::DictionaryAttr call_of(const LibraryFile& library, const LibraryProduct& row, const Candidate& candidate) {
  mlir::Builder builder(candidate.op->getContext());
  const bool has_bias = candidate.epilogue && candidate.epilogue->kind.bias;
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("module", builder.getStringAttr(library.name)),
       builder.getNamedAttr("command", builder.getStringAttr(command_of(row, candidate))),
       builder.getNamedAttr("operands", builder.getDenseI64ArrayAttr({candidate.layout.a, candidate.layout.b})),
       builder.getNamedAttr("bias", builder.getI64IntegerAttr(has_bias ? candidate.epilogue->bias_operand : -1)),
       builder.getNamedAttr("numbers", as_attribute(builder, candidate.layout.numbers))});
}

class Marking {
 public:
  Marking(std::vector<LibraryFile> libraries, std::string* explanation)
      : libraries_(std::move(libraries)), explanation_(explanation) {}

  void mark(linalg::LinalgOp op) {
    if (left_.contains(op) || is_library_work(op)) return;
    if (mark_convolution(op)) return;
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
    const Chosen chosen = choose<LibraryProduct>(
        &LibraryFile::products, "has no row for products",
        [&](const LibraryProduct& row, bool is_first) {
          std::string why = refusal(row, candidate);
          if (!why.empty() || !candidate.epilogue || knows(row, candidate.epilogue->kind)) return why;
          // The first that takes it says what of the epilogue goes along.
          if (is_first) candidate.epilogue.reset();
          return std::string(is_first ? "" : "knows no such epilogue");
        },
        [&](const LibraryFile& library, const LibraryProduct& row) { return call_of(library, row, candidate); });
    if (!chosen.calls.empty()) write(candidate, chosen.calls);
    explain(op, what + chosen.text());
  }

  // A library may take all of an attention. Else one kernel for all of it holds no scores in memory; in f32 products of a library
  // are worth theirs.
  void mark_attention(linalg::LinalgOp root) {
    const std::optional<codegen::Attention> attention = marked_attention(root);
    if (!attention) return;
    const bool is_taken = give_attention(root, *attention);
    const mlir::Type element = mlir::getElementTypeOrSelf(attention->scores->getOperand(0).getType());
    if (!is_taken && !element.isF16() && !element.isBF16()) return;
    for (const linalg::LinalgOp product : {attention->scores, attention->mixed}) {
      left_.insert(product);
      if (is_taken) continue;
      explain(product, "a product, stays generated: it is part of attention, which is one kernel");
    }
  }

 private:
  template <typename Row>
  bool has_rows(std::vector<Row> LibraryFile::*rows) const {
    return llvm::any_of(libraries_, [&](const LibraryFile& library) { return !(library.*rows).empty(); });
  }

  // Whether a library takes it.
  bool give_attention(linalg::LinalgOp root, const codegen::Attention& attention) {
    if (!has_rows(&LibraryFile::attentions)) return false;
    const AttentionOrReason found = attention_layout(attention);
    if (!found.layout) {
      explain(root, "attention, stays generated: " + std::string(found.reason));
      return false;
    }
    const AttentionLayout& layout = *found.layout;
    const Chosen chosen = choose<LibraryAttention>(
        &LibraryFile::attentions, "has no row for attention",
        [&](const LibraryAttention& row, bool) { return refusal(row, layout); },
        [&](const LibraryFile& library, const LibraryAttention& row) {
          return call_of(root->getContext(), library, row.command, layout.paths, layout.numbers);
        });
    if (!chosen.calls.empty()) {
      root->setAttr(kLibraryCalls, mlir::ArrayAttr::get(root->getContext(), chosen.calls));
    }
    explain(root, "attention of " + layout.sizes + " in " + layout.elements + chosen.text());
    return !chosen.calls.empty();
  }

  // Whether it is one, taken or not.
  bool mark_convolution(linalg::LinalgOp op) {
    if (!has_rows(&LibraryFile::convolutions)) return false;
    const ConvolutionOrReason found = convolution_layout(op);
    if (!found.layout) {
      if (*found.reason == 0) return false;
      explain(op, "a convolution, stays generated: " + std::string(found.reason));
      return true;
    }
    const ConvolutionLayout& layout = *found.layout;
    const Chosen chosen = choose<LibraryConvolution>(
        &LibraryFile::convolutions, "has no row for convolutions",
        [&](const LibraryConvolution& row, bool) { return refusal(row, layout); },
        [&](const LibraryFile& library, const LibraryConvolution& row) {
          return call_of(op->getContext(), library, command_of(row, layout), layout.paths, layout.numbers);
        });
    if (!chosen.calls.empty()) write(layout, chosen.calls);
    explain(op, name_of(layout.kind) + layout.sizes + " in " + layout.elements + chosen.text());
    return true;
  }

  void write(const ConvolutionLayout& layout, llvm::ArrayRef<mlir::Attribute> calls) {
    mlir::Builder builder(layout.op->getContext());
    for (mlir::Operation* op : layout.passed) {
      op->setAttr(kGroup, builder.getI64IntegerAttr(count_++));
      op->setAttr(kPassed, builder.getUnitAttr());
    }
    const mlir::Attribute number = builder.getI64IntegerAttr(count_++);
    layout.root->setAttr(kGroup, number);
    layout.root->setAttr(kLibraryCalls, builder.getArrayAttr(calls));
  }

  // What the libraries take of something, and why others don't.
  struct Chosen {
    SmallVector<mlir::Attribute> calls = {};
    std::string taken = {}, refused = {};

    std::string text() const {
      return calls.empty() ? ", stays generated" + refused : ": " + taken + ", else generated" + refused;
    }
  };
  // `refusal` is empty when the row takes it; it hears whether this is the first that would.
  template <typename Row>
  Chosen choose(std::vector<Row> LibraryFile::*rows, const char* none,
                llvm::function_ref<std::string(const Row&, bool)> refusal,
                llvm::function_ref<mlir::DictionaryAttr(const LibraryFile&, const Row&)> call) const {
    Chosen chosen;
    for (const LibraryFile& library : libraries_) {
      std::string why = none;
      for (const Row& row : library.*rows) {
        const std::string said = refusal(row, chosen.calls.empty());
        // A row for these elements says more than one for others.
        if (said.empty() || why == none || llvm::StringRef(why).starts_with("takes no")) why = said;
        if (!said.empty()) continue;
        chosen.calls.push_back(call(library, row));
        const auto made = llvm::cast<mlir::DictionaryAttr>(chosen.calls.back());
        chosen.taken += (chosen.taken.empty() ? "" : ", else ") + library.name + "." +
                        llvm::cast<mlir::StringAttr>(made.get("command")).str();
        break;
      }
      if (!why.empty()) chosen.refused += "; " + library.name + ": " + why;
    }
    return chosen;
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

// The tensor at the end of a path from `root`; null where a dispatch on the way computes more than its operation.
Value follow(mlir::Operation* root, llvm::ArrayRef<int64_t> path) {
  Value value = root->getOperand(static_cast<unsigned>(path.front()));
  for (const int64_t step : path.drop_front()) {
    mlir::Operation* op = value.getDefiningOp();
    auto dispatch = llvm::dyn_cast_or_null<flow::DispatchOp>(op);
    if (!op) return {};
    if (!dispatch) {
      value = op->getOperand(static_cast<unsigned>(step));
      continue;
    }
    const auto operands = dispatch->getAttrOfType<mlir::DenseI64ArrayAttr>(kOperandsAt);
    const auto operand = static_cast<size_t>(step);
    if (!operands || operand >= operands.asArrayRef().size() || operands.asArrayRef()[operand] < 0) return {};
    value = dispatch.getArguments()[static_cast<unsigned>(operands.asArrayRef()[operand])];
  }
  return value;
}

// The call with arguments of the dispatch in place of paths; what it reads is captured.
mlir::Attribute with_paths(mlir::DictionaryAttr call, mlir::Operation* root, SmallVector<Value>& captured) {
  mlir::Builder builder(root->getContext());
  SmallVector<Value> read;
  for (const mlir::Attribute path : llvm::cast<mlir::ArrayAttr>(call.get("paths"))) {
    read.push_back(follow(root, llvm::cast<mlir::DenseI64ArrayAttr>(path).asArrayRef()));
    if (!read.back()) return {};
  }
  SmallVector<int64_t> arguments;
  for (const Value value : read) {
    if (!argument_of(captured, value)) captured.push_back(value);
    arguments.push_back(*argument_of(captured, value));
  }
  return builder.getDictionaryAttr({builder.getNamedAttr("module", call.get("module")),
                                    builder.getNamedAttr("command", call.get("command")),
                                    builder.getNamedAttr("arguments", builder.getDenseI64ArrayAttr(arguments)),
                                    builder.getNamedAttr("numbers", call.get("numbers"))});
}

// The libraries without whose commands nobody reads what a dispatch gives; null: somebody does in any case. Readers come
// before it.
mlir::ArrayAttr libraries_in_place_of_readers(flow::DispatchOp dispatch) {
  mlir::ArrayAttr all;
  for (mlir::OpOperand& use : dispatch->getUses()) {
    auto reader = llvm::dyn_cast<flow::DispatchOp>(use.getOwner());
    if (!reader) return {};
    auto libraries = reader->getAttrOfType<mlir::ArrayAttr>(kNeedlessBeside);
    if (!libraries) {
      SmallVector<mlir::Attribute> names;
      for (const LibraryCall& call : library_calls(reader)) {
        const auto reads = [&](unsigned argument) { return reader.getArguments()[argument] == use.get(); };
        if (llvm::any_of(call.arguments, reads)) return {};
        names.push_back(mlir::StringAttr::get(dispatch.getContext(), call.module));
      }
      libraries = mlir::ArrayAttr::get(dispatch.getContext(), names);
    }
    if (libraries.empty() || (all && all != libraries)) return {};
    all = libraries;
  }
  return all;
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
    function.walk([&](linalg::LinalgOp op) { marking.mark_attention(op); });
    function.walk([&](linalg::LinalgOp op) { marking.mark(op); });
  }
  return mlir::success();
}

bool is_library_work(mlir::Operation* op) { return op->hasAttr(kGroup); }

bool is_library_result(mlir::Operation* op) { return is_library_work(op) && !op->hasAttr(kPassed); }

std::optional<bool> joins_by_mark(mlir::Operation* producer, mlir::Operation* consumer) {
  const mlir::Attribute one = producer->getAttr(kGroup), other = consumer->getAttr(kGroup);
  if (!one && !other) return std::nullopt;
  return one == other;
}

LibraryMarks take_marks(llvm::ArrayRef<mlir::Operation*> operations, SmallVector<Value>& captured) {
  mlir::Operation *product = nullptr, *root = nullptr, *passed = nullptr;
  mlir::ArrayAttr calls;
  for (mlir::Operation* op : operations) {
    if (op->removeAttr(kProduct)) product = op;
    if (op->removeAttr(kPassed)) passed = op;
    if (const auto found = llvm::dyn_cast_or_null<mlir::ArrayAttr>(op->removeAttr(kLibraryCalls))) {
      root = op;
      calls = found;
    }
    op->removeAttr(kGroup);
  }
  LibraryMarks marks;
  mlir::Builder builder(operations.front()->getContext());
  if (passed) {
    SmallVector<int64_t> places;
    for (const Value operand : passed->getOperands()) {
      const std::optional<unsigned> argument = argument_of(captured, operand);
      places.push_back(argument ? static_cast<int64_t>(*argument) : -1);
    }
    marks.push_back(builder.getNamedAttr(kOperandsAt, builder.getDenseI64ArrayAttr(places)));
  }
  if (!root) return marks;
  SmallVector<mlir::Attribute> with;
  for (const mlir::Attribute each : calls) {
    const auto call = llvm::cast<mlir::DictionaryAttr>(each);
    mlir::Attribute made;
    if (call.contains("paths")) {
      made = with_paths(call, root, captured);
    } else if (product) {
      made = with_arguments(call, product, root, captured);
    }
    if (made) with.push_back(made);
  }
  if (!with.empty()) marks.push_back(builder.getNamedAttr(kLibraryCalls, builder.getArrayAttr(with)));
  return marks;
}

void mark_needless(mlir::ModuleOp module) {
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    for (mlir::Block& block : function.getBody()) {
      for (mlir::Operation& op : llvm::reverse(block)) {
        auto dispatch = llvm::dyn_cast<flow::DispatchOp>(op);
        if (!dispatch || !dispatch->removeAttr(kOperandsAt)) continue;
        if (const mlir::ArrayAttr libraries = libraries_in_place_of_readers(dispatch)) {
          dispatch->setAttr(kNeedlessBeside, libraries);
        }
      }
    }
  }
}

std::vector<std::string> needless_beside(flow::DispatchOp op) {
  std::vector<std::string> all;
  const auto libraries = op->getAttrOfType<mlir::ArrayAttr>(kNeedlessBeside);
  for (const mlir::Attribute each : libraries ? libraries.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    all.push_back(llvm::cast<mlir::StringAttr>(each).str());
  }
  return all;
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
