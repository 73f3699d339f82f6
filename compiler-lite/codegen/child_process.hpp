// run_in_child: work that may not survive what strangers made, in a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen {

struct ChildOutput {
  llvm::StringRef problem;     // Why there is no text; empty where there is one.
  std::string text;            // What the child wrote until it ended, in whatever way.
  std::optional<bool> answer;  // What the work gave; nothing: it did not come to its end.
};

// Calls `work` in a child with what it writes to, and waits for its end for `seconds` at most; then the child is stopped. Its answer is the
// last byte that the child writes, since a process that ignores SIGCHLD does not know how another one ended.
// The child of a process with threads may wait for a lock that one of them held: that is one more reason for an end.
ChildOutput run_in_child(uint64_t seconds, llvm::function_ref<bool(int target)> work);

// Beyond what work on so many bytes takes: MLIR reads tens of megabytes in a second.
inline uint64_t seconds_max(size_t bytes) { return 120 + (bytes >> 20); }

// In the child: all of `text`.
void write_all(int target, llvm::StringRef text);

}  // namespace baton::compiler_lite::codegen
