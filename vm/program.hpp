// Program: modules linked once. Imports are resolved, types are found, sizes are known; nothing in it changes any more,
// so contexts on any number of threads share it.
//
// Linking resolves everything at once and reports all failures together. An import "custom.print" is looked for in the
// module "custom" among the modules given before the importer, last one first.
// Threads: immutable.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/allocator.hpp"
#include "base/ref.hpp"
#include "base/result.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/list.hpp"
#include "vm/module.hpp"

namespace baton::vm {

// Where a call.import goes.
struct ImportSlot {
  NativeFunction native;   // body is null for bytecode targets and for missing optional imports
  const Function* callee;  // bytecode target, or the importer's fallback; null otherwise
  uint32_t module;         // whose state the target runs with: index in the program
  bool resolved;           // false: a missing optional import (its fallback may still be called)
  bool borrows;            // native and leaves its arguments alone: lent ones need no counting
  bytecode::SignatureShape shape;
  const bytecode::SegmentShape* segments;  // shape.segments of them
};

// References that a call through the slot passes, with the elements of its variadic segments (null without).
inline size_t argument_refs(const ImportSlot& slot, const uint16_t* segments) {
  size_t count = slot.shape.argument_refs;
  for (size_t i = 0; i < slot.shape.segments; ++i) count += size_t{slot.segments[i].refs} * segments[i];
  return count;
}

struct LinkedModule {
  Ref<const Module> module;
  const BytecodeModule* bytecode;  // null for native modules
  const Function* functions;
  const ImportSlot* imports;
  const ObjectType* const* types;         // by the module's type table; null: any type
  const ObjectType* const* global_types;  // by global, for those that hold references; null: any type
  uint32_t globals_begin;                 // slot of its first global in a context
  uint32_t global_count;
};

// An export found by name: what a host calls. Valid as long as the program.
struct ExportedFunction {
  uint32_t module = 0;
  uint32_t export_index = 0;
  const Function* body = nullptr;  // bytecode; null when native
  NativeFunction native;
  std::string_view name;
  std::string_view signature;
  bytecode::SignatureShape shape;
};

class Program {
 public:
  static Result<Ref<Program>> link(std::span<const Ref<const Module>> modules);

  std::span<const LinkedModule> modules() const { return modules_; }

  // "function", in the last module that exports it, or "module.function".
  Result<ExportedFunction> find_function(std::string_view name) const;
  ExportedFunction exported_function(uint32_t module, uint32_t export_index) const;

  uint32_t globals_size() const { return globals_size_; }
  // Why two threads may not call functions of one context at once; null: they may (shared_references.hpp).
  const std::string* changes_shared() const { return changes_shared_.get(); }
  uint64_t longest_stretch() const { return longest_stretch_; }  // of all modules: ModuleView::longest_stretch()

  void retain() const { count_.up(); }
  void release() const {
    if (count_.down()) destroy();
  }

 private:
  friend class Linker;
  Program() = default;
  void destroy() const;

  std::span<const LinkedModule> modules_;  // behind this object, in its allocation, with all that they point to
  uint32_t globals_size_ = 0;              // slots, of all modules together
  uint64_t longest_stretch_ = 0;
  std::unique_ptr<const std::string> changes_shared_;
  mutable ReferenceCount count_;
};

}  // namespace baton::vm
