// Executables on the fake GPU: which variant is taken and why others are not, what the driver's compiler says, and what
// is checked against the code.
#include "hal/drivers/cuda/executable.hpp"

#include <elf.h>

#include "hal/drivers/cuda/code_image.hpp"
#include "hal/drivers/cuda/required_block.hpp"
#include "hal/drivers/cuda/variants.hpp"
#include "hal/launch_attributes.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fake_cuda;

Status load(hal::Device& device, const EntryPoint& expected, std::string_view code = kFakeCode) {
  const ExecutableVariant variant{"cuda-ptx", std::as_bytes(std::span(code))};
  const auto loaded = device.make_executable({.name = "e", .variants = {&variant, 1}, .expected = {&expected, 1}});
  return loaded.has_value() ? Status() : loaded.error().clone();
}

TEST(VariantsTest, TheMostSpecificWins) {
  EXPECT_GT(match_format(90, "cuda-sm_90a").rank, match_format(90, "cuda-sm_90").rank);
  EXPECT_GT(match_format(90, "cuda-sm_90").rank, match_format(90, "cuda-fatbin").rank);
  EXPECT_GT(match_format(86, "cubin-sm_86").rank, match_format(86, "cubin-sm_80").rank);
  EXPECT_GT(match_format(90, "cuda-fatbin").rank, match_format(90, "cuda-ptx-compute_80").rank);
  EXPECT_GT(match_format(90, "cuda-ptx-compute_80").rank, match_format(90, "ptx-compute_75").rank);
  EXPECT_GT(match_format(90, "ptx-compute_75").rank, match_format(90, "ptx").rank);
  EXPECT_GE(match_format(90, "cuda-nvptx-fb").rank, 0);
}

TEST(VariantsTest, RefusalsHaveReasons) {
  EXPECT_EQ(match_format(90, "cuda-sm_80").reason, "is machine code for sm_80; the device is sm_90");
  EXPECT_EQ(match_format(80, "cuda-sm_86").reason, "is machine code for sm_86; the device is sm_80");
  EXPECT_EQ(match_format(100, "cuda-sm_90a").reason, "is machine code for sm_90a alone; the device is sm_100");
  EXPECT_EQ(match_format(75, "cuda-ptx-compute_80").reason, "is PTX that needs compute_80; the device is sm_75");
  for (const std::string_view unknown :
       {"vulkan-spirv", "cuda-sm_", "cuda-sm_9x0", "sm_90", "", "embedded-elf-x86_64"}) {
    EXPECT_LT(match_format(90, unknown).rank, 0) << unknown;
  }
  const auto device = open_fake("stream");
  const ExecutableVariant variants[] = {{"cuda-sm_80", {}}, {"embedded-elf-x86_64", {}}};
  EXPECT_FAILS(device->make_executable({.name = "e", .variants = variants}), StatusCode::kNotFound,
               "None of the 2 variants of executable 'e' fits device 'cuda://0'.\n"
               "  'cuda-sm_80': is machine code for sm_80; the device is sm_90\n"
               "  'embedded-elf-x86_64': is no format of CUDA code");
}

TEST(ExecutableTest, CorruptCodeComesWithTheCompilersWords) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load(*device, {.name = "scale"}, "garbage"), StatusCode::kInvalidArgument,
               "while loading 7 bytes of PTX\n  the driver's compiler said: ptxas: syntax error in line 1\n");
}

TEST(ExecutableTest, AMissingKernelIsToldWithItsNeighbours) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load(*device, {.name = "scales"}), StatusCode::kNotFound,
               "The code has no kernel 'scales' (5 kernels); did you mean 'scale'");
}

TEST(ExecutableTest, ParametersAreChecked) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load(*device, {.name = "add", .constant_count = 1, .binding_count = 2}), StatusCode::kInvalidArgument,
               "Kernel 'add' takes 4 parameters of (8, 8, 8, 4) bytes; the program passes 2 bindings and 1 constants.");
  EXPECT_FAILS(load(*device, {.name = "scale", .constant_count = 1, .binding_count = 2}), StatusCode::kInvalidArgument,
               "Kernel 'scale' takes 3 parameters of (8, 4, 4) bytes; the program passes 2 bindings and 1 constants.");
  // A pointer that the program fills itself is two constants.
  EXPECT_OK(load(*device, {.name = "add", .constant_count = 3, .binding_count = 2}));
}

// Kernels that nobody wrote for programs have pointers behind numbers.
TEST(ExecutableTest, BindingsMayStandAmongTheOtherParameters) {
  const auto device = open_fake("stream");
  const auto load_as = [&](const std::vector<int64_t>& places, uint32_t constants, uint32_t bindings) -> Status {
    EntryPoint entry{.name = "add", .constant_count = constants, .binding_count = bindings};
    for (const int64_t place : places) BATON_TRY(set_launch_attribute(entry, "binding_parameter", place));
    return load(*device, entry);
  };
  EXPECT_OK(load_as({0, 1, 2}, 1, 3));
  EXPECT_OK(load_as({0, 2}, 3, 2));
  EXPECT_OK(load_as({2}, 5, 1));
  EXPECT_FAILS(load_as({2}, 5, 2), StatusCode::kInvalidArgument, "the program passes 2 bindings and 5 constants.");
  EXPECT_FAILS(load_as({3}, 6, 1), StatusCode::kInvalidArgument,
               "The program says that a binding is parameter 3 of kernel 'add', whose 4 parameters have (8, 8, 8, 4) "
               "bytes.");
  EXPECT_FAILS(load_as({1, 4}, 5, 2), StatusCode::kInvalidArgument, "a binding is parameter 4 of kernel 'add'");
  EXPECT_FAILS(load_as({1, 1}, 5, 2), StatusCode::kInvalidArgument, "A binding is parameter 1, which is said twice.");
  EXPECT_FAILS(load_as({-1}, 5, 1), StatusCode::kOutOfRange, "A binding is parameter -1; it may be 0 to 1023.");
  EXPECT_FAILS(load_as({1024}, 5, 1), StatusCode::kOutOfRange, "A binding is parameter 1024");
}

// An argument of no bytes is one more than such a kernel takes, and no word about bindings' places.
TEST(ExecutableTest, ParametersThatAreToldAreAsManyAsTheCodes) {
  const auto device = open_fake("stream");
  fake_cuda().kernels.push_back({"nothing", {}, [](const testing_support::FakeLaunch&) {}});
  EXPECT_OK(load(*device, {.name = "nothing"}, "nothing"));
  EXPECT_FAILS(load(*device, {.name = "nothing", .parameters = {{.bytes = 0}}}, "nothing"),
               StatusCode::kInvalidArgument, "Kernel 'nothing' takes 0 parameters");
  EXPECT_FAILS(load(*device, {.name = "add", .constant_count = 3, .parameters = {{.bytes = 0}, {.bytes = 0}}}),
               StatusCode::kInvalidArgument, "Kernel 'add' takes 4 parameters of (8, 8, 8, 4) bytes;");
}

TEST(ExecutableTest, TheWorkgroupThatTheCodeRequiresIsTheProgramsToo) {
  const auto device = open_fake("stream");
  const std::string_view code =
      "// .entry scale() .reqntid 7, 7, 7 {\n"
      ".visible .entry scale_more(.param .u64 p)\n.reqntid 32\n{ ret; }\n"
      ".visible .entry scale(\n.param .u64 p\n)\n.maxntid 64\n.reqntid 64, 2 // each\n{ ret; }\n"
      ".visible .entry add(.param .u64 p) { ret; }\n";
  const auto load_as = [&](const char* name, uint32_t x, uint32_t y) {
    return load(*device, {.name = name, .workgroup_size = {x, y, 1}, .layout_known = false}, code);
  };
  EXPECT_OK(load_as("scale", 64, 2));
  EXPECT_OK(load_as("add", 32, 1));
  EXPECT_FAILS(load_as("scale", 64, 1), StatusCode::kInvalidArgument,
               "Kernel 'scale' requires workgroups of 64x2x1; the program launches it with 64x1x1.");
  // Who says nothing gets what the code says.
  const ExecutableVariant variant{"cuda-ptx", std::as_bytes(std::span(code))};
  const auto unsaid = device->make_executable({.name = "e", .variants = {&variant, 1}});
  ASSERT_OK(unsaid);
  const uint32_t scale = (*unsaid)->find("scale").value();
  EXPECT_EQ((*unsaid)->entry_points()[scale].workgroup_size[0], 64u);
  EXPECT_EQ((*unsaid)->entry_points()[scale].workgroup_size[1], 2u);
}

TEST(RequiredBlockTest, OddTextsRequireNothing) {
  for (const std::string_view text : {"", ".entry", ".entry k", ".entry k .reqntid", ".entry k .reqntid {",
                                      ".entry k .reqntid 0, 1, 1 {", ".entry k .reqntid 99999999999 {",
                                      ".entry k .reqntid -1 {", ".entry k; .reqntid 4 {", ".entry k2 .reqntid 4 {"}) {
    EXPECT_FALSE(ptx_required_block(text, "k")) << text;
  }
  EXPECT_EQ(ptx_required_block(".entry k .reqntid 4, 5 , 6, 7 {", "k"), (std::array<uint32_t, 3>{4, 5, 6}));
}

// Text without any end of a head: read once, not once for each entry point.
// Strings are paths and pragmas; what looks like PTX in them is none.
TEST(RequiredBlockTest, StringsSayNothing) {
  const auto block_of = [](std::string_view text) { return ptx_required_block(ptx_without_comments(text), "k"); };
  constexpr std::array<uint32_t, 3> kFour = {4, 1, 1};
  EXPECT_EQ(block_of(".file 1 \"/a/*.cu\"\n.entry k .reqntid 4 {"), kFour) << "a comment began in a path";
  EXPECT_EQ(block_of(".file 1 \"//a\" .entry k .reqntid 4 {"), kFour);
  EXPECT_EQ(block_of(".file 1 \"a\\\" /*\" .entry k .reqntid 4 {"), kFour);
  EXPECT_EQ(block_of(".pragma \".entry k .reqntid 7 {\"; .entry k .reqntid 4 {"), kFour);
  EXPECT_EQ(block_of("// don't \"\n.entry k .reqntid 4 {"), kFour) << "a quote in a comment";
  EXPECT_EQ(block_of("\" /* \n.entry k .reqntid 7 { */ .entry k .reqntid 4 {"), kFour) << "a quote that nothing ends";
  EXPECT_EQ(ptx_without_comments("\""), "\"");
  EXPECT_EQ(ptx_without_comments("\"\\"), "\"\\");
}

TEST(CodeImageTest, PtxSaysItsVersionAndItsTarget) {
  const auto bytes_of = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  const std::string_view code = "// .version 1.0\n.version\t8.4\n.target /* 3 */ sm_90a, debug\n";
  EXPECT_EQ(ptx_version(bytes_of(code)), "8.4");
  EXPECT_EQ(ptx_target(bytes_of(code)), "90a");
  EXPECT_EQ(ptx_target(bytes_of(".target sm_100f")), "100f");
  for (const std::string_view none : {"", ".target", ".target ", ".target compute_90", ".version", ".version x"}) {
    EXPECT_EQ(ptx_target(bytes_of(none)), "") << none;
    EXPECT_EQ(ptx_version(bytes_of(none)), "") << none;
  }
}

TEST(RequiredBlockTest, LongTextsAreReadOnce) {
  std::string text;
  for (int i = 0; i < 500000; ++i) text += ".entry k ";
  EXPECT_FALSE(ptx_required_block(text, "k"));
  EXPECT_EQ(ptx_required_block(".entry k; .entry k .reqntid 4 {", "k"), (std::array<uint32_t, 3>{4, 1, 1}));
}

// A cubin with nothing but what `kernel` says of itself: words of .nv.info, as ptxas writes them.
std::string cubin_with(const std::string& kernel, const std::vector<uint32_t>& words) {
  const std::string names = std::string("\0.shstrtab\0.nv.info.", 20) + kernel + '\0';
  std::array<Elf64_Shdr, 3> sections{};
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = 190;
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  const uint64_t names_at = sizeof(header) + sizeof(sections);
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = names_at;
  sections[1].sh_size = names.size();
  sections[2].sh_name = 11;
  sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_offset = names_at + names.size();
  sections[2].sh_size = 4 * words.size();
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  file.append(reinterpret_cast<const char*>(sections.data()), sizeof(sections)).append(names);
  return file.append(reinterpret_cast<const char*>(words.data()), 4 * words.size());
}

TEST(RequiredBlockTest, MachineCodeSaysItInARecord) {
  const auto required = [](const std::string& cubin, const char* kernel) {
    const auto bytes = std::as_bytes(std::span(cubin));
    EXPECT_OK(check_image(bytes));
    return cubin_required_block(bytes, kernel);
  };
  const std::vector<uint32_t> words = {0x00045004, 7, 0x00ff1b03, 0x000c1004, 128, 2, 1, 0x00041e04, 0};
  EXPECT_EQ(required(cubin_with("k", words), "k"), (std::array<uint32_t, 3>{128, 2, 1}));
  EXPECT_FALSE(required(cubin_with("kernel", words), "k"));
  EXPECT_FALSE(required(cubin_with("k", {0x00ff1b03}), "k"));
  EXPECT_FALSE(required(cubin_with("k", {0x000c1004, 128, 2}), "k")) << "cut off";
  EXPECT_FALSE(required(cubin_with("k", {0x000c1004, 128, 0, 1}), "k"));
}

// Machine code as ptxas makes it, and with any byte changed: what comes out is no matter, what is read is.
TEST(RequiredBlockTest, MachineCodeTellsAndDamageDoesNoHarm) {
  const std::string_view cubin = testing_support::conformance_cubin();
  if (cubin.empty()) GTEST_SKIP() << "nvcc was not there";
  const auto whole = std::as_bytes(std::span(cubin));
  ASSERT_OK(check_image(whole));
  EXPECT_FALSE(cubin_required_block(whole, "scale")) << "it takes any";
  std::string changed(cubin);
  for (size_t i = 0; i < changed.size(); ++i) {
    for (const char value : {'\xff', '\0', '\x10'}) {
      changed[i] = value;
      const auto bytes = std::as_bytes(std::span(changed));
      if (check_image(bytes).ok()) static_cast<void>(cubin_required_block(bytes, "scale"));
    }
    changed[i] = cubin[i];
  }
}

TEST(ExecutableTest, SharesMemoryUpToTheOptInLimit) {
  const auto device = open_fake("stream");
  EXPECT_OK(load(*device, {.name = "write_ids", .binding_count = 1, .local_memory_bytes = 100 * 1024}));
  EXPECT_EQ(fake_cuda().count("cuKernelSetAttribute write_ids 102400"), 1u);
  EXPECT_FAILS(load(*device, {.name = "write_ids", .binding_count = 1, .local_memory_bytes = 300 * 1024}),
               StatusCode::kResourceExhausted,
               "Kernel 'write_ids' needs 307200 bytes of shared memory (0 of them static); the device has 232448.");
}

TEST(ExecutableTest, WorkgroupsHaveLimits) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load(*device, {.name = "write_ids", .binding_count = 1, .workgroup_size = {2048, 1, 1}}),
               StatusCode::kOutOfRange, "Kernel 'write_ids' has 2048 threads in x; the device takes 1024.");
  EXPECT_FAILS(load(*device, {.name = "write_ids", .binding_count = 1, .workgroup_size = {64, 64, 1}}),
               StatusCode::kResourceExhausted, "has 4096 threads in a workgroup");
}

// One entry point with what it wants of its launches; `scale` of 64 threads.
Result<Ref<hal::Executable>> load_with(hal::Device& device, const LaunchAttributes& launch,
                                       const char* name = "scale") {
  const EntryPoint entry{.name = name, .workgroup_size = {64, 1, 1}, .launch = launch, .layout_known = false};
  const ExecutableVariant variant{"cuda-ptx", std::as_bytes(std::span(kFakeCode))};
  return device.make_executable({.name = "e", .variants = {&variant, 1}, .expected = {&entry, 1}});
}
Status dispatch(hal::Device& device, hal::Executable& executable, uint32_t workgroups, uint32_t times = 1) {
  const auto buffer = buffer_of(device, {1, 1});
  BATON_TRY_ASSIGN(auto commands, device.make_command_buffer());
  const uint32_t constants[] = {2, 3};
  const Binding bindings[] = {buffer};
  for (uint32_t i = 0; i < times; ++i) {
    BATON_TRY(commands->dispatch(
        {.executable = &executable, .grid = {workgroups, 1, 1}, .constants = constants, .bindings = bindings}));
    BATON_TRY(commands->barrier({}));
  }
  BATON_TRY_ASSIGN(const auto recording, commands->finish());
  return run(device, *recording);
}

TEST(ExecutableLaunchTest, StandInLaunches) {
  const auto device = open_fake("stream");
  const auto executable = load_with(*device, {.cluster_size = {2, 1, 1},
                                              .cooperative = true,
                                              .early = true,
                                              .local_memory_carveout_percent = 50,
                                              .priority = 3});
  ASSERT_OK(executable);
  EXPECT_EQ(fake_cuda().count("cuKernelSetAttribute scale 50"), 1u);
  EXPECT_OK(dispatch(*device, **executable, 4));
  EXPECT_EQ(fake_cuda().count("cuLaunchKernelEx cluster 2x1x1 cooperative priority -3 early"), 1u)
      << fake_cuda().log_text();
}

TEST(ExecutableLaunchTest, StandInGraphs) {
  const auto device = open_fake("graph");
  const auto executable = load_with(*device, {.cluster_size = {2, 1, 1}, .cooperative = true, .priority = 3});
  ASSERT_OK(executable);
  EXPECT_OK(dispatch(*device, **executable, 4, 3));
  for (const char* attribute : {"cluster 2x1x1", "cooperative", "priority -3"}) {
    EXPECT_EQ(fake_cuda().count(std::string("cuGraphKernelNodeSetAttribute ") + attribute), 3u);
  }
  EXPECT_EQ(fake_cuda().count("cuGraphAddKernelNode scale after 1"), 2u);
}

TEST(ExecutableLaunchTest, WhatMayBeginEarlyHangsByAProgrammaticEdge) {
  const auto device = open_fake("graph");
  const auto executable = load_with(*device, {.early = true});
  ASSERT_OK(executable);
  EXPECT_OK(dispatch(*device, **executable, 4, 3));
  EXPECT_EQ(fake_cuda().count("cuGraphAddKernelNode scale after 0"), 3u);
  EXPECT_EQ(fake_cuda().count("cuGraphAddDependencies 1 of type 1"), 2u);
}

TEST(ExecutableLaunchTest, AreCheckedAgainstCodeAndDevice) {
  const auto device = open_fake("stream");
  EXPECT_FAILS(load_with(*device, {.cluster_size = {32, 1, 1}}), StatusCode::kResourceExhausted,
               "Kernel 'scale' runs in clusters of 32 x 1 x 1 workgroups (32) with 0 bytes of shared memory each; the "
               "device holds none of that size.");
  EXPECT_FAILS(load_with(*device, {.priority = 6}), StatusCode::kOutOfRange,
               "Kernel 'scale' asks for priority 6; the device has 0 to 5.");
  EXPECT_FAILS(load_with(*device, {.priority = -1}), StatusCode::kOutOfRange, "asks for priority -1");
  EXPECT_FAILS(load_with(*device, {.local_memory_carveout_percent = 101}), StatusCode::kOutOfRange,
               "Kernel 'scale' asks for 101 percent of the fast memory as shared memory; there are 0 to 100.");
  EXPECT_OK(load_with(*device, {.cluster_size = {16, 1, 1}}));
  EXPECT_EQ(fake_cuda().count("cuKernelSetAttribute scale 1"), 2u) << "16 and 32 are more than is portable";

  fake_cuda().kernels[1].cluster_width = 4;
  const auto of_code = load_with(*device, {});
  ASSERT_OK(of_code);
  EXPECT_EQ((*of_code)->entry_points()[0].launch.cluster_size[0], 4u);
  EXPECT_FAILS(load_with(*device, {.cluster_size = {2, 1, 1}}), StatusCode::kInvalidArgument,
               "Kernel 'scale' is compiled for clusters of 4 x 1 x 1 workgroups; the program asks for 2 x 1 x 1.");
  EXPECT_FAILS(dispatch(*device, **of_code, 6), StatusCode::kInvalidArgument,
               "Entry point 'scale' runs in clusters of 4 workgroups in x; a grid of 6 is no multiple of it.");
  EXPECT_OK(dispatch(*device, **of_code, 8));
  fake_cuda().kernels[1].cluster_width = 0;

  const auto cooperative = load_with(*device, {.cooperative = true});
  ASSERT_OK(cooperative);
  EXPECT_FAILS(
      dispatch(*device, **cooperative, 129), StatusCode::kOutOfRange,
      "All workgroups of entry point 'scale' run at the same time; the grid has 129, and the device takes 128.");
  EXPECT_OK(dispatch(*device, **cooperative, 128));
}

TEST(ExecutableLaunchTest, NeedADeviceThatHasThem) {
  auto symbols = testing_support::make_fake_cuda();
  fake_cuda().new_launches = false;
  fake_cuda().kernels = testing_support::fake_conformance_kernels();
  const auto device = make_driver({symbols})->open("", {}).value();
  EXPECT_FAILS(load_with(*device, {.cluster_size = {2, 1, 1}}), StatusCode::kUnimplemented,
               "Kernel 'scale' runs in clusters of 2 x 1 x 1 workgroups; the device (sm_90) has no clusters.");
  EXPECT_FAILS(load_with(*device, {.cooperative = true}), StatusCode::kUnimplemented,
               "Kernel 'scale' is cooperative; the device has no cooperative launches.");
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
