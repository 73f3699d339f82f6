// What the Vulkan driver costs beside raw Vulkan in the same process, on the same VkDevice and queue: vulkan_bench
// [device]. Without a device it says so and ends well.
//
// n dispatches of one thread, no barrier between them, each with a binding in a slot of its own. Microseconds, medians;
// ours and raw by turns. `record` is from an empty command buffer to what can be submitted, the first submission
// included (ours encodes then). `submit` is what the call costs when nothing changed, `patch` when every slot did;
// `done` is submit and wait. `slots`, `patch-1`, `patch-10` and `patch-100` are the same with a SlotTable, when nothing and when so many
// slots changed. `copy` is one of 64 MiB between buffers of the device, in GB/s of bytes copied, and raw is vkCmdCopyBuffer. Raw has the same table of records in host memory and stores into it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "hal/commands/all.hpp"
#include "hal/drivers/vulkan/barriers.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/driver.hpp"
#include "hal/drivers/vulkan/executable.hpp"
#include "hal/slot_table.hpp"
#include "vulkan_kernel_spv.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

template <typename Work>
double microseconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::exit(1);
}

// What somebody writes who needs nothing but this.
class Raw {
 public:
  Raw(Device& device, const Pipeline& pipeline, uint32_t count)
      : context_(device.context()), memory_(device.memory()), pipeline_(pipeline), count_(count) {
    table_ = memory_.take(uint64_t{count} * 32, BlockKind::kHost).value();
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = context_.facts().queue_family;
    symbols().vkCreateCommandPool(context_.handle(), &pool, nullptr, &pool_);
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool_;
    info.commandBufferCount = 1;
    symbols().vkAllocateCommandBuffers(context_.handle(), &info, &commands_);
    VkSemaphoreTypeCreateInfo type{};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo semaphore{};
    semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    semaphore.pNext = &type;
    symbols().vkCreateSemaphore(context_.handle(), &semaphore, nullptr, &semaphore_);
  }
  ~Raw() {
    symbols().vkDestroySemaphore(context_.handle(), semaphore_, nullptr);
    symbols().vkDestroyCommandPool(context_.handle(), pool_, nullptr);
    memory_.give(table_);
  }

  void record() {
    symbols().vkResetCommandPool(context_.handle(), pool_, 0);
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    symbols().vkBeginCommandBuffer(commands_, &begin);
    first_barrier(symbols(), commands_);
    symbols().vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, *pipeline_.handle());
    for (uint32_t i = 0; i < count_; ++i) {
      const uint64_t address = table_.address() + 32 * i;
      symbols().vkCmdPushConstants(commands_, pipeline_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, &address);
      symbols().vkCmdDispatch(commands_, 1, 1, 1);
    }
    last_barrier(symbols(), commands_);
    symbols().vkEndCommandBuffer(commands_);
  }
  void record_copy(const Block& source, const Block& target, uint64_t length) {
    symbols().vkResetCommandPool(context_.handle(), pool_, 0);
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    symbols().vkBeginCommandBuffer(commands_, &begin);
    const VkBufferCopy copy = {source.offset, target.offset, length};
    symbols().vkCmdCopyBuffer(commands_, source.slab->buffer, target.slab->buffer, 1, &copy);
    symbols().vkEndCommandBuffer(commands_);
  }
  void patch(std::span<const uint64_t> addresses) {
    for (size_t i = 0; i < addresses.size(); ++i) std::memcpy(table_.host() + 32 * i, &addresses[i], 8);
  }
  void submit() {
    ++value_;
    VkTimelineSemaphoreSubmitInfo timeline{};
    timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    timeline.signalSemaphoreValueCount = 1;
    timeline.pSignalSemaphoreValues = &value_;
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &timeline;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands_;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &semaphore_;
    symbols().vkQueueSubmit(context_.queue(), 1, &info, VK_NULL_HANDLE);
  }
  void wait() {
    VkSemaphoreWaitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore_;
    info.pValues = &value_;
    symbols().vkWaitSemaphores(context_.handle(), &info, ~uint64_t{0});
  }

 private:
  const DeviceSymbols& symbols() const { return context_.symbols(); }

  Context& context_;
  Memory& memory_;
  const Pipeline& pipeline_;
  const uint32_t count_;
  Block table_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  uint64_t value_ = 0;
};

Ref<hal::Recording> record(Device& device, hal::Executable& executable, uint32_t count) {
  auto commands = device.make_command_buffer({.slot_count = std::min(count, kSlotsMax)}).value();
  const uint32_t constant = 7;
  for (uint32_t i = 0; i < count; ++i) {
    const Binding binding(Slot{i % kSlotsMax}, 0, 4);
    must(commands->dispatch({.executable = &executable, .constants = {&constant, 1}, .bindings = {&binding, 1}}));
  }
  return commands->finish().value();
}

struct Row {
  std::vector<double> record, submit, patch, done, slots;
};

void print(uint32_t count, const char* what, const std::vector<double>& ours, const std::vector<double>& raw) {
  std::printf("%6u  %-8s %10.2f %10.2f %8.2f\n", count, what, median(ours), median(raw), median(ours) / median(raw));
}

void measure(Device& device, hal::Executable& executable, const Pipeline& pipeline, uint32_t count) {
  const uint32_t slots = std::min(count, kSlotsMax);
  const auto memory = device.allocator().allocate({.length = uint64_t{slots} * 512}).value();
  std::vector<BufferRange> tables[2];
  std::vector<uint64_t> addresses[2];
  for (uint32_t side = 0; side < 2; ++side) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t offset = uint64_t{i % slots} * 512 + 256 * side;
      if (i < slots) tables[side].emplace_back(memory.get(), offset, 4);
      addresses[side].push_back(static_cast<const Buffer&>(*memory).address() + offset);
    }
  }
  Raw raw(device, pipeline, count);
  const auto idle = [&] { must(device.queue().wait_idle()); };
  Row ours, theirs;
  Ref<hal::Recording> recording;
  const int rounds = count >= 1000 ? 9 : 40;
  for (int round = 0; round < rounds; ++round) {
    recording = nullptr;
    ours.record.push_back(microseconds([&] {
      recording = record(device, executable, count);
      must(device.queue().execute({}, *recording, {.buffers = tables[0]}));
    }));
    idle();
    theirs.record.push_back(microseconds([&] {
      raw.record();
      raw.patch(addresses[0]);
      raw.submit();
    }));
    raw.wait();
  }
  SlotTable slot_table(slots);
  for (uint32_t i = 0; i < slots; ++i) slot_table.set(i, tables[0][i]);
  for (int round = 0; round < 2 * rounds; ++round) {
    const auto& table = tables[1];  // The SlotTable of the round before left the other one bound.
    ours.patch.push_back(microseconds([&] { must(device.queue().execute({}, *recording, {.buffers = table})); }));
    idle();
    ours.submit.push_back(microseconds([&] { must(device.queue().execute({}, *recording, {.buffers = table})); }));
    idle();
    const auto done = device.make_semaphore(0).value();
    const SemaphorePoint signal(done, 1);
    ours.done.push_back(microseconds([&] {
      must(device.queue().execute({.signals = {&signal, 1}}, *recording, {.buffers = table}));
      must(done->wait(1));
    }));
    must(device.queue().execute({}, *recording, slot_table.table()));
    idle();
    ours.slots.push_back(microseconds([&] { must(device.queue().execute({}, *recording, slot_table.table())); }));
    idle();
    theirs.patch.push_back(microseconds([&] {
      raw.patch(addresses[round % 2]);
      raw.submit();
    }));
    raw.wait();
    theirs.submit.push_back(microseconds([&] { raw.submit(); }));
    raw.wait();
    theirs.done.push_back(microseconds([&] {
      raw.submit();
      raw.wait();
    }));
  }
  print(count, "record", ours.record, theirs.record);
  print(count, "submit", ours.submit, theirs.submit);
  print(count, "patch", ours.patch, theirs.patch);
  print(count, "slots", ours.slots, theirs.submit);
  print(count, "done", ours.done, theirs.done);
  for (const uint32_t changed : {1u, 10u, 100u}) {
    if (changed > count) continue;
    Row some, raw_some;
    for (int round = 0; round < 2 * rounds; ++round) {
      const uint32_t first = static_cast<uint32_t>(round) * 7 % (slots - changed + 1);
      // What raw took may be longer than the driver keeps a table: the last execution has the slots as they were.
      for (uint32_t i = first; i < first + changed; ++i) slot_table.set(i, tables[0][i]);
      must(device.queue().execute({}, *recording, slot_table.table()));
      idle();
      some.patch.push_back(microseconds([&] {
        for (uint32_t i = first; i < first + changed; ++i) slot_table.set(i, tables[1][i]);
        must(device.queue().execute({}, *recording, slot_table.table()));
      }));
      idle();
      for (uint32_t i = first; i < first + changed; ++i) slot_table.set(i, tables[0][i]);
      raw_some.patch.push_back(microseconds([&] {
        raw.patch({&addresses[round % 2][first], changed});
        raw.submit();
      }));
      raw.wait();
    }
    print(count, text("patch-", changed).c_str(), some.patch, raw_some.patch);
  }
}

void measure_copy(Device& device, const Pipeline& pipeline) {
  constexpr uint64_t kBytes = uint64_t{64} << 20;
  const auto source = device.allocator().allocate({.length = kBytes}).value();
  const auto target = device.allocator().allocate({.length = kBytes}).value();
  const auto commands = device.make_command_buffer({.name = "copy"}).value();
  must(commands->copy_buffer({.source = Binding(source), .target = Binding(target)}));
  const auto recording = commands->finish().value();
  Raw raw(device, pipeline, 1);
  raw.record_copy(static_cast<const Buffer&>(*source).block(), static_cast<const Buffer&>(*target).block(), kBytes);
  std::vector<double> ours, theirs;
  for (int round = 0; round < 9; ++round) {
    ours.push_back(kBytes / 1e3 / microseconds([&] {
                     must(device.queue().execute({}, *recording));
                     must(device.queue().wait_idle());
                   }));
    theirs.push_back(kBytes / 1e3 / microseconds([&] {
                       raw.submit();
                       raw.wait();
                     }));
  }
  print(1, "copy", ours, theirs);
}

// The answer before the times.
void check(Device& device, hal::Executable& executable) {
  const auto target = device.allocator().allocate({.length = 4}).value();
  const BufferRange table[] = {target};
  must(device.queue().execute({}, *record(device, executable, 1), {.buffers = table}));
  must(device.queue().wait_idle());
  if (target->map(Access::kRead)->as<uint32_t>()[0] == 7) return;
  must(failure(StatusCode::kInternal, "The kernel did not write 7."));
}

int run(std::string_view path) {
  const auto driver = make_driver();
  auto opened = driver->open(path, {});
  if (!opened.has_value()) {
    std::printf("skipped: %s\n", opened.error().to_string().c_str());
    return opened.error().code() == StatusCode::kUnavailable ? 0 : 1;
  }
  auto& device = static_cast<Device&>(**opened);
  const ExecutableVariant variants[] = {{"spirv", std::as_bytes(std::span(vulkan_kernel_spv))}};
  const auto executable = device.make_executable({.name = "kernel", .variants = variants}).value();
  check(device, *executable);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("%s, microseconds, medians\n", device.context().facts().name.c_str());
  std::printf("%6s  %-8s %10s %10s %8s\n", "n", "", "ours", "raw", "ratio");
  const Pipeline& pipeline = static_cast<const Executable&>(*executable).pipeline(0);
  for (const uint32_t count : {1u, 100u, 1000u, 5000u}) measure(device, *executable, pipeline, count);
  measure_copy(device, pipeline);
  return 0;
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan

int main(int count, char** arguments) { return baton::hal::drivers::vulkan::run(count > 1 ? arguments[1] : ""); }
