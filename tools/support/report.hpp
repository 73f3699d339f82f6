// How a tool ends: one sentence on standard error and exit code 1, or 0 when everything it had to say was written.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace baton::tools {

// Stands before every sentence of this process: "baton-as: NOT_FOUND; ...".
void set_program_name(std::string_view name);

// Where `path` is standard input and a person sits at the terminal, tells what the tool waits for; where it is standard
// output, prints no binary there.
void tell_what_is_awaited(std::string_view path, std::string_view what);
Status refuse_binary_on_terminal(std::string_view path, std::string_view noun = "a module file",
                                 std::string_view name = "program.bvm");

// The exit code for `status`. Flushes standard output first: what a full disk or a closed pipe swallowed is a failure
// too.
int report(const Status& status);

// Keeps the first failure of something that no call waits for, until report() returns it.
void report_later(Status status);

// Writes to standard output; report() tells whether it arrived.
void print(std::string_view text);

// Coloured when standard output is a terminal, and NO_COLOR is not set.
enum class Colour { kRed, kGreen };
std::string in_colour(std::string_view text, Colour colour);

}  // namespace baton::tools
