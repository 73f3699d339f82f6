// Tracer: an invocation that has one calls it before every instruction (Invocation::set_tracer).
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
