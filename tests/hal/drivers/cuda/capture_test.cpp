// Foreign work: captured, kept by table, exchanged; and every way to break a capture is read and survived. Each test
// runs on the fake GPU where that knows the fault, and on the machine's GPU where there is one.
#include "hal/drivers/cuda/capture.hpp"

#include <dlfcn.h>

#include <atomic>
#include <thread>

#include "hal/drivers/cuda/foreign_extensions.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fake_cuda;

enum class Gpu { kFake, kReal };
struct Setup {
  Gpu gpu;
  const char* mode;
  const char* name;
};

// An entry of libcuda that Baton itself does not call.
template <typename Function>
Function entry(const char* name) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

class CaptureTest : public testing::TestWithParam<Setup> {
 protected:
  void SetUp() override {
    if (GetParam().gpu == Gpu::kFake) {
      device_ = open_fake(GetParam().mode);
    } else {
      auto opened = open_real(GetParam().mode);
      if (!opened.has_value()) GTEST_SKIP() << "skipped: no CUDA device (" << opened.error().to_string() << ")";
      device_ = std::move(opened).value();
    }
    values_ = buffer_of(*device_, {0, 0, 0, 0});
  }

  const Symbols& cuda() { return static_cast<Device&>(*device_).context().symbols(); }
  bool in_graph() const { return std::string_view(GetParam().mode) == "graph"; }

  static CUstream stream_of(const ForeignArguments& arguments) {
    StreamV1 extension{.struct_size = sizeof(StreamV1)};
    EXPECT_OK(arguments.scope.extension("cuda.stream.v1", &extension));
    EXPECT_NE(extension.context, nullptr);
    return static_cast<CUstream>(extension.stream);
  }
  Status fill(CUstream stream, const ForeignBinding& binding, uint32_t value) {
    BATON_CUDA_TRY(cuda(), cuMemsetD32Async, binding.address, value, binding.length / 4, stream);
    return {};
  }

  // A recording of one foreign call on slot 0, with one constant.
  Ref<hal::Recording> record(const Ref<ForeignFunction>& function) {
    auto commands =
        device_->make_command_buffer({.name = "foreign", .slot_count = 1, .constant_slot_count = 1}).value();
    const Binding bindings[] = {Slot{0}};
    const uint32_t constant = 0;
    const ConstantSlot constant_slot{0, 0};
    EXPECT_OK(commands->foreign({.function = function.get(),
                                 .constants = {&constant, 1},
                                 .constant_slots = {&constant_slot, 1},
                                 .bindings = bindings}));
    return commands->finish().value();
  }
  Status execute(hal::Recording& recording, const Ref<hal::Buffer>& buffer, uint32_t constant) {
    const BufferRange table[] = {buffer};
    return run(*device_, recording, {table, {&constant, 1}});
  }

  // `misbehave` gets the capturing stream, after a good call on it. The error is told, and the device goes on.
  template <typename Misbehave>
  void expect_broken(const char* name, Misbehave misbehave, std::string_view part) {
    if (!in_graph()) GTEST_SKIP() << "nothing is captured on a stream";
    const auto bad = make_foreign_function(name, [&](const ForeignArguments& arguments) -> Status {
      return misbehave(stream_of(arguments), arguments.bindings[0]);
    });
    const Status status = execute(*record(bad), values_, 0);
    std::printf("  %s: %s\n", name, status.to_string().c_str());
    EXPECT_FAILS(status, StatusCode::kFailedPrecondition, part);
    EXPECT_FAILS(status, StatusCode::kFailedPrecondition, name);
    EXPECT_FAILS(status, StatusCode::kFailedPrecondition, "in recording \"foreign\"");
    expect_goes_on();
  }
  void expect_goes_on() {
    const auto good = make_foreign_function("good", [&](const ForeignArguments& arguments) {
      return fill(stream_of(arguments), arguments.bindings[0], arguments.constants[0]);
    });
    const auto recording = record(good);
    for (uint32_t i = 1; i <= 3; ++i) {
      EXPECT_OK(execute(*recording, values_, 40 + i));
      EXPECT_EQ(values_of(*values_), std::vector<uint32_t>(4, 40 + i));
    }
  }

  Ref<hal::Device> device_;
  Ref<hal::Buffer> values_;
};

TEST_P(CaptureTest, ForeignWorkStandsInOrder) {
  const auto foreign = make_foreign_function(
      "fill", [&](const ForeignArguments& arguments) { return fill(stream_of(arguments), arguments.bindings[0], 6); });
  auto commands = device_->make_command_buffer({.name = "order"}).value();
  const auto target = buffer_of(*device_, {0, 0, 0, 0});
  const Binding bindings[] = {values_};
  EXPECT_OK(commands->fill_buffer({.target = values_, .pattern = 5}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->foreign({.function = foreign.get(), .bindings = bindings}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->copy_buffer({.source = values_, .target = target}));
  const auto recording = commands->finish().value();
  for (int i = 0; i < 3; ++i) EXPECT_OK(run(*device_, *recording));
  EXPECT_EQ(values_of(*target), std::vector<uint32_t>(4, 6));
}

TEST_P(CaptureTest, ATableThatComesRoundAgainIsNotCapturedAgain) {
  int calls = 0;
  const auto foreign = make_foreign_function("fill", [&](const ForeignArguments& arguments) {
    ++calls;
    return fill(stream_of(arguments), arguments.bindings[0], arguments.constants[0]);
  });
  const auto recording = record(foreign);
  const auto other = buffer_of(*device_, {0, 0, 0, 0});
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 4; ++i) {
      const auto& target = i % 2 ? values_ : other;
      EXPECT_OK(execute(*recording, target, 10 + i));
      EXPECT_EQ(values_of(*target), std::vector<uint32_t>(4, 10 + i));
    }
  }
  EXPECT_EQ(calls, in_graph() ? 4 : 12);
  // The cache is bounded: twenty tables, then the first again.
  for (uint32_t i = 0; i < 20; ++i) EXPECT_OK(execute(*recording, values_, 100 + i));
  EXPECT_OK(execute(*recording, other, 10));
  EXPECT_EQ(values_of(*other), std::vector<uint32_t>(4, 10));
  EXPECT_EQ(calls, in_graph() ? 4 + 20 + 1 : 12 + 20 + 1);
}

// A fill of the binding, added by hand behind what was captured so far; then captured work behind it.
TEST_P(CaptureTest, NodesAddedByHandStandInTheCapture) {
  const auto foreign = make_foreign_function("nodes", [&](const ForeignArguments& arguments) -> Status {
    const ForeignBinding& target = arguments.bindings[0];
    GraphV1 before{.struct_size = sizeof(GraphV1)};
    BATON_TRY(arguments.scope.extension("cuda.graph.v1", &before));
    EXPECT_EQ(before.dependency_count, 0u);
    CUstream stream = stream_of(arguments);
    BATON_TRY(fill(stream, target, 5));
    GraphV1 here{.struct_size = sizeof(GraphV1)};
    BATON_TRY(arguments.scope.extension("cuda.graph.v1", &here));
    EXPECT_EQ(here.dependency_count, 1u);
    CUDA_MEMSET_NODE_PARAMS parameters = {};
    parameters.dst = target.address;
    parameters.value = 9;
    parameters.elementSize = 4;
    parameters.width = target.length / 4;
    parameters.height = 1;
    CUgraphNode node = nullptr;
    BATON_CUDA_TRY(cuda(), cuGraphAddMemsetNode, &node, static_cast<CUgraph>(here.graph),
                   reinterpret_cast<const CUgraphNode*>(here.dependencies), here.dependency_count, &parameters,
                   static_cast<Device&>(*device_).context().handle());
    void* const nodes[] = {node};
    EXPECT_EQ(here.join(here.self, nodes, 1), nullptr);
    // Behind the node: its last element alone.
    return fill(stream, {target.address + target.length - 4, nullptr, 4}, arguments.constants[0]);
  });
  const auto recording = record(foreign);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_OK(execute(*recording, values_, 70 + i));
    EXPECT_EQ(values_of(*values_), (std::vector<uint32_t>{9, 9, 9, 70 + i}));
  }
  if (GetParam().gpu == Gpu::kFake) {
    EXPECT_EQ(fake_cuda().count("cuGraphAddMemsetNode 4 after 1"), 3u);
    EXPECT_EQ(fake_cuda().count("cuStreamUpdateCaptureDependencies 1"), 3u);
  }
  expect_goes_on();
}

TEST_P(CaptureTest, AStreamThatWasGivenIsNoGraph) {
  const auto foreign = make_foreign_function("late", [&](const ForeignArguments& arguments) -> Status {
    BATON_TRY(fill(stream_of(arguments), arguments.bindings[0], 3));
    GraphV1 graph{.struct_size = sizeof(GraphV1)};
    return arguments.scope.extension("cuda.graph.v1", &graph);
  });
  const Status status = execute(*record(foreign), values_, 0);
  if (in_graph()) {
    EXPECT_OK(status);
  } else {
    EXPECT_FAILS(status, StatusCode::kFailedPrecondition,
                 "Extension 'cuda.graph.v1' comes too late: the function has 'cuda.stream.v1' already");
  }
  expect_goes_on();
}

// By default a call whose library uses the legacy stream loses that work without a word: it runs once, outside of the
// graph. One that asks for the guard is told, and the next call goes on.
TEST_P(CaptureTest, CallsAskForTheGuardOneByOne) {
  const DeviceParameter mode = {"cuda_mode", GetParam().mode};
  if (GetParam().gpu == Gpu::kFake) {
    Options options{testing_support::make_fake_cuda()};
    device_ = make_driver(std::move(options))->open("", {&mode, 1}).value();
  } else {
    device_ = make_driver()->open("", {&mode, 1}).value();
  }
  values_ = buffer_of(*device_, {0, 0, 0, 0});
  StreamV1 stream{.struct_size = sizeof(StreamV1)};
  const auto guarded = make_foreign_function("lib.guarded", [&](const ForeignArguments& arguments) -> Status {
    BATON_TRY(arguments.scope.extension("cuda.guarded_stream.v1", &stream));
    EXPECT_EQ(stream_of(arguments), stream.stream) << "one stream, whatever it is called";
    return fill(static_cast<CUstream>(stream.stream), arguments.bindings[0], arguments.constants[0]);
  });
  const auto recording = record(guarded);
  for (uint32_t i = 1; i <= 3; ++i) {
    EXPECT_OK(execute(*recording, values_, i));
    EXPECT_EQ(values_of(*values_), std::vector<uint32_t>(4, i));
  }
  if (!in_graph()) return;  // Nothing is captured.
  const auto use_legacy = [&](const ForeignArguments& arguments) -> Status {
    cuda().cuMemsetD32Async(arguments.bindings[0].address, 9, 1, nullptr);
    return {};
  };
  const auto careless = make_foreign_function("lib.careless", [&](const ForeignArguments& arguments) -> Status {
    BATON_TRY(fill(stream_of(arguments), arguments.bindings[0], 5));
    return use_legacy(arguments);
  });
  EXPECT_OK(execute(*record(careless), values_, 0));
  const auto told = make_foreign_function("lib.told", [&](const ForeignArguments& arguments) -> Status {
    BATON_TRY(arguments.scope.extension("cuda.guarded_stream.v1", &stream));
    BATON_TRY(fill(static_cast<CUstream>(stream.stream), arguments.bindings[0], 5));
    return use_legacy(arguments);
  });
  EXPECT_FAILS(execute(*record(told), values_, 0), StatusCode::kFailedPrecondition,
               "Foreign function 'lib.told' broke the capture of its work");
  const auto late = make_foreign_function("lib.late", [&](const ForeignArguments& arguments) -> Status {
    stream_of(arguments);
    return arguments.scope.extension("cuda.guarded_stream.v1", &stream);
  });
  EXPECT_FAILS(execute(*record(late), values_, 0), StatusCode::kFailedPrecondition,
               "Extension 'cuda.guarded_stream.v1' comes too late");
  expect_goes_on();
  // A custom command asks in the same way.
  const CustomCommand command{"lib", "command"};
  const ForeignBinding binding{static_cast<Buffer&>(*values_).address(), nullptr, 16};
  auto commands = device_->make_command_buffer({.name = "custom"}).value();
  EXPECT_OK(commands->begin_custom(command));
  EXPECT_OK(commands->extension("cuda.guarded_stream.v1", &stream));
  EXPECT_OK(fill(static_cast<CUstream>(stream.stream), binding, 7));
  cuda().cuMemsetD32Async(binding.address, 9, 1, nullptr);
  EXPECT_FAILS(commands->end_custom(command), StatusCode::kFailedPrecondition,
               "Foreign function 'lib.command' broke the capture of its work");
  expect_goes_on();
}

// What the door does around a module's command (modules/hal_module/custom_command.cpp).
TEST_P(CaptureTest, ACustomCommandCapturesWhileItRecords) {
  const CustomCommand command{"lib", "fill"};
  const auto target = buffer_of(*device_, {0, 0, 0, 0});
  const ForeignBinding binding{static_cast<Buffer&>(*values_).address(), nullptr, 16};
  auto commands = device_->make_command_buffer({.name = "custom"}).value();
  StreamV1 stream{.struct_size = sizeof(StreamV1)};
  EXPECT_FAILS(commands->extension("cuda.stream.v1", &stream), StatusCode::kFailedPrecondition, "none does");
  EXPECT_OK(commands->fill_buffer({.target = values_, .pattern = 1}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->begin_custom(command));
  EXPECT_FAILS(commands->extension("vulkan.command_buffer.v1", &stream), StatusCode::kUnimplemented,
               "Device 'cuda://0' has no extension 'vulkan.command_buffer.v1'.");
  stream.struct_size = 8;
  EXPECT_FAILS(commands->extension("cuda.stream.v1", &stream), StatusCode::kInvalidArgument,
               "Extension 'cuda.stream.v1' takes a struct of 24 bytes; struct_size says 8.");
  stream.struct_size = sizeof(StreamV1);
  EXPECT_OK(commands->extension("cuda.stream.v1", &stream));
  EXPECT_EQ(stream.capturing, 1u);
  EXPECT_OK(fill(static_cast<CUstream>(stream.stream), binding, 7));
  EXPECT_OK(commands->barrier({}));  // Closes what was captured; what follows hangs behind it.
  EXPECT_OK(commands->copy_buffer({.source = values_, .target = target}));
  EXPECT_OK(commands->end_custom(command));
  const auto recording = commands->finish().value();
  for (int i = 0; i < 3; ++i) EXPECT_OK(run(*device_, *recording));
  EXPECT_EQ(values_of(*target), std::vector<uint32_t>(4, 7));
}

TEST_P(CaptureTest, ACustomCommandThatBreaksItsCaptureIsToldWhenItEnds) {
  const CustomCommand command{"lib", "synchronizes"};
  auto commands = device_->make_command_buffer({.name = "custom"}).value();
  EXPECT_OK(commands->begin_custom(command));
  StreamV1 stream{.struct_size = sizeof(StreamV1)};
  EXPECT_OK(commands->extension("cuda.stream.v1", &stream));
  cuda().cuStreamSynchronize(static_cast<CUstream>(stream.stream));
  EXPECT_FAILS(commands->end_custom(command), StatusCode::kFailedPrecondition,
               "Foreign function 'lib.synchronizes' broke the capture of its work");
  // The recording goes on.
  EXPECT_OK(commands->fill_buffer({.target = values_, .pattern = 2}));
  EXPECT_OK(run(*device_, *commands->finish().value()));
  EXPECT_EQ(values_of(*values_), std::vector<uint32_t>(4, 2));
  // One that is never ended is dropped with its command buffer.
  auto forgotten = device_->make_command_buffer({.name = "forgotten"}).value();
  EXPECT_OK(forgotten->begin_custom(command));
  EXPECT_OK(forgotten->extension("cuda.stream.v1", &stream));
  forgotten = nullptr;
  expect_goes_on();
}

TEST_P(CaptureTest, Synchronizing) {
  expect_broken(
      "lib.synchronizes",
      [&](CUstream stream, const ForeignBinding& binding) -> Status {
        BATON_TRY(fill(stream, binding, 1));
        cuda().cuStreamSynchronize(stream);
        return {};
      },
      "broke the capture of its work: it synchronized, allocated, queried, or used the legacy stream");
}

TEST_P(CaptureTest, SynchronizingAndSayingSo) {
  expect_broken(
      "lib.synchronizes",
      [&](CUstream stream, const ForeignBinding& binding) -> Status {
        BATON_TRY(fill(stream, binding, 1));
        BATON_CUDA_TRY(cuda(), cuStreamSynchronize, stream);
        return {};
      },
      "the function returned: FAILED_PRECONDITION; cuStreamSynchronize failed");
}

TEST_P(CaptureTest, RecordingNothing) {
  expect_broken(
      "lib.elsewhere", [&](CUstream, const ForeignBinding&) -> Status { return {}; },
      "recorded nothing: what it enqueued went to another stream");
}

TEST_P(CaptureTest, RefusingIsNoBrokenCapture) {
  const auto refuse = make_foreign_function("lib.refuses", [&](const ForeignArguments& arguments) -> Status {
    BATON_TRY(fill(stream_of(arguments), arguments.bindings[0], 1));
    return failure(StatusCode::kOutOfRange, "The matrix is a vector.");
  });
  const Status status = execute(*record(refuse), values_, 0);
  EXPECT_FAILS(status, StatusCode::kOutOfRange, "The matrix is a vector.\n  in foreign call 'lib.refuses'");
  expect_goes_on();
}

TEST_P(CaptureTest, CheckModeFindsWorkThatChanges) {
  if (!in_graph()) GTEST_SKIP() << "nothing is captured on a stream";
  auto opened =
      GetParam().gpu == Gpu::kFake ? Result<Ref<hal::Device>>(open_fake("graph", "1")) : open_real("graph", "1");
  device_ = std::move(opened).value();
  values_ = buffer_of(*device_, {0, 0, 0, 0});
  int calls = 0;
  const auto moody = make_foreign_function("lib.moody", [&](const ForeignArguments& arguments) -> Status {
    for (int i = 0; i <= calls; ++i) BATON_TRY(fill(stream_of(arguments), arguments.bindings[0], 1));
    ++calls;
    return {};
  });
  EXPECT_FAILS(
      execute(*record(moody), values_, 0), StatusCode::kFailedPrecondition,
      "Foreign function 'lib.moody' recorded 1 nodes when it was captured first and 2 with the same arguments");
  expect_goes_on();
}

// What only a real driver notices.
class RealCaptureTest : public CaptureTest {};

TEST_P(RealCaptureTest, SynchronizingTheContext) {
  expect_broken(
      "lib.waits_for_all",
      [&](CUstream stream, const ForeignBinding& binding) -> Status {
        BATON_TRY(fill(stream, binding, 1));
        entry<CUresult (*)()>("cuCtxSynchronize")();
        return {};
      },
      "broke the capture of its work");
}

TEST_P(RealCaptureTest, Allocating) {
  expect_broken(
      "lib.allocates",
      [&](CUstream stream, const ForeignBinding& binding) -> Status {
        BATON_TRY(fill(stream, binding, 1));
        CUdeviceptr memory = 0;
        const CUresult result = entry<CUresult (*)(CUdeviceptr*, size_t)>("cuMemAlloc_v2")(&memory, 4096);
        std::printf("  cuMemAlloc while capturing: %d\n", static_cast<int>(result));
        return {};
      },
      "broke the capture of its work");
}

TEST_P(RealCaptureTest, UsingTheLegacyStream) {
  expect_broken(
      "lib.legacy",
      [&](CUstream stream, const ForeignBinding& binding) -> Status {
        BATON_TRY(fill(stream, binding, 1));
        const CUresult result = cuda().cuMemsetD32Async(binding.address, 2, 1, nullptr);
        std::printf("  the legacy stream while capturing: %d\n", static_cast<int>(result));
        return {};
      },
      "broke the capture of its work");
}

// A framework's thread works on the legacy stream while calls are captured: neither gets in the way of the other.
TEST_P(RealCaptureTest, AnotherThreadOnTheLegacyStream) {
  const DeviceParameter mode = {"cuda_mode", "graph"};
  device_ = make_driver()->open("", {&mode, 1}).value();
  values_ = buffer_of(*device_, {0, 0, 0, 0});
  const auto theirs = buffer_of(*device_, {0, 0, 0, 0});
  const CUdeviceptr address = static_cast<Buffer&>(*theirs).address();
  PrimaryContext& context = static_cast<Device&>(*device_).context();
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0, refused = 0;
  std::thread framework([&] {
    const ContextScope scope = context.enter();
    for (; !stop; ++calls) refused += cuda().cuMemsetD32Async(address, 2, 4, nullptr) != CUDA_SUCCESS;
  });
  const auto good = make_foreign_function("good", [&](const ForeignArguments& arguments) -> Status {
    const int before = calls;
    while (calls == before) std::this_thread::yield();  // One of theirs falls into each capture.
    return fill(stream_of(arguments), arguments.bindings[0], arguments.constants[0]);
  });
  const auto recording = record(good);
  for (uint32_t i = 1; i <= 50; ++i) EXPECT_OK(execute(*recording, values_, i));
  stop = true;
  framework.join();
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(values_of(*values_), std::vector<uint32_t>(4, 50));
}

TEST_P(RealCaptureTest, WorkingOnAnotherStream) {
  expect_broken(
      "lib.elsewhere",
      [&](CUstream, const ForeignBinding& binding) -> Status {
        CUstream other = nullptr;
        BATON_CUDA_TRY(cuda(), cuStreamCreateWithPriority, &other, CU_STREAM_NON_BLOCKING, 0);
        BATON_TRY(fill(other, binding, 1));
        BATON_CUDA_TRY(cuda(), cuStreamDestroy, other);
        return {};
      },
      "recorded nothing: what it enqueued went to another stream");
}

TEST_P(RealCaptureTest, ForkingAndNotComingBack) {
  CUstream other = nullptr;
  CUevent event = nullptr;
  expect_broken(
      "lib.forks",
      [&](CUstream stream, const ForeignBinding& binding) -> Status {
        BATON_TRY(fill(stream, binding, 1));
        BATON_CUDA_TRY(cuda(), cuStreamCreateWithPriority, &other, CU_STREAM_NON_BLOCKING, 0);
        BATON_CUDA_TRY(cuda(), cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
        BATON_CUDA_TRY(cuda(), cuEventRecord, event, stream);
        BATON_CUDA_TRY(cuda(), cuStreamWaitEvent, other, event, 0);
        return fill(other, binding, 2);
      },
      "it went over to another stream and did not come back");
}

TEST_P(RealCaptureTest, CopyingPageableMemoryAtOnce) {
  expect_broken(
      "lib.copies",
      [&](CUstream stream, const ForeignBinding& binding) -> Status {
        BATON_TRY(fill(stream, binding, 1));
        const std::vector<uint32_t> pageable(4, 7);
        const CUresult result = entry<CUresult (*)(CUdeviceptr, const void*, size_t)>("cuMemcpyHtoD_v2")(
            binding.address, pageable.data(), 16);
        std::printf("  cuMemcpyHtoD while capturing: %d\n", static_cast<int>(result));
        return {};
      },
      "broke the capture of its work");
}

// Drivers with context-independent loading take it, older ones break the capture, and each says so in what the load
// returns: the call ends as that says. From driver 580 on, where it was seen to be taken, it must be.
TEST_P(RealCaptureTest, LoadingAModuleLate) {
  CUresult loaded = CUDA_ERROR_UNKNOWN;
  const auto late = make_foreign_function("lib.loads_late", [&](const ForeignArguments& arguments) -> Status {
    BATON_TRY(fill(stream_of(arguments), arguments.bindings[0], 1));
    void* module = nullptr;
    const std::string ptx(testing_support::conformance_ptx());
    loaded = entry<CUresult (*)(void**, const void*)>("cuModuleLoadData")(&module, ptx.c_str());
    return {};
  });
  const Status status = execute(*record(late), values_, 0);
  int version = 0;
  ASSERT_EQ(cuda().cuDriverGetVersion(&version), CUDA_SUCCESS);
  std::printf("  driver for CUDA %d, cuModuleLoadData while capturing: %d, %s\n", version, static_cast<int>(loaded),
              status.to_string().c_str());
  if (version >= 13000) {
    EXPECT_EQ(loaded, CUDA_SUCCESS);
  }
  if (loaded == CUDA_SUCCESS) {
    EXPECT_OK(status);
    EXPECT_EQ(values_of(*values_), std::vector<uint32_t>(4, 1)) << "what was captured ran";
  } else {
    EXPECT_FAILS(status, StatusCode::kFailedPrecondition, "Foreign function 'lib.loads_late' broke the capture");
    EXPECT_EQ(values_of(*values_), std::vector<uint32_t>(4, 0)) << "nothing of it ran";
  }
  expect_goes_on();
}

TEST_P(RealCaptureTest, EndingTheCaptureItself) {
  expect_broken(
      "lib.ends",
      [&](CUstream stream, const ForeignBinding& binding) -> Status {
        BATON_TRY(fill(stream, binding, 1));
        CUgraph graph = nullptr;
        cuda().cuStreamEndCapture(stream, &graph);
        return {};
      },
      "it ended a capture that it had not begun");
}

constexpr Setup kSetups[] = {{Gpu::kFake, "graph", "fake_graph"},
                             {Gpu::kFake, "stream", "fake_stream"},
                             {Gpu::kReal, "graph", "real_graph"},
                             {Gpu::kReal, "stream", "real_stream"}};
std::string setup_name(const testing::TestParamInfo<Setup>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Gpus, CaptureTest, testing::ValuesIn(kSetups), setup_name);
INSTANTIATE_TEST_SUITE_P(Gpus, RealCaptureTest, testing::Values(kSetups[2]), setup_name);

}  // namespace
}  // namespace baton::hal::drivers::cuda
