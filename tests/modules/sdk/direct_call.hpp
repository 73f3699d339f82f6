// Calls an export as the interpreter does: registers in two banks, read and written in place.
#pragma once

#include <array>
#include <initializer_list>

#include "modules/host_table.hpp"
#include "modules/sdk/module.hpp"

namespace baton::sdk {

inline const bool kHostIsBound = bind_host(&modules::host_table());

class DirectCall {
 public:
  explicit DirectCall(const Export& exported, void* state = nullptr) : exported_(exported) {
    call.state = state;
    call.data = &name_;
    call.values = values.data();
    call.refs = refs.data();
  }
  ~DirectCall() {
    for (baton_object* object : refs) baton_object_release(object);
    baton_object_release(call.pending);
  }

  // What the function returned.
  Status run() { return Status::adopt(exported_.body(&call)); }

  std::array<baton_value, 16> values{};
  std::array<baton_object*, 16> refs{};  // owned
  baton_call call{};

 private:
  Export exported_;
  detail::FunctionName name_{"test", exported_.name};
};

}  // namespace baton::sdk
