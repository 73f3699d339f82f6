// A read-only window over verified bytes. Only the verifier makes one, so everything it returns is well formed:
// indices are in range, strings are terminated, code runs safely. It owns nothing; ModuleBytes does (module_bytes.hpp).
// Threads: immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bytecode/signature.hpp"

namespace baton::bytecode {

namespace format {
struct Module;  // generated from module.fbs
}

class ExecutableView;  // executable_view.hpp

inline constexpr uint32_t kFormatVersion = 1;
// Bits of required_features.
inline constexpr uint64_t kFeatureExecutables = 1;
inline constexpr uint32_t kNoIndex = 0xffffffffu;
inline constexpr size_t kRodataAlignment = 64;

struct FunctionView {
  std::span<const uint64_t> code;
  std::string_view signature;
  uint32_t signature_index;
  uint32_t code_begin;  // word index of code[0] in the module's code: what pc counts from
  uint16_t value_registers;
  uint16_t ref_registers;
};

struct ImportView {
  std::string_view name;
  std::string_view signature;
  uint32_t minimum_version;
  bool optional;
  uint32_t fallback;  // or kNoIndex

  std::string_view module_name() const { return name.substr(0, name.find('.')); }
  std::string_view function_name() const { return name.substr(name.find('.') + 1); }
};

struct ExportView {
  std::string_view name;
  uint32_t function;
};

struct GlobalView {
  ValueType type;
  bool is_mutable;
  uint64_t initial;
  std::string_view ref_type;
};

struct AttributeView {
  uint32_t function;  // or kNoIndex: of the module
  std::string_view key;
  std::string_view value;
};

struct SourceLocation {
  std::string_view file;
  uint32_t line;
  uint32_t column;
};

struct LocationRowView {
  uint32_t pc;
  SourceLocation source;
};

class ModuleView {
 public:
  std::string_view name() const;
  uint32_t version() const;
  uint32_t isa_version() const;
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const uint64_t> code() const;

  uint32_t function_count() const;
  FunctionView function(uint32_t index) const;
  uint32_t import_count() const;
  ImportView import(uint32_t index) const;
  uint32_t export_count() const;
  ExportView export_at(uint32_t index) const;
  std::optional<uint32_t> find_export(std::string_view name) const;  // index of the export
  uint32_t global_count() const;
  GlobalView global(uint32_t index) const;
  uint32_t rodata_count() const;
  std::span<const std::byte> rodata(uint32_t index) const;
  uint32_t type_count() const;
  std::string_view type(uint32_t index) const;
  uint32_t signature_count() const;
  std::string_view signature(uint32_t index) const;
  uint32_t attribute_count() const;
  AttributeView attribute(uint32_t index) const;
  uint32_t initializer() const;  // or kNoIndex
  uint32_t executable_count() const;
  ExecutableView executable(uint32_t index) const;
  // How many words, at most, run one after the other before a call or a taken branch: what bounds how often a running
  // program can be stopped. Long lists and frames count as the words that take as long.
  uint64_t longest_stretch() const { return longest_stretch_; }
  // What the gate took to follow the registers, in steps of some nanoseconds: in proportion to the code
  // (verify_definitions.cpp).
  uint64_t verifier_steps() const { return steps_; }

  // The debug table; empty answers when it was stripped.
  bool has_debug() const;
  std::string_view function_name(uint32_t index) const;
  std::string_view global_name(uint32_t index) const;
  std::string_view rodata_name(uint32_t index) const;
  uint32_t location_count() const;
  LocationRowView location_row(uint32_t index) const;
  // `pc` is a word index in the module's code. A row holds until the next one, or until its function ends.
  std::optional<SourceLocation> location(uint32_t pc) const;

 private:
  friend class ModuleVerifier;
  ModuleView(std::span<const std::byte> bytes, const format::Module* module) : bytes_(bytes), module_(module) {}

  std::span<const std::byte> bytes_;
  const format::Module* module_;
  uint64_t longest_stretch_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace baton::bytecode
