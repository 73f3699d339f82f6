#include "tests/conformance/backends/local.hpp"

#include "hal/drivers/local/driver.hpp"
#include "tests/conformance/kernels.h"

namespace baton::hal::conformance {

Result<Ref<Device>> open_local(std::string_view path) {
  drivers::local::Options options;
  options.libraries.push_back({"conformance_kernels", conformance_kernels_query});
  // Nothing runs inside the call that submits it, however brief: that is local-sync's way.
  const DeviceParameter handed_over[] = {{"workers", "3"}, {"inline_us", "0"}};
  const auto driver = drivers::local::make_driver(std::move(options));
  if (path == "task") return driver->open(path, handed_over);
  return path == "task-by-default" ? driver->open("task", {}) : driver->open(path, {});
}

ExecutableVariant local_kernels() {
  static constexpr std::string_view name = "conformance_kernels";
  return {"static-library", std::as_bytes(std::span(name))};
}

}  // namespace baton::hal::conformance
