// How programs hold HAL objects: the one place that wraps and unwraps them.
//
// A reference of type "hal.buffer" is a Handle<hal::Buffer>: the head that every object of a program has, and a
// Ref<hal::Buffer>. Functions behind the door speak of HAL objects and never see the handle; beside what
// modules/sdk/function.hpp lists, an export of a module that links the HAL may have
//
//   parameter                              text
//   hal::T&, const hal::T&                 r<hal.t>   null or another type: INVALID_ARGUMENT
//   hal::T*, const hal::T*                 r<hal.t>   may be null
//   Resource (resource.hpp)                I r<hal.buffer> I I
//
// and may return Ref<hal::T>, baton::Status, and baton::Result of anything returnable. T is an OBJECT of
// imports.inc.
// Threads: a handle is immutable, but for a command buffer's.
#pragma once

#include <memory>

#include "hal/buffer_view.hpp"
#include "hal/channel.hpp"
#include "hal/command_buffer.hpp"
#include "hal/device.hpp"
#include "hal/fence.hpp"
#include "hal/recording.hpp"
#include "modules/sdk/function.hpp"

namespace baton::modules {

// As programs spell the type; nothing for what they cannot hold.
template <typename T>
struct ObjectName {};
#define OBJECT(Class, name)                      \
  template <>                                    \
  struct ObjectName<hal::Class> {                \
    static constexpr char kText[] = "hal." name; \
  };
#include "modules/hal_module/imports.inc"

template <typename T>
concept HalObject = requires {
  ObjectName<std::remove_const_t<T>>::kText;
};

// -1 while a point is not reached, else a status code: ok when all are reached.
int32_t outcome_of(std::span<const hal::SemaphorePoint> points);
// The same after waiting for timeout_ns (negative: without limit): what baton_object_type.wait returns.
int32_t wait_for(const hal::Fence& fence, int64_t timeout_ns);

template <HalObject T>
class Handle final : public sdk::Object<Handle<T>> {
 public:
  static constexpr const char* kTypeName = ObjectName<T>::kText;

  explicit Handle(Ref<T> shared) : value_(std::move(shared)) {}

  T& operator*() const { return *value_; }
  const Ref<T>& shared() const { return value_; }

  // Programs and modules may suspend until a fence is passed.
  int32_t wait(int64_t timeout_ns) requires std::same_as<T, hal::Fence> { return wait_for(*value_, timeout_ns); }

 private:
  Ref<T> value_;
};

// A command buffer knows its device: a custom command may need it.
template <>
class Handle<hal::CommandBuffer> final : public sdk::Object<Handle<hal::CommandBuffer>> {
 public:
  static constexpr const char* kTypeName = ObjectName<hal::CommandBuffer>::kText;

  Handle(std::unique_ptr<hal::CommandBuffer> commands, hal::Device& device)
      : commands_(std::move(commands)), device_(&device) {}

  hal::CommandBuffer& operator*() const { return *commands_; }
  hal::Device& device() const { return *device_; }
  // As programs and modules hold it, for as long as this lives.
  Handle<hal::Device>& device_handle() {
    if (!device_handle_) device_handle_ = sdk::make<Handle<hal::Device>>(device_);
    return *device_handle_;
  }

  // The custom command that records now, or null: then no module may.
  const hal::CustomCommand* open() const { return custom_; }
  void open_for(const hal::CustomCommand* custom) { custom_ = custom; }

 private:
  std::unique_ptr<hal::CommandBuffer> commands_;
  Ref<hal::Device> device_;
  sdk::Ref<Handle<hal::Device>> device_handle_;
  const hal::CustomCommand* custom_ = nullptr;
};

// For hosts and tools: a new handle, null for null; and what a handle holds, null when `object` is null or another
// thing.
template <HalObject T>
sdk::Ref<Handle<T>> wrap(Ref<T> shared) {
  if (!shared) return nullptr;
  return sdk::make<Handle<T>>(std::move(shared));
}
template <HalObject T>
T* unwrap(baton_object* object) {
  const Handle<T>* handle = sdk::cast<Handle<T>>(object);
  return handle ? &**handle : nullptr;
}

// The same failure on the other side of the door.
inline baton_status* to_door(Status&& status) { return reinterpret_cast<baton_status*>(status.release()); }

}  // namespace baton::modules

// ---- The words of function.hpp for HAL objects and the house's results ----------------------------------------------

namespace baton::sdk::detail {

template <modules::HalObject T>
struct Parameter<T&> : RefParameter<modules::Handle<std::remove_const_t<T>>, false> {
  static T& read(Cursor& at) { return **Parameter::next(at); }
};
template <modules::HalObject T>
struct Parameter<T*> : RefParameter<modules::Handle<std::remove_const_t<T>>, true> {
  static T* read(Cursor& at) {
    const auto* handle = Parameter::next(at);
    return handle ? &**handle : nullptr;
  }
};
template <modules::HalObject P>
struct PassedAs<P&> {
  using type = P&;
};

template <modules::HalObject T>
struct Returned<baton::Ref<T>> {
  template <typename Out>
  static constexpr void write(Out& out) {
    write_ref(out, modules::Handle<T>::kTypeName);
  }
  static void put(Cursor& at, baton::Ref<T>& result) {
    baton_object* previous = *at.refs;
    *at.refs++ = modules::wrap(std::move(result)).detach();
    baton_object_release(previous);
  }
};

template <>
struct Returned<baton::Status> : Returned<void> {
  static baton_status* store(baton_call*, baton::Status& result) { return modules::to_door(std::move(result)); }
};

template <typename R>
struct Returned<baton::Result<R>> : Returned<R> {
  static baton_status* store(baton_call* call, baton::Result<R>& result) {
    if (!result.has_value()) [[unlikely]]
      return modules::to_door(std::move(result.error()));
    return detail::store(call, *result);
  }
};

}  // namespace baton::sdk::detail
