// BytecodeModule: verified bytes, ready to be linked. Everything that does not depend on other modules or on a context
// is worked out here, once: where each function's code is, how large its frame is, an object for each rodata
// segment and each executable.
// Threads: immutable.
#pragma once

#include <memory>
#include <string>

#include "base/call_place.hpp"
#include "bytecode/module_bytes.hpp"
#include "bytecode/module_view.hpp"
#include "vm/blob.hpp"
#include "vm/executable_row.hpp"
#include "vm/module.hpp"

namespace baton::vm {

// What a call needs of a function, in 32 bytes.
struct Function {
  const uint64_t* code;
  uint32_t index;  // in its module
  uint16_t value_registers;
  uint16_t ref_registers;
  bytecode::SignatureShape shape;
};

class BytecodeModule final : public Module {
 public:
  // Verifies; keeps the bytes.
  static Result<Ref<BytecodeModule>> load(bytecode::ModuleBytes bytes);
  static Result<Ref<BytecodeModule>> load_file(const std::string& path);

  std::string_view name() const override { return view_.name(); }
  uint32_t version() const override { return view_.version(); }
  uint32_t export_count() const override { return view_.export_count(); }
  Export export_at(uint32_t index) const override;
  std::optional<uint32_t> find_export(std::string_view name) const override { return view_.find_export(name); }
  const BytecodeModule* as_bytecode() const override { return this; }

  const bytecode::ModuleView& view() const { return view_; }
  std::span<const Function> functions() const { return {functions_.get(), view_.function_count()}; }
  Blob* rodata(uint32_t index) const { return rodata_ + index; }
  ExecutableRow* executable(uint32_t index) const { return executables_ + index; }
  // Where `pc` is, which points into the code.
  CallPlace place(const uint64_t* pc) const;

 private:
  // The bytes, and the objects over them. A host may hold an object for longer than the module: the last of them frees
  // this.
  struct Storage;
  struct Places : CallPlace::Module {
    const BytecodeModule* module;
  };

  BytecodeModule(bytecode::ModuleBytes bytes, const bytecode::ModuleView& view);
  ~BytecodeModule() override;
  CallPlace::Named name_place(uint32_t word) const;

  bytecode::ModuleView view_;
  std::unique_ptr<Function[]> functions_;
  Storage* storage_;
  Blob* rodata_;                // inside storage_
  ExecutableRow* executables_;  // behind them
  Places places_;
};

}  // namespace baton::vm
