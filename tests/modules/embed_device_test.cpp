// Goal: a program in C opens a device, gives it to a program, and brings tensors in and out; and reads why it cannot.
// Method: the functions of embed_device.h, called as C does.
#include "modules/sdk/embed_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bytecode/assembler.hpp"
#include "hal/dlpack.h"
#include "tests/support/temporary_path.hpp"

namespace {

constexpr std::string_view kProgram = R"(
module @program
type hal.buffer_view
import @hal.buffer_view.dim(hal.buffer_view, i32) -> i64
export func @rows(%x: hal.buffer_view) -> i64 values 1 refs 2 {
  ref.move %r1, %r0
  const.i32 %v0, 0
  call.import @hal.buffer_view.dim, %v0, %r1
  return
}
)";

// Reads and frees a failure; empty for none.
std::string message_of(baton_status* status) {
  if (!status) return "";
  const std::string message = baton_status_get_message(status);
  baton_status_free(status);
  return message;
}

class EmbedDeviceTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(message_of(baton_device_open("local-sync", &device_)), ""); }
  void TearDown() override { baton_object_release(reinterpret_cast<baton_object*>(device_)); }
  baton_device* device_ = nullptr;
};

TEST_F(EmbedDeviceTest, TensorsComeBackAsTheyWent) {
  const int64_t shape[] = {2, 3};
  const float given[] = {1, 2, 3, 4, 5, 6};
  float back[6] = {};
  baton_buffer_view* view = nullptr;
  ASSERT_EQ(message_of(baton_buffer_view_upload(device_, BATON_ELEMENT_F32, shape, 2, given, sizeof(given), &view)),
            "");
  EXPECT_EQ(message_of(baton_buffer_view_download(view, back, sizeof(back))), "");
  EXPECT_THAT(back, testing::ElementsAreArray(given));
  EXPECT_EQ(message_of(baton_buffer_view_download(view, back, 4)), "A tensor 2x3xf32 has 24 bytes; 4 were asked for.");
  baton_object_release(reinterpret_cast<baton_object*>(view));
  EXPECT_EQ(message_of(baton_buffer_view_upload(device_, BATON_ELEMENT_I8, shape, 2, given, 8, &view)),
            "A tensor 2x3xi8 takes 6 bytes; 8 are given.");
  EXPECT_EQ(view, nullptr);
}

TEST_F(EmbedDeviceTest, AProgramWorksOnTheDevice) {
  const auto bytes = baton::bytecode::assemble(kProgram);
  ASSERT_TRUE(bytes.has_value());
  baton_module* modules[2] = {};
  baton_context* context = nullptr;
  baton_invocation* invocation = nullptr;
  const baton_function* rows = nullptr;
  ASSERT_EQ(message_of(baton_module_create_hal(&device_, 1, &modules[0])), "");
  ASSERT_EQ(message_of(baton_module_load_memory(bytes->data(), bytes->size(), &modules[1])), "");
  ASSERT_EQ(message_of(baton_context_create(modules, 2, nullptr, &context)), "");
  ASSERT_EQ(message_of(baton_invocation_create(context, &invocation)), "");
  ASSERT_EQ(message_of(baton_context_find(context, "rows", &rows)), "");
  const int64_t shape[] = {5};
  const int32_t given[5] = {};
  baton_buffer_view* view = nullptr;
  ASSERT_EQ(message_of(baton_buffer_view_upload(device_, BATON_ELEMENT_I32, shape, 1, given, sizeof(given), &view)),
            "");
  baton_value argument;
  argument.ref = reinterpret_cast<baton_object*>(view);
  baton_value result;
  EXPECT_EQ(message_of(baton_invocation_invoke(invocation, rows, &argument, 1, &result, 1)), "");
  EXPECT_EQ(result.i64, 5);
  baton_object_release(argument.ref);
  baton_invocation_release(invocation);
  baton_context_release(context);
  for (baton_module* module : modules) baton_module_release(module);
}

// A tensor of another framework, as its producer lays it out.
struct Foreign {
  float elements[4] = {1, 2, 3, 4};
  int64_t shape[1] = {4};
  int destroyed = 0;
  baton_dl_managed_tensor tensor{};
  Foreign() {
    tensor.version = {1, 0};
    tensor.manager = this;
    tensor.destroy = [](baton_dl_managed_tensor* self) { ++static_cast<Foreign*>(self->manager)->destroyed; };
    tensor.tensor = {elements, {BATON_DL_CPU, 0}, 1, {BATON_DL_FLOAT, 32, 1}, shape, nullptr, 0};
  }
  DLManagedTensorVersioned* door() { return reinterpret_cast<DLManagedTensorVersioned*>(&tensor); }
};

TEST_F(EmbedDeviceTest, TensorsOfOthersComeAndGoInPlace) {
  Foreign foreign;
  baton_buffer_view* view = nullptr;
  ASSERT_EQ(message_of(baton_buffer_view_import_dlpack(device_, foreign.door(), BATON_NO_STREAM, &view)), "");
  float back[4] = {};
  EXPECT_EQ(message_of(baton_buffer_view_download(view, back, sizeof(back))), "");
  EXPECT_THAT(back, testing::ElementsAre(1, 2, 3, 4));
  DLManagedTensor* legacy = nullptr;
  ASSERT_EQ(message_of(baton_buffer_view_export_dlpack_legacy(device_, view, nullptr, BATON_NO_STREAM, &legacy)), "");
  DLManagedTensorVersioned* versioned = nullptr;
  ASSERT_EQ(message_of(baton_buffer_view_export_dlpack(device_, view, nullptr, BATON_NO_STREAM, &versioned)), "");
  baton_object_release(reinterpret_cast<baton_object*>(view));
  auto* out = reinterpret_cast<baton_dl_legacy_tensor*>(legacy);
  EXPECT_EQ(out->tensor.data, foreign.elements);
  out->destroy(out);
  EXPECT_EQ(foreign.destroyed, 0);
  auto* other = reinterpret_cast<baton_dl_managed_tensor*>(versioned);
  other->destroy(other);
  EXPECT_EQ(foreign.destroyed, 1);
}

TEST_F(EmbedDeviceTest, ATensorOfOneDeviceIsOneOfAnother) {
  baton_device* other = nullptr;
  ASSERT_EQ(message_of(baton_device_open("local-task?workers=1", &other)), "");
  const int64_t shape[] = {2};
  const int32_t given[] = {1, 2};
  baton_buffer_view* view = nullptr;
  baton_buffer_view* peer = nullptr;
  ASSERT_EQ(message_of(baton_buffer_view_upload(device_, BATON_ELEMENT_I32, shape, 1, given, sizeof(given), &view)),
            "");
  ASSERT_EQ(message_of(baton_buffer_view_import_peer(other, view, &peer)), "");
  baton_object_release(reinterpret_cast<baton_object*>(view));
  int32_t back[2] = {};
  EXPECT_EQ(message_of(baton_buffer_view_download(peer, back, sizeof(back))), "");
  EXPECT_THAT(back, testing::ElementsAreArray(given));
  DLManagedTensor* tensor = nullptr;
  EXPECT_EQ(message_of(baton_buffer_view_export_dlpack_legacy(device_, peer, nullptr, BATON_NO_STREAM, &tensor)),
            "A tensor to export from device 'local-sync' lies in a buffer of another device, in the memory of the "
            "host.");
  EXPECT_EQ(tensor, nullptr);
  baton_object_release(reinterpret_cast<baton_object*>(peer));
  baton_object_release(reinterpret_cast<baton_object*>(other));
}

TEST_F(EmbedDeviceTest, SaysWhatIsWrong) {
  baton_device* none = nullptr;
  EXPECT_THAT(message_of(baton_device_open("quantum-0", &none)), testing::HasSubstr("names driver 'quantum'"));
  EXPECT_EQ(none, nullptr);
  baton_module* module = nullptr;
  EXPECT_EQ(message_of(baton_module_create_hal(&none, 1, &module)), "A device is null or another object.");
  EXPECT_EQ(module, nullptr);
  EXPECT_EQ(message_of(baton_buffer_view_download(nullptr, nullptr, 0)), "A buffer view is null or another object.");
  baton_buffer_view* view = nullptr;
  EXPECT_EQ(message_of(baton_buffer_view_import_peer(device_, nullptr, &view)),
            "A buffer view is null or another object.");
  EXPECT_EQ(message_of(baton_buffer_view_import_dlpack(device_, nullptr, BATON_NO_STREAM, &view)),
            "A DLPack tensor is null.");
  Foreign foreign;
  EXPECT_THAT(message_of(baton_buffer_view_import_dlpack(device_, foreign.door(), 1, &view)),
              testing::HasSubstr("knows no streams of other libraries"));
  EXPECT_EQ(foreign.destroyed, 0);
}

// What a host forgets is a sentence.
TEST_F(EmbedDeviceTest, WhatIsMissingIsNamed) {
  baton_device* device = nullptr;
  baton_module* module = nullptr;
  baton_buffer_view* view = nullptr;
  baton_trace* trace = nullptr;
  ASSERT_EQ(message_of(baton_trace_create(&trace)), "");
  const int64_t shape[] = {2};
  float data[] = {1, 2};
  baton_buffer_view* tensor = nullptr;
  ASSERT_EQ(message_of(baton_buffer_view_upload(device_, BATON_ELEMENT_F32, shape, 1, data, 8, &tensor)), "");
  const baton_device_functions nameless = {nullptr, "code", 4}, empty = {"x.ptx", nullptr, 4};
  baton_device_options none = {}, first = {}, second = {};
  none.struct_size = first.struct_size = second.struct_size = sizeof(baton_device_options);
  none.function_count = first.function_count = second.function_count = 1;
  first.functions = &nameless;
  second.functions = &empty;
  for (baton_status* status : {
           baton_device_open(nullptr, &device),
           baton_device_open("local-sync", nullptr),
           baton_device_open_traced(nullptr, trace, &device),
           baton_device_open_traced("local-sync", nullptr, &device),
           baton_device_open_traced("local-sync", trace, nullptr),
           baton_device_open_with(nullptr, &none, &device),
           baton_device_open_with("local-sync", nullptr, &device),
           baton_device_open_with("local-sync", &none, nullptr),
           baton_device_open_with("cuda://0", &none, &device),
           baton_device_open_with("cuda://0", &first, &device),
           baton_device_open_with("cuda://0", &second, &device),
           baton_module_create_hal(nullptr, 1, &module),
           baton_module_create_hal(&device_, 1, nullptr),
           baton_module_create_collective(nullptr),
           baton_buffer_view_upload(device_, BATON_ELEMENT_F32, nullptr, 1, data, 8, &view),
           baton_buffer_view_upload(device_, BATON_ELEMENT_F32, shape, 1, nullptr, 8, &view),
           baton_buffer_view_upload(device_, BATON_ELEMENT_F32, shape, 1, data, 8, nullptr),
           baton_buffer_view_download(tensor, nullptr, 8),
           baton_buffer_view_import_peer(device_, tensor, nullptr),
           baton_buffer_view_import_dlpack(device_, nullptr, BATON_NO_STREAM, nullptr),
           baton_buffer_view_import_dlpack_legacy(device_, nullptr, BATON_NO_STREAM, nullptr),
           baton_buffer_view_export_dlpack(device_, tensor, nullptr, BATON_NO_STREAM, nullptr),
           baton_buffer_view_export_dlpack_legacy(device_, tensor, nullptr, BATON_NO_STREAM, nullptr),
           baton_call_tensors(nullptr, device_, "twice", nullptr, 0, nullptr, 0),
           baton_trace_create(nullptr),
           baton_trace_write(nullptr, "x.json"),
           baton_trace_write(trace, nullptr),
       }) {
    ASSERT_NE(status, nullptr);
    EXPECT_THAT(message_of(status), testing::HasSubstr(" is null."));
  }
  baton_invocation_set_trace(nullptr, trace);
  baton_trace_release(nullptr);
  EXPECT_EQ(message_of(baton_buffer_view_download(tensor, data, 8)), "");
  baton_object_release(reinterpret_cast<baton_object*>(tensor));
  baton_trace_release(trace);
}

// Sizes are compared before memory is taken and data is read.
TEST_F(EmbedDeviceTest, WhatNoTensorIsIsRefused) {
  const int64_t shape[] = {2};
  const float data[] = {1, 2};
  baton_buffer_view* view = nullptr;
  const auto upload = [&](uint32_t type, uint64_t rank, uint64_t size) {
    const std::vector<int64_t> ones(rank, rank == 1 ? 2 : 1);
    return message_of(
        baton_buffer_view_upload(device_, type, rank == 1 ? shape : ones.data(), rank, data, size, &view));
  };
  for (const uint32_t type : {0u, 0x0720u, 0x0104u, 0x10420u, 0xffffu, 0xdeadbeefu}) {
    EXPECT_EQ(upload(type, 1, 8), "Number " + std::to_string(type) + " is not an element type.");
  }
  EXPECT_EQ(upload(BATON_ELEMENT_F32, 1, uint64_t{1} << 60),
            "A tensor 2xf32 takes 8 bytes; 1152921504606846976 are given.");
  EXPECT_EQ(upload(BATON_ELEMENT_F32, 65536, 4), "A shape has 65536 dimensions; at most 65535 are possible.");
  EXPECT_EQ(view, nullptr);
}

TEST_F(EmbedDeviceTest, TensorsOfTheHostGoAndComeInOneCall) {
  constexpr std::string_view kSame = R"ASM(
module @same
type hal.buffer_view
export func @same(%x: hal.buffer_view) -> hal.buffer_view {
  attribute "abi.declaration" = "func @same(%x: tensor<2x?xf32>) -> tensor<2x?xf32>"
  return
}
export func @number(%x: hal.buffer_view) -> i32 {
  const.i32 %v0, 1
  return
}
)ASM";
  const auto bytes = baton::bytecode::assemble(kSame);
  ASSERT_TRUE(bytes.has_value());
  baton_module* modules[2] = {};
  baton_context* context = nullptr;
  ASSERT_EQ(message_of(baton_module_create_hal(&device_, 1, &modules[0])), "");
  ASSERT_EQ(message_of(baton_module_load_memory(bytes->data(), bytes->size(), &modules[1])), "");
  ASSERT_EQ(message_of(baton_context_create(modules, 2, nullptr, &context)), "");
  float given[] = {1, 2, 3, 4, 5, 6}, back[8] = {};
  const baton_tensor input = {BATON_ELEMENT_F32, 2, {2, 3}, given, sizeof(given)};
  baton_tensor output = {0, 0, {}, back, sizeof(back)};
  const auto call = [&](const char* name, const baton_tensor& in) {
    return message_of(baton_call_tensors(context, device_, name, &in, 1, &output, 1));
  };
  EXPECT_EQ(call("same", input), "");
  EXPECT_EQ(output.element_type, BATON_ELEMENT_F32);
  EXPECT_EQ(output.rank, 2u);
  EXPECT_EQ(output.shape[0], 2);
  EXPECT_EQ(output.shape[1], 3);
  EXPECT_EQ(output.size, sizeof(given));
  EXPECT_THAT(std::vector<float>(back, back + 6), testing::ElementsAreArray(given));
  output.size = 4;
  EXPECT_EQ(call("same", input), "Result 0 is a 2x3xf32 of 24 bytes; there is room for 4 and 8 dimensions.");
  output.size = sizeof(back);
  EXPECT_EQ(call("same", {BATON_ELEMENT_F32, 2, {3, 2}, given, sizeof(given)}),
            "argument 0 of 'same' is a tensor<2x?xf32>, and a 3x2xf32 was given; it is func @same(%x: "
            "tensor<2x?xf32>) -> tensor<2x?xf32>");
  EXPECT_EQ(call("same", {BATON_ELEMENT_F32, 9, {2, 3}, given, sizeof(given)}),
            "Input 0 has rank 9; at most 8 is possible.");
  EXPECT_THAT(message_of(baton_call_tensors(context, device_, "number", &input, UINT64_MAX, nullptr, 0)),
              testing::HasSubstr("more than any function has"));
  baton_tensor without = input;
  without.data = nullptr;
  EXPECT_EQ(call("same", without), "The data of input 0 is null.");
  for (baton_status* status : {
           baton_call_tensors(context, device_, nullptr, &input, 1, nullptr, 0),
           baton_call_tensors(context, device_, "same", nullptr, 1, nullptr, 0),
           baton_call_tensors(context, device_, "same", &input, 1, nullptr, 1),
       }) {
    EXPECT_THAT(message_of(status), testing::HasSubstr(" is null."));
  }
  EXPECT_EQ(call("number", input),
            "function 'number' is func @number(hal.buffer_view) -> (i32); it was taken for (Tensor) -> (Tensor)");
  baton_context_release(context);
  for (baton_module* module : modules) baton_module_release(module);
}

// How often a function stands on a timeline.
size_t spans_on(baton_trace* trace, const std::string& function) {
  const std::string path = baton::testing_support::temporary_path("trace.json");
  EXPECT_EQ(message_of(baton_trace_write(trace, path.c_str())), "");
  std::string json;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  for (int letter = std::fgetc(file); letter != EOF; letter = std::fgetc(file)) json += static_cast<char>(letter);
  std::fclose(file);
  size_t count = 0;
  const std::string name = "\"name\":\"" + function + "\"";
  for (size_t at = json.find(name); at != std::string::npos; at = json.find(name, at + 1)) ++count;
  return count;
}

TEST_F(EmbedDeviceTest, ATraceHoldsCallsOfAnInvocation) {
  const auto bytes = baton::bytecode::assemble(kProgram);
  ASSERT_TRUE(bytes.has_value());
  baton_trace* trace = nullptr;
  baton_device* device = nullptr;
  baton_module* modules[2] = {};
  baton_context* context = nullptr;
  baton_invocation* invocation = nullptr;
  const baton_function* rows = nullptr;
  ASSERT_EQ(message_of(baton_trace_create(&trace)), "");
  ASSERT_EQ(message_of(baton_device_open_traced("local-sync", trace, &device)), "");
  ASSERT_EQ(message_of(baton_module_create_hal(&device, 1, &modules[0])), "");
  ASSERT_EQ(message_of(baton_module_load_memory(bytes->data(), bytes->size(), &modules[1])), "");
  ASSERT_EQ(message_of(baton_context_create(modules, 2, nullptr, &context)), "");
  ASSERT_EQ(message_of(baton_invocation_create(context, &invocation)), "");
  ASSERT_EQ(message_of(baton_context_find(context, "rows", &rows)), "");
  const int64_t shape[] = {5};
  const float numbers[5] = {};
  baton_buffer_view* view = nullptr;
  ASSERT_EQ(message_of(baton_buffer_view_upload(device, BATON_ELEMENT_F32, shape, 1, numbers, sizeof(numbers), &view)),
            "");
  baton_value argument = {0}, result = {0};
  argument.ref = reinterpret_cast<baton_object*>(view);
  baton_invocation_set_trace(invocation, trace);
  EXPECT_EQ(message_of(baton_invocation_invoke(invocation, rows, &argument, 1, &result, 1)), "");
  const baton_typed_value typed = baton_typed_ref(argument.ref);
  baton_typed_value typed_result = {};
  EXPECT_EQ(message_of(baton_invocation_call(invocation, rows, &typed, 1, &typed_result, 1)), "");
  EXPECT_EQ(spans_on(trace, "program.rows"), 2u);
  baton_invocation_set_trace(invocation, nullptr);
  EXPECT_EQ(message_of(baton_invocation_invoke(invocation, rows, &argument, 1, &result, 1)), "");
  EXPECT_THAT(message_of(baton_trace_write(trace, "/nowhere/trace.json")), testing::HasSubstr("/nowhere/trace.json"));
  EXPECT_EQ(spans_on(trace, "program.rows"), 2u);
  baton_object_release(reinterpret_cast<baton_object*>(view));
  baton_invocation_release(invocation);
  baton_context_release(context);
  for (baton_module* module : modules) baton_module_release(module);
  baton_object_release(reinterpret_cast<baton_object*>(device));
  baton_trace_release(trace);
}

TEST(DeviceOptionsTest, OpenADeviceAsItIs) {
  baton_device_options options = {};
  options.struct_size = sizeof(options);
  baton_device* device = nullptr;
  ASSERT_EQ(message_of(baton_device_open_with("local-sync", &options, &device)), "");
  baton_object_release(reinterpret_cast<baton_object*>(device));
  options.struct_size = 8;
  EXPECT_EQ(message_of(baton_device_open_with("local-sync", &options, &device)),
            "The options of a device are 8 bytes; at least 24 are known.");
  EXPECT_EQ(device, nullptr);
}

// What is linked and what is refused then stands in linked_functions_test.cpp, and in Python's kernels_cuda_test.py.
TEST(DeviceOptionsTest, FunctionsAreOfTheKindThatTheDeviceLinks) {
  const std::string ptx = ".version 7.0\n.target sm_75\n", spirv("\x03\x02\x23\x07", 4);
  const baton_device_functions mix = {"mix.ptx", ptx.data(), ptx.size()},
                               scale = {"scale.spv", spirv.data(), spirv.size()};
  baton_device_options options = {};
  options.struct_size = sizeof(options);
  options.function_count = 1;
  baton_device* device = nullptr;
  options.functions = &mix;
  EXPECT_EQ(message_of(baton_device_open_with("vulkan://0", &options, &device)),
            "'mix.ptx' is no SPIR-V, and device 'vulkan://0' links nothing else.");
  options.functions = &scale;
  EXPECT_EQ(message_of(baton_device_open_with("cuda", &options, &device)),
            "'scale.spv' is SPIR-V, and device 'cuda' links none.");
  EXPECT_EQ(device, nullptr);
}

TEST(DeviceOptionsTest, FunctionsAreDeviceCodeForCudaDevices) {
  const std::string ptx = "/* Of the app. */\n.version 7.0\n.target sm_75\n", source = "int mix(int);";
  baton_device_functions functions[] = {{"mix.ptx", ptx.data(), ptx.size()}, {"mix.c", source.data(), source.size()}};
  baton_device_options options = {};
  options.struct_size = sizeof(options);
  options.functions = functions;
  options.function_count = 1;
  baton_device* device = nullptr;
  EXPECT_EQ(message_of(baton_device_open_with("local-sync", &options, &device)),
            "Device 'local-sync' links no device functions; CUDA's and Vulkan's devices do.");
  options.function_count = 2;
  EXPECT_EQ(message_of(baton_device_open_with("cuda://0", &options, &device)),
            "'mix.c' has no device functions: it is no PTX, cubin, fatbin, object, archive or LTO-IR, and no SPIR-V.");
  EXPECT_EQ(device, nullptr);
}

// Kernels as a module would bring them.
std::string load_kernels(baton_device* device, const std::string& ptx) {
  const auto words = [](const char* text) { return baton_string{text, std::char_traits<char>::length(text)}; };
  const baton_executable_variant variant = {words("cuda-ptx"), ptx.data(), ptx.size()};
  baton_executable_request request = {};
  request.struct_size = sizeof(request);
  request.variant_count = 1;
  request.variants = &variant;
  request.name = words("kernels");
  baton_executable* made = nullptr;
  const std::string message = message_of(baton_host_table()->devices->executable_make(device, &request, &made));
  baton_object_release(reinterpret_cast<baton_object*>(made));
  return message;
}

// On this machine's GPU, or on the fake one where this runs with it (CMakeLists.txt).
TEST(DeviceOptionsTest, FunctionsAreLinkedWithWhatImportsThem) {
  const std::string head = ".version 7.0\n.target sm_75\n.address_size 64\n",
                    mix = head + ".visible .func mix(.param .b32 value) { ret; }\n",
                    kernels = head + ".extern .func mix(.param .b32 value);\n" +
                              ".visible .entry scale(.param .u64 values, .param .u32 count, .param .u32 factor) {\n"
                              "  .param .b32 given; call.uni mix, (given); ret;\n}\n";
  baton_device_functions functions[] = {{"mix.ptx", mix.data(), mix.size()}, {"again.ptx", mix.data(), mix.size()}};
  baton_device_options options = {};
  options.struct_size = sizeof(options);
  options.functions = functions;
  for (uint32_t count : {0u, 1u, 2u}) {
    options.function_count = count;
    baton_device* device = nullptr;
    const std::string missing = message_of(baton_device_open_with("cuda", &options, &device));
    if (!missing.empty()) GTEST_SKIP() << missing;
    constexpr const char* kMessages[] = {"The kernels import functions that nobody provides: 'mix'; ", "",
                                         "Function 'mix' is defined twice, by 'mix.ptx' and by 'again.ptx'."};
    EXPECT_THAT(load_kernels(device, kernels), testing::HasSubstr(kMessages[count])) << count;
    if (count == 1) {
      EXPECT_EQ(load_kernels(device, kernels), "");
    }
    baton_object_release(reinterpret_cast<baton_object*>(device));
  }
}

}  // namespace
