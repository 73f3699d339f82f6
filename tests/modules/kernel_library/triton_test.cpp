// Goal: what Triton's compiler wrote is launched as it wants to be: workgroup, shared memory and hidden pointers come
// from the pair of files, whatever the version; and a pair that does not belong together, or is damaged, is a sentence.
// Method: cubins of our own kernels by several versions of Triton (triton/make.py), and the fake GPU.
#include "modules/kernel_library/triton.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/kernel_library/json_field.hpp"
#include "tests/modules/kernel_library/cuda_kernels.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::modules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Beside the program where it was carried to another machine.
std::vector<std::byte> file(const std::string& name) {
  const char* carried = std::getenv("BATON_TEST_TRITON");
  return read_kernel_file((std::string(carried ? carried : BATON_TEST_TRITON) + "/" + name).c_str()).value();
}
std::string metadata_of(const std::string& stem) {
  const std::vector<std::byte> bytes = file(stem + ".json");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
Result<TritonKernel> read(const std::string& stem) { return read_triton(metadata_of(stem), file(stem + ".cubin")); }

std::vector<uint32_t> sizes_of(const TritonKernel& kernel) {
  std::vector<uint32_t> sizes;
  for (const auto& one : kernel.parameters) sizes.push_back(one.bytes);
  return sizes;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TritonTest, EveryVersionTellsTheUsersArguments) {
  struct Version {
    const char* name;
    uint32_t hidden;
  };
  for (const Version version : {Version{"3_2", 0}, Version{"3_3", 1}, Version{"3_4", 1}, Version{"3_5", 2},
                                Version{"3_6", 2}, Version{"3_7", 2}, Version{"3_8", 2}, Version{"3_9", 2}}) {
    const auto scale = read(std::string("scale_add_") + version.name);
    ASSERT_OK(scale);
    EXPECT_THAT(sizes_of(*scale), ElementsAre(8, 8, 4, 4)) << version.name;
    EXPECT_EQ(scale->launch.hidden_pointers, version.hidden) << version.name;
    EXPECT_EQ(scale->launch.block, 128u);
    EXPECT_EQ(scale->launch.shared_bytes, 0u);
    EXPECT_EQ(scale->arch, 90);
    const auto sums = read(std::string("row_sums_") + version.name);
    ASSERT_OK(sums);
    EXPECT_THAT(sizes_of(*sums), ElementsAre(4, 8, 8)) << version.name;
    EXPECT_EQ(sums->launch.block, 256u);
    EXPECT_EQ(sums->launch.shared_bytes, 32u);
  }
}

// The fake GPU finds kernels in text; how they are launched comes from the real metadata.
TEST(TritonTest, LaunchesFillInWhatTheKernelWants) {
  FakeGpu gpu;
  fake_cuda().kernels.push_back({"scale_add", {8, 8, 4, 4, 8, 8}, [](const FakeLaunch& launch) {
                                   EXPECT_EQ(launch.block[0], 128u);
                                   EXPECT_EQ(load_bytes<uint64_t>(launch.parameters + 24), 0u);
                                   EXPECT_EQ(load_bytes<uint64_t>(launch.parameters + 32), 0u);
                                   const auto* x = load_bytes<const float*>(launch.parameters);
                                   auto* y = load_bytes<float*>(launch.parameters + 8);
                                   const auto factor = load_bytes<float>(launch.parameters + 16);
                                   for (uint32_t i = 0; i < load_bytes<uint32_t>(launch.parameters + 20); ++i) {
                                     y[i] += x[i] * factor;
                                   }
                                 }});
  const Ref<KernelLibrary> library = gpu.make("scale_add").value();
  library->set_defaults(read("scale_add_3_6").value().launch);
  Kernel* kernel = library->find("scale_add").value();
  const sdk::Kernel door(reinterpret_cast<const baton_library_kernel*>(kernel));
  const float x[] = {1, 2};
  float y[] = {10, 20};
  EXPECT_EQ(said(door.launch({1}, {}, nullptr, x + 0, y + 0, 2.0f, 2)), "");
  EXPECT_THAT(y, ElementsAre(12, 24));
  EXPECT_EQ(
      said(door.launch({1}, {}, nullptr, x + 0, y + 0, 2.0f)),
      "INVALID_ARGUMENT: Kernel 'scale_add' takes 4 arguments (and 2 scratch pointers that it gets by itself); 3 are "
      "given.");
  EXPECT_THAT(said(door.launch({1}, {}, nullptr, x + 0, y + 0, 2.0, 2)),
              HasSubstr("takes 6 parameters of (8, 8, 4, 4, 8, 8)"));
}

TEST(TritonTest, ClustersMakeTheGridLarger) {
  FakeGpu gpu;
  const Ref<KernelLibrary> library = gpu.make("bare").value();
  KernelDefaults defaults = {.block = 64, .shared_bytes = 50000, .cluster = 4};
  library->set_defaults(defaults);
  const sdk::Kernel kernel(reinterpret_cast<const baton_library_kernel*>(library->find("bare").value()));
  EXPECT_EQ(said(kernel.launch({3, 2}, {}, nullptr)), "");
  EXPECT_EQ(fake_cuda().count("cuLaunchKernelEx cluster 4x1x1"), 1u);
  EXPECT_EQ(fake_cuda().count("cuLaunchKernel bare (12, 2, 1)"), 1u);
  EXPECT_EQ(fake_cuda().count("cuKernelSetAttribute bare 50000"), 1u);
  EXPECT_EQ(
      said(kernel.launch({1u << 30}, {}, nullptr)),
      "OUT_OF_RANGE: Kernel 'bare' is launched with 1073741824 programs of 4 workgroups each; a grid has 2147483647 "
      "workgroups at most.");
}

// Each workgroup finds room of its own behind the pointer, and writes the number of workgroups there.
class TritonScratchTest : public testing::Test {
 protected:
  static constexpr uint32_t kBytes = 128;

  TritonScratchTest() {
    fake_cuda().kernels.push_back({"scratch", {8, 8, 8}, [](const FakeLaunch& launch) {
                                     auto* seen = load_bytes<uint64_t*>(launch.parameters);
                                     auto* room = load_bytes<std::byte*>(launch.parameters + 8);
                                     const uint64_t count = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
                                     if (room) std::memset(room, 1, count * kBytes);
                                     seen[0] = count;
                                     seen[1] = room != nullptr;
                                     seen[2] = load_bytes<uint64_t>(launch.parameters + 16);
                                   }});
    library_->set_defaults(
        {.block = 64, .cluster = 2, .parameter_count = 1, .hidden_pointers = 2, .scratch_bytes = {kBytes, 0}});
  }
  sdk::Kernel kernel() {
    return sdk::Kernel(reinterpret_cast<const baton_library_kernel*>(library_->find("scratch").value()));
  }

  FakeGpu gpu_;
  const Ref<KernelLibrary> library_ = gpu_.make("scratch").value();
  uint64_t seen_[3] = {};
};

TEST_F(TritonScratchTest, MemoryComesAndGoesWithALaunchOnAStream) {
  const CUstream stream = gpu_.stream();
  EXPECT_EQ(said(kernel().launch({3, 2}, {}, stream, &seen_[0])), "");
  EXPECT_THAT(seen_, ElementsAre(12, 1, 0));
  EXPECT_EQ(fake_cuda().count("cuMemAllocAsync 1536"), 1u);
  EXPECT_EQ(fake_cuda().count("cuMemFreeAsync"), 1u);
  std::byte own[64];  // Of a caller that brings the memory.
  EXPECT_EQ(said(kernel().launch({0}, {}, stream, &seen_[0])), "") << "nothing to run";
  EXPECT_EQ(said(kernel().launch({1}, {}, stream, &seen_[0], static_cast<std::byte*>(nullptr), own + 0)), "");
  EXPECT_THAT(seen_, ElementsAre(2, 0, reinterpret_cast<uintptr_t>(own)));
  EXPECT_EQ(fake_cuda().count("cuMemAllocAsync"), 1u);
}

TEST_F(TritonScratchTest, WithoutMemoryOrALaunchNothingIsLeft) {
  const CUstream stream = gpu_.stream();
  testing_support::fail_next("cuMemAllocAsync", CUDA_ERROR_OUT_OF_MEMORY);
  const std::string none = said(kernel().launch({1}, {}, stream, &seen_[0]));
  EXPECT_THAT(none, HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(none, HasSubstr("for 256 bytes of scratch memory of kernel 'scratch'"));
  EXPECT_EQ(seen_[0], 0u);
  EXPECT_EQ(fake_cuda().count("cuMemFreeAsync"), 0u);
  testing_support::fail_next("cuLaunchKernelEx", CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(said(kernel().launch({1}, {}, stream, &seen_[0])), HasSubstr("for kernel 'scratch'"));
  EXPECT_EQ(fake_cuda().count("cuMemFreeAsync"), 1u);
  EXPECT_THAT(said(kernel().launch({1u << 29, ~0u, ~0u}, {}, stream, &seen_[0])),
              HasSubstr("RESOURCE_EXHAUSTED: Kernel 'scratch' wants 128 bytes of scratch memory for each of"));
  EXPECT_THAT(said(kernel().launch({1}, {}, stream)), HasSubstr("takes 1 arguments (and 2 scratch pointers"));
  EXPECT_EQ(said(kernel().launch({1}, {}, stream, &seen_[0])), "") << "the device goes on";
  EXPECT_THAT(seen_, ElementsAre(2, 1, 0));
}

TEST_F(TritonScratchTest, AQueueKeepsItUntilTheKernelIsThrough) {
  for (const char* mode : {"cuda?cuda_mode=stream", "cuda?cuda_mode=graph"}) {
    const Ref<hal::Device> device = gpu_.open(mode);
    const auto door = sdk::Ref<sdk::Device>::adopt(reinterpret_cast<sdk::Device*>(wrap(device).detach()));
    const auto done = door->make_fence().value();
    std::fill(std::begin(seen_), std::end(seen_), 0);
    ASSERT_EQ(said(kernel().launch({3}, {}, LaunchTarget(*door, nullptr, done.get()), &seen_[0])), "") << mode;
    EXPECT_EQ(said(done->wait()), "");
    EXPECT_THAT(seen_, ElementsAre(6, 1, 0)) << mode;
  }
}

TEST_F(TritonScratchTest, ACommandKeepsItForEachExecution) {
  for (const char* mode : {"cuda?cuda_mode=stream", "cuda?cuda_mode=graph"}) {
    const Ref<hal::Device> device = gpu_.open(mode);
    auto commands =
        sdk::make<Handle<hal::CommandBuffer>>(device->make_command_buffer({.name = "program"}).value(), *device);
    const hal::CustomCommand custom = {"app", "scratch"};
    commands->open_for(&custom);
    EXPECT_EQ(said(kernel().record(reinterpret_cast<sdk::CommandBuffer&>(*commands), {3}, {}, &seen_[0])), "");
    commands->open_for(nullptr);
    const auto recording = (**commands).finish().value();
    for (int execution = 0; execution < 3; ++execution) {
      std::fill(std::begin(seen_), std::end(seen_), 0);
      EXPECT_OK(device->queue().execute({}, *recording));
      EXPECT_OK(device->queue().wait_idle());
      EXPECT_THAT(seen_, ElementsAre(6, 1, 0)) << mode;
    }
  }
}

TEST(TritonTest, APairThatDoesNotBelongTogetherIsASentence) {
  const std::string metadata = metadata_of("scale_add_3_6");
  const std::vector<std::byte> cubin = file("scale_add_3_6.cubin");
  const auto read_as = [&](std::string_view from, std::string_view to) {
    return read_triton(replaced(metadata, from, to), cubin);
  };
  EXPECT_FAILS(read_triton(metadata, file("row_sums_3_6.cubin")), StatusCode::kFailedPrecondition,
               "The metadata of kernel 'scale_add' does not fit its cubin: the code has no entry point 'scale_add' (1 "
               "entry point); it has 'row_sums'.");
  EXPECT_FAILS(read_triton(metadata, file("scale_add_3_2.cubin")), StatusCode::kFailedPrecondition,
               "it says 2 scratch pointers, and the code takes 4 parameters that do not end in them");
  EXPECT_FAILS(read_as("\"arch\": 90", "\"arch\": 80"), StatusCode::kFailedPrecondition,
               "it says sm_80, and the code is for sm_90");
  EXPECT_FAILS(read_as("\"num_warps\": 4", "\"num_warps\": 8"), StatusCode::kFailedPrecondition,
               "it says 8 warps, and the code is for 128 threads");
  EXPECT_FAILS(read_as("\"backend\": \"cuda\"", "\"backend\": \"hip\""), StatusCode::kUnimplemented,
               "is compiled for \"hip\"");
  for (const char* other : {"null", "\"cuda:90\"", "[90]", "90"}) {
    EXPECT_FAILS(read_as("{\"backend\": \"cuda\", \"arch\": 90, \"warp_size\": 32}", other),
                 StatusCode::kInvalidArgument,
                 text("The metadata's 'target' is ", other, ", which is nothing that it can be."));
  }
  EXPECT_FAILS(read_as("\"shared\"", "\"shaded\""), StatusCode::kInvalidArgument, "The metadata has no 'shared'");
  EXPECT_FAILS(read_as("\"shared\": 0", "\"shared\": -1"), StatusCode::kInvalidArgument, "'shared' is -1");
  EXPECT_FAILS(read_as("\"num_warps\": 4", "\"num_warps\": 400"), StatusCode::kInvalidArgument, "'num_warps' is 400");
}

// Each field missing, null, and of every other type: what may be absent has a default, everything else is a sentence.
TEST(TritonTest, FieldsMayBeAbsentOrNullOrWrong) {
  const std::vector<std::byte> cubin = file("scale_add_3_6.cubin");
  struct Field {
    const char* name;
    const char* value;
    bool is_needed;
  };
  constexpr Field kFields[] = {{"name", "\"scale_add\"", true},
                               {"target", "{\"backend\": \"cuda\", \"arch\": 90, \"warp_size\": 32}", true},
                               {"num_warps", "4", true},
                               {"shared", "0", true},
                               {"num_ctas", "1", false},
                               {"launch_pdl", "false", false},
                               {"launch_cooperative_grid", "false", false},
                               {"triton_version", "\"3.6.0\"", false},
                               {"global_scratch_size", "0", false},
                               {"profile_scratch_size", "0", false},
                               {"tensordesc_meta", "[]", false}};
  const auto read_with = [&](std::string_view field, std::string_view value) {
    std::string metadata = "{\"hash\": \"\"";
    for (const Field& each : kFields) {
      const bool changed = each.name == field;
      if (changed && value.empty()) continue;
      metadata += text(", \"", each.name, "\": ", changed ? value : each.value);
    }
    return read_triton(metadata + "}", cubin);
  };
  EXPECT_OK(read_with("", ""));
  for (const Field& field : kFields) {
    const bool is_ignored = std::string_view(field.name) == "tensordesc_meta";
    for (const std::string_view absent : {"", "null"}) {
      const auto kernel = read_with(field.name, absent);
      EXPECT_EQ(kernel.has_value(), !field.is_needed) << field.name << " " << absent;
      // Null says that the version has such a pointer, and nothing that it none has.
      const bool is_pointer = std::string_view(field.name).ends_with("scratch_size");
      if (!kernel) continue;
      EXPECT_EQ(kernel->launch.hidden_pointers, is_pointer && absent.empty() ? 1u : 2u) << field.name;
    }
    for (const std::string_view wrong : {"-1", "1.5", "99999999999", "\"\"", "\"a\\\"b\"", "[]", "[{\"a\": 1}]", "{}",
                                         "{\"backend\": null}", "{\"backend\": \"cuda\", \"arch\": null}", "nul"}) {
      const auto kernel = read_with(field.name, wrong);
      const bool is_text = wrong == "\"\"" && std::string_view(field.name) == "triton_version";
      EXPECT_EQ(kernel.has_value(), is_ignored || is_text) << field.name << " " << wrong;
    }
  }
}

// A tensor's descriptor is an argument of 128 bytes that the caller makes, and what belongs to it follows.
TEST(TritonTest, DescriptorsAreArgumentsOfTheCaller) {
  const auto kernel = read("describe_3_9");
  ASSERT_OK(kernel);
  EXPECT_THAT(sizes_of(*kernel), ElementsAre(128, 4, 4, 8, 8, 8, 4));
  EXPECT_EQ(kernel->launch.hidden_pointers, 2u);
}

// Damage of every length, and of every byte of the tables: a sentence or a kernel, and never a read beyond the end.
TEST(TritonTest, DamagedFilesAreRefused) {
  const std::string metadata = metadata_of("row_sums_3_6");
  const std::vector<std::byte> cubin = file("row_sums_3_6.cubin");
  for (size_t size = 0; size < cubin.size(); size += 7) {
    const std::vector<std::byte> cut(cubin.begin(), cubin.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(read_triton(metadata, cut).has_value()) << size;
  }
  for (size_t at = 0; at < cubin.size(); ++at) {
    std::vector<std::byte> damaged = cubin;
    damaged[at] ^= std::byte{0xff};
    const auto kernel = read_triton(metadata, damaged);
    EXPECT_TRUE(kernel.has_value() || !kernel.error().message().empty()) << at;
  }
  for (size_t size = 0; size + 2 < metadata.size(); ++size) {
    EXPECT_FALSE(read_triton(std::string_view(metadata).substr(0, size), cubin).has_value()) << size;
  }
}

// Kernels for sm_90 on the machine's GPU: numbers go to it and come back through memory of its own.
class TritonRealTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = RealGpu::open();
    if (!opened) GTEST_SKIP() << "skipped: " << opened.error().to_string();
    gpu_ = std::move(*opened);
    const auto refused = kernel("scale_add_3_2", "scale_add");
    if (!refused && refused.error().message().find("is machine code for sm_90") != std::string::npos) {
      GTEST_SKIP() << "skipped: " << refused.error().to_string();
    }
  }
  Result<sdk::Kernel> kernel(const std::string& stem, std::string_view name) {
    BATON_TRY_ASSIGN(Ref<KernelLibrary> made,
                     make_triton_library(metadata_of(stem), file(stem + ".cubin"), gpu_->drivers()));
    BATON_TRY_ASSIGN(Kernel * found, made->find(name));
    libraries_.push_back(std::move(made));
    return sdk::Kernel(reinterpret_cast<const baton_library_kernel*>(found));
  }
  // Zeros on the device, or these numbers.
  float* memory(size_t count, const std::vector<float>& values = {}) {
    CUdeviceptr address = 0;
    const auto& cuda = gpu_->symbols();
    EXPECT_EQ(cuda.cuMemAllocAsync(&address, count * sizeof(float), gpu_->stream()), CUDA_SUCCESS);
    EXPECT_EQ(cuda.cuMemsetD32Async(address, 0, count, gpu_->stream()), CUDA_SUCCESS);
    if (!values.empty()) {
      auto* staged = gpu_->memory<float>(count);
      std::copy(values.begin(), values.end(), staged);
      EXPECT_EQ(
          cuda.cuMemcpyAsync(address, reinterpret_cast<CUdeviceptr>(staged), count * sizeof(float), gpu_->stream()),
          CUDA_SUCCESS);
    }
    return reinterpret_cast<float*>(address);
  }
  std::vector<float> read(const float* address, size_t count) {
    auto* staged = gpu_->memory<float>(count);
    EXPECT_EQ(
        gpu_->symbols().cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(staged), reinterpret_cast<CUdeviceptr>(address),
                                      count * sizeof(float), gpu_->stream()),
        CUDA_SUCCESS);
    EXPECT_EQ(gpu_->symbols().cuStreamSynchronize(gpu_->stream()), CUDA_SUCCESS);
    return {staged, staged + count};
  }
  static std::vector<float> numbers(size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
  }
  static std::vector<float> times(std::vector<float> values, float factor, float more) {
    for (float& each : values) each = each * factor + more;
    return values;
  }

  std::unique_ptr<RealGpu> gpu_;
  std::vector<Ref<KernelLibrary>> libraries_;
};
constexpr const char* kVersions[] = {"3_2", "3_3", "3_4", "3_5", "3_6", "3_7", "3_8", "3_9"};

TEST_F(TritonRealTest, ACubinOfTritonsRunsAsItIs) {
  for (const std::string version : kVersions) {
    const auto scale_add = kernel("scale_add_" + version, "scale_add");
    ASSERT_OK(scale_add);
    float *x = memory(300, numbers(300)), *y = memory(300, std::vector<float>(300, 1));
    ASSERT_EQ(said(scale_add->launch({2}, {}, gpu_->stream(), x, y, 2.0f, 300)), "");
    EXPECT_EQ(read(y, 300), times(numbers(300), 2, 1)) << version;
  }
}

TEST_F(TritonRealTest, SharedMemoryIsWhatTheMetadataSays) {
  for (const std::string version : kVersions) {
    const auto row_sums = kernel("row_sums_" + version, "row_sums");
    ASSERT_OK(row_sums);
    float *x = memory(3 * 1000, std::vector<float>(3 * 1000, 0.5f)), *sums = memory(3);
    ASSERT_EQ(said(row_sums->launch({3}, {}, gpu_->stream(), 1000, x, sums)), "");
    EXPECT_THAT(read(sums, 3), ElementsAre(500, 500, 500)) << version;
  }
}

TEST_F(TritonRealTest, PointersStandBehindNumbers) {
  const auto between = kernel("between_3_9", "between");
  ASSERT_OK(between);
  float *x = memory(256, numbers(256)), *out = memory(256);
  ASSERT_EQ(said(between->launch({2}, {}, gpu_->stream(), x, 3.0f, 200, out)), "");
  std::vector<float> expected = times(numbers(256), 1, 3);
  std::fill(expected.begin() + 200, expected.end(), 0.0f);
  EXPECT_EQ(read(out, 256), expected);
}

TEST_F(TritonRealTest, ScratchMemoryComesWithTheLaunch) {
  const auto tiles = kernel("tiles_3_9", "tiles");
  ASSERT_OK(tiles);
  float *x = memory(64 * 96, numbers(64 * 96)), *out = memory(64 * 96);
  for (int launch = 0; launch < 3; ++launch) {
    ASSERT_EQ(said(tiles->launch({2, 3}, {}, gpu_->stream(), x, out, 64, 96)), "");
  }
  EXPECT_EQ(read(out, 64 * 96), times(numbers(64 * 96), 2, 0));
}

// The caller's descriptor, as the metadata describes it: 32 x 32 floats, in swizzles of 128 bytes.
TEST_F(TritonRealTest, ADescriptorOfTheCallersIsPassedAsItIs) {
  const auto describe = kernel("describe_3_9", "describe");
  ASSERT_OK(describe);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto encode =
      driver ? reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(dlsym(driver, "cuTensorMapEncodeTiled")) : nullptr;
  if (!encode) GTEST_SKIP() << "skipped: the driver makes no descriptors of tensors (cuTensorMapEncodeTiled)";
  float *x = memory(64 * 96, numbers(64 * 96)), *out = memory(64 * 96);
  CUtensorMap map;
  const cuuint64_t sizes[] = {96, 64}, strides[] = {96 * sizeof(float)};
  const cuuint32_t box[] = {32, 32}, steps[] = {1, 1};
  ASSERT_EQ(
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      CUDA_SUCCESS);
  ASSERT_EQ(said(describe->launch({2, 3}, {}, gpu_->stream(), map, 64, 96, int64_t{96}, int64_t{1}, out, 96)), "");
  EXPECT_EQ(read(out, 64 * 96), times(numbers(64 * 96), 2, 0));
}

TEST(JsonFieldTest, FindsValuesOfTheOutermostObject) {
  constexpr std::string_view kObject = R"( {"a" : {"b": "}"}, "b":[1, {"c": 2}] ,"d\"e":true, "f": "\\", "c":-1e3} )";
  const auto field = [&](std::string_view key) {
    return std::string(json_field(kObject, key).value().value_or("none"));
  };
  EXPECT_EQ(field("a"), R"({"b": "}"})");
  EXPECT_EQ(field("b"), R"([1, {"c": 2}])");
  EXPECT_EQ(field("c"), "-1e3");
  EXPECT_EQ(field("f"), R"("\\")");
  EXPECT_EQ(field("g"), "none");
  EXPECT_EQ(json_field("{}", "a").value().value_or("none"), "none");
  for (const char* bad :
       {"", "[]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\" 1}", "{a: 1}", "{\"a\": [}", "{\"a\": \"}"}) {
    EXPECT_FAILS(json_field(bad, "z"), StatusCode::kInvalidArgument, "is no JSON object") << bad;
  }
}

}  // namespace
}  // namespace baton::modules
