// The null device: every command is accepted and told, none is run.
#include "hal/drivers/null/driver.hpp"
#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class Forget final : public drivers::null::TraceSink {
  void write(std::string_view) override {}
};

Result<Ref<Device>> open() { return drivers::null::make_driver({.sink = std::make_shared<Forget>()})->open("", {}); }

[[maybe_unused]] const bool registered =
    register_backend({.name = "null", .open = open, .computes = false, .kernels = {{"none", {}}}});

}  // namespace
}  // namespace baton::hal::conformance
