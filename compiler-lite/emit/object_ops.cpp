#include "compiler-lite/emit/object_ops.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/emit/types.hpp"
#include "llvm/ADT/TypeSwitch.h"

namespace baton::compiler_lite::emit {

using bytecode::Opcode;
using bytecode::ValueType;
using namespace mlir;  // NOLINT: this file reads MLIR.

namespace {

using Found = std::optional<ObjectInstruction>;

struct ByType {
  Opcode i32, i64, f32, f64, ref;
};
constexpr ByType kGet = {Opcode::list_get_i32, Opcode::list_get_i64, Opcode::list_get_f32, Opcode::list_get_f64,
                         Opcode::list_get_ref};
constexpr ByType kSet = {Opcode::list_set_i32, Opcode::list_set_i64, Opcode::list_set_f32, Opcode::list_set_f64,
                         Opcode::list_set_ref};

// lower/host_objects has made elements as wide as registers.
std::optional<Opcode> by_type(const ByType& row, Type type) {
  const std::optional<ValueType> held = value_type(type);
  if (!held) return std::nullopt;
  switch (*held) {
    case ValueType::kI32: return row.i32;
    case ValueType::kI64: return row.i64;
    case ValueType::kF32: return row.f32;
    case ValueType::kF64: return row.f64;
    case ValueType::kRef: return row.ref;
  }
  return std::nullopt;
}

// The width of what stands in bytes: 1, 2, 4, 8; 0 for what can't.
unsigned byte_width(Type type) {
  if (type.isIndex()) return 8;
  if (!type.isIntOrFloat()) return 0;
  const unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

Found load(util::BufferLoadOp op) {
  const unsigned width = byte_width(op.getResult().getType());
  if (width == 0) return std::nullopt;
  const Opcode opcode = width == 1   ? Opcode::blob_load_i8_u
                        : width == 2 ? Opcode::blob_load_i16_u
                        : width == 4 ? Opcode::blob_load_i32
                                     : Opcode::blob_load_i64;
  return ObjectInstruction{opcode, {op.getSource(), op.getSourceOffset()}};
}

Found store(util::BufferStoreOp op) {
  const unsigned width = byte_width(op.getSource().getType());
  if (width == 0) return std::nullopt;
  const Opcode opcode = width == 1   ? Opcode::blob_store_i8
                        : width == 2 ? Opcode::blob_store_i16
                        : width == 4 ? Opcode::blob_store_i32
                                     : Opcode::blob_store_i64;
  return ObjectInstruction{opcode, {op.getSource(), op.getTarget(), op.getTargetOffset()}};
}

// The pattern is an integer; lower/host_objects has seen to it.
Found fill(util::BufferFillOp op) {
  const unsigned width = byte_width(op.getPattern().getType());
  if (width == 0) return std::nullopt;
  const Opcode opcode = width == 1   ? Opcode::blob_fill_i8
                        : width == 2 ? Opcode::blob_fill_i16
                        : width == 4 ? Opcode::blob_fill_i32
                                     : Opcode::blob_fill_i64;
  return ObjectInstruction{opcode, {op.getTarget(), op.getTargetOffset(), op.getLength(), op.getPattern()}};
}

}  // namespace

Found object_instruction(Operation& op) {
  return llvm::TypeSwitch<Operation*, Found>(&op)
      .Case<util::ListCreateOp>([](auto each) -> Found {
        return ObjectInstruction{Opcode::list_alloc, {each.getInitialCapacity()}};
      })
      .Case<util::ListSizeOp>([](auto each) -> Found {
        return ObjectInstruction{Opcode::list_size, {each.getList()}};
      })
      .Case<util::ListResizeOp>([](auto each) -> Found {
        return ObjectInstruction{Opcode::list_resize, {each.getList(), each.getNewSize()}};
      })
      .Case<util::ListGetOp>([](auto each) -> Found {
        const std::optional<Opcode> opcode = by_type(kGet, each.getResult().getType());
        if (!opcode) return std::nullopt;
        return ObjectInstruction{*opcode, {each.getList(), each.getIndex()}};
      })
      .Case<util::ListSetOp>([](auto each) -> Found {
        const std::optional<Opcode> opcode = by_type(kSet, each.getValue().getType());
        if (!opcode) return std::nullopt;
        return ObjectInstruction{*opcode, {each.getList(), each.getIndex(), each.getValue()}};
      })
      .Case<util::BufferAllocOp>([](auto each) -> Found {
        return ObjectInstruction{Opcode::blob_alloc, {each.getStorageSize()}};
      })
      .Case<util::BufferSizeOp>([](auto each) -> Found {
        return ObjectInstruction{Opcode::blob_size, {each.getOperand()}};
      })
      .Case<util::BufferSliceOp>([](auto each) -> Found {
        return ObjectInstruction{Opcode::blob_clone, {each.getSource(), each.getSourceOffset(), each.getResultSize()}};
      })
      .Case<util::BufferCopyOp>([](auto each) -> Found {
        return ObjectInstruction{
            Opcode::blob_copy,
            {each.getSource(), each.getSourceOffset(), each.getTarget(), each.getTargetOffset(), each.getLength()}};
      })
      .Case<util::BufferCompareOp>([](auto each) -> Found {
        return ObjectInstruction{
            Opcode::blob_compare,
            {each.getLhs(), each.getLhsOffset(), each.getRhs(), each.getRhsOffset(), each.getLength()}};
      })
      .Case<util::BufferHashOp>([](auto each) -> Found {
        return ObjectInstruction{Opcode::blob_hash, {each.getSource(), each.getSourceOffset(), each.getLength()}};
      })
      .Case<util::BufferLoadOp>([](auto each) { return load(each); })
      .Case<util::BufferStoreOp>([](auto each) { return store(each); })
      .Case<util::BufferFillOp>([](auto each) { return fill(each); })
      .Default([](Operation*) -> Found { return std::nullopt; });
}

}  // namespace baton::compiler_lite::emit
