// Constants whose bytes stand behind the program (dense_resource), as frontends write weights, become constants with elements in place:
// all later steps read those.
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

// Of one element among others; 0 for those that no constant has.
size_t bytes_of_element(Type type) {
  if (const auto complex = dyn_cast<ComplexType>(type)) return 2 * bytes_of_element(complex.getElementType());
  if (type.isIndex()) return sizeof(uint64_t);
  return type.isIntOrFloat() ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8) : 0;
}

// A byte for each, or eight in one.
DenseElementsAttr bits(ShapedType type, ArrayRef<char> bytes) {
  const auto count = static_cast<size_t>(type.getNumElements());
  const bool is_packed = bytes.size() != count;
  SmallVector<bool> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = is_packed ? (bytes[i / 8] >> (i % 8)) & 1 : bytes[i] != 0;
  return DenseElementsAttr::get(type, values);
}

// Integers below a byte are the lowest bits of one; MLIR counts on the others being zeros.
DenseElementsAttr parts_of_bytes(ShapedType type, ArrayRef<char> bytes, unsigned width) {
  SmallVector<char> clean(bytes);
  for (char& each : clean) each = static_cast<char>(each & ((1 << width) - 1));
  return DenseElementsAttr::getFromRawBuffer(type, clean);
}

// Null where the bytes are not those of such a tensor.
DenseElementsAttr elements_of(ShapedType type, ArrayRef<char> bytes) {
  const size_t size = bytes_of_element(type.getElementType());
  const auto count = static_cast<size_t>(type.getNumElements());
  if (type.getElementType().isInteger(1) && (bytes.size() == count || bytes.size() == llvm::divideCeil(count, 8))) {
    return bits(type, bytes);
  }
  if (size == 0 || bytes.size() % size != 0 || bytes.size() / size != count) return nullptr;
  if (count == 0) return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  const unsigned width = type.getElementType().isInteger() ? type.getElementTypeBitWidth() : 8;
  return width < 8 ? parts_of_bytes(type, bytes, width) : DenseElementsAttr::getFromRawBuffer(type, bytes);
}

}  // namespace

LogicalResult read_resources(ModuleOp module) {
  Operation* place = nullptr;
  bool is_whole = true;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](DenseResourceElementsAttr value) -> std::optional<Attribute> {
    const AsmResourceBlob* blob = value.getRawHandle().getBlob();
    const ShapedType type = value.getType();
    const DenseElementsAttr elements = blob && type.hasStaticShape() ? elements_of(type, blob->getData()) : nullptr;
    if (elements) return elements;
    is_whole = false;
    InFlightDiagnostic error = place->emitOpError("has the constant '") << value.getRawHandle().getKey() << "', ";
    if (blob) {
      error << "whose " << blob->getData().size() << " bytes are not those of " << type << ".";
    } else {
      error << "which does not stand behind the program.";
    }
    return std::nullopt;
  });
  module.walk([&](Operation* op) {
    if (isa<util::BufferConstantOp>(op)) return;  // It wants bytes.
    place = op;
    replacer.replaceElementsIn(op);
  });
  return success(is_whole);
}

}  // namespace baton::compiler_lite::lower
