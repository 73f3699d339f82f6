// A row of a module's table of executables, read in place: variants of device code, and the entry points that they all
// have. Verified: indices are in range, names differ, what stands once for each entry point stands so often.
// Threads: immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "bytecode/executable_row.hpp"
#include "bytecode/module_view.hpp"

namespace baton::bytecode {

namespace format {
struct ExecutableRow;  // generated from module.fbs
struct EntryPointRow;
struct VariantRow;
}  // namespace format

struct LaunchAttributeView {
  std::string_view name;
  int64_t value;
};

class EntryPointView {
 public:
  explicit EntryPointView(const format::EntryPointRow* row) : row_(row) {}

  std::string_view name() const;
  bool knows_layout() const;
  uint32_t constants() const;  // 0 when the layout is not known
  uint32_t binding_count() const;
  uint8_t binding(uint32_t index) const;  // 1 reads, 2 writes, 3 both, 0 not said
  std::optional<LaunchRow> launch() const;
  uint32_t attribute_count() const;
  LaunchAttributeView attribute(uint32_t index) const;

 private:
  const format::EntryPointRow* row_;
};

class VariantView {
 public:
  explicit VariantView(const format::VariantRow* row) : row_(row) {}

  std::string_view format() const;
  std::string_view target() const;  // may be empty
  uint32_t rodata() const;
  uint32_t condition() const;  // a function, or kNoIndex
  uint32_t constants() const;
  bool has_launches() const;
  LaunchRow launch(uint32_t entry_point) const;

 private:
  const format::VariantRow* row_;
};

class ExecutableView {
 public:
  explicit ExecutableView(const format::ExecutableRow* row) : row_(row) {}

  std::string_view name() const;
  std::string_view registered_name() const;  // empty when there are variants
  uint32_t entry_point_count() const;
  EntryPointView entry_point(uint32_t index) const;
  uint32_t variant_count() const;
  VariantView variant(uint32_t index) const;

  // How an entry point is launched when the device has taken this variant (kNoIndex: code of the host): what the
  // variant says, else what the entry point says, else nothing.
  std::optional<LaunchRow> launch_of(uint32_t entry_point, uint32_t variant) const;

 private:
  const format::ExecutableRow* row_;
};

}  // namespace baton::bytecode
