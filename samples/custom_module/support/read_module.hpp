// A bytecode module from a file, or from standard input when the path is "-".
#pragma once

#include <cstdio>
#include <string_view>
#include <vector>

#include "vm/bytecode_module.hpp"

inline baton::Result<baton::Ref<baton::vm::BytecodeModule>> read_module(std::string_view path) {
  using namespace baton;
  if (path != "-") return vm::BytecodeModule::load_file(std::string(path));
  std::vector<std::byte> bytes;
  for (int c; (c = std::getchar()) != EOF;) bytes.push_back(static_cast<std::byte>(c));
  return vm::BytecodeModule::load(bytecode::ModuleBytes::copy(bytes));
}
