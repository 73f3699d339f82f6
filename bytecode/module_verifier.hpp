// The verifier's first half: container and tables. What it proves and computes on the way, the second half
// (verify_code.hpp) stands on. Private to this room.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bytecode/flatbuffer_text.hpp"
#include "bytecode/module_view.hpp"
#include "bytecode/scratch.hpp"
#include "bytecode/signature.hpp"
#include "bytecode/verifier_messages.hpp"
#include "module_generated.h"

namespace baton::bytecode {

// What the tables say, checked, in the form that checking code wants.
struct ModuleFacts {
  std::span<const uint64_t> code;
  std::span<SignatureShape> signatures;
  std::vector<SegmentShape> segments;    // of all variadic signatures, one after the other
  std::vector<uint32_t> segments_begin;  // by signature, into `segments`; empty when no signature is variadic
  uint32_t function_count = 0;
  uint32_t import_count = 0;
  uint32_t global_count = 0;
  uint32_t rodata_count = 0;
  uint32_t type_count = 0;
  uint32_t executable_count = 0;
};

inline bool has_nul(std::string_view name) { return name.find('\0') != name.npos; }

inline Status check_name(std::string_view name, const char* kind, uint32_t index) {
  if (name.empty()) return refuse(Message::kNameEmpty, text(kind, " ", index));
  if (has_nul(name)) return refuse(Message::kNameHasNul, text(kind, " ", index));
  return Status();
}

class ModuleVerifier {
 public:
  explicit ModuleVerifier(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<ModuleView> verify();

 private:
  // verifier.cpp
  Status check_container();
  Status check_versions() const;

  // verify_tables.cpp; in this order, each may rely on those before it.
  Status check_tables();
  Status check_text_size() const;
  Status check_types() const;
  Status check_signatures();
  Status check_functions() const;
  Status check_frame(uint32_t index, const format::FunctionRow& row) const;
  Status check_imports() const;
  Status check_fallback(uint32_t index, const format::ImportRow& row) const;
  Status check_exports() const;
  Status check_globals() const;
  Status check_rodata() const;
  Status check_attributes() const;
  Status check_initializer() const;
  Status check_debug() const;
  Status check_locations(const format::DebugTable& debug) const;
  void note_segments();

  // verify_executables.cpp
  bool requires_executables() const { return (module_->required_features() & kFeatureExecutables) != 0; }
  Status check_executables() const;
  Status check_entry_points(uint32_t index, const format::ExecutableRow& row) const;
  Status check_entry_point(uint32_t index, uint32_t entry_point, const format::EntryPointRow& row) const;
  Status check_variant(uint32_t index, uint32_t variant, const format::VariantRow& row, uint32_t entry_points) const;
  Status check_condition(uint32_t index, uint32_t variant, uint32_t function) const;
  uint64_t executables_text_size() const;  // of their names, and of what stands once for each entry point

  ModuleView view() const { return ModuleView(bytes_, module_); }

  std::span<const std::byte> bytes_;
  const format::Module* module_ = nullptr;
  uint64_t table_size_bytes_ = 0;  // of the flatbuffer with its size prefix; rodata begins behind it
  ModuleFacts facts_;
  Scratch<SignatureShape, 8> shapes_;  // what facts_.signatures points to
};

}  // namespace baton::bytecode
