#include "compiler-lite/schedule/constant_bytes.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite::schedule {
namespace {

constexpr int64_t kRodataAlignment = 64;

void append_bits(const llvm::APInt& bits, int64_t bytes, std::vector<char>& out) {
  for (int64_t i = 0; i < bytes; ++i) {
    const unsigned first = static_cast<unsigned>(i * 8);
    const unsigned count = std::min(8u, bits.getBitWidth() - first);
    out.push_back(static_cast<char>(bits.extractBitsAsZExtValue(count, first)));
  }
}

}  // namespace

std::vector<char> bytes_of(mlir::DenseElementsAttr elements) {
  std::vector<char> bytes;
  const mlir::Type type = elements.getElementType();
  const int64_t size = element_bytes(type);
  bytes.reserve(static_cast<size_t>(elements.getNumElements() * size));
  if (llvm::isa<mlir::ComplexType>(type)) {
    const llvm::ArrayRef<char> raw = elements.getRawData();
    for (int64_t i = 0; i < (elements.isSplat() ? elements.getNumElements() : 1); ++i) {
      bytes.insert(bytes.end(), raw.begin(), raw.end());
    }
    return bytes;
  }
  if (llvm::isa<mlir::FloatType>(type)) {
    for (const llvm::APFloat& value : elements.getValues<llvm::APFloat>()) {
      append_bits(value.bitcastToAPInt(), size, bytes);
    }
    return bytes;
  }
  for (const llvm::APInt& value : elements.getValues<llvm::APInt>()) append_bits(value, size, bytes);
  return bytes;
}

mlir::Value write_bytes(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<char> bytes) {
  const auto type = mlir::RankedTensorType::get({static_cast<int64_t>(bytes.size())}, builder.getI8Type());
  const auto value = mlir::DenseElementsAttr::getFromRawBuffer(type, bytes);
  return builder.create<util::BufferConstantOp>(location, util::BufferType::get(builder.getContext()),
                                                mlir::StringAttr(), value, builder.getIndexAttr(kRodataAlignment),
                                                mlir::StringAttr());
}

}  // namespace baton::compiler_lite::schedule
