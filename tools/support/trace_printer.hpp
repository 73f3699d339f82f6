// --trace_execution: each executed instruction on standard error, as "[module.function+12] add.i32 %v2, %v0, %v1".
#pragma once

#include "vm/tracer.hpp"

namespace baton::tools {

class TracePrinter final : public vm::Tracer {
 public:
  void instruction(const vm::LinkedModule& module, const vm::Function& function, uint32_t pc) override;
};

}  // namespace baton::tools
