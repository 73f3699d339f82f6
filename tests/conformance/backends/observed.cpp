// A device that is observed is the device: local-sync and local-task with all that they do on a timeline.
#include "base/timeline.hpp"
#include "hal/timeline_observer.hpp"
#include "tests/conformance/backends/local.hpp"

namespace baton::hal::conformance {
namespace {

// Small, so that the rows of the suite's threads come to their end.
Timeline& timeline() {
  static Timeline one(4096);
  return one;
}

Result<Ref<Device>> open_observed(std::string_view path) {
  BATON_TRY_ASSIGN(Ref<Device> device, open_local(path));
  return observe(std::move(device), timeline());
}

Result<Ref<Device>> open_sync() { return open_observed("sync"); }
Result<Ref<Device>> open_task() { return open_observed("task"); }

[[maybe_unused]] const bool registered_sync =
    register_backend({.name = "observed-sync", .open = open_sync, .kernels = {local_kernels()}});
[[maybe_unused]] const bool registered_task =
    register_backend({.name = "observed-task", .open = open_task, .kernels = {local_kernels()}});

}  // namespace
}  // namespace baton::hal::conformance
