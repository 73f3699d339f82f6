#include "compiler-lite/schedule/library_file.hpp"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

namespace baton::compiler_lite::schedule {
namespace {

constexpr llvm::StringLiteral kProducts = "library.products", kConvolutions = "library.convolutions",
                              kAttentions = "library.attentions";

// One row, by its keys; a key that is none is an error, for it is a misspelled one.
class Row {
 public:
  Row(mlir::DictionaryAttr row, llvm::StringRef of, mlir::Operation* owner) : row_(row), of_(of), owner_(owner) {}

  template <typename Read>
  mlir::FailureOr<Read> read() {
    Read made;
    bool good = true;
    for (const mlir::NamedAttribute& each : row_) good = good && take(each, made);
    if (!good) return mlir::failure();
    if (made.command.empty() || made.elements.empty()) {
      owner_->emitError() << "A row of " << of_ << " has no `command` or no `elements`: " << row_;
      return mlir::failure();
    }
    return made;
  }

 private:
  bool take(const mlir::NamedAttribute& each, LibraryProduct& product) {
    const llvm::StringRef key = each.getName();
    const mlir::Attribute value = each.getValue();
    if (key == "activations") return texts(key, value, product.activations);
    if (key == "bias") return unit(key, value, product.bias);
    if (key == "least_rows") return number(key, value, product.rows);
    if (key == "least_columns") return number(key, value, product.columns);
    if (key == "least_steps") return number(key, value, product.steps);
    return take_common(key, value, product,
                       "command, elements, bias, activations, least_work, least_rows, least_columns and least_steps");
  }
  bool take(const mlir::NamedAttribute& each, LibraryConvolution& convolution) {
    const llvm::StringRef key = each.getName();
    const mlir::Attribute value = each.getValue();
    if (key == "kinds") return texts(key, value, convolution.kinds);
    if (key == "moved_filter_uses") return number(key, value, convolution.moved_filter_uses.emplace());
    return take_common(key, value, convolution, "command, elements, kinds, least_work and moved_filter_uses");
  }
  bool take(const mlir::NamedAttribute& each, LibraryAttention& attention) {
    const llvm::StringRef key = each.getName();
    const mlir::Attribute value = each.getValue();
    if (key == "least_rows") return number(key, value, attention.rows);
    if (key == "depth_multiple") return number(key, value, attention.depth_multiple);
    if (key == "most_depth") return number(key, value, attention.depth);
    return take_common(key, value, attention,
                       "command, elements, least_work, least_rows, depth_multiple and most_depth");
  }

  template <typename Read>
  bool take_common(llvm::StringRef key, mlir::Attribute value, Read& read, const char* known) {
    if (key == "command") return text(key, value, read.command);
    if (key == "elements") return texts(key, value, read.elements);
    if (key == "least_work") return number(key, value, read.work);
    owner_->emitError() << "A row of " << of_ << " has no key `" << key << "`; it has " << known;
    return false;
  }

  bool refuse(llvm::StringRef key, mlir::Attribute value, const char* wanted) {
    owner_->emitError() << "`" << key << "` of " << of_ << " is " << value << ", and takes " << wanted;
    return false;
  }
  bool unit(llvm::StringRef key, mlir::Attribute value, bool& out) {
    return out = llvm::isa<mlir::UnitAttr>(value) || refuse(key, value, "a unit");
  }
  bool text(llvm::StringRef key, mlir::Attribute value, std::string& out) {
    const auto string = llvm::dyn_cast<mlir::StringAttr>(value);
    if (!string) return refuse(key, value, "a string");
    out = string.str();
    return true;
  }
  bool texts(llvm::StringRef key, mlir::Attribute value, std::vector<std::string>& out) {
    const auto list = llvm::dyn_cast<mlir::ArrayAttr>(value);
    if (!list) return refuse(key, value, "a list of strings");
    for (const mlir::Attribute each : list) {
      if (!text(key, each, out.emplace_back())) return false;
    }
    return true;
  }
  bool number(llvm::StringRef key, mlir::Attribute value, int64_t& out) {
    const auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value);
    if (!integer || integer.getInt() < 0) return refuse(key, value, "a number from 0 on");
    out = integer.getInt();
    return true;
  }

  mlir::DictionaryAttr row_;
  llvm::StringRef of_;
  mlir::Operation* owner_;
};

template <typename Read>
mlir::LogicalResult read_rows(mlir::ModuleOp module, llvm::StringRef of, std::vector<Read>& into) {
  const auto rows = module->getAttrOfType<mlir::ArrayAttr>(of);
  for (const mlir::Attribute each : rows ? rows.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    const auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(each);
    if (!dictionary) return module.emitError() << "A row of " << of << " is " << each << ", and no dictionary";
    mlir::FailureOr<Read> read = Row(dictionary, of, module).read<Read>();
    if (mlir::failed(read)) return mlir::failure();
    into.push_back(std::move(*read));
  }
  return mlir::success();
}

}  // namespace

mlir::FailureOr<LibraryFile> read_library_file(mlir::MLIRContext* context, const std::string& path,
                                               mlir::Location location) {
  const mlir::OwningOpRef<mlir::ModuleOp> owned = mlir::parseSourceFile<mlir::ModuleOp>(path, context);
  if (!owned) return mlir::emitError(location) << "The library file '" << path << "' can't be read";
  mlir::ModuleOp module = *owned;
  LibraryFile file;
  const bool has_rows = llvm::any_of(llvm::ArrayRef<llvm::StringRef>{kProducts, kConvolutions, kAttentions},
                                     [&](llvm::StringRef of) { return module->hasAttrOfType<mlir::ArrayAttr>(of); });
  if (!module.getSymName() || !has_rows) {
    return module.emitError() << "A library file is a module with a name and the attribute " << kProducts << ", "
                              << kConvolutions << " or " << kAttentions;
  }
  file.name = module.getSymName()->str();
  if (mlir::failed(read_rows(module, kProducts, file.products)) ||
      mlir::failed(read_rows(module, kConvolutions, file.convolutions)) ||
      mlir::failed(read_rows(module, kAttentions, file.attentions))) {
    return mlir::failure();
  }
  return file;
}

}  // namespace baton::compiler_lite::schedule
