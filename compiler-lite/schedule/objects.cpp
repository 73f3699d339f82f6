#include "compiler-lite/schedule/objects.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite {
namespace {

constexpr int64_t kRodataAlignment = 64;

void append_bits(const llvm::APInt& bits, int64_t bytes, std::vector<char>& out) {
  for (int64_t i = 0; i < bytes; ++i) {
    const unsigned first = static_cast<unsigned>(i * 8);
    const unsigned count = std::min(8u, bits.getBitWidth() - first);
    out.push_back(static_cast<char>(bits.extractBitsAsZExtValue(count, first)));
  }
}

std::string find_file(llvm::StringRef path, const std::vector<std::string>& search_paths) {
  if (llvm::sys::path::is_absolute(path) || llvm::sys::fs::exists(path)) return path.str();
  for (const std::string& folder : search_paths) {
    llvm::SmallString<128> candidate(folder);
    llvm::sys::path::append(candidate, path);
    if (llvm::sys::fs::exists(candidate)) return std::string(candidate.str());
  }
  return {};
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

mlir::FailureOr<std::vector<char>> read_object(hal::ExecutableObjectAttr object, mlir::Location location,
                                               const std::vector<std::string>& search_paths) {
  if (object.getData()) return bytes_of(object.getData());
  const std::string found = find_file(object.getPath().getValue(), search_paths);
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      found.empty() ? std::make_error_code(std::errc::no_such_file_or_directory)
                    : llvm::MemoryBuffer::getFile(found, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (file) return std::vector<char>((*file)->getBufferStart(), (*file)->getBufferEnd());
  mlir::InFlightDiagnostic error = mlir::emitError(location, "The object '");
  error << object.getPath().getValue() << "' can't be read (" << file.getError().message()
        << "); looked for in the working directory";
  for (const std::string& path : search_paths) error << ", '" << path << "'";
  return error << ".";
}

mlir::Value write_bytes(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<char> bytes) {
  const auto type = mlir::RankedTensorType::get({static_cast<int64_t>(bytes.size())}, builder.getI8Type());
  const auto value = mlir::DenseElementsAttr::getFromRawBuffer(type, bytes);
  return builder.create<util::BufferConstantOp>(location, util::BufferType::get(builder.getContext()),
                                                mlir::StringAttr(), value, builder.getIndexAttr(kRodataAlignment),
                                                mlir::StringAttr());
}

}  // namespace baton::compiler_lite
