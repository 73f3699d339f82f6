#include "compiler-lite/schedule/library_file.hpp"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

namespace baton::compiler_lite::schedule {
namespace {

constexpr llvm::StringLiteral kProducts = "library.products";

// One row, by its keys; a key that is none is an error, for it is a misspelled one.
class Row {
 public:
  Row(mlir::DictionaryAttr row, mlir::Operation* owner) : row_(row), owner_(owner) {}

  mlir::FailureOr<LibraryProduct> read() {
    LibraryProduct product;
    bool good = true;
    for (const mlir::NamedAttribute& each : row_) good = good && take(each, product);
    if (!good) return mlir::failure();
    if (product.command.empty() || product.elements.empty()) {
      owner_->emitError() << "A row of " << kProducts << " has no `command` or no `elements`: " << row_;
      return mlir::failure();
    }
    return product;
  }

 private:
  bool take(const mlir::NamedAttribute& each, LibraryProduct& product) {
    const llvm::StringRef key = each.getName();
    const mlir::Attribute value = each.getValue();
    if (key == "command") return text(key, value, product.command);
    if (key == "elements") return texts(key, value, product.elements);
    if (key == "activations") return texts(key, value, product.activations);
    if (key == "bias") return product.bias = llvm::isa<mlir::UnitAttr>(value) || refuse(key, value, "a unit");
    if (key == "least_work") return number(key, value, product.work);
    if (key == "least_rows") return number(key, value, product.rows);
    if (key == "least_columns") return number(key, value, product.columns);
    if (key == "least_steps") return number(key, value, product.steps);
    owner_->emitError() << "A row of " << kProducts << " has no key `" << key
                        << "`; it has command, elements, bias, activations, least_work, least_rows, least_columns and "
                           "least_steps";
    return false;
  }

  bool refuse(llvm::StringRef key, mlir::Attribute value, const char* wanted) {
    owner_->emitError() << "`" << key << "` of " << kProducts << " is " << value << ", and takes " << wanted;
    return false;
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
  mlir::Operation* owner_;
};

}  // namespace

mlir::FailureOr<LibraryFile> read_library_file(mlir::MLIRContext* context, const std::string& path,
                                               mlir::Location location) {
  const mlir::OwningOpRef<mlir::ModuleOp> owned = mlir::parseSourceFile<mlir::ModuleOp>(path, context);
  if (!owned) return mlir::emitError(location) << "The library file '" << path << "' can't be read";
  mlir::ModuleOp module = *owned;
  LibraryFile file;
  const auto rows = module->getAttrOfType<mlir::ArrayAttr>(kProducts);
  if (!module.getSymName() || !rows) {
    return module.emitError() << "A library file is a module with a name and the attribute " << kProducts;
  }
  file.name = module.getSymName()->str();
  for (const mlir::Attribute each : rows) {
    const auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(each);
    if (!dictionary) return module.emitError() << "A row of " << kProducts << " is " << each << ", and no dictionary";
    mlir::FailureOr<LibraryProduct> product = Row(dictionary, module).read();
    if (mlir::failed(product)) return mlir::failure();
    file.products.push_back(std::move(*product));
  }
  return file;
}

}  // namespace baton::compiler_lite::schedule
