// nesting: how deep a program's text is nested, before anybody goes down into it.
//
// MLIR's parser, its verifier and its rewrites call themselves for what stands inside of brackets, so a text of nothing
// but brackets would end the stack and with it the process. This looks at each character once.
#pragma once

#include <string>
#include <string_view>

namespace baton::compiler_lite {

// Deeper than people and frontends write (a traceback of a hundred calls is a location of a hundred levels), and far
// from the end of a stack of 8 MiB.
inline constexpr int kNestingMax = 1000;

// Empty, or what is wrong, with file, line and column as in other diagnostics.
std::string check_nesting(std::string_view text, std::string_view name);

}  // namespace baton::compiler_lite
