// Module: a unit that exports functions and may import some. Bytecode modules and native ones
// (modules/native_module.hpp).
// Threads: immutable once made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/allocator.hpp"
#include "base/ref.hpp"
#include "base/result.hpp"
#include "vm/object.hpp"
#include "vm/value.hpp"

namespace baton::vm {

class BytecodeModule;

// One call of a native function: baton_call of modules/sdk/module.h, byte for byte. `values` and `refs` point into the
// caller's registers; see there for who owns what.
struct NativeCall {
  void* state;
  void* data;
  Value* values;
  Object** refs;
  const uint16_t* segments;
  Object* pending;
  Object* resumed;
};
using NativeBody = Status::Failure* (*)(NativeCall* call);

struct NativeFunction {
  NativeBody body = nullptr;
  void* data = nullptr;
  // It takes none of its reference arguments out of their slots (BATON_TRAIT_LEAVES_ARGUMENTS): a call may lend them
  // without counting.
  bool leaves_arguments = false;
};

class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  void retain() const { count_.up(); }
  void release() const {
    if (count_.down()) delete this;
  }

  virtual std::string_view name() const = 0;
  virtual uint32_t version() const = 0;

  struct Export {
    std::string_view name;
    std::string_view signature;
    std::string_view hint = {};  // What to do when an importer has it for another type.
  };
  virtual uint32_t export_count() const = 0;
  virtual Export export_at(uint32_t index) const = 0;
  virtual std::optional<uint32_t> find_export(std::string_view name) const = 0;

  // The reference types that it provides to the others of its program.
  virtual std::span<const ObjectType* const> types() const { return {}; }

  // What stands behind an export: bytecode when as_bytecode() is not null, else native_function().
  virtual const BytecodeModule* as_bytecode() const { return nullptr; }
  virtual NativeFunction native_function(uint32_t /*export_index*/) const { return {}; }

  // State of a native module for one context.
  virtual Result<void*> make_state(const Allocator& /*allocator*/) const { return static_cast<void*>(nullptr); }
  virtual void destroy_state(void* /*state*/) const {}

 private:
  mutable ReferenceCount count_;
};

}  // namespace baton::vm
