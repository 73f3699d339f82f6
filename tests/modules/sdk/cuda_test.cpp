// Goal: one source of custom commands, compiled once, does the same on every kind of device: on a host, on a CUDA
// stream and in a CUDA graph, and stands in the trace of one that runs nothing. Method: the commands of a little
// library that brings its own device work are recorded once on slots and executed with tables that change and come
// round again; on the fake GPU everywhere, and on the machine's where there is one.
#include "modules/sdk/cuda.hpp"

#include <gtest/gtest.h>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/queue.hpp"
#include "modules/hal_module/constant_buffer.hpp"
#include "modules/native_module.hpp"
#include "modules/sdk/module.hpp"
#include "tests/modules/hal_module/device_program.hpp"
#include "tests/support/fake_cuda.hpp"

namespace baton::modules {
namespace {

namespace cuda = hal::drivers::cuda;
using sdk::Cuda;

// The library: it knows libcuda's entries and nothing of Baton. Null where there is no CUDA.
const cuda::Symbols* library = nullptr;
std::atomic<int> calls{0};

sdk::Status said(CUresult result) {
  if (result == CUDA_SUCCESS) return {};
  return sdk::failure(sdk::StatusCode::kInternal, "The library says ", static_cast<int>(result), ".");
}

class Stamps final : public sdk::Module<Stamps> {
 public:
  // y = x, but its last element is `value`.
  Status stamp(CommandBuffer& rec, uint32_t value, Binding<const uint32_t> x, Binding<uint32_t> y) {
    const auto enqueue = [value](Foreign& here, DeviceSpan<const uint32_t> from, DeviceSpan<uint32_t> to) -> Status {
      ++calls;
      if (!here.is<Cuda>()) {
        std::copy(from.host().begin(), from.host().end(), to.host().begin());
        to.host().back() = value;
        return {};
      }
      BATON_ASSIGN_OR_RETURN(const baton_cuda_stream on, here.cuda().stream());
      const auto stream = static_cast<CUstream>(on.stream);
      BATON_OR_RETURN(said(library->cuMemcpyAsync(to.address(), from.address(), from.size_bytes(), stream)));
      return said(library->cuMemsetD32Async(to.address() + to.size_bytes() - 4, value, 1, stream));
    };
    return rec.foreign(enqueue, x, y);
  }

  // The same with a node added by hand.
  Status stamp_node(CommandBuffer& rec, uint32_t value, Binding<const uint32_t> x, Binding<uint32_t> y) {
    const auto add = [value](Foreign& here, DeviceSpan<const uint32_t> from, DeviceSpan<uint32_t> to) -> Status {
      if (!here.is<Cuda>()) {
        std::copy(from.host().begin(), from.host().end(), to.host().begin());
        to.host().back() = value;
        return {};
      }
      BATON_ASSIGN_OR_RETURN(sdk::CudaGraph graph, here.cuda().graph());  // First of all: so a stream has one, too.
      BATON_ASSIGN_OR_RETURN(const baton_cuda_stream on, here.cuda().stream());
      BATON_OR_RETURN(said(
          library->cuMemcpyAsync(to.address(), from.address(), from.size_bytes(), static_cast<CUstream>(on.stream))));
      BATON_ASSIGN_OR_RETURN(graph, here.cuda().graph());  // Behind the copy.
      CUDA_MEMSET_NODE_PARAMS last = {};
      last.dst = to.address() + to.size_bytes() - 4;
      last.value = value;
      last.elementSize = 4;
      last.width = last.height = 1;
      CUgraphNode node = nullptr;
      BATON_OR_RETURN(said(library->cuGraphAddMemsetNode(
          &node, static_cast<CUgraph>(graph.graph), reinterpret_cast<const CUgraphNode*>(graph.dependencies),
          graph.dependency_count, &last, static_cast<CUcontext>(graph.context))));
      void* const nodes[] = {node};
      return graph.join(nodes);
    };
    return rec.foreign("stamp by hand", add, x, y);
  }

  // What a command enqueues while it records is for buffers that it names.
  Status clear(CommandBuffer& rec, Binding<uint32_t> x) {
    BATON_ASSIGN_OR_RETURN(const baton_cuda_stream on, rec.cuda().stream());
    if (!on.stream) return {};  // Nothing is run.
    return said(library->cuMemsetD32Async(address, 0, x.size(), static_cast<CUstream>(on.stream)));
  }
  Status refuse(CommandBuffer& rec, Binding<uint32_t> x) {
    return rec.foreign(
        [](Foreign&, DeviceSpan<uint32_t>) {
          return sdk::failure(sdk::StatusCode::kOutOfRange, "The matrix is a vector.");
        },
        x);
  }

  static inline uint64_t address = 0;
};
BATON_MODULE_QUERY(query_stamps, Stamps, "stamps", BATON_COMMAND("stamp", &Stamps::stamp, kCaptureSafe),
                   BATON_COMMAND("stamp_node", &Stamps::stamp_node, kCaptureSafe),
                   BATON_COMMAND("clear", &Stamps::clear, kCaptureSafe), BATON_COMMAND("refuse", &Stamps::refuse));

constexpr std::string_view kProgram = R"(
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
import @hal.command_buffer.barrier(hal.command_buffer)
import @stamps.stamp(hal.command_buffer, i32, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64)
import @stamps.stamp_node(hal.command_buffer, i32, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64)
import @stamps.clear(hal.command_buffer, i64, hal.buffer, i64, i64)
import @stamps.refuse(hal.command_buffer, i64, hal.buffer, i64, i64)
rodata @name = "stamps"
func @begin() -> hal.command_buffer {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  rodata %r1, @name
  const.i32 %v0, 3
  const.i32 %v1, 0
  call.import @hal.command_buffer.create, %v0, %r0
  return
}
; Slot 1 := slot 0 with 7 at the end; slot 2 := slot 1 with 8 at the end.
export func @record() -> hal.recording {
  call @begin, %v0, %r0
  ref.copy %r1, %r0
  const.i32 %v0, 7
  const.i64 %v1, 0
  const.i64 %v2, 0
  const.i64 %v3, 16
  const.i64 %v4, 1
  const.i64 %v5, 0
  const.i64 %v6, 16
  ref.null %r2
  ref.null %r3
  call.import @stamps.stamp, %v0, %r1
  ref.copy %r1, %r0
  call.import @hal.command_buffer.barrier, %v0, %r1
  ref.copy %r1, %r0
  const.i32 %v0, 8
  const.i64 %v1, 1
  const.i64 %v2, 0
  const.i64 %v3, 16
  const.i64 %v4, 2
  const.i64 %v5, 0
  const.i64 %v6, -1
  ref.null %r2
  ref.null %r3
  call.import @stamps.stamp_node, %v0, %r1
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
export func @clear(%x: hal.buffer) -> hal.recording {
  ref.copy %r2, %x
  call @begin, %v0, %r3
  ref.move %r0, %r3
  ref.copy %r1, %r0
  const.i64 %v0, 0
  const.i64 %v1, 0
  const.i64 %v2, 16
  call.import @stamps.clear, %v0, %r1
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
export func @refuse() -> hal.recording {
  call @begin, %v0, %r0
  ref.copy %r1, %r0
  const.i64 %v0, 0
  const.i64 %v1, 0
  const.i64 %v2, 16
  ref.null %r2
  call.import @stamps.refuse, %v0, %r1
  call.import @hal.command_buffer.finish, %v0, %r0
  return
}
)";

class Lines final : public hal::drivers::null::TraceSink {
 public:
  void write(std::string_view line) override { all += line; }
  std::string all;
};

struct Target {
  const char* name;
  const char* uri;
  const char* mode;  // Of CUDA.
  bool fake;
};

class CudaTest : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    calls = 0;
    auto opened = open();
    if (!opened.has_value()) GTEST_SKIP() << "skipped: no CUDA device (" << opened.error().to_string() << ")";
    device_ = std::move(opened).value();
    if (on_cuda()) library = &static_cast<cuda::Device&>(*device_).context().symbols();
    auto module = NativeModule::make(query_stamps);
    EXPECT_OK(module);
    program_.emplace(std::vector<Ref<const vm::Module>>{hal_module_on({device_}), *module}, kProgram);
  }
  ~CudaTest() override { library = nullptr; }

  Result<Ref<hal::Device>> open() {
    const Target& setup = GetParam();
    if (on_cuda()) {
      cuda::Options options;
      if (setup.fake) options.symbols = testing_support::make_fake_cuda();
      const hal::DeviceParameter parameters[] = {{"cuda_mode", setup.mode}};
      return cuda::make_driver(std::move(options))->open("", parameters);
    }
    if (runs()) return open_device(setup.uri);
    return hal::drivers::null::make_driver({.sink = trace_})->open("", {});
  }
  bool on_cuda() const { return GetParam().mode; }
  bool runs() const { return std::string_view(GetParam().uri) != "null"; }

  // The recording that an export returned.
  Result<Ref<hal::Recording>> record(std::string_view name, std::initializer_list<vm::Value> arguments = {}) {
    BATON_TRY(program_->call(name, arguments));
    const auto owned = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(program_->results.at(0).ref));
    return Ref<hal::Recording>(unwrap<hal::Recording>(owned.get()));
  }
  Ref<hal::Buffer> buffer_of(std::vector<uint32_t> values) {
    auto buffer = device_->allocator().allocate({.length = values.size() * 4});
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
  Status execute(hal::Recording& recording, std::vector<hal::BufferRange> table = {}) {
    BATON_TRY_ASSIGN(const Ref<hal::Semaphore> done, device_->make_semaphore(0));
    const hal::SemaphorePoint point(done, 1);
    BATON_TRY(device_->queue().execute({.signals = {&point, 1}}, recording, {.buffers = table}));
    return done->wait(1);
  }

  std::shared_ptr<Lines> trace_ = std::make_shared<Lines>();
  Ref<hal::Device> device_;
  std::optional<LinkedProgram> program_;
};

TEST_P(CudaTest, OneSourceRecordsOnceAndFollowsEveryTable) {
  auto recording = record("record");
  ASSERT_OK(recording);
  const auto x = buffer_of({1, 2, 3, 4});
  std::vector<Ref<hal::Buffer>> ys, zs;
  for (int i = 0; i < 3; ++i) ys.push_back(buffer_of({0, 0, 0, 0})), zs.push_back(buffer_of({0, 0, 0, 0}));
  for (uint32_t i = 0; i < 9; ++i) {
    const auto &y = ys[i % 3], &z = zs[i % 3];
    ASSERT_OK(execute(**recording, {x, y, z}));
    if (!runs()) continue;
    EXPECT_EQ(values_of(*y), (std::vector<uint32_t>{1, 2, 3, 7}));
    EXPECT_EQ(values_of(*z), (std::vector<uint32_t>{1, 2, 3, 8}));
  }
  const std::string_view mode = on_cuda() ? GetParam().mode : "";
  const int expected = !runs() ? 0 : mode == "graph" ? 3 : mode == "auto" ? 1 + 3 : 9;
  EXPECT_EQ(calls, expected) << "in a graph each of three tables is captured once";
  if (runs()) return;
  EXPECT_NE(trace_->all.find("foreign function=stamps.stamp constants=[] bindings=[slot 0=buffer 0[0, 16) read, slot "
                             "1=buffer 1[0, 16) read_write]"),
            std::string::npos)
      << trace_->all;
  EXPECT_NE(trace_->all.find("foreign function=stamp by hand "), std::string::npos) << trace_->all;
}

TEST_P(CudaTest, AStreamIsAskedForWhileACommandRecords) {
  const auto x = buffer_of({1, 2, 3, 4});
  const auto handle = wrap(x);
  if (on_cuda()) Stamps::address = static_cast<cuda::Buffer&>(*x).address();
  auto recording =
      record("clear", {vm::Value::of(reinterpret_cast<vm::Object*>(static_cast<baton_object*>(handle.get())))});
  if (runs() && !on_cuda()) {
    EXPECT_FAILS(recording, StatusCode::kUnimplemented,
                 "in a recording on device '" + std::string(GetParam().uri) + "', which command 'stamps.clear'");
    return;
  }
  ASSERT_OK(recording);
  ASSERT_OK(execute(**recording));
  if (runs()) {
    EXPECT_EQ(values_of(*x), (std::vector<uint32_t>(4)));
  } else {
    EXPECT_NE(trace_->all.find("foreign function=stamps.clear (cuda.stream.v1) "), std::string::npos) << trace_->all;
  }
}

// Modules look into tensors, and some of those are constants of the program.
TEST_P(CudaTest, ConstantsAreMappedForReading) {
  const uint32_t words[] = {1, 2, 3, 4};
  const auto constant = make_constant_buffer(*device_, std::as_bytes(std::span(words)), {});
  ASSERT_OK(constant);
  if (runs()) {
    EXPECT_EQ(values_of(**constant), (std::vector<uint32_t>{1, 2, 3, 4}));
  }
  EXPECT_FAILS((*constant)->map(hal::Access::kWrite), StatusCode::kPermissionDenied,
               "Mapping writes to a constant buffer");
}

TEST_P(CudaTest, ARefusalNamesTheCommandAndFailsTheWork) {
  auto recording = record("refuse");
  ASSERT_OK(recording);
  const auto x = buffer_of({1, 2, 3, 4});
  const Status status = execute(**recording, {x});
  if (!runs()) {
    EXPECT_OK(status);
    return;
  }
  EXPECT_FAILS(status, StatusCode::kOutOfRange, "The matrix is a vector.");
  EXPECT_FAILS(status, StatusCode::kOutOfRange, "in foreign call 'stamps.refuse'");
}

constexpr Target kTargets[] = {{"null", "null", nullptr, false},
                               {"local_sync", "local-sync", nullptr, false},
                               {"local_task", "local-task", nullptr, false},
                               {"fake_cuda_stream", "", "stream", true},
                               {"fake_cuda_graph", "", "graph", true},
                               {"fake_cuda_auto", "", "auto", true},
                               {"cuda_stream", "", "stream", false},
                               {"cuda_graph", "", "graph", false}};
INSTANTIATE_TEST_SUITE_P(Devices, CudaTest, testing::ValuesIn(kTargets),
                         [](const auto& setup) { return std::string(setup.param.name); });

}  // namespace
}  // namespace baton::modules
