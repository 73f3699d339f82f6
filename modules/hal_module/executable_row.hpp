// Rows of a program's table of executables, as `executable.load` gets them, and the requests to the HAL that are made
// of them.
#pragma once

#include <vector>

#include "hal/executable.hpp"
#include "modules/hal_module/objects.hpp"
#include "vm/executable_row.hpp"

namespace baton::modules {

// What the instruction `executable` makes, seen from this side of the door: the same object.
class ExecutableRow final : public baton_object {
 public:
  static constexpr char kTypeName[] = "executable";
  static const baton_object_type* object_type() {
    return reinterpret_cast<const baton_object_type*>(&vm::ExecutableRow::kType);
  }

  const vm::ExecutableRow& operator*() const { return *reinterpret_cast<const vm::ExecutableRow*>(this); }
};

// What a program says of the entry points in the code of a variant (kNoIndex: code that the host brings); empty where
// only the code says it.
Result<std::vector<hal::EntryPoint>> expected_of(const bytecode::ExecutableView& row, uint32_t variant);

// Loads the row's variants. `conditions`: one for each variant that has a condition, in order; `constants`: each
// variant's own, one after the other.
Result<Ref<hal::Executable>> load_row(hal::Device& device, ExecutableRow& row, std::span<const uint32_t> conditions,
                                      std::span<const uint32_t> constants);

}  // namespace baton::modules
