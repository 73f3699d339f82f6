// Functions that the host registers and programs import: what code asks for, what is linked and what is not, and what
// is said when it cannot be.
#include "hal/drivers/cuda/linked_functions.hpp"

#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fail_next;
using testing_support::fake_cuda;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

DeviceFunctions functions_of(const char* name, std::string_view text) {
  const auto bytes = bytes_of(text);
  return {name, {bytes.begin(), bytes.end()}};
}

Status load(hal::Device& device, std::string_view code) {
  const ExecutableVariant variant{"cuda-ptx", bytes_of(code)};
  const auto loaded = device.make_executable({.name = "e", .variants = {&variant, 1}});
  return loaded.has_value() ? Status() : loaded.error().clone();
}

// The size of a device's ELF: its first bytes and its machine.
std::string device_elf(uint16_t machine) {
  std::string elf(64, '\0');
  elf.replace(0, 4,
              "\x7f"
              "ELF");
  elf[4] = 2;  // Of 64 bits.
  elf[18] = static_cast<char>(machine);
  return elf;
}

constexpr std::string_view kWants = "// scale\n.extern .func mix(.param .b32 p);\nscale";
constexpr std::string_view kMix = ".visible .func mix(.param .b32 p) { ret; }";

TEST(WantedFunctionsTest, AreDeclarationsAndWeakFunctions) {
  const std::vector<WantedFunction> wanted =
      wanted_functions(bytes_of(".version 7.1\n"
                                ".extern .func  (.param .b32 func_retval0) mix\n(\n.param .b64 mix_param_0\n)\n;\n"
                                ".extern .func plain(.param .b32 p);\n"
                                ".extern .shared .align 64 .b8 shared[];\n"
                                ".weak .func (.param .b32 r) own(.param .b32 p);\n"
                                ".weak .func (.param .b32 r) own(.param .b32 p) { ret; }\n"
                                ".weak .entry kernel() { ret; }\n"
                                "// .extern .func comment();\n"
                                "/* .extern .func comment2(); */\n"
                                ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                                ".extern .func __assertfail();\n"
                                ".visible .func seen() { ret; }\n"));
  EXPECT_EQ(wanted, (std::vector<WantedFunction>{{"mix", false}, {"plain", false}, {"own", true}}));
}

TEST(WantedFunctionsTest, CutAndOddTextsHaveNoneOrWhatIsWhole) {
  const std::string whole = ".extern .func (.param .b32 r) mix(.param .b64 p);";
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto wanted = wanted_functions(bytes_of(std::string_view(whole).substr(0, length)));
    EXPECT_LE(wanted.size(), 1u) << length;
  }
  EXPECT_TRUE(wanted_functions({}).empty());
  using Wanted = std::vector<WantedFunction>;
  EXPECT_EQ(wanted_functions(bytes_of(".extern .func cuda_mine(); .extern .func cnpx(); .extern .func cudaMalloc();"
                                      ".extern .func cnpv2Launch(); .extern .func cnpLaunch();")),
            (Wanted{{"cuda_mine", false}, {"cnpx", false}}))
      << "what CUDA brings has a name of CUDA's";
  EXPECT_EQ(wanted_functions(bytes_of(".file 1 \"/a/*.cu\"\n.extern .func f(); .file 2 \".extern .func g();\"")),
            (Wanted{{"f", false}}));
  EXPECT_TRUE(wanted_functions(bytes_of(".extern")).empty());
  EXPECT_TRUE(wanted_functions(bytes_of("/* .extern .func f();")).empty());
  EXPECT_TRUE(wanted_functions(bytes_of(device_elf(190))).empty()) << "machine code was linked";
}

// Functions whose heads never end, and very many that do: the text is read once.
TEST(WantedFunctionsTest, LongTextsAreReadOnce) {
  std::string endless, many;
  for (int i = 0; i < 300000; ++i) {
    endless += ".extern .func (.param ";
    many += text(".extern .func f", i, "();");
  }
  EXPECT_TRUE(wanted_functions(bytes_of(endless)).empty());
  EXPECT_EQ(wanted_functions(bytes_of(many)).size(), 300000u);
}

TEST(LinkedFunctionsTest, TheRegisteredAreLinkedWithWhatImports) {
  const auto device = open_fake("stream", "0", {functions_of("mix.ptx", kMix)});
  EXPECT_OK(load(*device, kWants));
  EXPECT_EQ(fake_cuda().count("cuLinkAddData the program's kernels 1"), 1u);
  EXPECT_EQ(fake_cuda().count("cuLinkAddData mix.ptx 1"), 1u);
  EXPECT_EQ(fake_cuda().count("cuLinkDestroy"), 1u);
  EXPECT_OK(load(*device, kFakeCode));
  EXPECT_EQ(fake_cuda().count("cuLinkCreate"), 1u) << "code that imports nothing is not linked";
}

TEST(LinkedFunctionsTest, WithoutAnybodyAFunctionWithABodyIsItsOwn) {
  const auto device = open_fake("stream");
  EXPECT_OK(load(*device, ".weak .func mix(.param .b32 p) { ret; }\nscale"));
  EXPECT_EQ(fake_cuda().count("cuLinkCreate"), 0u);
  EXPECT_FAILS(load(*device, kWants), StatusCode::kNotFound,
               "The kernels import functions that nobody provides: 'mix'; device code that defines them is registered "
               "before programs are loaded.");
  EXPECT_OK(load(*device, kFakeCode)) << "the device goes on";
}

TEST(LinkedFunctionsTest, WhatIsMissingComesWithTheLinkersWords) {
  const auto device = open_fake("stream", "0", {functions_of("other.ptx", ".visible .func other() { ret; }")});
  const Status status = load(*device, kWants);
  EXPECT_FAILS(status, StatusCode::kInternal, "cuLinkComplete");
  const std::string said = status.to_string();
  EXPECT_NE(said.find("the driver's linker said: error   : Undefined reference to 'mix'"), said.npos) << said;
  EXPECT_NE(said.find("The kernels import 'mix', and cannot be linked with what is registered: 'other.ptx'"), said.npos)
      << said;
  EXPECT_EQ(fake_cuda().count("cuLinkDestroy"), 1u);
  EXPECT_OK(load(*device, kFakeCode)) << "the device goes on";
}

TEST(LinkedFunctionsTest, FilesAreToldByTheirBytes) {
  const std::string object = device_elf(62), archive = "!<arch>\n";
  const auto device =
      open_fake("stream", "0",
                {functions_of("mix.ptx", kMix), functions_of("host.o", object), functions_of("functions.a", archive)});
  EXPECT_OK(load(*device, kWants));
  EXPECT_EQ(fake_cuda().count(text("cuLinkAddData host.o ", int{CU_JIT_INPUT_OBJECT})), 1u);
  EXPECT_EQ(fake_cuda().count(text("cuLinkAddData functions.a ", int{CU_JIT_INPUT_LIBRARY})), 1u);
}

// What it was given, and what it gives.
struct OtherLinker final : DeviceLinker {
  mutable std::string arch;
  mutable std::vector<std::string> names;
  std::string gives = "scale";

  Result<std::vector<std::byte>> link(std::string_view for_arch, std::span<const DeviceCode> code) const override {
    arch = for_arch;
    names.clear();
    for (const DeviceCode& one : code) names.emplace_back(one.name);
    if (gives.empty()) return failure(StatusCode::kInvalidArgument, "there is no mix");
    const auto bytes = bytes_of(gives);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
};
// A head of 24 bytes, numbers up to 40, tables up to 44, and code.
constexpr std::string_view kLtoIr(
    "\xed\x43\x4e\x7f\1\x41\2\x62\3\2\7\0\x18\0\1\0\x28\0\0\0\x2c\0\0\0 sixteen numbers tab and code", 24 + 29);

TEST(LinkedFunctionsTest, LtoIrGoesToTheOtherLinker) {
  const auto other = std::make_shared<OtherLinker>();
  const auto device = open_fake("stream", "0", {functions_of("mix.ltoir", kLtoIr)}, other);
  EXPECT_OK(load(*device, kWants));
  EXPECT_EQ(fake_cuda().count("cuLinkCreate"), 0u);
  EXPECT_EQ(other->names, (std::vector<std::string>{"the program's kernels", "mix.ltoir"}));
  const std::string number = other->arch;
  EXPECT_OK(load(*device, text(".target sm_", number, "a\n", kWants)));
  EXPECT_EQ(other->arch, number + "a");
  other->gives = "";
  EXPECT_FAILS(load(*device, kWants), StatusCode::kInvalidArgument, "there is no mix");
  EXPECT_OK(load(*device, kFakeCode)) << "the device goes on";
}

TEST(LinkedFunctionsTest, WithoutAnotherLinkerLtoIrIsASentence) {
  const auto device = open_fake("stream", "0", {functions_of("mix.ptx", kMix), functions_of("mix.ltoir", kLtoIr)});
  EXPECT_FAILS(load(*device, kWants), StatusCode::kUnimplemented,
               "'mix.ltoir' is LTO-IR, which the driver's linker does not take; no other is registered.");
  EXPECT_OK(load(*device, kFakeCode)) << "the device goes on";
}

TEST(LinkedFunctionsTest, TheOtherLinkerIsAskedWhereTheDriversFails) {
  const auto other = std::make_shared<OtherLinker>();
  const auto device = open_fake("stream", "0", {functions_of("mix.o", device_elf(62))}, other);
  EXPECT_OK(load(*device, kWants));
  EXPECT_EQ(fake_cuda().count("cuLinkComplete"), 1u);
  other->gives = "";
  const std::string said = load(*device, kWants).to_string();
  EXPECT_NE(said.find("Undefined reference to 'mix'"), said.npos) << said;
  EXPECT_NE(said.find("the other linker said: there is no mix"), said.npos) << said;
  const auto whole = open_fake("stream", "0", {functions_of("mix.ptx", kMix)}, other);
  other->names.clear();
  EXPECT_OK(load(*whole, kWants));
  EXPECT_TRUE(other->names.empty()) << "the driver's linker is enough";
}

TEST(LinkedFunctionsTest, DefinitionsAreReadOnce) {
  std::string endless = ".version 7.1\n", many = endless;
  for (int i = 0; i < 300000; ++i) {
    endless += ".visible .func f(";
    many += text(".visible .func f", i, "() {}");
  }
  for (const std::string& each : {endless, many}) {
    const auto device = open_fake("stream", "0", {functions_of("mix.ptx", kMix), functions_of("a.ptx", each)});
    EXPECT_OK(load(*device, kWants));
  }
}

TEST(LinkedFunctionsTest, TwoThatDefineOneFunctionAreRefused) {
  const auto other = std::make_shared<OtherLinker>();
  const std::string declares = ".visible .func mix(.param .b32 p); // .visible .func mix() {}\n";
  const auto device = open_fake("stream", "0",
                                {functions_of("declares.ptx", declares), functions_of("first.ptx", kMix),
                                 functions_of("weak.ptx", ".weak .func mix(.param .b32 p) { ret; }"),
                                 functions_of("second.ptx", declares + std::string(kMix))},
                                other);
  EXPECT_FAILS(load(*device, kWants), StatusCode::kAlreadyExists,
               "Function 'mix' is defined twice, by 'first.ptx' and by 'second.ptx'.");
  EXPECT_EQ(fake_cuda().count("cuLinkCreate"), 0u);
  EXPECT_OK(load(*device, kFakeCode)) << "code that imports nothing is not linked";
}

// Linkers read as far as tables say: damaged ones never reach one.
TEST(LinkedFunctionsTest, DamagedMachineCodeIsRefusedBeforeTheDriver) {
  std::string cubin = device_elf(190);
  cubin[40] = '\x7f';  // Sections begin far behind the end.
  cubin[41] = '\x7f';
  std::string fatbin("\x50\xed\x55\xba\x01\x00\x10\x00\xff\xff\xff\x00\x00\x00\x00\x00", 16);
  for (const std::string& damaged : {cubin, cubin.substr(0, 20), fatbin, fatbin.substr(0, 6)}) {
    const auto other = std::make_shared<OtherLinker>();
    const auto device = open_fake("stream", "0", {functions_of("damaged", damaged)}, other);
    const Status status = load(*device, kWants);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(fake_cuda().count("cuLinkAddData damaged"), 0u) << status.to_string();
    EXPECT_TRUE(other->names.empty()) << status.to_string();
    EXPECT_OK(load(*device, kFakeCode)) << "the device goes on";
  }
}

TEST(LinkedFunctionsTest, AFailureOfTheDriverIsTold) {
  const char* const entries[] = {"cuLinkCreate", "cuLinkAddData", "cuLinkComplete"};
  for (const char* entry : entries) {
    const auto device = open_fake("stream", "0", {functions_of("mix.ptx", kMix)});
    fail_next(entry, CUDA_ERROR_NO_BINARY_FOR_GPU);
    const Status status = load(*device, kWants);
    EXPECT_NE(status.to_string().find(entry), std::string::npos) << status.to_string();
    EXPECT_OK(load(*device, kWants)) << "the device goes on";
  }
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
