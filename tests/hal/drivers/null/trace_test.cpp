// The null device's trace: every command with its sizes, as text and as JSON lines, and every hazard by name.
#include "hal/drivers/null/trace.hpp"

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::null {
namespace {

class Memory final : public TraceSink {
 public:
  void write(std::string_view lines) override { told += lines; }
  std::string told;
};

class TraceTest : public testing::Test {
 protected:
  void open(bool json) {
    sink_ = std::make_shared<Memory>();
    device_ = make_driver({.sink = sink_, .json = json})->open("", {}).value();
    first_ = device_->allocator().allocate({.length = 64}).value();
    second_ = device_->allocator().allocate({.length = 64}).value();
    const EntryPoint expected[] = {{.name = "mul", .constant_count = 1, .binding_count = 2}};
    const ExecutableVariant variant{"embedded-elf-x86_64", {}};
    executable_ = device_->make_executable({.name = "lib", .variants = {&variant, 1}, .expected = expected}).value();
  }

  // fill first; dispatch first, slot 0 → second; copy second → first; with barriers between or without.
  std::string tell(bool with_barriers) {
    const auto commands = device_->make_command_buffer({.name = "prefill", .slot_count = 1}).value();
    EXPECT_OK(commands->fill_buffer({.target = first_, .pattern = 7}));
    if (with_barriers) {
      EXPECT_OK(commands->barrier({}));
    }
    const uint32_t constant = 64;
    const Binding bindings[] = {Binding(first_, Access::kRead), Binding(Slot{0}, 16, kWholeLength, Access::kWrite)};
    EXPECT_OK(commands->dispatch(
        {.executable = executable_.get(), .grid = {8, 1, 1}, .constants = {&constant, 1}, .bindings = bindings}));
    if (with_barriers) {
      EXPECT_OK(commands->barrier({}));
    }
    EXPECT_OK(commands->copy_buffer(
        {.source = BufferRange(second_.get(), 32, 16), .target = BufferRange(first_.get(), 0, 16)}));
    const BufferRange table[] = {second_};
    EXPECT_OK(device_->queue().execute({}, *commands->finish().value(), {.buffers = table}));
    return std::exchange(sink_->told, "");
  }

  std::shared_ptr<Memory> sink_;
  Ref<hal::Device> device_;
  Ref<Buffer> first_, second_;
  Ref<hal::Executable> executable_;
};

TEST_F(TraceTest, TellsCommandsAsText) {
  open(false);
  EXPECT_EQ(tell(true),
            "execute \"prefill\" #0 5 commands\n"
            "  0 fill_buffer target=buffer 0[0, 64) pattern=7 pattern_bytes=4 | writes 64\n"
            "  1 barrier bindings=[]\n"
            "  2 dispatch entry_point=lib.mul grid=(8, 1, 1) constants=[64] bindings=[buffer 0[0, 64) read, "
            "slot 0=buffer 1[16, 64) write] | 8 workgroups, reads <= 64, writes <= 48\n"
            "  3 barrier bindings=[]\n"
            "  4 copy_buffer source=buffer 1[32, 48) target=buffer 0[0, 16) | reads 16, writes 16\n");
}

TEST_F(TraceTest, NamesHazardsWithBothCommands) {
  open(false);
  const std::string told = tell(false);
  EXPECT_EQ(
      told.substr(told.find('!')),
      "! read_after_write: dispatch 1 reads buffer 0[0, 64) that fill_buffer 0 writes, with no barrier between them\n"
      "! write_after_write: copy_buffer 2 writes buffer 0[0, 16) that fill_buffer 0 writes, with no barrier between "
      "them\n"
      "! write_after_read: copy_buffer 2 writes buffer 0[0, 16) that dispatch 1 reads, with no barrier between them\n");
}

TEST_F(TraceTest, TellsCommandsAsJsonLines) {
  open(true);
  EXPECT_EQ(tell(true),
            R"({"event":"execute","recording":"prefill","execution":0,"commands":5}
{"event":"command","command":"fill_buffer","index":0,"target":{"buffer":0,"offset":0,"length":64},"pattern":7,"pattern_bytes":4,"work":{"bytes_read":0,"bytes_written":64,"workgroups":0,"bounded":true}}
{"event":"command","command":"barrier","index":1,"bindings":[],"work":{"bytes_read":0,"bytes_written":0,"workgroups":0,"bounded":true}}
{"event":"command","command":"dispatch","index":2,"entry_point":"lib.mul","grid":[8,1,1],"constants":[64],"bindings":[{"buffer":0,"offset":0,"length":64,"access":"read"},{"slot":0,"buffer":1,"offset":16,"length":48,"access":"write"}],"work":{"bytes_read":64,"bytes_written":48,"workgroups":8,"bounded":false}}
{"event":"command","command":"barrier","index":3,"bindings":[],"work":{"bytes_read":0,"bytes_written":0,"workgroups":0,"bounded":true}}
{"event":"command","command":"copy_buffer","index":4,"source":{"buffer":1,"offset":32,"length":16},"target":{"buffer":0,"offset":0,"length":16},"work":{"bytes_read":16,"bytes_written":16,"workgroups":0,"bounded":true}}
)");
  EXPECT_NE(
      tell(false).find(
          R"~({"event":"hazard","kind":"read_after_write","first":{"command":"fill_buffer","index":0},"second":{"command":"dispatch","index":1},"range":"buffer 0[0, 64)"})~"),
      std::string::npos);
}

TEST_F(TraceTest, HostCallsAreToldAndNotCalled) {
  open(false);
  const auto function = make_host_function("explode", [](const HostCallArguments&) -> Status { std::abort(); });
  EXPECT_OK(device_->queue().host_call({}, *function));
  EXPECT_EQ(sink_->told, "host_call explode\n");
}

}  // namespace
}  // namespace baton::hal::drivers::null
