#include "compiler-lite/emit/constants.hpp"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace baton::compiler_lite::emit {

using namespace mlir;  // NOLINT: this file is about MLIR's attributes.

namespace {

void append(std::vector<char>& bytes, const APInt& bits) {
  const unsigned size = (bits.getBitWidth() + 7) / 8;
  for (unsigned i = 0; i < size; ++i) {
    const unsigned left = std::min(8u, bits.getBitWidth() - 8 * i);
    bytes.push_back(static_cast<char>(bits.extractBitsAsZExtValue(left, 8 * i)));
  }
}

}  // namespace

std::optional<Source> constant_source(Attribute value) {
  if (const auto integer = dyn_cast<IntegerAttr>(value)) {
    const APInt bits = integer.getValue();
    if (integer.getType().isIndex()) return Source{Source::Kind::kI64, static_cast<uint64_t>(bits.getSExtValue())};
    if (bits.getBitWidth() == 64) return Source{Source::Kind::kI64, bits.getZExtValue()};
    if (bits.getBitWidth() <= 32) return Source{Source::Kind::kI32, bits.getZExtValue()};
    return std::nullopt;
  }
  if (const auto floating = dyn_cast<FloatAttr>(value)) {
    const APInt bits = floating.getValue().bitcastToAPInt();
    if (floating.getType().isF32()) return Source{Source::Kind::kF32, bits.getZExtValue()};
    if (floating.getType().isF64()) return Source{Source::Kind::kF64, bits.getZExtValue()};
    if (bits.getBitWidth() <= 16) return Source{Source::Kind::kI32, bits.getZExtValue()};
  }
  return std::nullopt;
}

std::vector<char> bytes_of(Attribute value) {
  std::vector<char> bytes;
  if (const auto text = dyn_cast<StringAttr>(value)) {
    bytes.assign(text.getValue().begin(), text.getValue().end());
    return bytes;
  }
  if (const auto raw = dyn_cast<DenseResourceElementsAttr>(value)) {
    if (const AsmResourceBlob* blob = raw.getRawHandle().getBlob())
      bytes.assign(blob->getData().begin(), blob->getData().end());
    return bytes;
  }
  const auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense) return bytes;
  if (isa<FloatType>(dense.getElementType())) {
    for (const APFloat& element : dense.getValues<APFloat>()) append(bytes, element.bitcastToAPInt());
  } else if (dense.getElementType().isIntOrIndex()) {
    for (const APInt& element : dense.getValues<APInt>()) append(bytes, element);
  } else {
    bytes.assign(dense.getRawData().begin(), dense.getRawData().end());
  }
  return bytes;
}

}  // namespace baton::compiler_lite::emit
