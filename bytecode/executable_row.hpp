// An executable as writers of module files give it to ModuleBuilder::add_executable (module.fbs, ExecutableRow): the
// compiler, the assembler, and whatever else brings device code into a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/module_view.hpp"

namespace baton::bytecode {

struct LaunchRow {
  uint32_t workgroup_size[3] = {1, 1, 1};
  uint32_t local_memory_bytes = 0;

  bool operator==(const LaunchRow&) const = default;
};

struct LaunchAttributeRow {
  std::string name;
  int64_t value = 0;
};

struct EntryPointRow {
  std::string name;
  uint32_t constants = kNoIndex;       // kNoIndex: only the code knows constants and bindings.
  std::vector<uint8_t> bindings = {};  // 1 reads, 2 writes, 3 both, 0 not said.
  std::optional<LaunchRow> launch = {};
  std::vector<LaunchAttributeRow> attributes = {};
};

struct VariantRow {
  std::string format;
  uint32_t rodata = 0;
  std::string target = {};
  uint32_t condition = kNoIndex;  // A function, or always.
  uint32_t constants = 0;
  std::vector<LaunchRow> launches = {};  // One for each entry point, or none.
};

struct ExecutableRow {
  std::string name;
  std::string registered_name = {};  // The host brings the code; then there are no variants.
  std::vector<EntryPointRow> entry_points = {};
  std::vector<VariantRow> variants = {};
};

}  // namespace baton::bytecode
