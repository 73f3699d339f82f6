// Goal: a custom command that records with Vulkan itself, while it records (rec.vulkan()) or in a foreign function
// (here.vulkan()), does so on a Vulkan device, gets nothing on one that runs nothing, and is refused by name elsewhere.
#include "modules/sdk/vulkan.hpp"

#include <gtest/gtest.h>

#include "hal/allocator.hpp"
#include "hal/drivers/null/driver.hpp"
#include "hal/drivers/vulkan/buffer.hpp"
#include "hal/queue.hpp"
#include "modules/native_module.hpp"
#include "modules/sdk/module.hpp"
#include "tests/modules/hal_module/device_program.hpp"
#include "tests/support/vulkan_validation.hpp"

namespace baton::modules {
namespace {

namespace vulkan = hal::drivers::vulkan;

// The library knows Vulkan and the buffer that it works on, and nothing of Baton.
class Fills final : public sdk::Module<Fills> {
 public:
  // The words of the buffer := value; recorded at once.
  Status now(CommandBuffer& rec, uint32_t value, Binding<uint32_t> x) {
    BATON_ASSIGN_OR_RETURN(const baton_vulkan_command_buffer on, rec.vulkan().command_buffer());
    return fill(on, 0, x.size() * 4, value);
  }
  // The same with the second word, when a table is there.
  Status later(CommandBuffer& rec, uint32_t value, Binding<uint32_t> x) {
    return rec.foreign(
        [value](Foreign& here, DeviceSpan<uint32_t>) -> Status {
          BATON_ASSIGN_OR_RETURN(const baton_vulkan_command_buffer on, here.vulkan().command_buffer());
          return fill(on, 4, 4, value);
        },
        x);
  }

  static inline VkBuffer buffer = VK_NULL_HANDLE;
  static inline uint64_t offset = 0;

 private:
  static Status fill(const baton_vulkan_command_buffer& on, uint64_t first, uint64_t bytes, uint32_t value) {
    if (!on.command_buffer) return {};  // Nothing is run.
    const auto find = reinterpret_cast<PFN_vkGetDeviceProcAddr>(on.get_device_proc_addr);
    const auto entry = reinterpret_cast<PFN_vkCmdFillBuffer>(find(static_cast<VkDevice>(on.device), "vkCmdFillBuffer"));
    entry(static_cast<VkCommandBuffer>(on.command_buffer), buffer, offset + first, bytes, value);
    return {};
  }
};
BATON_MODULE_QUERY(query_fills, Fills, "fills", BATON_COMMAND("now", &Fills::now, sdk::kCaptureSafe),
                   BATON_COMMAND("later", &Fills::later, sdk::kCaptureSafe));

constexpr std::string_view kProgram = R"(
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
import @fills.now(hal.command_buffer, i32, i64, hal.buffer, i64, i64)
import @fills.later(hal.command_buffer, i32, i64, hal.buffer, i64, i64)
rodata @name = "fills"
; All words of the buffer := 7, then the second := 8.
export func @record(%x: hal.buffer) -> hal.recording {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r1
  rodata %r2, @name
  const.i32 %v0, 1
  const.i32 %v1, 0
  call.import @hal.command_buffer.create, %v0, %r1
  ref.copy %r2, %r1
  ref.copy %r3, %x
  const.i32 %v0, 7
  const.i64 %v1, 0
  const.i64 %v2, 0
  const.i64 %v3, 16
  call.import @fills.now, %v0, %r2
  ref.copy %r2, %r1
  ref.null %r3
  const.i32 %v0, 8
  const.i64 %v1, 0
  const.i64 %v2, 0
  const.i64 %v3, 16
  call.import @fills.later, %v0, %r2
  call.import @hal.command_buffer.finish, %v0, %r1
  ref.move %r0, %r1
  return
}
)";

class Lines final : public hal::drivers::null::TraceSink {
 public:
  void write(std::string_view line) override { all += line; }
  std::string all;
};

// The recording of the program on `device` with a buffer of four words.
class OnDevice {
 public:
  explicit OnDevice(Ref<hal::Device> device) : device_(std::move(device)) {
    auto module = NativeModule::make(query_fills);
    EXPECT_OK(module);
    program_.emplace(std::vector<Ref<const vm::Module>>{hal_module_on({device_}), *module}, kProgram);
    buffer_ = device_->allocator()
                  .allocate({.length = 16, .memory = hal::MemoryKind::kDeviceLocal | hal::MemoryKind::kHostVisible})
                  .value();
  }
  hal::Buffer& buffer() { return *buffer_; }
  Result<Ref<hal::Recording>> record() {
    const auto handle = wrap(buffer_);
    BATON_TRY(program_->call("record",
                             {vm::Value::of(reinterpret_cast<vm::Object*>(static_cast<baton_object*>(handle.get())))}));
    const auto owned = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(program_->results.at(0).ref));
    return Ref<hal::Recording>(unwrap<hal::Recording>(owned.get()));
  }
  Status run(hal::Recording& recording) {
    const hal::BufferRange table[] = {buffer_};
    BATON_TRY_ASSIGN(const Ref<hal::Semaphore> done, device_->make_semaphore(0));
    const hal::SemaphorePoint point(done, 1);
    BATON_TRY(device_->queue().execute({.signals = {&point, 1}}, recording, {.buffers = table}));
    return done->wait(1);
  }

 private:
  const Ref<hal::Device> device_;
  std::optional<LinkedProgram> program_;
  Ref<hal::Buffer> buffer_;
};

TEST(VulkanCommandsTest, AreRecordedInTheirPlace) {
  auto device = testing_support::open_watched_vulkan();
  if (!device.has_value()) GTEST_SKIP() << "skipped: no Vulkan device (" << device.error().message() << ")";
  OnDevice setup(*device);
  const vulkan::Block& block = static_cast<const vulkan::Buffer&>(setup.buffer()).block();
  Fills::buffer = block.slab->buffer;
  Fills::offset = block.offset;
  auto recording = setup.record();
  ASSERT_OK(recording);
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_OK(setup.run(**recording));
    const auto mapping = setup.buffer().map(hal::Access::kReadWrite);
    const auto words = mapping->as<uint32_t>();
    EXPECT_EQ(std::vector<uint32_t>(words.begin(), words.end()), (std::vector<uint32_t>{7, 8, 7, 7}));
    std::fill(words.begin(), words.end(), 0u);
  }
}

TEST(VulkanCommandsTest, AreNothingWhereNothingRuns) {
  const auto trace = std::make_shared<Lines>();
  auto device = hal::drivers::null::make_driver({.sink = trace})->open("", {});
  ASSERT_OK(device);
  OnDevice setup(*device);
  auto recording = setup.record();
  ASSERT_OK(recording);
  ASSERT_OK(setup.run(**recording));
  EXPECT_NE(trace->all.find("foreign function=fills.now (vulkan.command_buffer.v1) "), std::string::npos) << trace->all;
  EXPECT_NE(trace->all.find("foreign function=fills.later "), std::string::npos) << trace->all;
}

TEST(VulkanCommandsTest, AreRefusedByNameElsewhere) {
  OnDevice setup(open_device("local-sync"));
  EXPECT_FAILS(setup.record(), StatusCode::kUnimplemented,
               "in a recording on device 'local-sync', which command 'fills.now'");
}

}  // namespace
}  // namespace baton::modules
