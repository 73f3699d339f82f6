// KeptInstance: an instantiated graph that is not launched any more: it goes with the mark behind its last launch.
#pragma once

#include "hal/drivers/cuda/mark.hpp"
#include "hal/drivers/cuda/primary_context.hpp"

namespace baton::hal::drivers::cuda {

class KeptInstance final : public Kept {
 public:
  KeptInstance(Ref<PrimaryContext> context, CUgraphExec instance) : context_(std::move(context)), instance_(instance) {}
  ~KeptInstance() override {
    const ContextScope scope = context_->enter();
    context_->symbols().cuGraphExecDestroy(instance_);
  }

 private:
  Ref<PrimaryContext> context_;
  CUgraphExec instance_;
};

}  // namespace baton::hal::drivers::cuda
