// build_executable: kernels that call the user's objects, bitcode and imports run; what is wrong with them is told.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.hpp"
#include "hal/drivers/local/elf_loader.hpp"
#include "hal/drivers/local/processor.hpp"
#include "tests/compiler-lite/codegen/compiled_groups.hpp"

namespace baton::compiler_lite::codegen::cpu {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kFolder = BATON_TEST_OBJECTS;
std::string object(std::string_view name) { return std::string(kFolder) + "/" + std::string(name); }

std::vector<float> count_up(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 100);
  return values;
}

constexpr std::string_view kCallsMul = R"(
#layout = #hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>,
    #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
module @user {
  func.func private @user_mul(memref<f32>, index, memref<f32>, index, memref<f32>, index, index, index)
      attributes {llvm.bareptr, hal.import.static}
  func.func @mul() {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %id = hal.interface.workgroup.id[0] : index
    %first = affine.apply affine_map<(d0) -> (d0 * 64)>(%id)
    %n32 = hal.interface.constant.load layout(#layout) ordinal(0) : i32
    %n = arith.index_cast %n32 : i32 to index
    %a = hal.interface.binding.subspan layout(#layout) binding(0) alignment(64) offset(%c0) : memref<?xf32>{%n}
    %b = hal.interface.binding.subspan layout(#layout) binding(1) alignment(64) offset(%c16)
        : memref<?xf32, strided<[1], offset: ?>>{%n}
    %r = hal.interface.binding.subspan layout(#layout) binding(2) alignment(64) offset(%c0) : memref<?xf32>{%n}
    %ab, %ao, %as, %at = iree_codegen.extract_strided_metadata %a : memref<?xf32> -> memref<f32>, index, index, index
    %bb, %bo, %bs, %bt = iree_codegen.extract_strided_metadata %b
        : memref<?xf32, strided<[1], offset: ?>> -> memref<f32>, index, index, index
    %rb, %ro, %rs, %rt = iree_codegen.extract_strided_metadata %r : memref<?xf32> -> memref<f32>, index, index, index
    func.call @user_mul(%ab, %ao, %bb, %bo, %rb, %ro, %n, %first)
        : (memref<f32>, index, memref<f32>, index, memref<f32>, index, index, index) -> ()
    return
  }
})";

void run_mul(CompiledGroups& groups) {
  ASSERT_EQ(groups.messages(), "");
  Tensor a = Tensor::of<float>({150}, count_up(150)), b = Tensor::of<float>({154}, count_up(154));
  Tensor r = Tensor::empty<float>({150});
  // Two words, though the kernel reads one: the layout says so.
  ASSERT_EQ(groups.run_kernel("mul", {150, 7}, {&a, &b, &r}, 3), "");
  std::vector<float> expected(150);
  for (size_t i = 0; i < 150; ++i) expected[i] = a.as<float>()[i] * b.as<float>()[i + 4];
  EXPECT_EQ(r.as<float>(), expected);
}

TEST(ExecutableTest, CallsAFunctionOfAnObject) {
  CompiledGroups groups(kCallsMul,
                        {.objects = {"user_x86_64.o"}, .search_paths = {"/nowhere", kFolder}, .from_kernels = true});
  run_mul(groups);
}

TEST(ExecutableTest, CallsAFunctionWithState) {
  CompiledGroups groups(kCallsMul, {.objects = {object("state_x86_64.o")}, .from_kernels = true});
  run_mul(groups);
}

TEST(ExecutableTest, InlinesAFunctionOfBitcode) {
  CompiledGroups groups(kCallsMul, {.objects = {object("user_x86_64.bc")}, .from_kernels = true});
  run_mul(groups);
  const std::string code = groups.llvm_ir();
  EXPECT_THAT(code, HasSubstr("fmul <"));
  EXPECT_THAT(code, Not(HasSubstr("user_mul(")));
}

TEST(ExecutableTest, TakesObjectsAsBytes) {
  for (const char* name : {"user_x86_64.o", "user_x86_64.bc"}) {
    CompiledGroups groups(kCallsMul, {.objects = {object(name)}, .embed = true, .from_kernels = true});
    run_mul(groups);
  }
}

TEST(ExecutableTest, CallsThroughAnArchive) {
  CompiledGroups groups(kCallsMul, {.objects = {object("user_x86_64.a")}, .from_kernels = true});
  run_mul(groups);
}

TEST(ExecutableTest, PassesScalarsAndWholeMemrefs) {
  CompiledGroups groups(R"(
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
module {
  func.func private @user_mix(f32, i8, i1) -> f32 attributes {hal.import.static}
  func.func private @user_fill(memref<?x5xf32>, f32) attributes {hal.import.static}
  func.func @fill() {
    %n = arith.constant 3 : index
    %x = arith.constant 1.5 : f32
    %small = arith.constant -4 : i8
    %yes = arith.constant true
    %r = hal.interface.binding.subspan layout(#layout) binding(0) : memref<?x5xf32>{%n}
    %v = func.call @user_mix(%x, %small, %yes) : (f32, i8, i1) -> f32
    func.call @user_fill(%r, %v) : (memref<?x5xf32>, f32) -> ()
    return
  }
})",
                        {.objects = {object("user_x86_64.o")}, .from_kernels = true});
  ASSERT_EQ(groups.messages(), "");
  Tensor r = Tensor::empty<float>({3, 5});
  ASSERT_EQ(groups.run_kernel("fill", {}, {&r}, 1), "");
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(r.as<float>()[i], -6.0f + static_cast<float>(i % 5));
}

// As the system's C library has them, or as the object itself does.
std::vector<double> math_of_c() {
  std::vector<double> results;
  const auto add = [&](double f64, float f32) { results.insert(results.end(), {f64, static_cast<double>(f32)}); };
#define ONE(name, x) add(::name(x), ::name##f(x##f));
#define TWO(name, x, y) add(::name(x, y), ::name##f(x##f, y##f));
#include "tests/compiler-lite/codegen/cpu/c_math.inc"
#undef ONE
#undef TWO
  add(1.5 * 2.25 - 0.125, 1.5f * 2.25f - 0.125f);
  add(std::sin(0.5) + std::cos(0.5), std::sin(0.5f) + std::cos(0.5f));
  return results;
}

TEST(ExecutableTest, ObjectsMayCallMathOfC) {
  const std::vector<double> expected = math_of_c();
  const std::string kernel = baton::text(R"(
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
module {
  func.func private @user_math(memref<)",
                                         expected.size(), R"(xf64>) attributes {llvm.bareptr, hal.import.static}
  func.func @run() {
    %r = hal.interface.binding.subspan layout(#layout) binding(0) : memref<)",
                                         expected.size(), R"(xf64>
    func.call @user_math(%r) : (memref<)",
                                         expected.size(), R"(xf64>) -> ()
    return
  }
})");
  for (const char* name : {"math_x86_64.o", "math_x86_64.bc", "math_own_x86_64.o", "math_own_x86_64.bc"}) {
    CompiledGroups groups(kernel, {.objects = {object(name)}, .from_kernels = true});
    ASSERT_EQ(groups.messages(), "") << name;
    Tensor r = Tensor::empty<double>({static_cast<int64_t>(expected.size())});
    ASSERT_EQ(groups.run_kernel("run", {}, {&r}, 1), "");
    constexpr size_t kExpf = 2 * 11 + 1;
    for (size_t i = 0; i < expected.size(); ++i) {
      const bool is_own = i == kExpf && std::string_view(name).starts_with("math_own");
      const double wanted = is_own ? 1125.0 : expected[i];
      EXPECT_NEAR(r.as<double>()[i], wanted, std::abs(wanted) * (i % 2 == 0 ? 4e-15 : 3e-7))
          << name << ", result " << i;
    }
  }
}

constexpr std::string_view kImports = R"(
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>
module {
  func.func private @zeta.unused(i32)
  func.func private @my.scale(memref<f32>, index, i32, i1) -> (i32, i1)
      attributes {llvm.bareptr = [true], hal.import.fields = ["processor_id", "processor_data"], hal.import.name = "acme.scale"}
  func.func private @my.check(i32) attributes {hal.import.name = "acme.check"}
  func.func @run() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %yes = arith.constant true
    %limit = hal.interface.constant.load layout(#layout) ordinal(0) : i32
    %m = hal.interface.binding.subspan layout(#layout) binding(0) : memref<8xi32>
    %f = hal.interface.binding.subspan layout(#layout) binding(0) : memref<8xf32>
    %b, %o, %s, %t = iree_codegen.extract_strided_metadata %f : memref<8xf32> -> memref<f32>, index, index, index
    scf.for %i = %c0 to %c3 step %c1 {
      %i32 = arith.index_cast %i : index to i32
      func.call @my.check(%i32) : (i32) -> ()
      %r, %flag = func.call @my.scale(%b, %o, %i32, %yes) : (memref<f32>, index, i32, i1) -> (i32, i1)
      %wide = arith.extui %flag : i1 to i32
      %sum = arith.addi %r, %wide : i32
      memref.store %sum, %m[%i] : memref<8xi32>
    }
    memref.store %limit, %m[%c3] : memref<8xi32>
    return
  }
})";

struct ScaleParams {
  int32_t result;
  bool flag;
  const float* base;
  size_t offset;
  int32_t i;
  bool yes;
  uint32_t processor_id;
  const uint64_t* processor_data;
};

int scale(void* raw, void* context, void* reserved) {
  auto* params = static_cast<ScaleParams*>(raw);
  const bool good = params->offset == 0 && params->yes && reserved == nullptr &&
                    params->processor_data[0] == hal::drivers::local::host_processor().data[0];
  params->result = good ? params->i * *static_cast<int*>(context) : -1;
  params->flag = params->i == 2;
  return 0;
}
int check(void* raw, void* context, void*) {
  return *static_cast<int32_t*>(raw) == *static_cast<int*>(context) ? 77 : 0;
}

CompileOptions with_imports(int* factor, int* stop) {
  auto symbols = std::make_shared<hal::drivers::local::HostSymbols>();
  symbols->add("acme.scale", scale, factor);
  if (stop) symbols->add("acme.check", check, stop);
  CompileOptions options;
  options.from_kernels = true;
  options.device.imports.add(std::move(symbols));
  return options;
}

TEST(ExecutableTest, CallsDynamicImportsWithFields) {
  int factor = 10, stop = -1;
  CompiledGroups groups(kImports, with_imports(&factor, &stop));
  ASSERT_EQ(groups.messages(), "");
  Tensor m = Tensor::of<int32_t>({8}, std::vector<int32_t>(8, 0));
  ASSERT_EQ(groups.run_kernel("run", {99}, {&m}, 1), "");
  EXPECT_EQ(m.as<int32_t>(), (std::vector<int32_t>{0, 10, 21, 99, 0, 0, 0, 0}));
}

TEST(ExecutableTest, EndsTheKernelWithWhatAnImportReturns) {
  int factor = 10, stop = 1;
  CompiledGroups groups(kImports, with_imports(&factor, &stop));
  ASSERT_EQ(groups.messages(), "");
  Tensor m = Tensor::of<int32_t>({8}, std::vector<int32_t>(8, 0));
  EXPECT_THAT(groups.run_kernel("run", {99}, {&m}, 1), HasSubstr("77"));
}

TEST(ExecutableTest, NamesImportsThatNobodyHas) {
  int factor = 10;
  CompiledGroups groups(kImports, with_imports(&factor, nullptr));
  EXPECT_THAT(groups.messages(), HasSubstr("acme.check"));
  EXPECT_THAT(groups.messages(), Not(HasSubstr("zeta.unused")));
}

TEST(ExecutableTest, TellsWhatIsWrongWithObjects) {
  const auto messages = [](std::string path, std::string_view text = kCallsMul) {
    return CompiledGroups(text,
                          {.objects = {std::move(path)}, .search_paths = {"/nowhere", "/else"}, .from_kernels = true})
        .messages();
  };
  EXPECT_EQ(messages("absent.o"),
            "The object 'absent.o' was not found; looked for 'absent.o', '/nowhere/absent.o', '/else/absent.o'.\n");
  EXPECT_EQ(messages(object("user_aarch64.o")),
            "The object '" + object("user_aarch64.o") + "' is for aarch64; this executable is for x86_64.\n");
  EXPECT_EQ(messages(object("user_aarch64.bc")),
            "The object '" + object("user_aarch64.bc") + "' is for aarch64; this executable is for x86_64.\n");
  EXPECT_THAT(messages(object("../CMakeFiles/../CTestTestfile.cmake")), HasSubstr("can't be read"));
  EXPECT_EQ(messages(object("empty_x86_64.o")),
            "The kernel 'mul' calls 'user_mul', which no object defines; the object is '" + object("empty_x86_64.o") +
                "'.\n");
  EXPECT_THAT(messages(object("absolute_x86_64.o")), HasSubstr("recompile with -fPIC"));
  EXPECT_THAT(messages(object("libc_x86_64.o")), HasSubstr("needs 'printf', which no object defines; the object is '" +
                                                           object("libc_x86_64.o") + "', and there is no C library"));
  EXPECT_THAT(messages(object("libc_x86_64.o")), HasSubstr(object("libc_x86_64.o")));
}

TEST(ExecutableTest, RefusesWhatKernelsCannotDo) {
  const auto messages = [](std::string_view text) { return CompiledGroups(text, {.from_kernels = true}).messages(); };
  EXPECT_EQ(messages("func.func @k(%a: i32) { return }"),
            "The kernel 'k' has arguments or results; entry points have none.\n");
  EXPECT_EQ(messages(R"(func.func private @f(i32) attributes {hal.import.fields = ["colour"]}
    func.func @k() { %c = arith.constant 1 : i32  func.call @f(%c) : (i32) -> ()  return })"),
            "The import 'declared.f' asks for the field \"colour\"; the fields are \"processor_id\" and "
            "\"processor_data\".\n");
  EXPECT_EQ(
      messages(R"(#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>
    func.func @k() { %n32 = hal.interface.constant.load layout(#layout) ordinal(0) : i32
      %n = arith.index_cast %n32 : i32 to index  %c0 = arith.constant 0 : index  %v = arith.constant 1.0 : f32
      %m = hal.interface.binding.subspan layout(#layout) binding(0) : memref<?xf32>{%n}
      %t = memref.alloc(%n) : memref<?xf32>  memref.store %v, %t[%c0] : memref<?xf32>
      memref.copy %t, %m : memref<?xf32> to memref<?xf32>  return })"),
      "The kernel 'k' needs temporary memory of type 'memref<?xf32>', whose size has no bound when compiling.\n");
}

// One file has all levels; a processor gets the best that it can run.
TEST(ExecutableTest, ChoosesTheLevelWhenAsked) {
  CompiledGroups groups(kCallsMul, {.objects = {object("user_x86_64.o")}, .from_kernels = true});
  ASSERT_EQ(groups.messages(), "");
  const auto image = hal::drivers::local::ElfImage::load(std::as_bytes(std::span(groups.bytes()))).value();
  const auto query = reinterpret_cast<baton_executable_library_query_function>(
      image->find_function(BATON_EXECUTABLE_LIBRARY_QUERY_NAME));
  ASSERT_NE(query, nullptr);
  baton_executable_environment environment{};
  const auto* baseline = query(1, &environment);
  environment.processor.data[0] = 0x3F0;
  const auto* avx2 = query(1, &environment);
  environment.processor.data[0] |= 0x1F0000;
  const auto* avx512 = query(1, &environment);
  ASSERT_NE(baseline, nullptr);
  EXPECT_NE(baseline, avx2);
  EXPECT_NE(avx2, avx512);
  EXPECT_STREQ(avx512->name, "user");
  EXPECT_EQ(query(0, &environment), nullptr);
  ASSERT_EQ(avx512->kernel_count, 1u);
  EXPECT_STREQ(avx512->kernel_names[0], "mul");
  EXPECT_EQ(avx512->kernel_attributes[0].constant_count, 2);
  EXPECT_EQ(avx512->kernel_attributes[0].binding_count, 3);
}

TEST(ExecutableTest, BuildsForAarch64) {
  CompiledGroups groups(kCallsMul, {.objects = {object("user_aarch64.o")}, .from_kernels = true, .aarch64 = true});
  ASSERT_EQ(groups.messages(), "");
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(groups.bytes().data());
  EXPECT_EQ(header->e_machine, EM_AARCH64);
  EXPECT_EQ(header->e_type, ET_DYN);
}

}  // namespace
}  // namespace baton::compiler_lite::codegen::cpu
