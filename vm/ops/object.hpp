// References, globals, constants and the other instructions that look at module state: one function per mnemonic.
//
// A result is written through the first parameter; a reference result is owned. References that come in are borrowed.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "vm/blob.hpp"
#include "vm/executable_row.hpp"
#include "vm/program.hpp"
#include "vm/trap.hpp"

namespace baton::vm::ops {

// A global that holds a reference, and what it may hold (null: anything).
struct GlobalReference {
  Object*& slot;
  const ObjectType* type;
};

inline TrapKind global_get(uint64_t& out, const Value& global) {
  // Another thread may be writing it: not half of one number and half of another.
  out = std::atomic_ref(const_cast<uint64_t&>(global.bits)).load(std::memory_order_relaxed);
  return TrapKind::kNone;
}

inline TrapKind global_set(uint64_t value, Value& global) {
  std::atomic_ref(global.bits).store(value, std::memory_order_relaxed);
  return TrapKind::kNone;
}

inline TrapKind global_get_ref(Object*& out, GlobalReference global) {
  out = global.slot;
  retain_object(out);
  return TrapKind::kNone;
}

inline TrapKind global_set_ref(Object* reference, GlobalReference global) {
  if (reference && global.type && reference->type != global.type) [[unlikely]]
    return TrapKind::kWrongType;
  retain_object(reference);
  release_object(std::exchange(global.slot, reference));
  return TrapKind::kNone;
}

inline TrapKind rodata(Object*& out, Blob* segment) {
  segment->retain();
  out = segment;
  return TrapKind::kNone;
}

inline TrapKind executable(Object*& out, ExecutableRow* row) {
  row->retain();
  out = row;
  return TrapKind::kNone;
}

inline TrapKind import_resolved(int32_t& out, const ImportSlot& import) {
  out = import.resolved ? 1 : 0;
  return TrapKind::kNone;
}

inline TrapKind assert_true(int32_t condition, const Blob* /*message*/) {
  return condition != 0 ? TrapKind::kNone : TrapKind::kAssert;
}

inline TrapKind null_ref(Object*& out) {
  out = nullptr;
  return TrapKind::kNone;
}

inline TrapKind copy_ref(Object*& out, Object* reference) {
  retain_object(reference);
  out = reference;
  return TrapKind::kNone;
}

inline TrapKind move_ref(Object*& out, Object*& reference) {
  out = std::exchange(reference, nullptr);
  return TrapKind::kNone;
}

inline TrapKind select_ref(Object*& out, int32_t condition, Object* lhs, Object* rhs) {
  return copy_ref(out, condition != 0 ? lhs : rhs);
}

inline TrapKind ref_is_null(int32_t& out, Object* reference) {
  out = reference == nullptr;
  return TrapKind::kNone;
}

inline TrapKind eq_ref(int32_t& out, Object* lhs, Object* rhs) {
  out = lhs == rhs;
  return TrapKind::kNone;
}

inline TrapKind type_ref(int32_t& out, Object* reference, const ObjectType* type) {
  out = reference && (!type || reference->type == type);
  return TrapKind::kNone;
}

inline TrapKind cast_ref(Object* reference, const ObjectType* type) {
  return !reference || !type || reference->type == type ? TrapKind::kNone : TrapKind::kWrongType;
}

}  // namespace baton::vm::ops
