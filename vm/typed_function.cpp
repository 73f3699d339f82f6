#include "vm/typed_function.hpp"

#include "bytecode/signature.hpp"

namespace baton::vm {
namespace {

// Without the names of reference types: "r<hal.buffer>i_r" is "ri_r".
std::string without_type_names(std::string_view signature) {
  std::string result;
  bool inside = false;
  for (const char c : signature) {
    if (c == '<') inside = true;
    if (!inside) result += c;
    if (c == '>') inside = false;
  }
  return result;
}

}  // namespace

Status check_signature(const ExportedFunction& function, std::string_view expected) {
  if (function.signature == expected || without_type_names(function.signature) == expected) return {};
  auto known = bytecode::signature_shape(expected);
  if (!known) {
    return std::move(known).error().with_context(
        text("in the type '", expected, "' that function '", function.name, "' is taken for"));
  }
  return failure(StatusCode::kInvalidArgument, "function '", function.name, "' is ",
                 bytecode::describe_signature(function.signature), "; it was taken for ",
                 bytecode::describe_signature(expected));
}

}  // namespace baton::vm
