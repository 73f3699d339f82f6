// Commands as text: every field, buffers by number, slots as slots.
#include "hal/drivers/common/command_text.hpp"

#include "hal/allocator.hpp"
#include "hal/drivers/null/driver.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal {
namespace {

TEST(CommandTextTest, SaysWhatWasRecorded) {
  const auto device = drivers::null::make_driver()->open("", {}).value();
  const auto buffer = device->allocator().allocate({.length = 64}).value();
  const auto commands = device->make_command_buffer({.slot_count = 2}).value();
  const uint32_t source[] = {1, 2};
  const BufferRange target(buffer.get(), 0, 8);
  EXPECT_OK(commands->update_buffer({.source = std::as_bytes(std::span(source)), .target = target}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->copy_buffer({.source = target, .target = Binding(Slot{1}, 4, 8)}));
  const auto recording = commands->finish().value();
  BufferNumbers numbers;
  std::string told;
  static_cast<const CommandList&>(*recording).for_each([&](uint32_t index, const auto& command) {
    append_command_text(told, index, command, {numbers});
    told += '\n';
  });
  EXPECT_EQ(told,
            "0 update_buffer source=8 bytes target=buffer 0[0, 8)\n"
            "1 barrier bindings=[]\n"
            "2 copy_buffer source=buffer 0[0, 8) target=slot 1[4, 12)\n");
}

}  // namespace
}  // namespace baton::hal
