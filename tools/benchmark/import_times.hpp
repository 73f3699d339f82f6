// Where the time of a call goes: a tracer that times each imported function while it runs. What a program records,
// submits and waits for are imports, so this is record, submit and wait apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "vm/tracer.hpp"

namespace baton::tools {

class ImportTimes final : public vm::Tracer {
 public:
  void instruction(const vm::LinkedModule& module, const vm::Function& function, uint32_t pc) override;
  // The call that was traced is over.
  void end();

  // A table: import, calls, time in all, time a call, over `calls` calls of the function.
  std::string describe(uint64_t calls) const;

 private:
  struct Import {
    uint64_t calls = 0;
    int64_t total_ns = 0;
  };

  std::map<std::string, Import, std::less<>> imports_;
  Import* running_ = nullptr;
  int64_t began_ns_ = 0;
};

}  // namespace baton::tools
