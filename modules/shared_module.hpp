// A module that the host makes with things of its own in it: devices, files. Its contexts share one object of Class,
// which changes nothing in itself: the way for built-in modules whose state is more than parameters in text. A Class with
// for_context() has one of its own for each context, which that function makes from the shared one.
//
//   return make_shared_module<HalModule>("hal", {BATON_FUNCTION("devices.count", &HalModule::count), ...}, options);
#pragma once

#include <initializer_list>
#include <utility>

#include "modules/host_table.hpp"
#include "modules/native_module.hpp"
#include "modules/sdk/module.hpp"

namespace baton::modules {

namespace detail {

// What the descriptor points to: it goes with the module.
template <typename Class>
struct SharedDescription final : sdk::detail::Description {
  template <typename... Arguments>
  SharedDescription(const char* name, std::initializer_list<sdk::Export> all, Arguments&&... arguments)
      : Description(name, Class::kVersion, all, {}), module(std::forward<Arguments>(arguments)...) {
    descriptor.destroy = [](void* self) { delete of(self); };
    descriptor.create_state = [](void* self, const baton_allocator*, void** out_state) -> baton_status* {
      if constexpr (kHasOwnState) {
        *out_state = new Class(of(self)->module.for_context());
      } else {
        *out_state = &of(self)->module;
      }
      return nullptr;
    };
    if constexpr (kHasOwnState)
      descriptor.destroy_state = [](void*, void* state) { delete static_cast<Class*>(state); };
  }
  static SharedDescription* of(void* self) { return static_cast<SharedDescription*>(static_cast<Description*>(self)); }

  static constexpr bool kHasOwnState = requires(const Class& shared) { shared.for_context(); };

  Class module;
};

}  // namespace detail

template <typename Class, typename... Arguments>
Result<Ref<const vm::Module>> make_shared_module(const char* name, std::initializer_list<sdk::Export> exports,
                                                 Arguments&&... arguments) {
  sdk::bind_host(&host_table());
  auto* description = new detail::SharedDescription<Class>(name, exports, std::forward<Arguments>(arguments)...);
  return NativeModule::make(&description->descriptor);
}

}  // namespace baton::modules
