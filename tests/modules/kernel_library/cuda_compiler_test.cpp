// Goal: source becomes machine code by NVRTC and parts become one by nvJitLink, on a machine without a GPU; what is
// wrong with them is told with the compiler's log; what was compiled once is found again unless anything differs.
// Method: NVIDIA's own libraries where they are; the tests that need them say so where they are not.
#include "modules/kernel_library/cuda_compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "hal/cubin.hpp"
#include "tests/modules/kernel_library/cuda_kernels.hpp"
#include "tests/support/status_matchers.hpp"
#include "tests/support/temporary_path.hpp"

// What NVIDIA's linker does not give back is its own.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name
extern "C" const char* __lsan_default_suppressions() { return "leak:libnvJitLink.so\nleak:libnvrtc"; }

namespace baton::modules {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::string_view kSource = R"(
#include "factor.h"
extern "C" __global__ void scale(float* x, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= FACTOR + BIAS;
}
)";

class CudaCompilerTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  Result<std::vector<std::byte>> compile(std::string_view source, std::string_view header = "#define FACTOR 3",
                                         std::string_view option = "-DBIAS=1", std::string_view arch = "90") {
    const SourceHeader headers[] = {{"factor.h", header}};
    const std::string_view options[] = {option};
    return compile_cuda({"kernels.cu", source, arch, options, headers}, cache_);
  }
  size_t kept() const {
    return fs::exists(folder_) ? static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})) : 0;
  }
  const fs::path folder_ = testing_support::temporary_path("compiled");
  const CodeCache cache_{folder_.string()};
};

#define NEEDS(outcome)                                                                  \
  if (!(outcome).has_value() && (outcome).error().code() == StatusCode::kUnavailable) { \
    GTEST_SKIP() << "skipped: " << (outcome).error().message();                         \
  }

TEST_F(CudaCompilerTest, SourceBecomesMachineCode) {
  const auto code = compile(kSource);
  NEEDS(code);
  ASSERT_OK(code);
  const auto cubin = hal::read_cubin(*code);
  ASSERT_OK(cubin);
  EXPECT_EQ(cubin->arch, 90);
  ASSERT_EQ(cubin->kernels.size(), 1u);
  EXPECT_EQ(cubin->kernels[0].name, "scale");
  EXPECT_EQ(cubin->kernels[0].parameters.size(), 2u);
}

TEST_F(CudaCompilerTest, ErrorsComeWithTheLog) {
  const auto code = compile("extern \"C\" __global__ void scale(float* x) { x[0] = undeclared; }");
  NEEDS(code);
  EXPECT_FAILS(code, StatusCode::kInvalidArgument, "NVRTC does not compile 'kernels.cu' for sm_90");
  EXPECT_FAILS(code, StatusCode::kInvalidArgument, "identifier \"undeclared\" is undefined");
  EXPECT_EQ(kept(), 0u);
  EXPECT_FAILS(compile(kSource, "", "-DBIAS=1", "90; rm"), StatusCode::kInvalidArgument, "is no architecture");
}

TEST_F(CudaCompilerTest, WhatWasCompiledIsFoundAgainUnlessAnythingDiffers) {
  const auto first = compile(kSource);
  NEEDS(first);
  ASSERT_OK(first);
  EXPECT_EQ(kept(), 1u);
  EXPECT_EQ(compile(kSource).value(), *first);
  EXPECT_EQ(kept(), 1u);
  EXPECT_OK(compile(kSource, "#define FACTOR 4"));
  EXPECT_EQ(kept(), 2u);
  EXPECT_OK(compile(kSource, "#define FACTOR 3", "-DBIAS=2"));
  EXPECT_EQ(kept(), 3u);
  EXPECT_OK(compile(kSource, "#define FACTOR 3", "-DBIAS=1", "80"));
  EXPECT_EQ(kept(), 4u);
  EXPECT_OK(compile(std::string(kSource) + " "));
  EXPECT_EQ(kept(), 5u);
  EXPECT_FALSE(compile(kSource, "#define FACTOR 3", "-I/nonexistent").has_value());
  EXPECT_OK(compile("extern \"C\" __global__ void plain() {}", "", "-I/nonexistent"));
  EXPECT_EQ(kept(), 5u) << "nobody knows what a folder gave";
}

// The folder of the source's name is looked into without any option.
TEST_F(CudaCompilerTest, WhatIncludesFilesIsCompiledEachTime) {
  const fs::path folder = testing_support::temporary_path("included");
  fs::create_directories(folder);
  const std::string name = (folder / "kernels.cu").string(), path = (folder / "disk.h").string();
  const auto compile_with = [&](std::string_view include, std::string_view factor) {
    std::ofstream(path) << "#define FACTOR " << factor << "\n";
    const std::string source = std::string(include) + "\nextern \"C\" __global__ void k(float* x) { *x = FACTOR; }";
    const std::string more = "#include \"" + path + "\"";
    const SourceHeader headers[] = {{"more.h", more}};
    return compile_cuda({name, source, "90", {}, headers}, cache_);
  };
  NEEDS(compile_with("#include \"disk.h\"", "1.0f"));
  for (const std::string& include : {std::string("#include \"disk.h\""), "# include \"" + path + "\"",
                                     std::string("#define H \"disk.h\"\n#include H"),
                                     std::string("#include \"more.h\""), std::string("#include <more.h>"),
                                     std::string("#if __has_include(\"disk.h\")\n#include/**/\"disk.h\"\n#endif")}) {
    const auto one = compile_with(include, "1.0f"), two = compile_with(include, "2.0f");
    ASSERT_OK(one) << include;
    ASSERT_OK(two) << include;
    EXPECT_NE(*one, *two) << include;
  }
  EXPECT_EQ(kept(), 0u);
  EXPECT_OK(compile("// Files that it includes: none.\n" + std::string(kSource)));
  EXPECT_EQ(kept(), 1u);
  fs::remove_all(folder);
}

constexpr std::string_view kCaller = R"(.version 7.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice (.param .b32 value);
.visible .entry apply(.param .u64 x) {
  .reg .b64 %a; .reg .b32 %v;
  ld.param.u64 %a, [x]; cvta.to.global.u64 %a, %a; ld.global.u32 %v, [%a];
  { .param .b32 given; .param .b32 got; st.param.b32 [given], %v;
    call.uni (got), twice, (given); ld.param.b32 %v, [got]; }
  st.global.u32 [%a], %v; ret; }
)";
constexpr std::string_view kFunction = R"(.version 7.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) twice (.param .b32 value) {
  .reg .b32 %v; ld.param.b32 %v, [value]; add.u32 %v, %v, %v; st.param.b32 [result], %v; ret; }
)";

TEST_F(CudaCompilerTest, PartsBecomeOne) {
  const LinkInput parts[] = {{"caller.ptx", std::as_bytes(std::span(kCaller))},
                             {"function.ptx", std::as_bytes(std::span(kFunction))}};
  const auto code = link_cuda("90", parts);
  NEEDS(code);
  ASSERT_OK(code);
  EXPECT_EQ(hal::read_cubin(*code).value().kernels[0].name, "apply");
  EXPECT_FAILS(link_cuda("90", {parts, 1}), StatusCode::kInvalidArgument, "twice");
  const LinkInput bad[] = {{"noise.o", std::as_bytes(std::span(std::string_view("noise, not code")))}};
  EXPECT_FAILS(link_cuda("90", bad), StatusCode::kInvalidArgument, "nvJitLink does not take 'noise.o'");
  EXPECT_FAILS(link_cuda("90", {}), StatusCode::kInvalidArgument, "nothing to link");
}

// nvJitLink reads as far as tables say: it would end the process, or never end.
TEST_F(CudaCompilerTest, DamagedPartsNeverReachTheLinker) {
  const LinkInput function[] = {{"function.ptx", std::as_bytes(std::span(kFunction))}};
  const auto cubin = link_cuda("90", function);
  NEEDS(cubin);
  ASSERT_OK(cubin);
  const std::span<const std::byte> whole(*cubin);
  for (size_t length = 4; length < whole.size(); ++length) {
    const LinkInput cut[] = {{"cut.cubin", whole.first(length)}};
    EXPECT_FAILS(link_cuda("90", cut), StatusCode::kDataLoss, "while linking 'cut.cubin'") << length;
  }
  EXPECT_OK(link_cuda("90", function));
}

TEST_F(CudaCompilerTest, AZeroInATextIsToldAndNotTakenForItsEnd) {
  const std::string source = std::string(kSource) + std::string(1, '\0') + "more";
  EXPECT_FAILS(compile(source), StatusCode::kInvalidArgument, "has a zero at byte");
  const std::string option("-DA\0-DB", 7);
  EXPECT_FAILS(compile(kSource, "#define FACTOR 3", option), StatusCode::kInvalidArgument,
               "Option '-DA' has a zero at byte 3");
}

#ifdef BATON_TEST_LTO_IR
TEST_F(CudaCompilerTest, LtoIrIsOptimizedWhereItIsLinked) {
  std::ifstream file(BATON_TEST_LTO_IR, std::ios::binary);
  const std::string function((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(function.empty());
  const LinkInput parts[] = {{"caller.ptx", std::as_bytes(std::span(kCaller))},
                             {"twice.ltoir", std::as_bytes(std::span(function))}};
  const auto code = link_cuda("90", parts);
  NEEDS(code);
  ASSERT_OK(code);
  EXPECT_EQ(hal::read_cubin(*code).value().kernels[0].name, "apply");
  // Cut off it is told as what it is, and by whose name, and not as the option that LTO-IR needs.
  for (size_t length = 64; length < function.size(); length += 64) {
    const LinkInput cut[] = {parts[0], {"cut.ltoir", parts[1].bytes.first(length)}};
    const auto linked = link_cuda("90", cut);
    EXPECT_FAILS(linked, StatusCode::kInvalidArgument,
                 "nvJitLink does not link 'caller.ptx', 'cut.ltoir': the LTO-IR does not compile: it was damaged")
        << length;
    if (!linked) {
      EXPECT_EQ(linked.error().message().find("-lto)"), std::string_view::npos) << length;
    }
  }
  const LinkInput none[] = {parts[0], {"cut.ltoir", parts[1].bytes.first(4)}};
  EXPECT_FAILS(link_cuda("90", none), StatusCode::kDataLoss, "while linking 'cut.ltoir'");
  EXPECT_OK(link_cuda("90", parts));
}
#endif

TEST_F(CudaCompilerTest, AMachineWithoutTheCompilerSaysSo) {
  ASSERT_EQ(setenv("BATON_CUDA_LIBRARIES", "/nonexistent", 1), 0);
  EXPECT_FAILS(compile(kSource), StatusCode::kUnavailable, "NVRTC is not on this machine (/nonexistent/libnvrtc.so");
  const LinkInput part[] = {{"a", {}}};
  EXPECT_FAILS(link_cuda("90", part), StatusCode::kUnavailable, "nvJitLink is not on this machine");
  unsetenv("BATON_CUDA_LIBRARIES");
}

TEST_F(CudaCompilerTest, WithoutAnArchitectureTheFirstDeviceIsAsked) {
  FakeGpu gpu;
  const auto compiled =
      KernelLibrary::compile({"kernels.cu", "extern \"C\" __global__ void bare() {}", ""}, cache_, gpu.drivers());
  NEEDS(compiled);
  EXPECT_OK(compiled);
  fake_cuda().init_result = CUDA_ERROR_NO_DEVICE;
  auto none = std::make_shared<hal::DriverRegistry>();
  EXPECT_FAILS(KernelLibrary::compile({"kernels.cu", "", ""}, cache_, none), StatusCode::kUnavailable,
               "source without an architecture is compiled for CUDA's first device; say one, as in \"90\"");
}

}  // namespace
}  // namespace baton::modules
