// Devices, buffers, tensors, fences and executables as C++ classes: the twin of device.h.
//
// They are the host's own types: a Buffer& that a function receives is the program's object, and a Ref<Buffer> keeps
// it. A host without devices has none of them.
// Threads: as device.h.
#pragma once

#include <atomic>
#include <exception>
#include <initializer_list>
#include <memory>
#include <vector>

#include "modules/sdk/device.h"
#include "modules/sdk/function.hpp"

namespace baton::sdk {

class Buffer;
class Executable;
class Fence;
class WaitFence;
class SignalFence;

inline constexpr uint64_t kWholeLength = BATON_WHOLE_LENGTH;
inline constexpr int64_t kWaitForever = BATON_WAIT_FOREVER;

enum class Access : uint32_t { kRead = BATON_ACCESS_READ, kWrite = BATON_ACCESS_WRITE, kReadWrite = 3 };

namespace detail {

inline baton_string door_text(std::string_view text) { return {text.data(), text.size()}; }

template <typename T, typename Handle>
Ref<T> adopt_handle(Handle* owned) {
  return Ref<T>::adopt(reinterpret_cast<T*>(owned));
}

// Calls a function of the table whose last parameter receives what it makes.
template <typename T, typename Handle, typename... P, typename... A>
Result<Ref<T>> make_through(baton_status* (*function)(P...), A... arguments) {
  Handle* made = nullptr;
  if (Status status = Status::adopt(function(arguments..., &made)); !status.ok()) return status;
  return adopt_handle<T>(made);
}

template <typename T>
consteval uint32_t element_type_of() {
  if constexpr (std::is_same_v<T, bool>) return BATON_ELEMENT_I1;
  if constexpr (std::is_floating_point_v<T>) return 0x0400u | (sizeof(T) * 8);
  return 0x0100u | (sizeof(T) * 8);
}

}  // namespace detail

// The element type of tensors of T: f32 for float, i32 for int32_t and uint32_t, i1 for bool.
template <typename T>
requires std::is_arithmetic_v<T>
inline constexpr uint32_t kElementType = detail::element_type_of<T>();

// How memory is asked for.
struct BufferRequest {
  uint64_t length = 0;  // bytes
  uint32_t memory = BATON_MEMORY_DEVICE_LOCAL | BATON_MEMORY_HOST_VISIBLE;
  uint32_t usage = BATON_USAGE_ALL;
};

// One form of the same code (device.h).
struct ExecutableVariant {
  std::string_view format;
  std::span<const std::byte> data;  // lives as long as the executable: best as a constant of the module
};

// How an entry point is to be launched (device.h).
struct EntryPoint {
  std::string_view name;
  std::array<uint32_t, 3> workgroup_size = {1, 1, 1};
  uint32_t local_memory_bytes = 0;
  std::array<uint32_t, 3> cluster_size = {};
  bool cooperative = false;
  bool early = false;  // The kernel waits for what it stands behind by itself.
  std::optional<uint32_t> local_memory_carveout_percent = {};
  int32_t priority = 0;
};

class Device final : public baton_object {
 public:
  static constexpr char kTypeName[] = "hal.device";
  static const baton_object_type* object_type() { return device_table() ? device_table()->device_type : nullptr; }
  Device() = delete;

  const void* identity() const { return device_table()->device_identity(handle()); }
  std::string_view name() const {  // "local-sync", "cuda://0"
    const baton_string name = device_table()->device_name(handle());
    return {name.data, static_cast<size_t>(name.size)};
  }
  // The part of the name that is the kind of device: "local", "cuda".
  std::string_view driver() const { return name().substr(0, name().find_first_of("-:")); }

  Result<int64_t> query(std::string_view category, std::string_view key) const {
    int64_t value = 0;
    Status status = Status::adopt(
        device_table()->device_query(handle(), detail::door_text(category), detail::door_text(key), &value));
    if (!status.ok()) return status;
    return value;
  }

  // Loads what fits the device best; when nothing does, the failure names the reason for each variant.
  Result<Ref<Executable>> make_executable(std::string_view name, std::span<const ExecutableVariant> variants,
                                          std::span<const uint32_t> constants = {},
                                          std::span<const EntryPoint> entry_points = {}) const;
  Result<Ref<Executable>> make_executable(std::string_view name, const ExecutableVariant& variant) const {
    return make_executable(name, {&variant, 1});
  }
  // What the app registered under `name`.
  Result<Ref<Executable>> lookup_executable(std::string_view name) const {
    return detail::make_through<Executable, baton_executable>(device_table()->executable_lookup, handle(),
                                                              detail::door_text(name));
  }

  Result<Ref<Buffer>> allocate(const BufferRequest& request) const;
  // Returns the buffer at once; its memory may be used after `signal`. Null fences: it begins at once, and signals
  // nothing.
  Result<Ref<Buffer>> queue_allocate(const Fence* wait, const Fence* signal, const BufferRequest& request) const;
  Status queue_free(const Fence* wait, const Fence* signal, const Buffer& buffer) const;
  Status queue_barrier(const Fence* wait, const Fence* signal) const;
  Result<Ref<Fence>> make_fence() const {
    return detail::make_through<Fence, baton_fence>(device_table()->fence_make, handle());
  }

  baton_device* handle() const { return reinterpret_cast<baton_device*>(const_cast<Device*>(this)); }
};

class Executable final : public baton_object {
 public:
  static constexpr char kTypeName[] = "hal.executable";
  static const baton_object_type* object_type() { return device_table() ? device_table()->executable_type : nullptr; }
  Executable() = delete;

  // The index that a dispatch takes; NOT_FOUND lists the nearest names.
  Result<uint32_t> entry_point(std::string_view name) const {
    uint32_t index = 0;
    Status status = Status::adopt(device_table()->executable_entry_point(handle(), detail::door_text(name), &index));
    if (!status.ok()) return status;
    return index;
  }

  baton_executable* handle() const { return reinterpret_cast<baton_executable*>(const_cast<Executable*>(this)); }
};

// A buffer's bytes on the host, as elements; unmaps when it dies.
template <typename T>
class Mapping {
 public:
  Mapping(Mapping&& other) noexcept : mapping_(std::exchange(other.mapping_, {})) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() { device_table()->buffer_unmap(&mapping_); }

  std::span<T> elements() const { return {static_cast<T*>(mapping_.data), static_cast<size_t>(size())}; }
  uint64_t size() const { return mapping_.size / sizeof(T); }
  T& operator[](size_t index) const { return elements()[index]; }
  T* begin() const { return elements().data(); }
  T* end() const { return begin() + size(); }

 private:
  friend class Buffer;
  explicit Mapping(const baton_mapping& mapping) : mapping_(mapping) {}

  baton_mapping mapping_;
};

class Buffer final : public baton_object {
 public:
  static constexpr char kTypeName[] = "hal.buffer";
  static const baton_object_type* object_type() { return device_table() ? device_table()->buffer_type : nullptr; }
  Buffer() = delete;

  uint64_t length() const { return device_table()->buffer_length(handle()); }
  Result<Ref<Device>> device() const {
    return detail::make_through<Device, baton_device>(device_table()->buffer_device, handle());
  }
  Result<Ref<Buffer>> subspan(uint64_t offset, uint64_t length) const {
    return detail::make_through<Buffer, baton_buffer>(device_table()->buffer_subspan, handle(), offset, length);
  }
  // const T: to read; T: to read and write. The caller has waited for what makes the contents its own.
  template <typename T>
  Result<Mapping<T>> map(uint64_t offset = 0, uint64_t length = kWholeLength) const {
    const uint32_t access = std::is_const_v<T> ? BATON_ACCESS_READ : BATON_ACCESS_READ_WRITE;
    return map_with<T>(access, offset, length);
  }
  // To write all of it: what was there is not fetched from a device, and what is left unwritten may be anything.
  template <typename T>
  Result<Mapping<T>> map_to_overwrite(uint64_t offset = 0, uint64_t length = kWholeLength) const {
    static_assert(!std::is_const_v<T>, "what is to be overwritten is not const");
    return map_with<T>(BATON_ACCESS_WRITE | BATON_ACCESS_DISCARD, offset, length);
  }

  baton_buffer* handle() const { return reinterpret_cast<baton_buffer*>(const_cast<Buffer*>(this)); }

 private:
  template <typename T>
  Result<Mapping<T>> map_with(uint32_t access, uint64_t offset, uint64_t length) const {
    baton_mapping mapping = {};
    Status status = Status::adopt(device_table()->buffer_map(handle(), access, offset, length, &mapping));
    if (!status.ok()) return status;
    return Mapping<T>(mapping);
  }
};

// A tensor: a buffer with shape and element type.
class BufferView final : public baton_object {
 public:
  static constexpr char kTypeName[] = "hal.buffer_view";
  static const baton_object_type* object_type() { return device_table() ? device_table()->buffer_view_type : nullptr; }
  BufferView() = delete;

  // Fails where the buffer does not hold the dense elements.
  static Result<Ref<BufferView>> make(const Buffer& buffer, uint32_t element_type, std::span<const int64_t> shape) {
    const baton_buffer_view_request request = {sizeof(request), element_type, BATON_ENCODING_DENSE_ROW_MAJOR,
                                               static_cast<uint32_t>(shape.size()), shape.data()};
    return detail::make_through<BufferView, baton_buffer_view>(device_table()->buffer_view_make, buffer.handle(),
                                                               &request);
  }

  Ref<Buffer> buffer() const { return detail::adopt_handle<Buffer>(device_table()->buffer_view_buffer(handle())); }
  std::span<const int64_t> shape() const {  // valid while the view lives
    uint64_t rank = 0;
    const int64_t* dims = device_table()->buffer_view_shape(handle(), &rank);
    return {dims, static_cast<size_t>(rank)};
  }
  uint32_t element_type() const { return device_table()->buffer_view_element_type(handle()); }
  uint32_t encoding() const { return device_table()->buffer_view_encoding(handle()); }
  int64_t element_count() const {
    int64_t elements = 1;
    for (int64_t extent : shape()) elements *= extent;
    return elements;
  }

  // The elements on the host; refuses another element type than T's.
  template <typename T>
  Result<Mapping<T>> map() const {
    using Element = std::remove_const_t<T>;
    // Signedness is not a difference: i32, s32 and u32 are all read as int32_t or uint32_t.
    const bool same_class = std::is_floating_point_v<Element> == (element_type() >> 8 == 4);
    if (!same_class || (element_type() & 0xff) != (kElementType<Element> & 0xff)) {
      return failure(StatusCode::kInvalidArgument, "A tensor of element type ", element_type(),
                     " is not one of element type ", kElementType<Element>, ".");
    }
    return buffer()->map<T>(0, static_cast<uint64_t>(element_count()) * sizeof(T));
  }

  baton_buffer_view* handle() const { return reinterpret_cast<baton_buffer_view*>(const_cast<BufferView*>(this)); }
};

class Fence final : public baton_object {
 public:
  static constexpr char kTypeName[] = "hal.fence";
  static const baton_object_type* object_type() { return device_table() ? device_table()->fence_type : nullptr; }
  Fence() = delete;

  // Ok once passed; the failure; DEADLINE_EXCEEDED. A timeout of 0 only looks.
  Status wait(int64_t timeout_ns = kWaitForever) const {
    return Status::adopt(device_table()->fence_wait(handle(), timeout_ns));
  }
  Status signal() const { return Status::adopt(device_table()->fence_signal(handle())); }
  void fail(Status why) const {
    const std::unique_ptr<baton_status, void (*)(baton_status*)> owned(why.release(), host().status_free);
    device_table()->fence_fail(handle(), owned.get());
  }
  // Calls `ready(Status)` once: at once, or from the thread that signals, where it must not wait.
  template <typename Callable>
  void on_ready(Callable ready) const {
    notify(handle(), std::move(ready));
  }

  static baton_fence* handle_of(const Fence* fence) {
    return reinterpret_cast<baton_fence*>(const_cast<Fence*>(fence));
  }
  baton_fence* handle() const { return handle_of(this); }

 private:
  friend class WaitFence;
  template <typename Callable>
  static void notify(baton_fence* fence, Callable ready) {
    const auto call = [](void* data, const baton_status* failure) {
      const std::unique_ptr<Callable> owned(static_cast<Callable*>(data));
      if (!failure) return (*owned)(Status());
      const baton_string message = host().status_message(failure);
      (*owned)(Status(static_cast<StatusCode>(host().status_code(failure)),
                      {message.data, static_cast<size_t>(message.size)}));
    };
    device_table()->fence_on_ready(fence, call, new Callable(std::move(ready)));
  }
};

// The last two parameters of a function that finishes later (coarse fences): it may use its arguments once `wait` is
// passed, and finishes `signal` when its results are there. Both may be moved to another thread, and either may be
// nothing.
class WaitFence {
 public:
  WaitFence() = default;
  explicit WaitFence(Ref<Fence> fence) : fence_(std::move(fence)) {}

  Status wait(int64_t timeout_ns = kWaitForever) const { return fence_ ? fence_->wait(timeout_ns) : Status(); }
  template <typename Callable>
  void on_ready(Callable ready) const {
    Fence::notify(Fence::handle_of(fence_.get()), std::move(ready));
  }
  const Fence* get() const { return fence_.get(); }

 private:
  Ref<Fence> fence_;
};

// One that goes without having finished fails, so that no waiter waits for ever.
class SignalFence {
 public:
  SignalFence() = default;
  explicit SignalFence(Ref<Fence> fence) : fence_(std::move(fence)) {}
  SignalFence(SignalFence&&) noexcept = default;
  SignalFence& operator=(SignalFence&&) = delete;
  ~SignalFence() {
    if (fence_) fence_->fail(Status(StatusCode::kAborted, "The operation was dropped before it was done."));
  }

  // Passes the fence, or fails it. What comes second changes nothing.
  void finish(Status status = {}) {
    const Ref<Fence> fence = std::exchange(fence_, nullptr);
    if (!fence) return;
    if (status.ok()) status = fence->signal();
    if (!status.ok()) fence->fail(std::move(status));
  }
  const Fence* get() const { return fence_.get(); }

 private:
  Ref<Fence> fence_;
};

// What a module keeps for each device: made in prepare(), used by its commands.
//   Status prepare(Device& device) { ...; kernels_.add(device, {add, scale}); return {}; }
//   Status saxpy(CommandBuffer& rec, ...) { const Kernels& kernels = kernels_[rec.device()]; ... }
// Threads: add() one at a time, as the host calls prepare(); looking up at any time.
template <typename T>
class PerDevice {
 public:
  PerDevice() = default;
  PerDevice(const PerDevice&) = delete;
  PerDevice& operator=(const PerDevice&) = delete;
  ~PerDevice() {
    for (const Entry* entry = first_.load(); entry;) delete std::exchange(entry, entry->next);
  }

  T& add(const Device& device, T value) {
    auto* entry = new Entry{device.identity(), std::move(value), first_.load(std::memory_order_relaxed)};
    first_.store(entry, std::memory_order_release);
    return entry->value;
  }
  // Null when nothing was added for the device.
  T* find(const Device& device) const {
    const void* identity = device.identity();
    for (Entry* entry = first_.load(std::memory_order_acquire); entry; entry = entry->next) {
      if (entry->device == identity) return &entry->value;
    }
    return nullptr;
  }
  T& operator[](const Device& device) const { return *find(device); }  // of one that prepare() saw

 private:
  struct Entry {
    const void* device;
    T value;
    Entry* next;
  };
  std::atomic<Entry*> first_{nullptr};
};

// ---- What needs the classes above -----------------------------------------------------------------------------------

namespace detail {

inline baton_buffer_request door_request(const BufferRequest& request) {
  return {sizeof(baton_buffer_request), request.memory, request.usage, 0, request.length};
}

template <>
struct Parameter<WaitFence> : RefParameter<Fence, true> {
  static WaitFence read(Cursor& at) { return WaitFence(Ref<Fence>(next(at))); }
};
template <>
struct Parameter<SignalFence> : RefParameter<Fence, true> {
  static SignalFence read(Cursor& at) { return SignalFence(Ref<Fence>(next(at))); }
};

inline baton_entry_point door_entry_point(const EntryPoint& from) {
  const auto& [x, y, z] = from.workgroup_size;
  const auto& [cluster_x, cluster_y, cluster_z] = from.cluster_size;
  return {.name = door_text(from.name),
          .flags = (from.cooperative ? BATON_LAUNCH_COOPERATIVE : 0u) | (from.early ? BATON_LAUNCH_EARLY : 0u),
          .constant_count = 0,
          .binding_count = 0,
          .workgroup_size = {x, y, z},
          .local_memory_bytes = from.local_memory_bytes,
          .cluster_size = {cluster_x, cluster_y, cluster_z},
          .local_memory_carveout = from.local_memory_carveout_percent ? *from.local_memory_carveout_percent + 1 : 0,
          .priority = from.priority};
}

}  // namespace detail

inline Result<Ref<Executable>> Device::make_executable(std::string_view name,
                                                       std::span<const ExecutableVariant> variants,
                                                       std::span<const uint32_t> constants,
                                                       std::span<const EntryPoint> entry_points) const {
  std::vector<baton_executable_variant> all;
  for (const auto& [format, data] : variants) all.push_back({detail::door_text(format), data.data(), data.size()});
  std::vector<baton_entry_point> entries;
  for (const EntryPoint& one : entry_points) entries.push_back(detail::door_entry_point(one));
  const baton_executable_request_v3 request = {
      .request = {sizeof(request), static_cast<uint32_t>(all.size()), all.data(), detail::door_text(name),
                  constants.data(), constants.size()},
      .entry_points = entries.data(),
      .entry_point_count = entries.size()};
  return detail::make_through<Executable, baton_executable>(device_table()->executable_make, handle(),
                                                            &request.request);
}

inline Result<Ref<Buffer>> Device::allocate(const BufferRequest& request) const {
  const baton_buffer_request asked = detail::door_request(request);
  return detail::make_through<Buffer, baton_buffer>(device_table()->buffer_allocate, handle(), &asked);
}

inline Result<Ref<Buffer>> Device::queue_allocate(const Fence* wait, const Fence* signal,
                                                  const BufferRequest& request) const {
  const baton_buffer_request asked = detail::door_request(request);
  return detail::make_through<Buffer, baton_buffer>(device_table()->queue_allocate, handle(), Fence::handle_of(wait),
                                                    Fence::handle_of(signal), &asked);
}

inline Status Device::queue_free(const Fence* wait, const Fence* signal, const Buffer& buffer) const {
  return Status::adopt(
      device_table()->queue_free(handle(), Fence::handle_of(wait), Fence::handle_of(signal), buffer.handle()));
}

inline Status Device::queue_barrier(const Fence* wait, const Fence* signal) const {
  return Status::adopt(device_table()->queue_barrier(handle(), Fence::handle_of(wait), Fence::handle_of(signal)));
}

}  // namespace baton::sdk
