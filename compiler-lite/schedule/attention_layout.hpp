// attention_layout: an attention as libraries know it: batches of heads, whose rows may share keys, by sizes and strides; a factor for all
// scores; and keys behind a row's own place that don't count, or all of them.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/attention.hpp"

namespace baton::compiler_lite::schedule {

struct AttentionLayout {
  // From an operand of the last operation up to Q, K and V: the number of an operand of each operation.
  using Path = llvm::SmallVector<int64_t>;
  Path paths[3] = {};
  std::vector<int64_t> numbers = {};  // In the order of modules/libraries/README.md.
  std::string elements = {};          // Of Q, K, V and the result.
  std::string sizes = {};             // For people.
  int64_t rows = 0, depth = 0, width = 0, work = 0;
};

// Or why a library knows none like it.
struct AttentionOrReason {
  std::optional<AttentionLayout> layout;
  const char* reason = "";
};
AttentionOrReason attention_layout(const codegen::Attention& attention);

}  // namespace baton::compiler_lite::schedule
