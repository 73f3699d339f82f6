// local-task: the host, on a pool of three workers: more than this machine may have processors.
#include "tests/conformance/backends/local.hpp"

namespace baton::hal::conformance {
namespace {

Result<Ref<Device>> open() { return open_local("task"); }

[[maybe_unused]] const bool registered =
    register_backend({.name = "local-task", .open = open, .kernels = {local_kernels()}});

}  // namespace
}  // namespace baton::hal::conformance
