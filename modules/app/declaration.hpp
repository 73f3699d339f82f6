// A function's declaration, as its author wrote it (attribute abi.declaration), read back: the types of its parameters and
// results, for checks and messages.
//
//   "sync func @step(%x: tensor<?x4xf32>, %n: i32) -> (%y: tensor<?x4xf32>)"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vm/program.hpp"

namespace baton::app {

struct Declaration {
  std::string text;  // As it stands there; without one, what the signature says.
  bool known = false;
  std::vector<std::string> arguments;  // "tensor<?x4xf32>", "i32"; empty where it is not known.
  std::vector<std::string> results;
  bool takes_fences = false;  // The last two parameters are one to wait for and one to signal.
};

Declaration declaration_of(const vm::Program& program, const vm::ExportedFunction& function);
// The same of a module that no program links yet; without bytecode nothing is declared.
Declaration declaration_of(const vm::Module& module, uint32_t export_index);

// "func @f(%x: tensor<f32>, i32) -> tensor<f32>" to its types; a text that is none gives nothing.
Declaration parse_declaration(std::string_view text);

// "f32" of "tensor<?x4xf32>"; empty for other types.
std::string_view element_of(std::string_view type);
// Whether a tensor "2x4xf32" is one of "tensor<?x4xf32>".
bool fits(std::string_view type, const std::vector<int64_t>& shape);

}  // namespace baton::app
