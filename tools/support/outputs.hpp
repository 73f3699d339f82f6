// --output=: what becomes of each result of a call.
//
//   -                    printed
//   (empty)              dropped
//   @a.npy               an array of NumPy's, in a file of its own; +a.npy adds it to those that are there
//   @a.txt, +a.txt       as it prints, all elements of it, a line
//   @a.bin, +a.bin       the bare bytes, whatever else the file is called
//
// The '@' may be left out. Files appear whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/support/results.hpp"

namespace baton::tools {

class Outputs {
 public:
  // `targets` for the first results; what is left is printed unless `drop_rest`. INVALID_ARGUMENT when two results
  // would replace one file, or there are more targets than the function has results.
  static Result<Outputs> make(const std::vector<std::string>& targets, std::string_view function,
                              std::string_view signature, bool drop_rest = false);

  Status write(std::string_view signature, std::span<const vm::Value> results, const TensorValues* tensors) const;

 private:
  struct Target {
    enum class Kind { kPrint, kDrop, kReplace, kAppend };
    Kind kind = Kind::kPrint;
    std::string path;
  };
  static Target parse_target(std::string_view text);

  std::vector<Target> targets_;  // One for each result.
};

}  // namespace baton::tools
