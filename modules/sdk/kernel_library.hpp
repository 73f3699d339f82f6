// KernelLibrary and Kernel: the twin of kernel_library.h.
//
//   BATON_ASSIGN_OR_RETURN(const KernelLibrary library, KernelLibrary::load_file("kernels.cubin"));
//   return library["scale"].launch({blocks}, {256}, stream, x, 2.0f, count);
//
// In an app include modules/sdk/embed_kernels.hpp in place of this. An argument is passed as the kernel takes it: a
// pointer of the device, a number, a struct, or a Buffer, a tensor or a Binding; count and sizes are checked against
// the kernel's own code.
// Threads: as kernel_library.h; a KernelLibrary object itself is externally synchronized.
#pragma once

#include <concepts>

#include "modules/sdk/kernel_library.h"
#include "modules/sdk/recording.hpp"

namespace baton::sdk {

// Workgroups of a grid, threads of a workgroup.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

// What a kernel is launched on. A stream is CUDA's handle, of any library; its device may stand beside it, and must
// be where there are several and the stream is one that all of them have (none, legacy, per thread).
class LaunchTarget {
 public:
  static constexpr int32_t kDeviceOfStream = BATON_KERNEL_DEVICE_OF_STREAM;

  template <typename Handle>
  LaunchTarget(Handle* stream, int32_t ordinal = kDeviceOfStream)  // NOLINT: a stream is a target
      requires(!std::is_convertible_v<Handle*, const baton_object*>)
      : stream_(stream), ordinal_(ordinal), on_stream_(true) {}
  template <std::same_as<std::nullptr_t> None>  // Not for {0}, which is a size of something.
  LaunchTarget(None) : on_stream_(true) {}      // NOLINT: CUDA's default stream
  LaunchTarget(const Device& device, const Fence* wait = nullptr, const Fence* signal = nullptr)  // NOLINT: its queue
      : device_(&device), wait_(wait), signal_(signal) {}
  template <std::same_as<Ref<Device>> Shared>
  LaunchTarget(const Shared& device) : LaunchTarget(*device) {}  // NOLINT

  void give_to(baton_kernel_launch& launch) const {
    if (on_stream_) launch.flags |= BATON_KERNEL_ON_STREAM;
    launch.stream = const_cast<void*>(static_cast<const void*>(stream_));
    launch.ordinal = ordinal_;
    launch.device = device_ ? device_->handle() : nullptr;
    launch.wait = Fence::handle_of(wait_);
    launch.signal = Fence::handle_of(signal_);
  }

 private:
  const void* stream_ = nullptr;
  int32_t ordinal_ = kDeviceOfStream;
  bool on_stream_ = false;
  const Device* device_ = nullptr;
  const Fence* wait_ = nullptr;
  const Fence* signal_ = nullptr;
};

// The shape of a launch, and its further attributes (kernel_library.h).
struct LaunchShape {
  Dim3 grid = {};
  Dim3 block = {};
  uint32_t shared_bytes = 0;
  Dim3 cluster = {0, 0, 0};
  bool cooperative = false;
  bool early = false;
  int32_t priority = 0;

  baton_kernel_launch door() const {
    return {.struct_size = sizeof(baton_kernel_launch),
            .flags = (cooperative ? BATON_KERNEL_COOPERATIVE : 0) | (early ? BATON_KERNEL_EARLY : 0),
            .grid = {grid.x, grid.y, grid.z},
            .block = {block.x, block.y, block.z},
            .cluster = {cluster.x, cluster.y, cluster.z},
            .shared_bytes = shared_bytes,
            .priority = priority,
            .ordinal = BATON_KERNEL_DEVICE_OF_STREAM,
            .stream = nullptr,
            .device = nullptr,
            .wait = nullptr,
            .signal = nullptr};
  }
};

namespace detail {

// The host's, which stays the same once there is one.
__attribute__((visibility("hidden"))) inline std::atomic<const baton_kernel_table*> known_kernel_table{nullptr};

[[gnu::noinline]] inline const baton_kernel_table* find_kernel_table() {
  const baton_device_table* devices = device_table();
  const bool known = devices && devices->struct_size > offsetof(baton_device_table, kernels) && devices->kernels;
  const baton_kernel_table* table = known ? devices->kernels() : nullptr;
  known_kernel_table.store(table, std::memory_order_release);
  return table;
}
inline const baton_kernel_table* kernel_table() {
  const baton_kernel_table* known = known_kernel_table.load(std::memory_order_acquire);
  return known ? known : find_kernel_table();
}

// An argument as the door takes it, for as long as this lives.
template <typename T>
class KernelArgument {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "a kernel takes pointers, numbers and plain structs by value");
  static_assert(!std::is_convertible_v<T, const baton_object*> || std::is_null_pointer_v<T>,
                "an object of Baton is passed by reference, and a kernel gets the address that it stands for");
  static_assert(sizeof(T) <= 4096, "a kernel takes structs of at most 4096 bytes");
  explicit KernelArgument(const T& value) : value_(value) {}
  baton_kernel_argument door() const { return {&value_, sizeof(T)}; }

 private:
  const T& value_;
};
class RangeArgument {
 public:
  explicit RangeArgument(const baton_binding& range) : range_(range) {}
  explicit RangeArgument(Ref<Buffer> kept)
      : range_{kept->handle(), 0, BATON_ACCESS_READ_WRITE, 0, BATON_WHOLE_LENGTH}, kept_(std::move(kept)) {}
  baton_kernel_argument door() const { return {&range_, BATON_KERNEL_BINDING}; }

 private:
  baton_binding range_;
  Ref<Buffer> kept_;  // The buffer of a tensor, which gives out a new reference.
};
inline baton_binding whole(const Buffer& buffer) {
  return {buffer.handle(), 0, BATON_ACCESS_READ_WRITE, 0, BATON_WHOLE_LENGTH};
}

template <typename T>
KernelArgument<T> kernel_argument(const T& value) requires(!std::is_base_of_v<baton_object, T>) {
  return KernelArgument<T>(value);
}
inline RangeArgument kernel_argument(const Buffer& buffer) { return RangeArgument(whole(buffer)); }
inline RangeArgument kernel_argument(const Ref<Buffer>& buffer) { return RangeArgument(whole(*buffer)); }
inline RangeArgument kernel_argument(const BufferView& tensor) { return RangeArgument(tensor.buffer()); }
inline RangeArgument kernel_argument(const Ref<BufferView>& tensor) { return kernel_argument(*tensor); }
template <typename T>
RangeArgument kernel_argument(const Binding<T>& binding) {
  return RangeArgument(binding.range());
}

}  // namespace detail

// A kernel of a library, for as long as that lives.
class Kernel {
 public:
  explicit Kernel(const baton_library_kernel* kernel) : kernel_(kernel) {}

  std::string_view name() const {
    const baton_string name = detail::kernel_table()->name(kernel_);
    return {name.data, static_cast<size_t>(name.size)};
  }
  const baton_library_kernel* handle() const { return kernel_; }

  template <typename... T>
  Status launch(const LaunchShape& shape, const LaunchTarget& target, const T&... arguments) const {
    baton_kernel_launch launch = shape.door();
    target.give_to(launch);
    return with_arguments(
        [&](const baton_kernel_argument* list, uint64_t count) {
          return detail::kernel_table()->launch_on(kernel_, &launch, list, count);
        },
        detail::kernel_argument(arguments)...);
  }
  template <typename... T>
  Status launch(Dim3 grid, Dim3 block, const LaunchTarget& target, const T&... arguments) const {
    return launch({.grid = grid, .block = block}, target, arguments...);
  }

  // As a command of `rec`: a Binding may be a slot, which the table of each execution fills.
  template <typename... T>
  Status record(CommandBuffer& rec, const LaunchShape& shape, const T&... arguments) const {
    const baton_kernel_launch launch = shape.door();
    return with_arguments(
        [&](const baton_kernel_argument* list, uint64_t count) {
          return detail::kernel_table()->record(kernel_, rec.handle(), &launch, list, count);
        },
        detail::kernel_argument(arguments)...);
  }
  template <typename... T>
  Status record(CommandBuffer& rec, Dim3 grid, Dim3 block, const T&... arguments) const {
    return record(rec, {.grid = grid, .block = block}, arguments...);
  }

  // Bytes of each parameter, as the code declares them.
  Result<std::vector<uint64_t>> parameter_sizes() const {
    std::vector<uint64_t> sizes;
    uint64_t count = 0;
    BATON_OR_RETURN(Status::adopt(detail::kernel_table()->parameters(kernel_, nullptr, 0, &count)));
    sizes.resize(static_cast<size_t>(count));
    BATON_OR_RETURN(Status::adopt(detail::kernel_table()->parameters(kernel_, sizes.data(), sizes.size(), &count)));
    return sizes;
  }
  Result<baton_kernel_occupancy> occupancy(int32_t ordinal, uint32_t threads, uint32_t shared_bytes = 0) const {
    baton_kernel_occupancy found = {sizeof(found), 0, 0, 0};
    BATON_OR_RETURN(
        Status::adopt(detail::kernel_table()->get_occupancy(kernel_, ordinal, threads, shared_bytes, &found)));
    return found;
  }

 private:
  template <typename Call, typename... Argument>
  static Status with_arguments(const Call& call, const Argument&... arguments) {
    const baton_kernel_argument list[] = {arguments.door()..., {}};
    return Status::adopt(call(list, sizeof...(Argument)));
  }

  const baton_library_kernel* kernel_;
};

// A kernel that was looked for. Launched without a look, it passes on why it was not found.
class FoundKernel : public Result<Kernel> {
 public:
  using Result<Kernel>::Result;

  template <typename... T>
  Status launch(Dim3 grid, Dim3 block, const LaunchTarget& target, const T&... arguments) && {
    return has_value() ? value().launch(grid, block, target, arguments...) : std::move(error());
  }
  template <typename... T>
  Status launch(const LaunchShape& shape, const LaunchTarget& target, const T&... arguments) && {
    return has_value() ? value().launch(shape, target, arguments...) : std::move(error());
  }
};

// How source is compiled (kernel_library.h).
struct CompileOptions {
  std::string_view name = "kernels.cu";
  std::string_view arch = {};  // "90"; empty: that of CUDA's first device.
  std::vector<std::string_view> options = {};
  std::vector<std::pair<std::string_view, std::string_view>> headers = {};  // Name and text.
};

struct KernelGlobal {
  uint64_t address;
  uint64_t bytes;
};

class KernelLibrary {
 public:
  // The bytes are copied. Without a format it is recognized from the bytes.
  static Result<KernelLibrary> make(std::string_view name, std::span<const ExecutableVariant> variants) {
    std::vector<baton_executable_variant> list;
    for (const ExecutableVariant& variant : variants) {
      list.push_back({detail::door_text(variant.format), variant.data.data(), variant.data.size()});
    }
    return made([&](const baton_kernel_table& table, baton_kernel_library** out) {
      return table.library_make(detail::door_text(name), list.data(), list.size(), out);
    });
  }
  static Result<KernelLibrary> from_memory(std::string_view name, std::span<const std::byte> code) {
    const ExecutableVariant variant{{}, code};
    return make(name, {&variant, 1});
  }
  static Result<KernelLibrary> load_file(const std::string& path) {
    return made([&](const baton_kernel_table& table, baton_kernel_library** out) {
      return table.library_load_file(path.c_str(), out);
    });
  }
  static Result<KernelLibrary> compile(std::string_view source, const CompileOptions& how = {}) {
    std::vector<baton_string> options;
    for (const std::string_view option : how.options) options.push_back(detail::door_text(option));
    std::vector<baton_kernel_header> headers;
    for (const auto& [name, text] : how.headers) headers.push_back({detail::door_text(name), detail::door_text(text)});
    const baton_kernel_compile request = {sizeof(request),
                                          static_cast<uint32_t>(options.size()),
                                          detail::door_text(how.name),
                                          detail::door_text(source),
                                          detail::door_text(how.arch),
                                          options.data(),
                                          headers.data(),
                                          headers.size()};
    return made([&](const baton_kernel_table& table, baton_kernel_library** out) {
      return table.library_compile(&request, out);
    });
  }
  // From parts: PTX, cubins, objects, archives, LTO-IR. Their format is their name in messages.
  static Result<KernelLibrary> link(std::string_view name, std::string_view arch,
                                    std::span<const ExecutableVariant> parts,
                                    std::initializer_list<std::string_view> options = {}) {
    std::vector<baton_executable_variant> list;
    for (const ExecutableVariant& part : parts) {
      list.push_back({detail::door_text(part.format), part.data.data(), part.data.size()});
    }
    std::vector<baton_string> flags;
    for (const std::string_view option : options) flags.push_back(detail::door_text(option));
    return made([&](const baton_kernel_table& table, baton_kernel_library** out) {
      return table.library_link(detail::door_text(name), detail::door_text(arch), list.data(), list.size(),
                                flags.data(), flags.size(), out);
    });
  }
  // A kernel of Triton's, from <kernel>.json and <kernel>.cubin; launched with a grid of programs and its own
  // arguments.
  static Result<KernelLibrary> load_triton(const std::string& metadata_path, const std::string& cubin_path) {
    return made([&](const baton_kernel_table& table, baton_kernel_library** out) {
      return table.library_load_triton(metadata_path.c_str(), cubin_path.c_str(), out);
    });
  }
  // What BATON_EMBEDDED_KERNELS(name) stands for.
  static Result<KernelLibrary> embedded(const baton_embedded_kernels& kernels) {
    return made([&](const baton_kernel_table& table, baton_kernel_library** out) {
      baton_status* failed = table.library_embedded(&kernels, out);
      if (!failed) table.library_retain(*out);
      return failed;
    });
  }

  // Takes over a reference that the caller owned.
  static KernelLibrary adopt(baton_kernel_library* owned) { return KernelLibrary(owned); }

  KernelLibrary(KernelLibrary&& other) noexcept : library_(std::exchange(other.library_, nullptr)) {}
  KernelLibrary& operator=(KernelLibrary&& other) noexcept {
    std::swap(library_, other.library_);
    return *this;
  }
  ~KernelLibrary() {
    if (library_) detail::kernel_table()->library_release(library_);
  }

  // Found before: a look into a table.
  FoundKernel operator[](std::string_view name) const {
    const baton_library_kernel* kernel = nullptr;
    Status status = Status::adopt(detail::kernel_table()->library_find(library_, detail::door_text(name), &kernel));
    if (!status.ok()) return status;
    return Kernel(kernel);
  }
  // A variable of the code on one CUDA device.
  Result<KernelGlobal> global(int32_t ordinal, std::string_view name) const {
    KernelGlobal found = {};
    BATON_OR_RETURN(Status::adopt(detail::kernel_table()->library_global(library_, ordinal, detail::door_text(name),
                                                                         &found.address, &found.bytes)));
    return found;
  }
  // See kernel_library.h.
  Status unload() const { return Status::adopt(detail::kernel_table()->library_unload(library_)); }

  baton_kernel_library* handle() const { return library_; }

 private:
  explicit KernelLibrary(baton_kernel_library* owned) : library_(owned) {}

  template <typename Make>
  static Result<KernelLibrary> made(const Make& make) {
    const baton_kernel_table* table = detail::kernel_table();
    if (!table) return failure(StatusCode::kUnimplemented, "The host launches no kernels for its modules.");
    baton_kernel_library* library = nullptr;
    BATON_OR_RETURN(Status::adopt(make(*table, &library)));
    return KernelLibrary(library);
  }

  baton_kernel_library* library_;
};

// A kernel of what baton_embed_kernels() put into the program; BATON_EMBEDDED_KERNEL looks once for each place that
// it stands in.
class EmbeddedKernels {
 public:
  explicit EmbeddedKernels(const baton_embedded_kernels& kernels) : kernels_(kernels) {}

  FoundKernel operator[](std::string_view name) const {
    const baton_kernel_table* table = detail::kernel_table();
    if (!table) return failure(StatusCode::kUnimplemented, "The host launches no kernels for its modules.");
    baton_kernel_library* library = nullptr;
    const baton_library_kernel* kernel = nullptr;
    Status status = Status::adopt(table->library_embedded(&kernels_, &library));
    if (status.ok()) status = Status::adopt(table->library_find(library, detail::door_text(name), &kernel));
    if (!status.ok()) return status;
    return Kernel(kernel);
  }

 private:
  const baton_embedded_kernels& kernels_;
};

}  // namespace baton::sdk

// What stands for embedded kernels, after #include "<name>_kernels.h": BATON_EMBEDDED_KERNELS(filters)["blur"].
#define BATON_EMBEDDED_KERNELS(name) (::baton::sdk::EmbeddedKernels(baton_embedded_kernels_##name))
// The same kernel at the price of one load once it was found.
#define BATON_EMBEDDED_KERNEL(name, kernel)                                            \
  ([]() -> ::baton::sdk::FoundKernel {                                                 \
    static ::std::atomic<const baton_library_kernel*> cached{nullptr};                 \
    if (const baton_library_kernel* known = cached.load(::std::memory_order_acquire))  \
      return ::baton::sdk::Kernel(known);                                              \
    ::baton::sdk::FoundKernel found = BATON_EMBEDDED_KERNELS(name)[kernel];            \
    if (found.has_value()) cached.store(found->handle(), ::std::memory_order_release); \
    return found;                                                                      \
  }())
