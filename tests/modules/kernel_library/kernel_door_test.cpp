// Goal: what an app in C forgets to pass to the functions of kernel_library.h is a sentence. Method: each of them with
// each pointer null, on a library for the CPU, which needs no device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "affine_elf.hpp"
#include "modules/sdk/embed_device.h"
#include "modules/sdk/kernel_library.h"

namespace {

using testing::HasSubstr;

std::string message_of(baton_status* status) {
  if (!status) return "";
  const std::string message = baton_status_get_message(status);
  baton_status_free(status);
  return message;
}

class KernelDoorTest : public testing::Test {
 protected:
  void SetUp() override {
    const baton_executable_variant variants[] = {{{}, affine_x86_64, sizeof(affine_x86_64)},
                                                 {{}, affine_aarch64, sizeof(affine_aarch64)}};
    ASSERT_EQ(message_of(baton_kernel_library_make({"lib", 3}, variants, 2, &library_)), "");
    ASSERT_EQ(message_of(baton_kernel_library_find(library_, {"affine", 6}, &kernel_)), "");
  }
  void TearDown() override { baton_kernel_library_release(library_); }
  baton_kernel_library* library_ = nullptr;
  const baton_library_kernel* kernel_ = nullptr;
};

TEST_F(KernelDoorTest, WhatIsMissingIsNamed) {
  const baton_string nothing = {nullptr, 5}, name = {"x", 1}, arch = {"90", 2};
  const baton_executable_variant no_code = {{}, nullptr, 8}, no_format = {nothing, "code", 4};
  const baton_kernel_header no_text = {name, nothing};
  baton_kernel_compile no_options = {}, no_headers = {}, no_source = {}, half_header = {};
  for (baton_kernel_compile* one : {&no_options, &no_headers, &no_source, &half_header}) {
    *one = {.struct_size = sizeof(*one),
            .option_count = 0,
            .name = name,
            .source = {"", 0},
            .arch = arch,
            .options = nullptr,
            .headers = nullptr,
            .header_count = 0};
  }
  no_options.option_count = 1;
  no_headers.header_count = half_header.header_count = 1;
  no_source.source = nothing;
  half_header.headers = &no_text;
  const baton_embedded_kernels unnamed = {sizeof(unnamed), 0, nullptr, nullptr, &library_};
  baton_kernel_launch launch = {};
  launch.struct_size = sizeof(launch);
  baton_kernel_library* made = nullptr;
  const baton_library_kernel* kernel = nullptr;
  baton_kernel_occupancy occupancy = {};
  uint64_t address = 0, bytes = 0;
  baton_status* embedded = nullptr;
  EXPECT_EQ(baton_kernel_embedded(nullptr, "x", &kernel, &embedded), nullptr);
  for (baton_status* status : {
           embedded,
           baton_kernel_library_make(nothing, &no_code, 1, &made),
           baton_kernel_library_make(name, nullptr, 1, &made),
           baton_kernel_library_make(name, &no_code, 1, &made),
           baton_kernel_library_make(name, &no_format, 1, &made),
           baton_kernel_library_make(name, nullptr, 0, nullptr),
           baton_kernel_library_load_file(nullptr, &made),
           baton_kernel_library_load_file("x", nullptr),
           baton_kernel_library_embedded(nullptr, &made),
           baton_kernel_library_embedded(&unnamed, &made),
           baton_kernel_library_load_triton(nullptr, "x", &made),
           baton_kernel_library_load_triton("x", nullptr, &made),
           baton_kernel_library_make_triton(nothing, "x", 1, &made),
           baton_kernel_library_make_triton(name, nullptr, 1, &made),
           baton_kernel_library_compile(&no_options, &made),
           baton_kernel_library_compile(&no_headers, &made),
           baton_kernel_library_compile(&no_source, &made),
           baton_kernel_library_compile(&half_header, &made),
           baton_kernel_library_compile(&no_options, nullptr),
           baton_kernel_library_link(name, arch, nullptr, 1, nullptr, 0, &made),
           baton_kernel_library_link(name, arch, &no_code, 1, nullptr, 0, &made),
           baton_kernel_library_link(name, arch, nullptr, 0, nullptr, 1, &made),
           baton_kernel_library_unload(nullptr),
           baton_kernel_library_find(nullptr, name, &kernel),
           baton_kernel_library_find(library_, nothing, &kernel),
           baton_kernel_library_find(library_, name, nullptr),
           baton_kernel_library_global(nullptr, 0, name, &address, &bytes),
           baton_kernel_library_global(library_, 0, name, nullptr, &bytes),
           baton_kernel_parameters(nullptr, nullptr, 0, &bytes),
           baton_kernel_parameters(kernel_, nullptr, 2, &bytes),
           baton_kernel_get_occupancy(nullptr, 0, 1, 0, &occupancy),
           baton_kernel_get_occupancy(kernel_, 0, 1, 0, nullptr),
           baton_kernel_launch_on(nullptr, &launch, nullptr, 0),
           baton_kernel_launch_on(kernel_, &launch, nullptr, 1),
           baton_kernel_record(nullptr, nullptr, &launch, nullptr, 0),
       }) {
    ASSERT_NE(status, nullptr);
    EXPECT_THAT(message_of(status), HasSubstr(" is null."));
  }
  baton_kernel_library_retain(nullptr);
  baton_kernel_library_release(nullptr);
  EXPECT_EQ(baton_kernel_name(nullptr).size, 0u);
  EXPECT_EQ(made, nullptr);
}

// What is embedded stays for the program, whoever releases what it was given.
TEST_F(KernelDoorTest, EmbeddedLibrariesOutliveTheReferencesThatAreGiven) {
  const baton_embedded_variant variants[] = {{{}, affine_x86_64, affine_x86_64 + sizeof(affine_x86_64)},
                                             {{}, affine_aarch64, affine_aarch64 + sizeof(affine_aarch64)}};
  const baton_embedded_variant backwards = {{}, affine_x86_64 + 8, affine_x86_64};
  baton_kernel_library *kept = nullptr, *none = nullptr, *given = nullptr;
  const baton_embedded_kernels kernels = {sizeof(kernels), 2, variants, "affine", &kept};
  const baton_embedded_kernels broken = {sizeof(broken), 1, &backwards, "affine", &none};
  for (int time = 0; time < 3; ++time) {
    ASSERT_EQ(message_of(baton_kernel_library_embedded(&kernels, &given)), "");
    EXPECT_EQ(given, kept);
    baton_kernel_library_release(given);
  }
  const baton_library_kernel* kernel = nullptr;
  EXPECT_NE(baton_kernel_embedded(&kernels, "affine", &kernel, nullptr), nullptr);
  EXPECT_EQ(baton_kernel_embedded(&kernels, "afine", &kernel, nullptr), nullptr);
  EXPECT_THAT(message_of(baton_kernel_library_embedded(&broken, &given)), HasSubstr(" is null."));
  baton_kernel_library_release(kept);
}

// What would be launched otherwise than it was meant is not launched.
TEST_F(KernelDoorTest, ALaunchThatTheDeviceDoesNotKnowIsASentence) {
  baton_device* device = nullptr;
  ASSERT_EQ(message_of(baton_device_open("local-sync", &device)), "");
  const baton_library_kernel* fours = nullptr;
  ASSERT_EQ(message_of(baton_kernel_library_find(library_, {"fours", 5}, &fours)), "");
  const auto said = [&](auto change) {
    baton_kernel_launch launch = {};
    launch.struct_size = sizeof(launch);
    launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
    launch.device = device;
    change(launch);
    return message_of(baton_kernel_launch_on(fours, &launch, nullptr, 0));
  };
  EXPECT_EQ(said([](auto& launch) {
              launch.block[0] = 4;
              launch.block[1] = launch.block[2] = 1;
            }),
            "");
  EXPECT_EQ(said([](auto& launch) { launch.block[0] = 1; }), "");
  EXPECT_EQ(said([](auto& launch) {
              launch.block[0] = 64;
              launch.block[1] = launch.block[2] = 1;
            }),
            "Kernel 'fours' has workgroups of 4x1x1; it is launched with 64x1x1.");
  EXPECT_EQ(said([](auto& launch) { launch.flags = BATON_KERNEL_COOPERATIVE; }),
            "Kernel 'fours' is launched as cooperative; device 'local-sync' runs each workgroup by itself.");
  EXPECT_EQ(said([](auto& launch) { launch.cluster[0] = 2; }),
            "Kernel 'fours' is launched in clusters; device 'local-sync' runs each workgroup by itself.");
  EXPECT_EQ(said([](auto& launch) { launch.flags = 16; }),
            "A kernel is launched with flags 16; this version knows those of 7.");
  EXPECT_EQ(said([&](auto& launch) { launch.wait = reinterpret_cast<const baton_fence*>(device); }),
            "Kernel 'fours' is launched to wait for or to signal an object that is no fence.");
  // Who waits for it doesn't wait for ever.
  baton_fence* fence = nullptr;
  const baton_device_table& table = *baton_host_table()->devices;
  ASSERT_EQ(message_of(table.fence_make(device, &fence)), "");
  const std::string why = said([&](auto& launch) {
    launch.block[0] = 64;
    launch.signal = fence;
  });
  EXPECT_EQ(why, "Kernel 'fours' has workgroups of 4x1x1; it is launched with 64x0x0.");
  EXPECT_EQ(message_of(table.fence_wait(fence, BATON_WAIT_FOREVER)), why);
  baton_object_release(reinterpret_cast<baton_object*>(fence));
  baton_object_release(reinterpret_cast<baton_object*>(device));
}

// A device or a pipe would be read without an end.
TEST_F(KernelDoorTest, OnlyFilesAreRead) {
  baton_kernel_library* made = nullptr;
  EXPECT_EQ(message_of(baton_kernel_library_load_file("/dev/zero", &made)), "'/dev/zero' is not a regular file.");
  EXPECT_EQ(message_of(baton_kernel_library_load_file("/", &made)), "'/' is a directory, not a file.");
  EXPECT_EQ(message_of(baton_kernel_library_load_triton("/dev/zero", "/dev/zero", &made)),
            "'/dev/zero' is not a regular file.");
}

}  // namespace
