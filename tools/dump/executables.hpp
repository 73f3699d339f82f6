// The device code in a module: its table of executables, with names and bytes in place of indices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bytecode/executable_view.hpp"
#include "bytecode/module_view.hpp"
#include "hal/executable.hpp"

namespace baton::tools::dump {

struct Variant {
  std::string_view format;  // "embedded-elf-x86_64"
  std::span<const std::byte> code;
  uint32_t rodata = 0;                         // Which segment `code` is.
  std::string_view target = {};                // What it was compiled for; may be empty.
  std::string_view condition = {};             // The function that says where it counts; empty: everywhere.
  uint32_t constants = 0;                      // How many words its code gets when it is loaded.
  bool has_own_launches = false;               // `launches` are not those of the executable.
  std::vector<hal::EntryPoint> launches = {};  // How its entry points are launched; empty: the code says it.
};

struct Executable {
  std::string_view name;
  uint32_t pc;  // The first instruction that names it, or kNoIndex.
  std::vector<Variant> variants;
  std::vector<bytecode::EntryPointView> entry_points;
  std::string_view registered_as;         // The host brings the code under this name; empty: there are variants.
  std::vector<hal::EntryPoint> launches;  // As in a variant that says nothing itself.
};

std::vector<Executable> list_executables(const bytecode::ModuleView& module);

// Whether functions also make executables by the imports that programs had before there was the table
// (hal.executable.create and its like). Nothing says which.
bool makes_unlisted_executables(const bytecode::ModuleView& module);

// "1 constant, bindings read, write", or nothing where only the code knows.
std::string describe_layout(const bytecode::EntryPointView& entry);

// "1 constant, 2 bindings, 64 x 1 x 1 threads, cooperative": without the name.
std::string describe_launch(const hal::EntryPoint& entry);

// What the first bytes of device code say: "elf", "so", "sos", "cubin", "fatbin", "ptx", "spv", "bc", else "bin": how a
// file of it ends.
std::string_view code_suffix(const Variant& variant);

}  // namespace baton::tools::dump
