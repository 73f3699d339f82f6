// local-task: the host, on a pool of three workers: more than this machine may have processors. And as users get it,
// where brief work runs in the call that submits it.
#include "tests/conformance/backends/local.hpp"

namespace baton::hal::conformance {
namespace {

Result<Ref<Device>> open() { return open_local("task"); }
Result<Ref<Device>> open_default() { return open_local("task-by-default"); }

[[maybe_unused]] const bool registered =
    register_backend({.name = "local-task", .open = open, .kernels = {local_kernels()}, .has_peers = true});
[[maybe_unused]] const bool default_registered = register_backend(
    {.name = "local-task-by-default", .open = open_default, .kernels = {local_kernels()}, .has_peers = true});

}  // namespace
}  // namespace baton::hal::conformance
