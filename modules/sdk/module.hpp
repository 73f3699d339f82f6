// A native module as a C++ class: the twin of module.h, and the one header that a module's author includes.
//
//   class Counter final : public baton::sdk::Module<Counter> {
//    public:
//     int32_t add(int32_t amount) { return total_ += amount; }
//     Ref<Blob> describe() const;
//    private:
//     int32_t total_ = 0;                          // one Counter per context
//   };
//   BATON_EXPORT_MODULE(Counter, "counter",
//                       BATON_FUNCTION("add", &Counter::add),
//                       BATON_FUNCTION("describe", &Counter::describe));
//
// An object of the class is the module's state in one context: made with `static Result<std::unique_ptr<C>> make(const
// Parameters&)`, a constructor from const Parameters&, or the default constructor, the first of them that the class
// has. The base class carries the words of the sdk (Status, Ref, Blob, ...) into the class, so its body needs no
// prefix.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "modules/sdk/recording.hpp"

namespace baton::sdk {

// What stood behind `?` in --module=plugin.so?key=value, or what the host app passed. A parameter that the module has
// not asked for when its state is made is refused: it is a misspelled one.
// Threads: shared by all contexts; immutable, but for the note of what was asked for, which is internally synchronized.
class Parameters {
 public:
  Parameters() = default;
  Parameters(const baton_parameter* parameters, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const auto& [key, value] = parameters[i];
      all_.emplace_back(std::string(key.data, key.size), std::string(value.data, value.size));
    }
  }

  // The last one given, or nothing.
  std::optional<std::string_view> find(std::string_view key) const {
    std::optional<std::string_view> found;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].first != key) continue;
      note_asked(uint64_t{1} << (i % 64));
      found = all_[i].second;
    }
    return found;
  }
  // A module that looks at all of them refuses what it does not know.
  const std::vector<std::pair<std::string, std::string>>& all() const {
    note_asked(~uint64_t{0});
    return all_;
  }

  // The names that were given and never asked for, as "'bom', 'size'".
  std::string unknown() const {
    const uint64_t asked = __atomic_load_n(&asked_, __ATOMIC_RELAXED);
    std::string names;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (asked >> (i % 64) & 1) continue;
      names += names.empty() ? "'" : ", '";
      names += all_[i].first;
      names += '\'';
    }
    return names;
  }

 private:
  void note_asked(uint64_t which) const { (void)__atomic_fetch_or(&asked_, which, __ATOMIC_RELAXED); }

  std::vector<std::pair<std::string, std::string>> all_;
  mutable uint64_t asked_ = 0;  // A bit for each, up to 64; those beyond share bits.
};

template <typename Class>
class Module {
 public:
  using Status = sdk::Status;
  using StatusCode = sdk::StatusCode;
  using Parameters = sdk::Parameters;
  using Blob = sdk::Blob;
  using List = sdk::List;
  using Device = sdk::Device;
  using Buffer = sdk::Buffer;
  using BufferView = sdk::BufferView;
  using Executable = sdk::Executable;
  using WaitFence = sdk::WaitFence;
  using SignalFence = sdk::SignalFence;
  using CommandBuffer = sdk::CommandBuffer;
  using Recording = sdk::CommandBuffer;
  using Foreign = sdk::Foreign;
  template <typename T>
  using DeviceSpan = sdk::DeviceSpan<T>;
  template <typename T>
  using Binding = sdk::Binding<T>;
  template <typename T>
  using PerDevice = sdk::PerDevice<T>;
  template <typename T>
  using Result = sdk::Result<T>;
  template <typename T>
  using Ref = sdk::Ref<T>;
  template <typename E>
  using Variadic = sdk::Variadic<E>;

  static constexpr uint32_t kVersion = 1;  // a class hides it with its own

 protected:
  Module() = default;
  ~Module() = default;
};

template <ObjectClass T>
Export type() {
  return {.type = T::object_type()};
}

namespace detail {

// Everything that a descriptor points to; it belongs to the module and goes with it.
struct Description {
  // All that a module without commands uses is in version 1, so an older host takes it.
  static constexpr uint32_t kAbiVersion = 1, kAbiVersionOfCommands = 2;

  baton_module_descriptor descriptor = {};
  Parameters parameters;
  std::vector<baton_export> exports;
  std::vector<FunctionName> names;
  std::vector<const baton_object_type*> types;

  Description(const char* module, uint32_t version, std::initializer_list<Export> all, Parameters given)
      : parameters(std::move(given)) {
    uint32_t version_needed = kAbiVersion;
    names.reserve(all.size());  // exports point into it
    for (const Export& each : all) {
      if (each.type) {
        types.push_back(each.type);
      } else {
        FunctionName& name = names.emplace_back(FunctionName{module, each.name});
        exports.push_back({each.name, each.signature, each.body, &name, each.traits});
        if (each.traits & BATON_TRAIT_COMMAND) version_needed = kAbiVersionOfCommands;
      }
    }
    descriptor.struct_size = sizeof(baton_module_descriptor);
    descriptor.abi_version = version_needed;
    descriptor.name = module;
    descriptor.version = version;
    descriptor.export_stride = sizeof(baton_export);
    descriptor.exports = exports.data();
    descriptor.export_count = exports.size();
    descriptor.types = types.data();
    descriptor.type_count = types.size();
    descriptor.self = this;
    descriptor.destroy = [](void* self) { delete static_cast<Description*>(self); };
  }
};

template <typename Class>
Result<std::unique_ptr<Class>> make_state(const Parameters& parameters) {
  if constexpr (requires { Class::make(parameters); }) {
    return Class::make(parameters);
  } else if constexpr (std::is_constructible_v<Class, const Parameters&>) {
    return std::make_unique<Class>(parameters);
  } else {
    return std::make_unique<Class>();
  }
}

template <typename Class>
baton_status* create_state(void* self, const baton_allocator*, void** out_state) noexcept {
  const auto* description = static_cast<const Description*>(self);
#if defined(__cpp_exceptions)
  try {
#endif
    Result<std::unique_ptr<Class>> state = make_state<Class>(description->parameters);
    if (!state) return state.error().release();
    if (const std::string unknown = description->parameters.unknown(); !unknown.empty()) [[unlikely]] {
      return failure(StatusCode::kInvalidArgument, "Module '", description->descriptor.name, "' has no parameter ",
                     unknown, ".")
          .release();
    }
    *out_state = state.value().release();
    return nullptr;
#if defined(__cpp_exceptions)
  } catch (...) {
    return failure(StatusCode::kInternal, "Module '", description->descriptor.name, "' threw: ", thrown_text())
        .release();
  }
#endif
}

template <typename Class>
baton_status* prepare(void* state, baton_device* device) noexcept {
#if defined(__cpp_exceptions)
  try {
#endif
    return static_cast<Class*>(state)->prepare(*reinterpret_cast<Device*>(device)).release();
#if defined(__cpp_exceptions)
  } catch (...) {
    return failure(StatusCode::kInternal, "The module threw: ", thrown_text()).release();
  }
#endif
}

// What a query function does.
template <typename Class>
baton_status* describe(const baton_host* table, uint64_t parameter_count, const baton_parameter* parameters,
                       const baton_module_descriptor** out_descriptor, const char* name,
                       std::initializer_list<Export> exports) noexcept {
  if (!bind_host(table)) return nullptr;  // No version in common: the host writes the message.
  auto* description = new Description(name, Class::kVersion, exports, Parameters(parameters, parameter_count));
  description->descriptor.create_state = create_state<Class>;
  description->descriptor.destroy_state = [](void*, void* state) { delete static_cast<Class*>(state); };
  if constexpr (requires(Class & state, Device & device) { state.prepare(device); }) {
    description->descriptor.prepare = prepare<Class>;
  }
  *out_descriptor = &description->descriptor;
  return nullptr;
}

}  // namespace detail
}  // namespace baton::sdk

// Exports of a module: a function under the name that programs call (without the module's), and a type it provides.
#define BATON_FUNCTION(name, ...) ::baton::sdk::function<(__VA_ARGS__)>(name)
// One that records, with its traits: BATON_COMMAND("saxpy", &Blas::saxpy, kCaptureSafe | kInPlace).
#define BATON_COMMAND(name, method, ...)           \
  ::baton::sdk::command<(method)>(name, [] {       \
    using namespace ::baton::sdk; /* for traits */ \
    return ::baton::sdk::Traits(__VA_ARGS__);      \
  }())
#define BATON_TYPE(...) ::baton::sdk::type<__VA_ARGS__>()

// A query function of that name, for modules that are compiled into the host app or share a library with others:
// NativeModule::make(symbol, ...), ModuleRegistry::add("name", symbol), --module=plugin.so@symbol.
#define BATON_MODULE_QUERY(symbol, Class, name, ...)                                                      \
  extern "C" BATON_EXPORT baton_status* symbol(const baton_host* host, uint64_t parameter_count,          \
                                               const baton_parameter* parameters,                         \
                                               const baton_module_descriptor** out_descriptor) {          \
    return ::baton::sdk::detail::describe<Class>(host, parameter_count, parameters, out_descriptor, name, \
                                                 {__VA_ARGS__});                                          \
  }                                                                                                       \
  static_assert(true)

// The one symbol of a plugin.
#define BATON_EXPORT_MODULE(Class, name, ...) BATON_MODULE_QUERY(baton_module_query_v1, Class, name, __VA_ARGS__)
