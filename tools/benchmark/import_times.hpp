// Where the time of a call goes: a tracer that times each imported function while it runs. What a program records,
// submits and waits for are imports, so this is record, submit and wait apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vm/tracer.hpp"

namespace baton::tools {

// A line of a table of where time goes.
struct Share {
  std::string name;
  uint64_t count = 0;
  int64_t total_ns = 0;
};
// The largest first, over `calls` calls of a function; `what` is counted: "calls", "dispatches".
std::string describe_shares(std::vector<Share> shares, uint64_t calls, std::string_view what);

// "record", "submit", "wait" for imports of the module hal that do so, else "other". A command of a custom module
// records too.
std::string_view phase_of(std::string_view import, std::string_view signature);

class ImportTimes final : public vm::Tracer {
 public:
  void instruction(const vm::LinkedModule& module, const vm::Function& function, uint32_t pc) override;
  // The call that was traced is over.
  void end();

  // A table: import, calls, time in all, time a call, over `calls` calls of the function; and the same in phases:
  // recording, submitting, waiting, other imports.
  std::string describe(uint64_t calls) const;

 private:
  struct Import {
    uint64_t calls = 0;
    int64_t total_ns = 0;
    std::string_view phase;
  };

  std::map<std::string, Import, std::less<>> imports_;
  Import* running_ = nullptr;
  int64_t began_ns_ = 0;
};

}  // namespace baton::tools
