// local-sync: the host, inline.
#include "tests/conformance/backends/local.hpp"

namespace baton::hal::conformance {
namespace {

Result<Ref<Device>> open() { return open_local("sync"); }

[[maybe_unused]] const bool registered =
    register_backend({.name = "local-sync", .open = open, .kernels = {local_kernels()}, .has_peers = true});

}  // namespace
}  // namespace baton::hal::conformance
