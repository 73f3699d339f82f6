#include "modules/kernel_library/library_kernel.hpp"

#include <algorithm>
#include <cstring>

#include "hal/allocator.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/device_limits.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "modules/device_door.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/hal_module/stack_list.hpp"
#include "modules/kernel_library/kernel_library.hpp"

namespace baton::modules {
namespace {

constexpr size_t kPreparedMax = 32;
constexpr size_t kBindingsMax = hal::DeviceLimits{}.bindings_max;
constexpr size_t kWordsMax = hal::DeviceLimits{}.constants_max;

static_assert(sizeof(baton_kernel_argument) == sizeof(hal::KernelArgument));

bool is_binding(const baton_kernel_argument& argument) { return argument.size == BATON_KERNEL_BINDING; }
const baton_binding& binding_of(const baton_kernel_argument& argument) {
  return *static_cast<const baton_binding*>(argument.data);
}
hal::Buffer* buffer_of(const baton_binding& binding) {
  return unwrap<hal::Buffer>(reinterpret_cast<baton_object*>(binding.buffer));
}

hal::LaunchAttributes attributes_of(const baton_kernel_launch& launch) {
  hal::LaunchAttributes attributes;
  std::copy(std::begin(launch.cluster), std::end(launch.cluster), attributes.cluster_size);
  attributes.cooperative = launch.flags & BATON_KERNEL_COOPERATIVE;
  attributes.early = launch.flags & BATON_KERNEL_EARLY;
  attributes.priority = launch.priority;
  return attributes;
}

Status too_many_bytes(std::string_view kernel) {
  return failure(StatusCode::kOutOfRange, "Kernel '", kernel, "' is given more than ", 4 * kWordsMax,
                 " bytes of numbers and structs; a dispatch has no more.");
}

// Before any of them is read.
Status check_arguments(std::string_view kernel, Kernel::Arguments arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const baton_kernel_argument& argument = arguments[i];
    if (!argument.data && argument.size != 0) {
      return failure(StatusCode::kInvalidArgument, "Argument ", i, " of kernel '", kernel, "' is null, and stands for ",
                     is_binding(argument) ? text("a range of a buffer.") : text(argument.size, " bytes."));
    }
    if (!is_binding(argument) && argument.size > 4 * kWordsMax) return too_many_bytes(kernel);
  }
  return {};
}

// What a dispatch takes: bindings in their order, and everything else as words, where the code has it, else in its order.
struct DispatchArguments {
  StackList<baton_binding, kBindingsMax> bindings;
  StackList<uint32_t, kWordsMax> words;
};

Status split(const hal::EntryPoint& entry, Kernel::Arguments arguments, DispatchArguments& split) {
  const std::string_view kernel = entry.name;
  std::byte* placed = nullptr;
  if (entry.places_known && entry.constant_count != 0) {
    if (entry.constant_count > kWordsMax) return too_many_bytes(kernel);
    placed = reinterpret_cast<std::byte*>(&split.words.push(0));
    while (split.words.size() < entry.constant_count) split.words.push(0);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const baton_kernel_argument& argument = arguments[i];
    if (is_binding(argument)) {
      if (split.bindings.size() == kBindingsMax) {
        return failure(StatusCode::kOutOfRange, "Kernel '", kernel, "' is given more than ", kBindingsMax,
                       " buffers; a dispatch has no more.");
      }
      split.bindings.push(binding_of(argument));
      continue;
    }
    if (placed) {
      if (argument.size != 0) std::memcpy(placed + entry.parameters[i].place, argument.data, argument.size);
      continue;
    }
    const uint64_t words = (argument.size + 3) / 4;
    if (split.words.size() + words > kWordsMax) return too_many_bytes(kernel);
    for (uint64_t word = 0; word < words; ++word) {
      uint32_t bits = 0;
      std::memcpy(&bits, static_cast<const std::byte*>(argument.data) + 4 * word,
                  std::min<uint64_t>(4, argument.size - 4 * word));
      split.words.push(bits);
    }
  }
  return {};
}

Status translate(std::string_view kernel, const baton_binding& given, hal::Binding& binding) {
  hal::Buffer* buffer = buffer_of(given);
  if (!buffer || given.access > BATON_ACCESS_READ_WRITE) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", kernel, "' is given a range of ",
                   given.buffer ? "no buffer" : "a slot", " and access ", given.access,
                   "; a queue takes buffers, and access 0 to 3.");
  }
  const auto access = static_cast<hal::Access>(given.access ? given.access : BATON_ACCESS_READ_WRITE);
  binding = hal::Binding(hal::BufferRange(buffer, given.offset, given.length), access);
  return {};
}

// The points that a launch waits for or signals; none for null.
Status add_points(std::string_view kernel, const baton_fence* given, std::span<const hal::SemaphorePoint>& points) {
  if (!given) return {};
  const hal::Fence* fence = unwrap<hal::Fence>(reinterpret_cast<baton_object*>(const_cast<baton_fence*>(given)));
  if (!fence) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", kernel,
                   "' is launched to wait for or to signal an object that is no fence.");
  }
  points = fence->points();
  return {};
}

// What the code is given must be what it was made for: the CPU's knows its workgroup, and 1 says none. Only CUDA runs
// workgroups together.
Status check_shape(const hal::Device& device, const hal::EntryPoint& wanted, const hal::EntryPoint& made) {
  const bool together = wanted.launch.cooperative || wanted.launch.has_cluster();
  if (together && (device.name().starts_with("local") || device.name().starts_with("vulkan"))) {
    return failure(StatusCode::kUnimplemented, "Kernel '", wanted.name, "' is launched ",
                   wanted.launch.cooperative ? "as cooperative" : "in clusters", "; device '", device.name(),
                   "' runs each workgroup by itself.");
  }
  const uint32_t(&one)[3] = made.workgroup_size;
  const uint32_t(&other)[3] = wanted.workgroup_size;
  // Where CUDA's code requires no workgroup, it is the launch that says it.
  if (device.name().starts_with("cuda") && (one[0] == 0 || one[1] == 0 || one[2] == 0)) {
    return failure(StatusCode::kOutOfRange, "Kernel '", wanted.name, "' is launched with workgroups of ", one[0], "x",
                   one[1], "x", one[2], ", which have no threads.");
  }
  const auto says = [](const uint32_t(&size)[3]) { return size[0] > 1 || size[1] > 1 || size[2] > 1; };
  if (!says(one) || !says(other) || std::equal(std::begin(one), std::end(one), std::begin(other))) return {};
  return failure(StatusCode::kInvalidArgument, "Kernel '", wanted.name, "' has workgroups of ", one[0], "x", one[1],
                 "x", one[2], "; it is launched with ", other[0], "x", other[1], "x", other[2], ".");
}

// The address of a range, for a stream.
Result<uint64_t> address_of(std::string_view kernel, const baton_kernel_argument& argument, int32_t& ordinal) {
  const baton_binding& binding = binding_of(argument);
  hal::Buffer* buffer = buffer_of(binding);
  const hal::MemoryLocation location = buffer ? buffer->location() : hal::MemoryLocation();
  const bool reached = location.space >= hal::MemorySpace::kCuda;
  if (!reached || binding.offset > buffer->length()) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", kernel, "' is launched on a stream with ",
                   !buffer   ? std::string("a range of no buffer")
                   : reached ? text("offset ", binding.offset, " of a buffer of ", buffer->length(), " bytes")
                             : text("memory of ", hal::location_name(location)),
                   "; it takes buffers that CUDA reaches.");
  }
  if (location.space == hal::MemorySpace::kCuda && ordinal < 0) ordinal = location.ordinal;
  return location.address + binding.offset;
}

}  // namespace

Result<hal::LaunchableKernel*> Kernel::find_launchable() {
  BATON_TRY_ASSIGN(hal::KernelCode * code, library_.code());
  BATON_TRY_ASSIGN(hal::LaunchableKernel * found, code->find(name_));
  launchable_.store(found, std::memory_order_release);
  return found;
}

Status Kernel::launch_on_stream(const baton_kernel_launch& given, Arguments arguments,
                                std::span<const hal::KernelScratch> scratch) {
  hal::LaunchableKernel* kernel = launchable_.load(std::memory_order_acquire);
  if (!kernel) [[unlikely]] {
    BATON_TRY_ASSIGN(kernel, find_launchable());
  }
  hal::KernelLaunch launch;
  std::copy(std::begin(given.grid), std::end(given.grid), launch.grid);
  std::copy(std::begin(given.block), std::end(given.block), launch.block);
  launch.local_memory_bytes = given.shared_bytes;
  launch.attributes = attributes_of(given);
  launch.stream = reinterpret_cast<uintptr_t>(given.stream);
  launch.ordinal = given.ordinal;
  launch.scratch = scratch;
  const std::span<const hal::KernelArgument> values(reinterpret_cast<const hal::KernelArgument*>(arguments.data()),
                                                    arguments.size());
  if (!std::any_of(arguments.begin(), arguments.end(), is_binding)) [[likely]]
    return kernel->launch(launch, values);

  BATON_TRY(check_arguments(name_, arguments));
  std::vector<hal::KernelArgument> resolved(values.begin(), values.end());
  std::vector<uint64_t> addresses(arguments.size());
  int32_t of_buffers = -1;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!is_binding(arguments[i])) continue;
    BATON_TRY_ASSIGN(addresses[i], address_of(name_, arguments[i], of_buffers));
    resolved[i] = {&addresses[i], sizeof(uint64_t)};
  }
  // The streams that every device has are that of the memory's.
  if (launch.ordinal < 0 && launch.stream <= 2) launch.ordinal = of_buffers;
  return kernel->launch(launch, resolved);
}

Result<Kernel::Entry> Kernel::prepare(hal::Device& device, const baton_kernel_launch& launch, Arguments arguments) {
  BATON_TRY(check_arguments(name_, arguments));
  hal::EntryPoint entry;
  entry.name = name_;
  std::copy(std::begin(launch.block), std::end(launch.block), entry.workgroup_size);
  entry.local_memory_bytes = launch.shared_bytes;
  entry.launch = attributes_of(launch);
  for (const baton_kernel_argument& argument : arguments) {
    const bool binding = is_binding(argument);
    const uint64_t bytes = binding ? sizeof(uint64_t) : argument.size;
    entry.parameters.push_back({static_cast<uint16_t>(std::min<uint64_t>(bytes, UINT16_MAX)), binding});
    ++(binding ? entry.binding_count : entry.constant_count);
    if (!binding) entry.constant_count += static_cast<uint32_t>((bytes + 3) / 4) - 1;
  }
  std::lock_guard lock(mutex_);
  const auto known = std::find_if(prepared_.begin(), prepared_.end(), [&](const Prepared& one) {
    return one.device.get() == &device && one.entry == entry;
  });
  if (known != prepared_.end()) {
    std::rotate(prepared_.begin(), known, known + 1);
    return Entry{prepared_.front().executable, prepared_.front().index};
  }
  BATON_TRY_ASSIGN(Ref<hal::Executable> executable, library_.make_executable(device, entry));
  BATON_TRY_ASSIGN(const uint32_t index, executable->find(name_));
  BATON_TRY(check_shape(device, entry, executable->entry_points()[index]));
  if (prepared_.size() == kPreparedMax) prepared_.pop_back();
  prepared_.insert(prepared_.begin(), {Ref<hal::Device>(&device), std::move(entry), std::move(executable), index});
  return Entry{prepared_.front().executable, index};
}

Status Kernel::launch_on_queue(const baton_kernel_launch& launch, Arguments arguments) {
  hal::Device* device = unwrap<hal::Device>(reinterpret_cast<baton_object*>(launch.device));
  if (!device) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", name_, "' is launched on neither a device nor a stream.");
  }
  BATON_TRY_ASSIGN(const Entry prepared, prepare(*device, launch, arguments));
  DispatchArguments parts;
  BATON_TRY(split(prepared.executable->entry_points()[prepared.index], arguments, parts));
  StackList<hal::Binding, kBindingsMax> bindings;
  for (const baton_binding& given : parts.bindings.items()) {
    hal::Binding binding;
    BATON_TRY(translate(name_, given, binding));
    bindings.push(binding);
  }
  BATON_TRY_ASSIGN(const auto commands, device->make_command_buffer({.name = name_}));
  BATON_TRY(commands->dispatch({.executable = prepared.executable.get(),
                                .entry_point = prepared.index,
                                .grid = {launch.grid[0], launch.grid[1], launch.grid[2]},
                                .constants = parts.words.items(),
                                .bindings = bindings.items()}));
  BATON_TRY_ASSIGN(const Ref<hal::Recording> recording, commands->finish());
  hal::Order order;
  BATON_TRY(add_points(name_, launch.wait, order.waits));
  BATON_TRY(add_points(name_, launch.signal, order.signals));
  return device->queue().execute(order, *recording);
}

namespace {

// Scratch memory where a recording holds it for as long as it is executed.
class ScratchBuffers {
 public:
  // The arguments are ranges of it then, for as long as this lives.
  Status bind(hal::Device& device, std::span<const hal::KernelScratch> scratch,
              std::span<baton_kernel_argument> arguments) {
    bindings_.resize(scratch.size());
    for (size_t i = 0; i < scratch.size(); ++i) {
      const uint64_t length = scratch[i].bytes;
      BATON_TRY_ASSIGN(auto buffer, device.allocator().allocate({.length = length,
                                                                 .memory = hal::MemoryKind::kDeviceLocal,
                                                                 .usage = hal::BufferUsage::kDispatch}));
      bindings_[i].buffer = reinterpret_cast<baton_buffer*>(buffers_.emplace_back(wrap(std::move(buffer))).get());
      bindings_[i].length = length;
      bindings_[i].access = BATON_ACCESS_READ_WRITE;
      arguments[scratch[i].argument] = {&bindings_[i], BATON_KERNEL_BINDING};
    }
    return {};
  }

 private:
  std::vector<sdk::Ref<Handle<hal::Buffer>>> buffers_;
  std::vector<baton_binding> bindings_;
};

}  // namespace

Status Kernel::launch_filled(const baton_kernel_launch& launch, Arguments arguments) {
  BATON_TRY_ASSIGN(Filled filled, fill_in(launch, arguments));
  if (launch.flags & BATON_KERNEL_ON_STREAM) return launch_on_stream(filled.launch, filled.arguments, filled.scratch);
  ScratchBuffers scratch;
  if (hal::Device* device = unwrap<hal::Device>(reinterpret_cast<baton_object*>(launch.device))) {
    BATON_TRY_CONTEXT(scratch.bind(*device, filled.scratch, filled.arguments), "for kernel '", name_, "'");
  }
  return launch_on_queue(filled.launch, filled.arguments);
}

Status Kernel::record(baton_command_buffer* commands, const baton_kernel_launch& launch, Arguments arguments) {
  if (defaults_.block == 0) return record_as_is(commands, launch, arguments);
  BATON_TRY_ASSIGN(Filled filled, fill_in(launch, arguments));
  ScratchBuffers scratch;
  if (auto* handle = sdk::cast<Handle<hal::CommandBuffer>>(reinterpret_cast<baton_object*>(commands))) {
    BATON_TRY_CONTEXT(scratch.bind(handle->device(), filled.scratch, filled.arguments), "for kernel '", name_, "'");
  }
  return record_as_is(commands, filled.launch, filled.arguments);
}

Result<uint64_t> Kernel::scratch_bytes(const baton_kernel_launch& launch, uint32_t each) const {
  uint64_t bytes = each;
  for (const uint32_t extent : launch.grid) {
    if (!__builtin_mul_overflow(bytes, uint64_t{extent}, &bytes)) continue;
    return failure(StatusCode::kResourceExhausted, "Kernel '", name_, "' wants ", each,
                   " bytes of scratch memory for each of ", launch.grid[0], "x", launch.grid[1], "x", launch.grid[2],
                   " workgroups, which is more than there can be.");
  }
  return bytes;
}

// A caller that has scratch memory of its own passes the hidden pointers, too.
Result<Kernel::Filled> Kernel::fill_in(const baton_kernel_launch& launch, Arguments arguments) const {
  static constexpr uint64_t kNothing = 0;
  const size_t users = defaults_.parameter_count, all = users + defaults_.hidden_pointers;
  Filled filled = {launch, {arguments.begin(), arguments.end()}, {}};
  if (arguments.size() != users && arguments.size() != all) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", name_, "' takes ", users, " arguments (and ",
                   defaults_.hidden_pointers, " scratch pointers that it gets by itself); ", arguments.size(),
                   " are given.");
  }
  const uint32_t grid_max = hal::DeviceLimits{}.grid_max[0];
  if (launch.grid[0] > grid_max / std::max(defaults_.cluster, 1u)) {
    return failure(StatusCode::kOutOfRange, "Kernel '", name_, "' is launched with ", launch.grid[0], " programs of ",
                   defaults_.cluster, " workgroups each; a grid has ", grid_max, " workgroups at most.");
  }
  baton_kernel_launch& shape = filled.launch;
  shape.grid[0] *= defaults_.cluster;
  shape.block[0] = defaults_.block;
  shape.block[1] = shape.block[2] = 1;
  shape.cluster[0] = defaults_.cluster > 1 ? defaults_.cluster : 0;
  shape.cluster[1] = shape.cluster[2] = shape.cluster[0] ? 1 : 0;
  shape.shared_bytes = defaults_.shared_bytes;
  if (defaults_.cooperative) shape.flags |= BATON_KERNEL_COOPERATIVE;
  if (defaults_.early) shape.flags |= BATON_KERNEL_EARLY;
  for (size_t hidden = 0; filled.arguments.size() < all; ++hidden) {
    BATON_TRY_ASSIGN(const uint64_t bytes, scratch_bytes(shape, defaults_.scratch_bytes[hidden]));
    if (bytes != 0) filled.scratch.push_back({filled.arguments.size(), bytes});
    filled.arguments.push_back({&kNothing, sizeof(kNothing)});
  }
  return filled;
}

Status Kernel::record_as_is(baton_command_buffer* commands, const baton_kernel_launch& launch, Arguments arguments) {
  auto* handle = sdk::cast<Handle<hal::CommandBuffer>>(reinterpret_cast<baton_object*>(commands));
  if (!handle) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", name_,
                   "' is recorded into something that is not a command buffer.");
  }
  BATON_TRY_ASSIGN(Entry prepared, prepare(handle->device(), launch, arguments));
  DispatchArguments parts;
  BATON_TRY(split(prepared.executable->entry_points()[prepared.index], arguments, parts));
  const sdk::Ref<Handle<hal::Executable>> executable = wrap(std::move(prepared.executable));
  const baton_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                   .entry_point = prepared.index,
                                   .executable = reinterpret_cast<baton_executable*>(executable.get()),
                                   .grid = {launch.grid[0], launch.grid[1], launch.grid[2]},
                                   .constant_count = static_cast<uint32_t>(parts.words.size()),
                                   .constants = parts.words.items().data(),
                                   .bindings = parts.bindings.items().data(),
                                   .constant_slots = nullptr,
                                   .binding_count = static_cast<uint32_t>(parts.bindings.size()),
                                   .constant_slot_count = 0};
  return Status::adopt(reinterpret_cast<Status::Failure*>(device_door().recording->dispatch(commands, &dispatch)));
}

}  // namespace baton::modules
