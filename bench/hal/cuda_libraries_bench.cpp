// Work of cuBLAS and cuFFT in recordings, beside the same calls written against the driver. Medians, microseconds of
// the caller's time unless a row says "done".
//
//   cuda_libraries_bench
//
// The capture of a product of 64 by 64 matrices: anew each time, and exchanged from the cache. And the steps of
// samples/cuda/mixed without a program around them, on a stream and as one graph: what bench/mixed puts beside it.
// Answers are checked before anything is timed.
#include <array>
#include <cmath>

#include "bench/hal/cuda_fixture.hpp"
#include "cuda_mixed_kernels_ptx.hpp"
#include "hal/drivers/cuda/foreign_extensions.hpp"
#include "samples/cuda/mixed/cuda_libraries.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using mixed::CudaLibraries;

constexpr int kSize = 64;
constexpr size_t kWorkspaceBytes = size_t{32} << 20;

// cuBLAS with memory of its own to work in: it may not allocate while it is captured.
struct Blas {
  Blas(const CudaLibraries& libraries) : use(libraries) {
    expect(static_cast<CUresult>(use.allocate(&workspace, kWorkspaceBytes)), "workspace");
    expect(static_cast<CUresult>(use.blas_create(&handle)), "cublasCreate");
  }
  ~Blas() {
    use.blas_destroy(handle);
    use.release(workspace);
  }
  // c = a * b, n by n, as one that moves between streams has to call it.
  void multiply(void* stream, int n, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) const {
    const float one = 1, zero = 0;
    const auto matrix = [](CUdeviceptr address) { return reinterpret_cast<float*>(address); };
    int failed = use.blas_set_stream(handle, stream);
    if (!failed) failed = use.blas_set_workspace(handle, reinterpret_cast<void*>(workspace), kWorkspaceBytes);
    if (!failed) {
      failed = use.blas_sgemm(handle, 0, 0, n, n, n, &one, matrix(b), n, matrix(a), n, &zero, matrix(c), n);
    }
    expect(static_cast<CUresult>(failed), "cublasSgemm");
  }

  const CudaLibraries& use;
  uint64_t workspace = 0;
  void* handle = nullptr;
};

Ref<hal::Buffer> make_matrix(Bench& bench, int size, float value) {
  auto buffer = expect(bench.device->allocator().allocate({.length = uint64_t(size) * uint64_t(size) * 4}));
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  expect(bench.device->queue().fill_buffer({}, {.target = buffer, .pattern = bits}));
  bench.idle();
  return buffer;
}

void check_first(Bench& bench, hal::Buffer& buffer, float wanted) {
  bench.idle();
  const auto mapping = expect(buffer.map(Access::kRead));
  const float first = mapping.as<float>()[0];
  if (std::fabs(first - wanted) < 1e-3f) return;
  expect(failure(StatusCode::kInternal, "The libraries gave ", first, " instead of ", wanted, "."));
}

// A raw capture of one product.
CUgraph capture_product(Raw& raw, const Blas& blas, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) {
  CUgraph graph, same;
  expect(raw.cu.cuGraphCreate(&graph, 0), "graph");
  expect(raw.cu.cuStreamBeginCaptureToGraph(raw.other, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
         "begin");
  blas.multiply(raw.other, kSize, a, b, c);
  expect(raw.cu.cuStreamEndCapture(raw.other, &same), "end");
  return graph;
}

// More results than the cache of a recorded call has room for, so that each execution can be one that it does not know.
constexpr size_t kResults = 12;

void bench_capture(const CudaLibraries& libraries) {
  Bench bench("graph");
  Raw raw(bench);
  const auto a = make_matrix(bench, kSize, 0.5f), b = make_matrix(bench, kSize, 2);
  std::vector<Ref<hal::Buffer>> results;
  for (size_t i = 0; i < kResults; ++i) results.push_back(make_matrix(bench, kSize, 0));
  const CUdeviceptr a_address = bench.address(a), b_address = bench.address(b);

  const Blas blas(libraries);
  const auto function = make_foreign_function("sgemm", [&](const ForeignArguments& arguments) -> Status {
    StreamV1 out{.struct_size = sizeof(StreamV1)};
    BATON_TRY(arguments.scope.extension(kStreamExtension, &out));
    blas.multiply(out.stream, kSize, a_address, b_address, arguments.bindings[0].address);
    return {};
  });
  const Binding bindings[] = {Slot{0}};
  auto commands = expect(bench.device->make_command_buffer({.name = "sgemm", .slot_count = 1}));
  expect(commands->foreign({.function = function.get(), .bindings = bindings}));
  const auto recording = expect(commands->finish());
  const auto execute = [&](size_t result) {
    const BufferRange table[] = {BufferRange(results[result])};
    bench.execute(*recording, {.buffers = table});
  };

  const double start = now_us();
  raw.cu.cuGraphDestroy(capture_product(raw, blas, a_address, b_address, bench.address(results[0])));
  const double first = now_us() - start;
  execute(0);
  check_first(bench, *results[0], 0.5f * 2 * kSize);

  const ForeignBinding known[] = {{bench.address(results[0]), nullptr, uint64_t{kSize} * kSize * 4}};
  const auto captures = time_all(
      {{[&] { raw.cu.cuGraphDestroy(capture_product(raw, blas, a_address, b_address, bench.address(results[0]))); }},
       {[&] {
         expect(bench.cuda().capture().run({*bench.device, *function, known, {}}));
       }},
       {[&] { blas.multiply(raw.stream, kSize, a_address, b_address, bench.address(results[0])); }, 1,
        [&] { raw.sync(); }}},
      200);
  print_row("capture: a cuBLAS product, guarded", captures[0], captures[1], "+0.050");
  std::printf("|   enqueued on a stream %.3f us; the first capture of the process %.0f us\n", captures[2], first);

  CUgraph graph, segments[kResults];
  CUgraphNode node;
  for (size_t i = 0; i < kResults; ++i) {
    segments[i] = capture_product(raw, blas, a_address, b_address, bench.address(results[i]));
  }
  expect(raw.cu.cuGraphCreate(&graph, 0), "graph");
  expect(raw.cu.cuGraphAddChildGraphNode(&node, graph, nullptr, 0, segments[0]), "child");
  const CUgraphExec instance = raw.instantiate(graph);
  const auto exchange = [&](CUgraph segment) {
    expect(raw.cu.cuGraphExecChildGraphNodeSetParams(instance, node, segment), "exchange");
    raw.launch(instance);
  };
  size_t raw_turn = 0, turn = 0;
  const auto sync = [&] { raw.sync(); };
  const auto idle = [&] { bench.idle(); };
  execute(0);
  execute(1);
  idle();
  const auto cached =
      time_all({{[&] { exchange(segments[raw_turn++ % 2]); }, 1, sync}, {[&] { execute(turn++ % 2); }, 1, idle}}, 200);
  const auto capture_and_exchange = [&] {
    const CUgraph made =
        capture_product(raw, blas, a_address, b_address, bench.address(results[raw_turn++ % kResults]));
    exchange(made);
    raw.cu.cuGraphDestroy(made);
  };
  const auto anew = time_all({{capture_and_exchange, 1, sync}, {[&] { execute(turn++ % kResults); }, 1, idle}}, 200);
  print_row("capture: a cuBLAS product, exchanged from the cache, launch", cached[0], cached[1], "-");
  print_row("capture: a cuBLAS product, anew, exchanged, launch", anew[0], anew[1], "-");
}

// The five steps of the sample on matrices of 8 by 8, where a program would have put them.
class MixedSteps {
 public:
  static constexpr int kRows = 8, kCount = kRows * kRows;

  MixedSteps(Bench& bench, Raw& raw, const CudaLibraries& libraries) : raw_(raw), blas_(libraries) {
    for (auto& buffer : buffers_) buffer = make_matrix(bench, kRows, 0.5f);
    for (size_t i = 0; i < buffers_.size(); ++i) at_[i] = bench.address(buffers_[i]);
    expect(static_cast<CUresult>(libraries.fft_plan(&plan_, kCount / 2, CudaLibraries::kComplexToComplex, 1)), "plan");
    const ExecutableVariant variant{"cuda-ptx", std::as_bytes(std::span(cuda_mixed_kernels_sm_75))};
    code_ = expect(bench.device->make_executable({.name = "mixed", .variants = {&variant, 1}}));
    for (const char* name : {"add", "keep_real", "halve"}) {
      kernels_.push_back(static_cast<Executable&>(*code_).kernel(expect(code_->find(name))).handle);
    }
  }

  void issue(CUstream stream) {
    int count = kCount;
    auto& [a, b, sum, product, spectrum, result] = at_;
    launch(stream, 0, {&a, &b, &sum, &count});
    blas_.multiply(stream, kRows, sum, b, product);
    launch(stream, 1, {&product, &count});
    int failed = blas_.use.fft_set_stream(plan_, stream);
    const auto floats = [](CUdeviceptr address) { return reinterpret_cast<float*>(address); };
    if (!failed) failed = blas_.use.fft_execute(plan_, floats(product), floats(spectrum), CudaLibraries::kForward);
    expect(static_cast<CUresult>(failed), "cufftExecC2C");
    launch(stream, 2, {&spectrum, &result, &count});
  }
  hal::Buffer& result() { return *buffers_[5]; }

 private:
  void launch(CUstream stream, size_t kernel, std::array<void*, 4> parameters) {
    expect(raw_.cu.cuLaunchKernel(reinterpret_cast<CUfunction>(kernels_[kernel]), 1, 1, 1, kCount, 1, 1, 0, stream,
                                  parameters.data(), nullptr),
           "launch");
  }
  void launch(CUstream stream, size_t kernel, std::initializer_list<void*> some) {
    std::array<void*, 4> parameters{};
    std::copy(some.begin(), some.end(), parameters.begin());
    launch(stream, kernel, parameters);
  }

  Raw& raw_;
  Blas blas_;
  int plan_ = 0;
  std::array<Ref<hal::Buffer>, 6> buffers_;
  std::array<CUdeviceptr, 6> at_;
  Ref<hal::Executable> code_;
  std::vector<CUkernel> kernels_;
};

void bench_mixed(const CudaLibraries& libraries) {
  Bench bench("stream");
  Raw raw(bench);
  MixedSteps steps(bench, raw, libraries);
  steps.issue(raw.stream);
  raw.sync();
  check_first(bench, steps.result(), 64);
  CUgraph graph, same;
  expect(raw.cu.cuGraphCreate(&graph, 0), "graph");
  expect(raw.cu.cuStreamBeginCaptureToGraph(raw.other, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
         "begin");
  steps.issue(raw.other);
  expect(raw.cu.cuStreamEndCapture(raw.other, &same), "end");
  const CUgraphExec instance = raw.instantiate(graph);
  const auto times = time_all({{[&] { steps.issue(raw.stream); }, 1, [&] { raw.sync(); }},
                               {[&] { raw.launch(instance); }, 1, [&] { raw.sync(); }},
                               {[&] {
                                 steps.issue(raw.stream);
                                 raw.sync();
                               }},
                               {[&] {
                                 raw.launch(instance);
                                 raw.sync();
                               }}},
                              300);
  std::printf("| mixed sample, raw: issue on a stream %.3f us, done %.3f us; as a graph %.3f us, done %.3f us\n",
              times[0], times[2], times[1], times[3]);
}

bool can_open(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (dlopen(name, RTLD_NOW)) return true;
  }
  return false;
}

}  // namespace

int run() {
  if (testing_support::conformance_ptx().empty()) {
    std::puts("skipped: built without nvcc, there is no kernel to time");
    return 0;
  }
  const auto devices = make_driver()->list();
  if (!devices.has_value()) {
    std::printf("skipped: no CUDA device (%s)\n", devices.error().to_string().c_str());
    return 0;
  }
  if (!can_open({"libcublas.so", "libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"}) ||
      !can_open({"libcufft.so", "libcufft.so.12", "libcufft.so.11", "/usr/local/cuda/lib64/libcufft.so"})) {
    std::printf("skipped: %s\n", dlerror());
    return 0;
  }
  const auto libraries = CudaLibraries::open();
  if (!libraries.has_value()) {
    std::puts("cuBLAS is here, but a library of the sample or one of its functions is not");
    return 1;
  }
  std::printf("device: %s\n", (*devices)[0].description.c_str());
  bench_capture(*libraries);
  bench_mixed(*libraries);
  return 0;
}

}  // namespace baton::hal::drivers::cuda

int main() { return baton::hal::drivers::cuda::run(); }
