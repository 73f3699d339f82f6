// Goal: a custom command records what the program's command buffer then does, on every device, each time on the memory
// of that execution; and nothing that a module or program does wrong with it goes unsaid. Method: programs in text call
// the module of math_module.hpp; their recordings are executed here.
#include "modules/sdk/recording.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/queue.hpp"
#include "modules/host_table.hpp"
#include "modules/native_module.hpp"
#include "tests/modules/hal_module/device_program.hpp"
#include "tests/modules/sdk/math_module.hpp"

namespace baton::modules {
namespace {

#if defined(__cpp_exceptions)
#define THROWING_COMMANDS \
  , BATON_COMMAND("throw_now", &Math::throw_now), BATON_COMMAND("throw_later", &Math::throw_later)
#else
#define THROWING_COMMANDS
#endif
BATON_MODULE_QUERY(query_math, Math, "math", BATON_COMMAND("saxpy", &Math::saxpy, kCaptureSafe | kInPlace),
                   BATON_COMMAND("verbs", &Math::verbs), BATON_COMMAND("keep", &Math::keep),
                   BATON_FUNCTION("use_kept", &Math::use_kept), BATON_COMMAND("fail_later", &Math::fail_later),
                   BATON_COMMAND("overrun", &Math::overrun),
                   BATON_COMMAND("on_cuda", &Math::on_cuda) THROWING_COMMANDS);

// begin() gives device `i`'s command buffer; the exports between take it and give it back as a recording.
constexpr std::string_view kHead = R"(
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
rodata @name = "test"
func @begin(i64) -> hal.command_buffer {
  call.import @hal.devices.get, %v0, %r0
  rodata %r1, @name
  const.i32 %v0, 3
  const.i32 %v1, 0
  call.import @hal.command_buffer.create, %v0, %r0
  return
}
)";
constexpr std::string_view kSaxpy = R"(
import @math.saxpy(hal.command_buffer, i32, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64)
; On device %0: factor, then slot, offset, length of x; y and the scratch stand in slots 1 and 2.
export func @record(%device: i64, %factor: i32, %slot: i64, %offset: i64, %length: i64, %x: hal.buffer) -> hal.recording {
  move %v10, %device
  call @begin, %v10, %r10
  ref.copy %r1, %r10
  move %v10, %factor
  move %v11, %slot
  move %v12, %offset
  move %v13, %length
  const.i64 %v14, 1
  const.i64 %v15, 0
  move %v16, %length
  const.i64 %v17, 2
  const.i64 %v18, 0
  move %v19, %length
  ref.copy %r11, %x
  ref.null %r12
  ref.null %r13
  call.import @math.saxpy, %v10, %r10
  ref.move %r0, %r1
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
)";

// `@record(%device)`: calls one command that takes nothing but the recording.
std::string recording_of(std::string_view command) {
  std::string text(kHead);
  text += "import @math." + std::string(command) + "(hal.command_buffer)\n";
  text += "export func @record(%device: i64) -> hal.recording {\n  call @begin, %v0, %r1\n  ref.copy %r0, %r1\n";
  text += "  call.import @math." + std::string(command) + ", %v0, %r1\n";
  return text + "  call.import @hal.command_buffer.finish, %v0, %r0\n  return\n}\n";
}

Ref<const vm::Module> math_module() {
  auto module = NativeModule::make(query_math);
  EXPECT_OK(module);
  return *module;
}

// A program of "hal" with these devices, "math" and the text.
struct MathProgram : LinkedProgram {
  MathProgram(std::initializer_list<Ref<hal::Device>> devices, std::string_view text)
      : LinkedProgram({hal_module_on(devices), math_module()}, text) {}

  // The recording that a call returned.
  Ref<hal::Recording> recording() {
    const auto owned = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(results.at(0).ref));
    hal::Recording* recording = unwrap<hal::Recording>(owned.get());
    EXPECT_NE(recording, nullptr);
    return Ref<hal::Recording>(recording);
  }
};

Ref<hal::Buffer> buffer_of(hal::Device& device, std::vector<uint32_t> values) {
  auto buffer = device.allocator().allocate({.length = values.size() * 4});
  EXPECT_OK(buffer);
  auto mapping = (*buffer)->map(hal::Access::kDiscardWrite);
  std::copy(values.begin(), values.end(), mapping->as<uint32_t>().begin());
  return *buffer;
}
std::vector<uint32_t> values_of(hal::Buffer& buffer) {
  auto mapping = buffer.map(hal::Access::kRead);
  const auto values = mapping->as<uint32_t>();
  return {values.begin(), values.end()};
}

Status execute(hal::Device& device, hal::Recording& recording, std::vector<hal::BufferRange> table = {}) {
  BATON_TRY_ASSIGN(const Ref<hal::Semaphore> done, device.make_semaphore(0));
  const hal::SemaphorePoint point(done, 1);
  BATON_TRY(device.queue().execute({.signals = {&point, 1}}, recording, {.buffers = table}));
  return done->wait(1);
}

vm::Value i32(int32_t number) { return vm::Value::of(number); }
vm::Value i64(int64_t number) { return vm::Value::of(number); }
const vm::Value kNullRef = vm::Value::of(static_cast<vm::Object*>(nullptr));

class RecordingTest : public testing::TestWithParam<const char*> {
 protected:
  RecordingTest() { math_log = {}; }
  ~RecordingTest() override { math_log = {}; }

  Ref<hal::Device> device_ = open_device(GetParam());
  std::string saxpy_ = std::string(kHead) + std::string(kSaxpy);
};
INSTANTIATE_TEST_SUITE_P(Devices, RecordingTest, testing::Values("local-sync", "local-task"),
                         [](const auto& device) { return std::string(device.param).replace(5, 1, "_"); });

TEST_P(RecordingTest, ComputesOnTenTablesWhatWasRecordedOnce) {
  MathProgram program({device_}, saxpy_);
  ASSERT_OK(program.call("record", {i64(0), i32(3), i64(0), i64(0), i64(100 * 4), kNullRef}));
  const Ref<hal::Recording> recording = program.recording();
  for (uint32_t table = 0; table < 10; ++table) {
    std::vector<uint32_t> xs(100), expected(100);
    std::iota(xs.begin(), xs.end(), 1000 * table);
    for (size_t i = 0; i < xs.size(); ++i) expected[i] = 3 * xs[i] + table;
    const auto x = buffer_of(*device_, xs);
    const auto y = buffer_of(*device_, std::vector<uint32_t>(100, table));
    const auto scratch = buffer_of(*device_, std::vector<uint32_t>(100));
    ASSERT_OK(execute(*device_, *recording, {x, y, scratch}));
    EXPECT_EQ(values_of(*y), expected) << "table " << table;
    EXPECT_EQ(values_of(*x), xs) << "what is only read stays";
  }
  EXPECT_EQ(math_log.lines, (std::vector<std::string>{"prepare " + std::string(GetParam()), "saxpy"}));
}

TEST_P(RecordingTest, TakesBuffersAndRangesOfThem) {
  MathProgram program({device_}, saxpy_);
  const auto x = buffer_of(*device_, {1, 2, 3, 4});
  const auto handle = wrap(x);
  const auto reference = vm::Value::of(reinterpret_cast<vm::Object*>(static_cast<baton_object*>(handle.get())));
  ASSERT_OK(program.call("record", {i64(0), i32(10), i64(0), i64(4), i64(8), reference}));
  const Ref<hal::Recording> recording = program.recording();
  const auto y = buffer_of(*device_, {1, 1});
  ASSERT_OK(execute(*device_, *recording, {hal::BufferRange(), y, buffer_of(*device_, {0, 0})}));
  EXPECT_EQ(values_of(*y), (std::vector<uint32_t>{21, 31}));
}

TEST_P(RecordingTest, RecordsEveryVerb) {
  MathProgram program({device_}, std::string(kHead) + R"(
import @math.verbs(hal.command_buffer, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64)
export func @record(%device: i64) -> hal.recording {
  call @begin, %v0, %r1
  ref.copy %r0, %r1
  const.i64 %v0, 0
  const.i64 %v1, 0
  const.i64 %v2, 20
  const.i64.wide %v3, 0x100000001    ; slot 1, only read
  const.i64 %v4, 0
  const.i64 %v5, 12
  ref.null %r2
  ref.null %r3
  call.import @math.verbs, %v0, %r1
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
)");
  ASSERT_OK(program.call("record", {i64(0)}));
  const auto x = buffer_of(*device_, {0, 0, 0, 0, 0});
  ASSERT_OK(execute(*device_, *program.recording(), {x, buffer_of(*device_, {1, 1, 1})}));
  EXPECT_EQ(values_of(*x), (std::vector<uint32_t>{10, 20, 30, 70, 70}));
}

TEST_P(RecordingTest, PreparesOncePerDeviceBeforeTheFirstCommandThere) {
  const auto second = open_device("null");
  MathProgram program({device_, second}, saxpy_);
  for (int64_t on : {0, 0, 1, 0, 1}) {
    ASSERT_OK(program.call("record", {i64(on), i32(1), i64(0), i64(0), i64(4), kNullRef}));
    program.recording();
  }
  const std::string first = "prepare " + std::string(GetParam());
  EXPECT_EQ(math_log.lines,
            (std::vector<std::string>{first, "saxpy", "saxpy", "prepare null", "saxpy", "saxpy", "saxpy"}));

  // Another context has a state of its own, which has to be prepared as well.
  math_log.lines.clear();
  MathProgram other({device_}, saxpy_);
  ASSERT_OK(other.call("record", {i64(0), i32(1), i64(0), i64(0), i64(4), kNullRef}));
  other.recording();
  EXPECT_EQ(math_log.lines, (std::vector<std::string>{first, "saxpy"}));
}

TEST_P(RecordingTest, FailsTheCallWhenPreparingFailsAndAsksAgain) {
  MathProgram program({device_}, saxpy_);
  math_log.refusals = 1;
  const Status status = program.call("record", {i64(0), i32(1), i64(0), i64(0), i64(4), kNullRef});
  EXPECT_FAILS(status, StatusCode::kResourceExhausted,
               "No room for kernels.\n  while module 'math' prepared for device '" + std::string(GetParam()) +
                   "', before its command 'saxpy'\n  from import 'math.saxpy'\n  at program.record, word ");
  EXPECT_EQ(math_log.lines.size(), 1u) << "the command did not run";
  ASSERT_OK(program.call("record", {i64(0), i32(1), i64(0), i64(0), i64(4), kNullRef}));
  program.recording();
  EXPECT_EQ(math_log.lines.size(), 3u);
}

TEST_P(RecordingTest, RefusesARecordingThatWasKept) {
  MathProgram program({device_}, recording_of("keep") + R"(
import @math.use_kept()
export func @use_kept() { call.import @math.use_kept, %v0, %r0
 return }
)");
  ASSERT_OK(program.call("record", {i64(0)}));
  program.recording();
  EXPECT_FAILS(
      program.call("use_kept"), StatusCode::kFailedPrecondition,
      "A module records outside of a custom command; a command buffer takes its commands only while the command "
      "that received it runs.\n  from import 'math.use_kept'");
}

TEST_P(RecordingTest, SaysWhichCommandWasRefusedAndWhoCalled) {
  MathProgram program({device_}, saxpy_);
  EXPECT_FAILS(program.call("record", {i64(0), i32(1), i64(7), i64(0), i64(4), kNullRef}), StatusCode::kOutOfRange,
               "Copy source names slot 7; the recording has 3 slots.\n"
               "  while recording copy_buffer 0 of command buffer \"test\"\n"
               "  from import 'math.saxpy'\n  at program.record, word ");
}

TEST_P(RecordingTest, RefusesNumbersThatMakeNoRange) {
  MathProgram program({device_}, saxpy_);
  const auto refused = [&](int64_t slot, int64_t offset, int64_t length) {
    return program.call("record", {i64(0), i32(1), i64(slot), i64(offset), i64(length), kNullRef});
  };
  const auto sentence = [](std::string_view numbers) {
    return "Function 'math.saxpy' takes a range of 4-byte elements as argument 2, not " + std::string(numbers) + ".";
  };
  EXPECT_FAILS(refused(-1, 0, 4), StatusCode::kInvalidArgument, sentence("slot -1, offset 0, length 4"));
  EXPECT_FAILS(refused(0, -4, 4), StatusCode::kInvalidArgument, sentence("slot 0, offset -4, length 4"));
  EXPECT_FAILS(refused(0, 0, -2), StatusCode::kInvalidArgument, sentence("slot 0, offset 0, length -2"));
  EXPECT_FAILS(refused(0, 0, 6), StatusCode::kInvalidArgument, sentence("slot 0, offset 0, length 6"));
  EXPECT_FAILS(refused(0, 2, 4), StatusCode::kInvalidArgument, sentence("slot 0, offset 2, length 4"));
}

// The element type stands in the slot argument, as compiled programs tell it; saxpy takes uint32_t.
TEST_P(RecordingTest, RefusesElementsOfAnotherType) {
  MathProgram program({device_}, saxpy_);
  for (const sdk::detail::ElementName& given : sdk::detail::kElementNames) {
    SCOPED_TRACE(given.text);
    const int64_t slot = int64_t{given.type} << 34 | int64_t{1} << 50;  // of rank 1
    const Status status = program.call("record", {i64(0), i32(1), i64(slot), i64(0), i64(4), kNullRef});
    if (!given.type || given.type == BATON_ELEMENT_I32 || given.type == BATON_ELEMENT_U32) {
      ASSERT_OK(status);
      program.recording();
      continue;
    }
    EXPECT_FAILS(status, StatusCode::kInvalidArgument,
                 "Function 'math.saxpy' takes as argument 2 a tensor of ui32, not of " + std::string(given.text) + ".");
  }
  const int64_t unknown = int64_t{0x0980} << 34;
  EXPECT_FAILS(program.call("record", {i64(0), i32(1), i64(unknown), i64(0), i64(4), kNullRef}),
               StatusCode::kInvalidArgument, "not of another type");
}

TEST(BindingTest, ElementsWithoutASignStandForOthersAndBytesForAll) {
  using sdk::detail::takes_elements;
  static_assert(takes_elements<float>(BATON_ELEMENT_F32) && !takes_elements<float>(BATON_ELEMENT_F16));
  static_assert(!takes_elements<float>(BATON_ELEMENT_I32) && !takes_elements<double>(BATON_ELEMENT_F32));
  static_assert(takes_elements<int32_t>(BATON_ELEMENT_I32) && takes_elements<int32_t>(BATON_ELEMENT_S32));
  static_assert(!takes_elements<int32_t>(BATON_ELEMENT_U32) && !takes_elements<int32_t>(BATON_ELEMENT_I64));
  static_assert(takes_elements<uint64_t>(BATON_ELEMENT_I64) && takes_elements<int8_t>(BATON_ELEMENT_I1));
  static_assert(takes_elements<bool>(BATON_ELEMENT_I1) && !takes_elements<bool>(BATON_ELEMENT_F32));
  static_assert(takes_elements<uint16_t>(BATON_ELEMENT_BF16) && !takes_elements<int16_t>(BATON_ELEMENT_BF16));
  for (const sdk::detail::ElementName& given : sdk::detail::kElementNames) {
    EXPECT_TRUE(takes_elements<std::byte>(given.type)) << given.text;
  }
  EXPECT_TRUE(takes_elements<float>(0));
}

TEST_P(RecordingTest, RefusesAnotherThingThanItsCommandBuffer) {
  MathProgram program({device_}, R"(
module @program
import @math.keep(hal.command_buffer)
export func @record() values 0 refs 1 { ref.null %r0
 call.import @math.keep, %v0, %r0
 return }
)");
  EXPECT_FAILS(program.call("record"), StatusCode::kInvalidArgument,
               "Command 'math.keep' records into a 'hal.command_buffer', not null.");
}

TEST_P(RecordingTest, RefusesRangesBeyondTheBuffer) {
  MathProgram program({device_}, std::string(kHead) + R"(
import @math.overrun(hal.command_buffer, i64, hal.buffer, i64, i64)
export func @record(%x: hal.buffer) {
  const.i64 %v0, 0
  call @begin, %v0, %r1
  const.i64 %v0, 0
  const.i64 %v1, 4
  const.i64 %v2, -1
  ref.move %r2, %x
  call.import @math.overrun, %v0, %r1
  return
}
)");
  const auto handle = wrap(buffer_of(*device_, {1, 2, 3}));
  const auto reference = vm::Value::of(reinterpret_cast<vm::Object*>(static_cast<baton_object*>(handle.get())));
  EXPECT_FAILS(program.call("record", {reference}), StatusCode::kOutOfRange,
               "Fill target [4, 16) ends beyond the buffer length (12).\n  while recording fill_buffer 0");
}

TEST_P(RecordingTest, AHostPartThatFailsFailsTheWork) {
  MathProgram program({device_}, recording_of("fail_later"));
  ASSERT_OK(program.call("record", {i64(0)}));
  EXPECT_FAILS(execute(*device_, *program.recording()), StatusCode::kDataLoss,
               "The numbers are gone.\n  in host call 'worrier'");
}

TEST_P(RecordingTest, AnswersOfCudaWhereThereIsNone) {
  MathProgram program({device_}, recording_of("on_cuda"));
  EXPECT_FAILS(program.call("record", {i64(0)}), StatusCode::kUnimplemented,
               "There is no 'cuda.stream.v1'.\n  in a recording on device '" + std::string(GetParam()) +
                   "', which command 'math.on_cuda' asked for it\n  from import 'math.on_cuda'");
  EXPECT_EQ(math_log.lines.back(), "is not cuda");
}

#if defined(__cpp_exceptions)
TEST_P(RecordingTest, TurnsThrowsIntoFailures) {
  MathProgram now({device_}, recording_of("throw_now"));
  EXPECT_FAILS(now.call("record", {i64(0)}), StatusCode::kInternal,
               "Function 'math.throw_now' threw: no std::exception");
  MathProgram later({device_}, recording_of("throw_later"));
  ASSERT_OK(later.call("record", {i64(0)}));
  EXPECT_FAILS(execute(*device_, *later.recording()), StatusCode::kInternal,
               "The host function threw: something that is no std::exception\n  in host call 'math.throw_later'");
}
#endif

TEST(Command, HasTheSignatureOfItsMethod) {
  using namespace sdk;
  EXPECT_STREQ(BATON_COMMAND("saxpy", &Math::saxpy).signature,
               "r<hal.command_buffer>iIr<hal.buffer>IIIr<hal.buffer>IIIr<hal.buffer>II_v");
  constexpr Traits kAlways = BATON_TRAIT_COMMAND | BATON_TRAIT_LEAVES_ARGUMENTS | BATON_TRAIT_TYPED_TENSORS;
  EXPECT_EQ(BATON_COMMAND("keep", &Math::keep).traits, kAlways);
  EXPECT_EQ(BATON_COMMAND("keep", &Math::keep, kHostOnly | kPure).traits,
            kAlways | BATON_TRAIT_HOST_ONLY | BATON_TRAIT_PURE);
}

TEST(Command, IsRefusedWhenItDoesNotTakeACommandBuffer) {
  const auto body = [](baton_call*) -> baton_status* { return nullptr; };
  const baton_export exported = {"record", "i_v", body, nullptr, BATON_TRAIT_COMMAND};
  baton_module_descriptor descriptor = {};
  descriptor.struct_size = sizeof(descriptor);
  descriptor.abi_version = 2;
  descriptor.name = "wrong";
  descriptor.export_stride = sizeof(baton_export);
  descriptor.exports = &exported;
  descriptor.export_count = 1;
  EXPECT_FAILS(
      NativeModule::make(&descriptor), StatusCode::kInvalidArgument,
      "Module 'wrong' has a command 'record' of type 'i_v'; the first argument of a command is its command buffer");
}

TEST(Command, DoesNotLinkWithAnotherSignature) {
  auto bytes = bytecode::assemble("module @program\nimport @math.keep(hal.command_buffer, i32)\n");
  ASSERT_OK(bytes);
  auto module = vm::BytecodeModule::load(bytecode::ModuleBytes::copy(*bytes));
  ASSERT_OK(module);
  const Ref<const vm::Module> modules[] = {hal_module_on({open_device("null")}), math_module(), *module};
  const auto program = vm::Program::link(modules);
  EXPECT_FAILS(program, StatusCode::kInvalidArgument, "math.keep");
  EXPECT_NE(program.error().message().find("(hal.command_buffer, i32)"), std::string_view::npos);
}

TEST(Constants, AreWordsLowFirst) {
  EXPECT_EQ(sdk::constants(), (std::array<uint32_t, 0>{}));
  EXPECT_EQ(sdk::constants(-1, 1.0f, uint64_t{0x100000002}, true),
            (std::array<uint32_t, 5>{0xffffffff, 0x3f800000, 2, 1, 1}));
}

TEST(HostFunction, IsCalledWithWholeElementsOrNotAtAll) {
  int calls = 0;
  const auto count = [&](std::span<const char>, std::span<uint32_t>) { ++calls; };
  sdk::detail::HostCallable<decltype(count), const char, uint32_t> kept{count};
  alignas(uint32_t) char memory[16] = {};
  const auto run = [&](size_t offset, uint64_t size) {
    const baton_bytes bytes[] = {{memory, 3}, {memory + offset, size}};
    const baton_host_arguments arguments = {sizeof(arguments), 2, bytes, nullptr, 0};
    return std::string(sdk::Status::adopt(kept.call(&kept, &arguments)).message());
  };
  EXPECT_EQ(run(0, 12), "");
  EXPECT_EQ(run(0, 0), "");
  EXPECT_EQ(run(0, 10), "The host function takes 4-byte elements as binding 1, not 10 bytes.");
  EXPECT_EQ(run(2, 8),
            "The host function takes 4-byte elements as binding 1, not 8 bytes that are not aligned for them.");
  EXPECT_EQ(calls, 2);
}

TEST(Binding, IsElementsOfARange) {
  const sdk::Binding<float> x(baton_binding{nullptr, 3, 0, 16, 40});
  EXPECT_TRUE(x.is_slot());
  EXPECT_EQ(x.slot(), 3u);
  EXPECT_EQ(x.size(), 10u);
  EXPECT_EQ(x.range().access, BATON_ACCESS_READ_WRITE);
  const sdk::Binding<const float> read = x.subspan(2, 3);
  EXPECT_EQ(read.offset_bytes(), 24u);
  EXPECT_EQ(read.size(), 3u);
  EXPECT_EQ(read.range().access, BATON_ACCESS_READ);
  EXPECT_EQ(x.as<double>().size(), 5u);
  EXPECT_EQ(sdk::Binding<float>(baton_binding{nullptr, 0, 0, 0, BATON_WHOLE_LENGTH}).size(), sdk::kWholeLength);
}

// ---- What a driver learns of a custom command -----------------------------------------------------------------------

// Notes what reaches it, and answers for a stream.
class DriverCommands final : public hal::CommandBuffer {
 public:
  explicit DriverCommands(std::vector<std::string>& log) : log_(log) {}

#define COMMAND(Struct, verb, category) \
  Status verb(const hal::commands::Struct&) override { return note(#verb); }
#include "hal/commands/commands.inc"
#undef COMMAND
  Status begin_custom(const hal::CustomCommand& command) override {
    return note(text("begin ", command.module, ".", command.function, " ", static_cast<uint64_t>(command.traits)));
  }
  Status end_custom(const hal::CustomCommand& command) override {
    BATON_TRY(note(text("end ", command.module, ".", command.function)));
    return broken ? failure(StatusCode::kFailedPrecondition, "The capture is broken.") : Status();
  }
  Status extension(std::string_view name, void* out) override {
    if (name != BATON_CUDA_STREAM_V1) return hal::CommandBuffer::extension(name, out);
    static_cast<baton_cuda_stream*>(out)->stream = &math_log;
    return note(text("extension ", name));
  }
  Result<Ref<hal::Recording>> finish() override { return failure(StatusCode::kUnimplemented, "Not here."); }

  bool broken = false;

 private:
  Status note(std::string line) {
    log_.push_back(std::move(line));
    return {};
  }
  std::vector<std::string>& log_;
};

class CustomCommandTest : public testing::Test {
 protected:
  CustomCommandTest() { math_log = {}; }

  // Calls an export of "math" as a program would, with nothing but the command buffer.
  Status call(std::string_view name) {
    const auto index = module_->find_export(name);
    const vm::NativeFunction function = module_->native_function(*index);
    baton_object* refs[1] = {commands_.get()};
    baton_call call = {};
    call.state = *state_;
    call.data = function.data;
    call.refs = refs;
    return Status::adopt(function.body(reinterpret_cast<vm::NativeCall*>(&call)));
  }
  ~CustomCommandTest() override { module_->destroy_state(*state_); }

  std::vector<std::string> log_;
  Ref<hal::Device> device_ = open_device("null");
  Ref<const vm::Module> hal_ = hal_module_on({device_});
  Ref<const vm::Module> module_ = math_module();
  Result<void*> state_ = module_->make_state(system_allocator());
  DriverCommands* driver_ = new DriverCommands(log_);
  sdk::Ref<Handle<hal::CommandBuffer>> commands_ =
      sdk::make<Handle<hal::CommandBuffer>>(std::unique_ptr<hal::CommandBuffer>(driver_), *device_);
};

TEST_F(CustomCommandTest, StandsBetweenBeginAndEnd) {
  ASSERT_OK(call("keep"));
  math_log.kept = nullptr;
  EXPECT_EQ(log_, (std::vector<std::string>{"begin math.keep 0", "barrier", "end math.keep"}));
}

TEST_F(CustomCommandTest, AsksTheDriverForWhatOnlyItHas) {
  ASSERT_OK(call("on_cuda"));
  EXPECT_EQ(log_, (std::vector<std::string>{"begin math.on_cuda 0", "extension cuda.stream.v1", "end math.on_cuda"}));
  EXPECT_EQ(math_log.lines.back(), "has its stream");
}

TEST_F(CustomCommandTest, FailsWithWhatTheDriverFoundAtTheEnd) {
  driver_->broken = true;
  EXPECT_FAILS(call("on_cuda"), StatusCode::kFailedPrecondition, "The capture is broken.");
}

// What only a plugin in C can do wrong.
class RecordingTableTest : public CustomCommandTest {
 protected:
  RecordingTableTest() { commands_->open_for(&custom_); }
  template <typename Command>
  Status record(baton_status* (*verb)(baton_command_buffer*, const Command*), const Command* command) {
    auto* commands = reinterpret_cast<baton_command_buffer*>(static_cast<baton_object*>(commands_.get()));
    return Status::adopt(reinterpret_cast<Status::Failure*>(verb(commands, command)));
  }

  const hal::CustomCommand custom_ = {"c", "command"};
  const baton_recording_table& table_ = *host_table().recording;
};

TEST_F(RecordingTableTest, TakesCommandsOfItsSizeAndLaterOnes) {
  struct {
    baton_barrier known = {sizeof(*this), 0, nullptr};
    uint64_t since_v9 = 5;
  } later;
  EXPECT_OK(record(table_.barrier, &later.known));
  const baton_barrier shorter = {8, 0, nullptr};
  EXPECT_FAILS(record(table_.barrier, &shorter), StatusCode::kInvalidArgument,
               "A module records a command of 8 bytes; it takes 16 or more.");
  EXPECT_FAILS(record<baton_barrier>(table_.barrier, nullptr), StatusCode::kInvalidArgument, "of 0 bytes");
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(RecordingTableTest, RefusesBindingsThatAreNone) {
  baton_binding binding = {nullptr, 0, 4, 0, 4};
  baton_barrier barrier = {sizeof(barrier), 1, &binding};
  EXPECT_FAILS(
      record(table_.barrier, &barrier), StatusCode::kInvalidArgument,
      "A binding has access 4 to memory; it takes 0 to 3 and a 'hal.buffer', or null and a slot.\n  in binding 0");
  binding = {reinterpret_cast<baton_buffer*>(commands_.get()), 0, 0, 0, 4};
  EXPECT_FAILS(record(table_.barrier, &barrier), StatusCode::kInvalidArgument, "to hal.command_buffer;");
  barrier = {sizeof(barrier), 3, nullptr};
  EXPECT_FAILS(record(table_.barrier, &barrier), StatusCode::kInvalidArgument,
               "A command has 3 bindings; their table is missing");
  barrier = {sizeof(barrier), 1'000'000, &binding};
  EXPECT_FAILS(record(table_.barrier, &barrier), StatusCode::kInvalidArgument, "A command has 1000000 bindings;");
}

TEST_F(RecordingTableTest, LooksForWhatACommandCountsBeforeItReadsIt) {
  baton_dispatch dispatch = {};
  dispatch.struct_size = sizeof(dispatch);
  dispatch.constant_count = 3;
  baton_update_buffer update = {};
  update.struct_size = sizeof(update);
  update.source_size = 8;
  int released = 0;
  baton_host_call call = {};
  call.struct_size = sizeof(call);
  call.call = [](void*, const baton_host_arguments*) -> baton_status* { return nullptr; };
  call.release = [](void* data) { ++*static_cast<int*>(data); };
  call.data = &released;
  call.name = {nullptr, 5};
  EXPECT_FAILS(record(table_.dispatch, &dispatch), StatusCode::kInvalidArgument, " of a command is null.");
  EXPECT_FAILS(record(table_.update_buffer, &update), StatusCode::kInvalidArgument, " of a command is null.");
  EXPECT_FAILS(record(table_.host_call, &call), StatusCode::kInvalidArgument, " of a command is null.");
  EXPECT_EQ(released, 1);
}

TEST_F(RecordingTableTest, GivesBackTheDataOfAHostCallThatItRefuses) {
  int released = 0;
  baton_host_call call = {};
  call.struct_size = sizeof(call);
  call.release = [](void* data) { ++*static_cast<int*>(data); };
  call.data = &released;
  EXPECT_FAILS(record(table_.host_call, &call), StatusCode::kInvalidArgument, "A host call needs a function");
  EXPECT_EQ(released, 1);
  commands_->open_for(nullptr);
  EXPECT_FAILS(record(table_.host_call, &call), StatusCode::kFailedPrecondition, "outside of a custom command");
  EXPECT_EQ(released, 2);
}

TEST_F(RecordingTableTest, RefusesWhatIsNoCommandBuffer) {
  const auto handle = wrap(device_);
  const baton_barrier barrier = {sizeof(barrier), 0, nullptr};
  const Status status = Status::adopt(reinterpret_cast<Status::Failure*>(
      table_.barrier(reinterpret_cast<baton_command_buffer*>(static_cast<baton_object*>(handle.get())), &barrier)));
  EXPECT_FAILS(status, StatusCode::kInvalidArgument, "something that is not a command buffer");
  EXPECT_EQ(table_.device(nullptr), nullptr);
}

}  // namespace
}  // namespace baton::modules
