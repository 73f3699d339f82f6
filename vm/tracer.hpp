// Tracer: hears of every instruction before it runs, once an invocation has one (Invocation::set_tracer).
#pragma once

#include <cstdint>

#include "vm/program.hpp"

namespace baton::vm {

class Tracer {
 public:
  virtual ~Tracer() = default;
  // `pc`: word offset in the function's code.
  virtual void instruction(const LinkedModule& module, const Function& function, uint32_t pc) = 0;
};

}  // namespace baton::vm
