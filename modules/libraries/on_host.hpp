// Work of a library that knows the host's memory only, in order with the commands around it.
#pragma once

#include <string>
#include <string_view>

#include "modules/sdk/module.hpp"

namespace baton::libraries {

// `run` gets a std::span for each binding. A foreign call and no host call, which would want memory that is mapped: what a
// compiled program keeps for itself isn't, and on a host it can be seen all the same.
template <typename Run, typename... T>
sdk::Status record_on_host(sdk::CommandBuffer& rec, std::string_view name, Run run,
                           const sdk::Binding<T>&... bindings) {
  return rec.foreign(
      name,
      [run = std::move(run), called = std::string(name)](sdk::Foreign& here,
                                                         sdk::DeviceSpan<T>... spans) -> sdk::Status {
        if (!((spans.host().size() == spans.size()) && ...)) {
          return sdk::failure(sdk::StatusCode::kUnimplemented, called,
                              " works on the host, which cannot see the memory of '", here.device().name(), "'.");
        }
        return run(spans.host()...);
      },
      bindings...);
}

}  // namespace baton::libraries
