// run_in_child: work that may not survive what strangers made, in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen {

struct ChildOutput {
  llvm::StringRef problem;  // Why there is no text; empty where there is one.
  std::string text;         // What the child wrote until it ended, in whatever way.
};

// Calls `work` in a child with what it writes to, and waits for its end for `seconds` at most; then the child is stopped. How it ended is not told,
// since a process that ignores SIGCHLD does not know: work that came to its end says so with its last byte.
// The child of a process with threads may wait for a lock that one of them held: that is one more reason for an end.
ChildOutput run_in_child(uint64_t seconds, llvm::function_ref<void(int target)> work);

// In the child: all of `text`.
void write_all(int target, llvm::StringRef text);

}  // namespace baton::compiler_lite::codegen
