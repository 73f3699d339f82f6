// PtxFile: the text of PTX as statements of the module, so that several texts can become one.
//
// Only what stands outside of braces is understood: names, linkage, parameters. Bodies are text with names in it.
// Debug information (.file, .loc, sections) is left out: its numbers mean nothing in another text.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen::cuda {

enum class PtxLinkage { kInternal, kVisible, kWeak, kExtern };

struct PtxStatement {
  enum class Kind { kFunction, kKernel, kVariable };
  Kind kind;
  PtxLinkage linkage;
  bool has_body;  // Of a function: code, and not only its type.
  std::string name;
  std::string head;     // Without linkage: ".func (.param .b32 r) f(.param .b64 p)"; a variable whole, without its ';'.
  std::string body;     // With its braces.
  std::string results;  // "(.b32)" and "(.b64, .b32)": what callers and functions must agree about.
  std::string parameters;
};

struct PtxFile {
  std::string version;  // "8.4"
  std::string target;   // "sm_80"
  std::vector<PtxStatement> statements;

  // Empty, or what is wrong with `text`: "is cut off in a statement".
  std::string read(llvm::StringRef text);
};

// Whether `text` begins as PTX does.
bool is_ptx(llvm::StringRef text);

// Calls `visit` with each name in PTX, and copies the text with what `visit` gives in its place. What has a dot behind it
// is an instruction.
template <typename Visit>
std::string replace_ptx_names(llvm::StringRef text, Visit visit) {
  const auto begins = [](char c) { return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%' || c == '.'; };
  const auto goes_on = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; };
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text[i] == '"') {
      end = std::min(text.size(), text.find('"', i + 1) + 1);
      if (end == 0) end = text.size();
    } else if (begins(text[i]) || llvm::isDigit(text[i])) {
      while (end < text.size() && goes_on(text[end])) ++end;
      const bool is_instruction = end < text.size() && text[end] == '.';
      const bool is_name = text[i] != '.' && text[i] != '%' && !llvm::isDigit(text[i]) && !is_instruction;
      if (is_name) {
        result += visit(text.slice(i, end));
        i = end;
        continue;
      }
    }
    result += text.slice(i, end);
    i = end;
  }
  return result;
}

}  // namespace baton::compiler_lite::codegen::cuda
