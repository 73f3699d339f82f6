#include "tools/support/fences.hpp"

#include <algorithm>

#include "modules/hal_module/objects.hpp"
#include "vm/stack.hpp"

namespace baton::tools {

bool takes_fences(const vm::Program& program, const vm::ExportedFunction& function) {
  const vm::BytecodeModule* module = program.modules()[function.module].bytecode;
  if (!module) return false;
  const bytecode::ModuleView& view = module->view();
  const uint32_t index = view.export_at(function.export_index).function;
  for (uint32_t i = 0; i < view.attribute_count(); ++i) {
    const bytecode::AttributeView attribute = view.attribute(i);
    if (attribute.function == index && attribute.key == "abi.model") return attribute.value == "coarse-fences";
  }
  return false;
}

Result<CallFences> CallFences::make(std::span<const Ref<hal::Device>> devices) {
  if (devices.empty()) {
    return failure(StatusCode::kInvalidArgument, "a function with fences needs a device, and no --device= was given");
  }
  BATON_TRY_ASSIGN(const Ref<hal::Semaphore> semaphore, devices[0]->make_semaphore(0));
  Ref<hal::Fence> fence = hal::Fence::at(*semaphore, 1);
  auto* signal = reinterpret_cast<vm::Object*>(modules::wrap(fence).detach());
  return CallFences(std::move(fence), signal);
}

CallFences::CallFences(CallFences&& other) noexcept
    : fence_(std::move(other.fence_)), signal_(std::exchange(other.signal_, nullptr)) {}

CallFences::~CallFences() { vm::release_object(signal_); }

Status CallFences::await(int64_t deadline_ns) const {
  if (deadline_ns == 0) return fence_->wait();
  return fence_->wait(std::max<int64_t>(deadline_ns - vm::monotonic_clock_ns(), 0));
}

}  // namespace baton::tools
