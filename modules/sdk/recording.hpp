// Custom commands in C++: the twin of recording.h.
//
//   class Blas final : public baton::sdk::Module<Blas> {
//    public:
//     Status prepare(Device& device);   // once for each device, before the first command; may be left out
//     Status saxpy(CommandBuffer& rec, float alpha, Binding<const float> x, Binding<float> y) {
//       return rec.host([alpha](std::span<const float> from, std::span<float> to) { ... }, x, y);
//     }
//   };
//   BATON_EXPORT_MODULE(Blas, "blas", BATON_COMMAND("saxpy", &Blas::saxpy, kCaptureSafe));
//
// A program calls it as "r<hal.command_buffer>fIr<hal.buffer>IIIr<hal.buffer>II_v" (recording.h). The function runs
// while the program records; what it records runs later, many times, each time on the memory of that execution. The
// CommandBuffer is the program's: it takes commands only until the function returns.
// Threads: as the call.
#pragma once

#include <array>
#include <bit>

#include "modules/sdk/binding.hpp"
#include "modules/sdk/channel.hpp"
#include "modules/sdk/traits.hpp"

namespace baton::sdk {

namespace detail {

// Calls what a recording keeps; what it throws becomes a failure.
template <typename Callable, typename Arguments>
baton_status* run_kept([[maybe_unused]] std::string_view kind, Callable& callable,
                       const Arguments& arguments) noexcept {
#if defined(__cpp_exceptions)
  try {
#endif
    if constexpr (std::is_void_v<decltype(std::apply(callable, arguments))>) {
      std::apply(callable, arguments);
      return nullptr;
    } else {
      return Status(std::apply(callable, arguments)).release();
    }
#if defined(__cpp_exceptions)
  } catch (...) {
    return failure(StatusCode::kInternal, "The ", kind, " function threw: ", thrown_text()).release();
  }
#endif
}

// A callable of the module that a recording keeps and calls with the memory of each execution.
template <typename Callable, typename... T>
struct HostCallable {
  Callable callable;

  static baton_status* call(void* data, const baton_host_arguments* arguments) noexcept {
    if (baton_status* refused = check_memory<T...>("host", arguments->bindings)) [[unlikely]]
      return refused;
    const baton_bytes* at = arguments->bindings;
    const std::tuple<std::span<T>...> elements{next<T>(at)...};  // In order: braces.
    static_cast<void>(at);
    return run_kept("host", static_cast<HostCallable*>(data)->callable, elements);
  }

 private:
  template <typename E>
  static std::span<E> next(const baton_bytes*& at) {
    const baton_bytes& bytes = *at++;
    return {static_cast<E*>(bytes.data), static_cast<size_t>(bytes.size / sizeof(E))};
  }
};

// The same for one that enqueues work of its own.
template <typename Callable, typename... T>
struct ForeignCallable {
  Callable callable;

  static baton_status* call(void* data, const baton_foreign_arguments* arguments) noexcept {
    if (baton_status* refused = check_memory<T...>("foreign", arguments->bindings)) [[unlikely]]
      return refused;
    Foreign here(*arguments);
    const baton_device_range* at = arguments->bindings;
    const std::tuple<Foreign&, DeviceSpan<T>...> all{here, next<T>(at)...};  // In order: braces.
    static_cast<void>(at);
    return run_kept("foreign", static_cast<ForeignCallable*>(data)->callable, all);
  }

 private:
  template <typename E>
  static DeviceSpan<E> next(const baton_device_range*& at) {
    return DeviceSpan<E>(*at++);
  }
};

}  // namespace detail

namespace detail {
template <typename T>
constexpr uint32_t element_of();  // Below: what T is to programs.
}

// The program's command buffer, while a custom command records into it.
class CommandBuffer final : public baton_object {
 public:
  static constexpr char kTypeName[] = "hal.command_buffer";
  static const baton_object_type* object_type() {
    return recording_table() ? recording_table()->command_buffer_type : nullptr;
  }
  CommandBuffer() = delete;

  Device& device() { return *reinterpret_cast<Device*>(table().device(handle())); }

  // Runs an entry point over a grid of workgroups: rec.dispatch(*kernels, 0, {n / 64}, constants(n, alpha), {x, y}).
  Status dispatch(const Executable& executable, uint32_t entry_point, Grid grid, std::span<const uint32_t> words,
                  std::initializer_list<AnyBinding> bindings) {
    const baton_dispatch command = {.struct_size = sizeof(command),
                                    .entry_point = entry_point,
                                    .executable = executable.handle(),
                                    .grid = {grid.x, grid.y, grid.z},
                                    .constant_count = static_cast<uint32_t>(words.size()),
                                    .constants = words.data(),
                                    .bindings = bindings.begin(),
                                    .constant_slots = nullptr,
                                    .binding_count = static_cast<uint32_t>(bindings.size()),
                                    .constant_slot_count = 0};
    return Status::adopt(table().dispatch(handle(), &command));
  }
  // The same over the grid that three uint32_t of `grid` hold when it runs.
  Status dispatch_indirect(const Executable& executable, uint32_t entry_point, const Binding<const uint32_t>& grid,
                           std::span<const uint32_t> words, std::initializer_list<AnyBinding> bindings) {
    const baton_dispatch_indirect command = {.struct_size = sizeof(command),
                                             .entry_point = entry_point,
                                             .executable = executable.handle(),
                                             .grid = grid.range(),
                                             .constants = words.data(),
                                             .bindings = bindings.begin(),
                                             .constant_slots = nullptr,
                                             .constant_count = static_cast<uint32_t>(words.size()),
                                             .binding_count = static_cast<uint32_t>(bindings.size()),
                                             .constant_slot_count = 0,
                                             .reserved = 0};
    return Status::adopt(table().dispatch_indirect(handle(), &command));
  }

  // Every element becomes `value`; elements have 1, 2, 4 or 8 bytes.
  template <typename T>
  Status fill_buffer(const Binding<T>& target, std::type_identity_t<T> value) {
    static_assert(std::is_trivially_copyable_v<T> && std::has_single_bit(sizeof(T)) && sizeof(T) <= 8);
    baton_fill_buffer command = {sizeof(command), sizeof(T), 0, target.range()};
    std::memcpy(&command.pattern, &value, sizeof(T));  // The low bytes: hosts are little-endian.
    return Status::adopt(table().fill_buffer(handle(), &command));
  }
  // Writes elements that are copied into the recording: few.
  template <typename T>
  Status update_buffer(const Binding<T>& target, std::span<const std::type_identity_t<T>> source) {
    baton_binding range = target.range();
    if (range.length > source.size_bytes()) range.length = source.size_bytes();
    const baton_update_buffer command = {sizeof(command), 0, source.data(), source.size_bytes(), range};
    return Status::adopt(table().update_buffer(handle(), &command));
  }
  template <typename S, typename T>
  requires std::same_as<std::remove_const_t<S>, T> Status copy_buffer(const Binding<S>& source,
                                                                      const Binding<T>& target) {
    const baton_copy_buffer command = {sizeof(command), 0, source.range(), target.range()};
    return Status::adopt(table().copy_buffer(handle(), &command));
  }
  // The same three by their names of version 0.1.
  template <typename T>
  Status fill(const Binding<T>& target, std::type_identity_t<T> value) {
    return fill_buffer(target, value);
  }
  template <typename T>
  Status update(const Binding<T>& target, std::span<const std::type_identity_t<T>> source) {
    return update_buffer(target, source);
  }
  template <typename S, typename T>
  requires std::same_as<std::remove_const_t<S>, T> Status copy(const Binding<S>& source, const Binding<T>& target) {
    return copy_buffer(source, target);
  }
  // What was recorded before is done before what is recorded after begins.
  Status barrier() {
    const baton_barrier command = {sizeof(command), 0, nullptr};
    return Status::adopt(table().barrier(handle(), &command));
  }

  // Records what all ranks of a channel do together; all record it in the same order. The element type is T's.
  template <typename S, typename T>
  requires std::same_as<std::remove_const_t<S>, T> Status collective(const Channel& channel, Collective operation,
                                                                     Reduction reduction, const Binding<S>& source,
                                                                     const Binding<T>& target, Peers peers = {}) {
    static_assert(detail::element_of<T>() != 0, "a collective works on numbers");
    const baton_collective command = {.struct_size = sizeof(command),
                                      .operation = static_cast<uint32_t>(operation),
                                      .reduction = static_cast<uint32_t>(reduction),
                                      .element_type = detail::element_of<T>(),
                                      .root = peers.root,
                                      .to = peers.to,
                                      .from = peers.from,
                                      .reserved = 0,
                                      .channel = channel.handle(),
                                      .source = source.range(),
                                      .target = target.range()};
    return Status::adopt(table().collective(handle(), &command));
  }

  // Runs code of the host in order with the commands around it, once for each execution, on any thread: `callable` is
  // called with a std::span<T> for each Binding<T>, and returns void or Status. The recording keeps it.
  template <typename Callable, typename... T>
  Status host(std::string_view name, Callable callable, const Binding<T>&... bindings) {
    const std::array<baton_binding, sizeof...(T)> ranges = {bindings.range()...};
    const auto command =
        kept<baton_host_call>(name, new detail::HostCallable<Callable, T...>{std::move(callable)}, ranges);
    return Status::adopt(table().host_call(handle(), &command));
  }
  template <typename Callable, typename... T>
  requires(!std::convertible_to<Callable, std::string_view>)  //
      Status host(Callable callable, const Binding<T>&... bindings) {
    return host(std::string_view(), std::move(callable), bindings...);  // Under the name of the command.
  }

  // Work that a library enqueues by itself, in order with the commands around it: `callable` is called with a Foreign&,
  // to ask for a stream, say, and a DeviceSpan<T> for each Binding<T>, once for each table in a graph and on Vulkan and
  // for each execution elsewhere (recording.h); it returns void or Status. The recording keeps it.
  //
  //   return rec.foreign([this](Foreign& here, DeviceSpan<const float> x, DeviceSpan<float> y) -> Status {
  //     BATON_ASSIGN_OR_RETURN(const baton_cuda_stream cuda, here.cuda().stream());
  //     return library_.run(static_cast<CUstream>(cuda.stream), x.data(), y.data(), y.size());
  //   }, x, y);
  template <typename Callable, typename... T>
  Status foreign(std::string_view name, Callable callable, const Binding<T>&... bindings) {
    if (table().struct_size <= offsetof(baton_recording_table, foreign)) {
      return failure(StatusCode::kUnimplemented,
                     "The host records no foreign calls; they came with version 3 of the "
                     "module interface, and it provides version ",
                     sdk::host().abi_version, ".");
    }
    const std::array<baton_binding, sizeof...(T)> ranges = {bindings.range()...};
    const auto command =
        kept<baton_foreign>(name, new detail::ForeignCallable<Callable, T...>{std::move(callable)}, ranges);
    return Status::adopt(table().foreign(handle(), &command));
  }
  template <typename Callable, typename... T>
  requires(!std::convertible_to<Callable, std::string_view>)  //
      Status foreign(Callable callable, const Binding<T>&... bindings) {
    return foreign(std::string_view(), std::move(callable), bindings...);  // Under the name of the command.
  }

  // Whether the device is of that kind: rec.is<Cuda>(). rec.cuda() and rec.vulkan() have what only that kind offers.
  template <typename Kind>
  bool is() {
    return device().driver() == Kind::kDriver;
  }
  Cuda cuda() {
    return Cuda(this, [](void* self, baton_string name, void* out) {
      return table().extension(static_cast<CommandBuffer*>(self)->handle(), name, out);
    });
  }
  Vulkan vulkan() {
    return Vulkan(this, [](void* self, baton_string name, void* out) {
      return table().extension(static_cast<CommandBuffer*>(self)->handle(), name, out);
    });
  }
  // For kinds of device that this header does not know: `out` is a struct of theirs, which begins with its struct_size.
  template <typename Struct>
  Status extension(std::string_view name, Struct& out) {
    return Status::adopt(table().extension(handle(), detail::door_text(name), &out));
  }

  baton_command_buffer* handle() { return reinterpret_cast<baton_command_buffer*>(this); }

 private:
  static const baton_recording_table& table() { return *recording_table(); }

  // The command of a callable that the recording keeps. host and foreign take the same, and call it differently.
  template <typename Command, typename Function>
  static Command kept(std::string_view name, Function* function, std::span<const baton_binding> ranges) {
    return {.struct_size = sizeof(Command),
            .binding_count = static_cast<uint32_t>(ranges.size()),
            .name = detail::door_text(name),
            .call = Function::call,
            .release = [](void* data) { delete static_cast<Function*>(data); },
            .data = function,
            .bindings = ranges.data(),
            .constants = nullptr,
            .constant_slots = nullptr,
            .constant_count = 0,
            .constant_slot_count = 0};
  }
};
// Its name of version 0.1; hal::Recording is what a command buffer becomes.
using Recording = CommandBuffer;

// ---- From a method to an export -------------------------------------------------------------------------------------

namespace detail {

template <size_t kSize>
inline constexpr auto kBindingText = elements_text<kSize>("\1range of ");

// Elements of a type that programs have: how they spell it, and whether elements of another type may stand for them.
// Elements without a sign stand for those with one; bytes, and what programs have no word for, for any.
struct ElementName {
  uint32_t type;
  const char* text;
};
inline constexpr ElementName kElementNames[] = {
    {BATON_ELEMENT_I1, "i1"},    {BATON_ELEMENT_I8, "i8"},   {BATON_ELEMENT_I16, "i16"},   {BATON_ELEMENT_I32, "i32"},
    {BATON_ELEMENT_I64, "i64"},  {BATON_ELEMENT_S8, "si8"},  {BATON_ELEMENT_S16, "si16"},  {BATON_ELEMENT_S32, "si32"},
    {BATON_ELEMENT_S64, "si64"}, {BATON_ELEMENT_U8, "ui8"},  {BATON_ELEMENT_U16, "ui16"},  {BATON_ELEMENT_U32, "ui32"},
    {BATON_ELEMENT_U64, "ui64"}, {BATON_ELEMENT_F16, "f16"}, {BATON_ELEMENT_BF16, "bf16"}, {BATON_ELEMENT_F32, "f32"},
    {BATON_ELEMENT_F64, "f64"},  {0, "another type"},
};
constexpr size_t element_index(uint32_t type) {
  size_t at = 0;
  while (kElementNames[at].type && kElementNames[at].type != type) ++at;
  return at;
}

// What T is to programs; 0: anything. Words of 16 bits without a sign also hold halves, which C++20 has no type for.
template <typename T>
constexpr uint32_t element_of() {
  constexpr uint32_t kClass = 0x100, kBits = 8 * sizeof(T);
  if constexpr (std::same_as<T, bool>) return BATON_ELEMENT_I1;
  if constexpr (std::floating_point<T> && sizeof(T) <= 8) return 4 * kClass | kBits;
  if constexpr (std::integral<T> && sizeof(T) <= 8) return (std::signed_integral<T> ? 2 : 3) * kClass | kBits;
  return 0;
}
template <typename T>
constexpr bool takes_elements(uint32_t told) {
  constexpr uint32_t kOwn = element_of<T>(), kClasses = 0xff00;
  if (!told || !kOwn || told == kOwn) return true;
  if (std::integral<T> && told == ((kOwn & ~kClasses) | 0x100)) return true;
  if (std::integral<T> && sizeof(T) == 1 && told == BATON_ELEMENT_I1) return true;
  return std::same_as<T, uint16_t> && (told == BATON_ELEMENT_F16 || told == BATON_ELEMENT_BF16);
}

// "\2f32, not of i32": what refuse() writes about elements that T doesn't take.
template <typename T>
consteval auto element_texts() {
  std::array<std::array<char, 40>, std::size(kElementNames)> texts{};
  for (size_t i = 0; i < texts.size(); ++i) {
    size_t at = 0;
    const std::string_view pieces[] = {"\2", kElementNames[element_index(element_of<T>())].text, ", not of ",
                                       kElementNames[i].text};
    for (const std::string_view piece : pieces) {
      for (const char c : piece) texts[i][at++] = c;
    }
  }
  return texts;
}
template <typename T>
inline constexpr auto kElementTexts = element_texts<T>();

// Slot, buffer, offset, length. Bits 32 and 33 of the slot are the access that the program states, bits 34 to 55 the
// element type and the rank of the tensor.
template <typename T>
struct Parameter<Binding<T>> {
  static constexpr bool kChecked = true;
  static constexpr int kValues = 3, kRefs = 1;
  static constexpr int kAccessShift = 32, kEndShift = 56;

  template <typename Out>
  static constexpr void write(Out& out) {
    out('I');
    write_ref(out, Buffer::kTypeName);
    write_text(out, "II");
  }
  static const char* mismatch(Cursor& at) {
    const baton_object* buffer = *at.refs;
    const int64_t slot = at.values[0].i64, offset = at.values[1].i64, length = at.values[2].i64;
    if (buffer && buffer->type != Buffer::object_type()) [[unlikely]]
      return Buffer::kTypeName;
    const bool ranges = slot >> kEndShift == 0 && offset >= 0 && length >= -1;  // a negative slot has high bits
    const uint32_t told = BATON_SLOT_ELEMENT_TYPE(slot);
    if (ranges && !takes_elements<std::remove_const_t<T>>(told)) [[unlikely]]
      return kElementTexts<std::remove_const_t<T>>[element_index(told)].data();
    const bool fits = (length == -1 || static_cast<uint64_t>(length) % sizeof(T) == 0) &&
                      static_cast<uint64_t>(offset) % alignof(T) == 0;
    if (!ranges || !fits) [[unlikely]]
      return kBindingText<sizeof(T)>.data();
    at.values += kValues;
    at.refs += kRefs;
    return nullptr;
  }
  static Binding<T> read(Cursor& at) {
    const baton_value* values = std::exchange(at.values, at.values + kValues);
    auto* buffer = reinterpret_cast<baton_buffer*>(*at.refs++);
    baton_binding range = {buffer, static_cast<uint32_t>(values[0].bits), BATON_SLOT_ACCESS(values[0].bits),
                           values[1].bits, values[2].bits};
    if (buffer && range.length == kWholeLength) [[unlikely]]
      range.length = whole(*reinterpret_cast<Buffer*>(buffer), range.offset);
    if constexpr (std::is_const_v<T>) range.access = BATON_ACCESS_READ;
    return Binding<T>(range, values[0].bits);
  }

 private:
  // An offset behind the end leaves nothing; the command that takes it fails with a message.
  static uint64_t whole(const Buffer& buffer, uint64_t offset) {
    return buffer.length() < offset ? 0 : buffer.length() - offset;
  }
};

template <typename F>
struct CommandShape {
  static constexpr bool kRecords = false;
};
template <typename C, typename R, typename... P>
struct CommandShape<R (C::*)(CommandBuffer&, P...)> {
  static constexpr bool kRecords = true;
};
template <typename C, typename R, typename... P>
struct CommandShape<R (C::*)(CommandBuffer&, P...) const> : CommandShape<R (C::*)(CommandBuffer&, P...)> {};
template <typename R, typename... P>
struct CommandShape<R (*)(CommandBuffer&, P...)> {
  static constexpr bool kRecords = true;
};

}  // namespace detail

// BATON_COMMAND makes one: a method of the module's class, or a function, that takes the recording first.
template <auto kFunction>
constexpr Export command(const char* name, Traits traits) {
  static_assert(detail::CommandShape<decltype(kFunction)>::kRecords,
                "a command is a function whose first parameter is CommandBuffer&");
  return function<kFunction>(name, traits | BATON_TRAIT_COMMAND | BATON_TRAIT_TYPED_TENSORS);
}

}  // namespace baton::sdk
