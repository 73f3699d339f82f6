// binary_form: programs in MLIR's binary form ("bytecode" there), as text.
//
// MLIR's reader of it trusts offsets and numbers that it reads, so a damaged file ends its process. It therefore reads in
// a child of this one, which hands on text; what ends the child is a sentence here. The child has limits of time and of
// memory (a few bytes may say a text without an end), and what comes is believed only where the child's last byte says so.
#pragma once

#include <string>
#include <string_view>

namespace baton::compiler_lite {

bool is_binary_form(std::string_view source);

// The program's text, with the places that it names; or, where `ok` is false, what is wrong.
struct TextForm {
  bool ok = false;
  std::string text;
};
TextForm text_of_binary_form(std::string_view source, const std::string& name);

}  // namespace baton::compiler_lite
