#include "python/extension/trace.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace baton::python {
namespace {

Timeline* active = nullptr;

void begin_trace() {
  if (active) raise(failure(StatusCode::kFailedPrecondition, "a trace is on already; one at a time"));
  active = new Timeline;  // Kept for good: work that is under way may name it.
}

void end_trace(const std::string& path) {
  Timeline* const ended = std::exchange(active, nullptr);
  if (!ended) raise(failure(StatusCode::kFailedPrecondition, "no trace is on"));
  bool written = false;
  {
    const Unlocked unlocked;
    ended->flush();
    const std::string json = ended->json();
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    written = file && std::fwrite(json.data(), 1, json.size(), file) == json.size();
    if (file) written = std::fclose(file) == 0 && written;
  }
  if (!written) {
    raise(failure(StatusCode::kUnavailable, "'", path, "' could not be written (", std::strerror(errno), ")"));
  }
}

}  // namespace

Timeline* active_timeline() { return active; }

void bind_traces(nb::module_& module) {
  module.def("begin_trace", begin_trace);
  module.def("end_trace", end_trace, nb::arg("path"));
}

}  // namespace baton::python
