#include "compiler-lite/schedule/places.hpp"

#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
using llvm::SmallVector;
using mlir::Location;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

}  // namespace

Memory* Places::make_memory(std::string name, unsigned device) {
  memories_.push_back(std::make_unique<Memory>());
  memories_.back()->name = std::move(name);
  memories_.back()->device = device;
  return memories_.back().get();
}

Memory* Places::make_pending(Operation* op, Value bytes) {
  Memory* memory = make_memory(op->getName().stripDialect().str(), function_.number_of(op));
  memory->bytes = bytes;
  memory->owned = true;
  memory->pending = true;
  return memory;
}

void Places::place(Value tensor, Place place) {
  place.memory->tensors.push_back(tensor);
  places_[tensor] = std::move(place);
}

Place& Places::of(Value tensor) {
  const auto found = places_.find(tensor);
  if (found != places_.end()) return found->second;
  llvm::report_fatal_error("a tensor was used before it was scheduled");
}

Place Places::external(Location location, Value tensor, Value buffer, llvm::ArrayRef<Value> sizes) {
  Place placed{make_memory("external", function_.number_of(tensor)), {}, SmallVector<Value>(sizes)};
  placed.memory->buffer = buffer;
  placed.memory->bytes = bytes_of(location, tensor.getType(), sizes);
  return placed;
}

SmallVector<Value> Places::all_sizes(Location location, Value tensor) {
  const RankedTensorType type = type_of(tensor);
  const Place& placed = of(tensor);
  SmallVector<Value> sizes;
  unsigned next = 0;
  for (unsigned i = 0; i < type.getRank(); ++i) {
    sizes.push_back(type.isDynamicDim(i) ? placed.sizes[next++] : hal_.index(builder_, location, type.getDimSize(i)));
  }
  return sizes;
}

Value Places::bytes_of(Location location, mlir::Type type, mlir::ValueRange sizes) {
  const auto tensor = llvm::cast<RankedTensorType>(type);
  int64_t known = element_bytes(tensor.getElementType());
  for (const int64_t size : tensor.getShape()) known *= mlir::ShapedType::isDynamic(size) ? 1 : size;
  Value bytes = hal_.index(builder_, location, known);
  for (const Value size : sizes) bytes = builder_.createOrFold<arith::MulIOp>(location, bytes, size);
  return bytes;
}

Value Places::element_offset(Location location, Value tensor, mlir::ValueRange indices) {
  const SmallVector<Value> sizes = all_sizes(location, tensor);
  Value number = hal_.index(builder_, location, 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    number = builder_.createOrFold<arith::MulIOp>(location, number, sizes[i]);
    number = builder_.createOrFold<arith::AddIOp>(location, number, indices[i]);
  }
  const Value bytes = hal_.index(builder_, location, element_bytes(type_of(tensor).getElementType()));
  return builder_.createOrFold<arith::MulIOp>(location, number, bytes);
}

void Places::begin_block() {
  for (const std::unique_ptr<Memory>& memory : memories_) {
    memory->fence = {};
    if (!memory->tensors.empty() && ownership_.is_overwritten(memory->tensors.front())) memory->owned = true;
  }
}

bool Places::outlives_block(const Memory& memory) const {
  return used_later(memory) || (!memory.tensors.empty() && ownership_.is_overwritten(memory.tensors.front()));
}

bool Places::used_later(const Memory& memory) const {
  if (memory.handed_on) return true;
  return llvm::any_of(memory.tensors, [&](Value tensor) {
    return llvm::any_of(tensor.getUsers(), [&](Operation* user) { return !scheduled_.contains(user); });
  });
}

bool Places::may_overwrite(Operation* op, Value tensor) {
  const Memory& memory = *of(tensor).memory;
  if (!memory.owned || !memory.constant_global.empty()) return false;
  if (!function_.op.getBody().hasOneBlock()) return ownership_.may_overwrite(op, tensor);
  for (Value other : memory.tensors) {
    for (Operation* user : other.getUsers()) {
      if (user == op ? other != tensor : !scheduled_.contains(user)) return false;
    }
  }
  return llvm::count(op->getOperands(), tensor) == 1;
}

}  // namespace baton::compiler_lite::schedule
