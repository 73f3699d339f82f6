// The device code in a module: which executables its functions make, of which variants, and which entry points they ask
// for. A module file has no table of them: they are what stands before calls of hal.executable.create, so they are read
// off the code. What a program chooses at run time, by branching or by computing, is not seen.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/module_view.hpp"
#include "hal/executable.hpp"

namespace baton::tools::dump {

struct Variant {
  std::string_view format;  // "embedded-elf-x86_64"
  std::span<const std::byte> code;
  uint32_t rodata;  // Which segment `code` is.
};

struct Executable {
  std::string name;  // After the global that keeps it; else "executable_0".
  uint32_t pc;       // Of the call that makes it.
  std::vector<Variant> variants;
  std::vector<std::string_view> entry_points;
  // The host brings the code under this name (hal.executable.lookup); then there are no variants.
  std::optional<std::string_view> registered_as;
  std::vector<hal::EntryPoint> launches;  // What the program says of entry points; empty: it leaves that to the code.
};

std::vector<Executable> find_executables(const bytecode::ModuleView& module);

// "1 constant, 2 bindings, 64 x 1 x 1 threads, cooperative": without the name.
std::string describe_launch(const hal::EntryPoint& entry);

// What the first bytes of device code say: "elf", "so", "sos", "cubin", "fatbin", "ptx", "spv", "bc", else "bin": how a
// file of it ends.
std::string_view code_suffix(const Variant& variant);

}  // namespace baton::tools::dump
