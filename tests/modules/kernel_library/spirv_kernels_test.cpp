// Goal: SPIR-V is code of a kernel library as other code is: told from its bytes, its names known without a device, run on a
// Vulkan device's queue and as a command whose slots each execution fills. Method: the C++ twin over the C door, on the
// machine's first Vulkan device with the validation layer; shaders by descriptors and by address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "by_address_spv.hpp"
#include "by_descriptors_spv.hpp"
#include "bytes_length_spv.hpp"
#include "hal/allocator.hpp"
#include "hal/code_format.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "mixed_spv.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/sdk/embed_kernels.hpp"
#include "pushed_addresses_spv.hpp"
#include "record_mixed_spv.hpp"
#include "tests/support/status_matchers.hpp"
#include "tests/support/vulkan_validation.hpp"
#include "unread_spv.hpp"

namespace baton::modules {
namespace {

using sdk::LaunchTarget;
using testing::ElementsAre;
using testing::HasSubstr;

using Code = std::span<const unsigned char>;

std::string said(const sdk::Status& status) {
  return status.ok() ? ""
                     : std::string(status_code_name(static_cast<StatusCode>(status.code()))) + ": " +
                           std::string(status.message());
}
template <typename T>
std::string said(const sdk::Result<T>& result) {
  return result.has_value() ? "" : said(result.error());
}

Ref<hal::Buffer> buffer_of(hal::Device& device, const std::vector<uint32_t>& values) {
  auto buffer = device.allocator().allocate({.length = values.size() * sizeof(uint32_t)}).value();
  const auto mapping = buffer->map(hal::Access::kDiscardWrite);
  std::memcpy(mapping->bytes().data(), values.data(), values.size() * sizeof(uint32_t));
  return buffer;
}
std::vector<uint32_t> values_of(hal::Buffer& buffer) {
  const auto mapping = buffer.map(hal::Access::kRead);
  const auto values = mapping->as<uint32_t>();
  return {values.begin(), values.end()};
}
sdk::Ref<sdk::Device> door(const Ref<hal::Device>& device) {
  return sdk::Ref<sdk::Device>::adopt(reinterpret_cast<sdk::Device*>(wrap(device).detach()));
}
sdk::Ref<sdk::Buffer> door(const Ref<hal::Buffer>& buffer) {
  return sdk::Ref<sdk::Buffer>::adopt(reinterpret_cast<sdk::Buffer*>(wrap(buffer).detach()));
}
sdk::Result<sdk::KernelLibrary> library_of(Code code) {
  const sdk::ExecutableVariant variants[] = {{{}, std::as_bytes(code)}};
  return sdk::KernelLibrary::make("shaders", variants);
}

TEST(SpirvLibraryTest, ItsNamesAreKnownWithoutADevice) {
  EXPECT_EQ(hal::tell_code_format(std::as_bytes(Code(by_address_spv))).value(), "vulkan-spirv-fb");
  const auto library = library_of(by_address_spv).value();
  EXPECT_EQ(said(library["main"]), "");
  EXPECT_THAT(said(library["mian"]),
              HasSubstr("Kernel library 'shaders' has no entry point 'mian' (1 entry point); did you mean 'main'?"));
  EXPECT_THAT(said(library["shader"]), HasSubstr("has no entry point 'shader' (1 entry point); it has 'main'."));
}

// Every prefix is a library or a sentence; one that ends inside of an instruction is a sentence.
TEST(SpirvLibraryTest, CutOffCodeIsASentence) {
  const auto whole = std::as_bytes(Code(by_descriptors_spv));
  size_t refused = 0, last = 0;
  for (size_t size = 20; size < whole.size(); size += 4) {
    const auto names = hal::spirv_entry_points(whole.first(size));
    if (names) continue;
    ++refused;
    last = size;
    EXPECT_THAT(names.error().to_string(), HasSubstr("The SPIR-V is broken at word")) << size;
  }
  ASSERT_GT(refused, whole.size() / 16);
  const auto library = library_of(Code(by_descriptors_spv).first(last)).value();
  EXPECT_THAT(said(library["main"]), HasSubstr("in kernel library 'shaders'"));
}

TEST(SpirvLibraryTest, OtherDevicesSayThatItIsNotTheirs) {
  const Ref<hal::Device> device = hal::drivers::local::make_driver()->open("", {}).value();
  const auto values = door(buffer_of(*device, {1}));
  EXPECT_THAT(
      said(library_of(by_descriptors_spv).value()["main"].launch({1}, {32}, door(device), values, values, 1u, 1u)),
      HasSubstr("vulkan-spirv-fb"));
}

class VulkanKernelTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto opened = testing_support::open_watched_vulkan();
    if (!opened) {
      GTEST_SKIP() << "skipped: " << opened.error().to_string();
    }
    device_ = std::move(opened).value();
  }
  static Code code() { return GetParam() ? Code(by_address_spv) : Code(by_descriptors_spv); }

  Ref<hal::Device> device_;
  const sdk::KernelLibrary library_ = library_of(code()).value();
};
INSTANTIATE_TEST_SUITE_P(Vulkan, VulkanKernelTest, testing::Values(false, true),
                         [](const auto& each) { return std::string(each.param ? "ByAddress" : "ByDescriptors"); });

TEST_P(VulkanKernelTest, ItRunsOnAQueue) {
  const auto x = buffer_of(*device_, {1, 2, 3}), y = buffer_of(*device_, {0, 0, 0});
  const auto done = door(device_)->make_fence().value();
  EXPECT_EQ(said(library_["main"].launch({1}, {32}, LaunchTarget(*door(device_), nullptr, done.get()), door(x), door(y),
                                         3u, 5u)),
            "");
  EXPECT_EQ(said(done->wait()), "");
  EXPECT_THAT(values_of(*y), ElementsAre(5, 10, 15));
}

TEST_P(VulkanKernelTest, TheShaderSaysItsWorkgroup) {
  const auto x = door(buffer_of(*device_, {1})), y = door(buffer_of(*device_, {0}));
  EXPECT_EQ(said(library_["main"].launch({1}, {1}, door(device_), x, y, 1u, 5u)), "");
  EXPECT_THAT(said(library_["main"].launch({1}, {64}, door(device_), x, y, 1u, 5u)),
              HasSubstr("Kernel 'main' has workgroups of 32x1x1; it is launched with 64x1x1."));
  EXPECT_OK(device_->queue().wait_idle());
}

TEST_P(VulkanKernelTest, TooFewArgumentsAreASentence) {
  if (GetParam()) {
    GTEST_SKIP() << "skipped: code by address does not say what it reads";
  }
  const auto x = door(buffer_of(*device_, {1}));
  EXPECT_THAT(
      said(library_["main"].launch({1}, {32}, door(device_), x, 1u, 5u)),
      HasSubstr("Kernel 'main' reads 2 bindings and 2 constants; the program passes 1 bindings and 2 constants."));
  EXPECT_THAT(said(library_["main"].launch({1}, {32}, door(device_), x, x, 1u)),
              HasSubstr("has a push constant of 4 bytes at byte 4, for which there is no argument."));
  EXPECT_THAT(said(library_["main"].launch({1}, {32}, door(device_), x, x, 1u, 5u, 6u)),
              HasSubstr("Argument 4 of kernel 'main' has 4 bytes, and there is no push constant left."));
}

// A shader says where each of its push constants lies; arguments go there, whatever their sizes.
class MixedKernelTest : public testing::Test {
 protected:
  struct Vec3 {
    float x, y, z;
  };
  struct Rest {  // As the shader's last three.
    Vec3 e;
    uint32_t f;
    float g[4];
  };

  void SetUp() override {
    auto opened = testing_support::open_watched_vulkan();
    if (!opened) {
      GTEST_SKIP() << "skipped: " << opened.error().to_string();
    }
    device_ = std::move(opened).value();
    values_ = buffer_of(*device_, std::vector<uint32_t>(9, 99));
    const std::string refused = launch(uint32_t{7}, kB, kC, kD, kRest);
    if (refused.starts_with("UNIMPLEMENTED")) {
      GTEST_SKIP() << "skipped: " << refused;
    }
  }
  template <typename... T>
  std::string launch(const T&... arguments) {
    sdk::Status status = kernels_["main"].launch({1}, {1}, door(device_), door(values_), arguments...);
    EXPECT_OK(device_->queue().wait_idle());
    return said(status);
  }

  static constexpr uint64_t kB = uint64_t{3} << 32 | 5;
  static constexpr int8_t kC = -3;
  static constexpr int16_t kD = 300;
  static constexpr Vec3 kE = {1, 2, 4};
  static constexpr Rest kRest = {kE, 11, {5, 6, 8, 9}};

  Ref<hal::Device> device_;
  Ref<hal::Buffer> values_;
  const sdk::KernelLibrary kernels_ = library_of(Code(mixed_spv)).value();
};

TEST_F(MixedKernelTest, EachArgumentLiesWhereTheShaderHasIt) {
  const auto right = ElementsAre(7, 5, 3, uint32_t(-3), 300, 1, 4, 11, 8);
  EXPECT_THAT(values_of(*values_), right);  // From SetUp(), a struct for the last three.
  values_ = buffer_of(*device_, std::vector<uint32_t>(9, 99));
  struct Matrix {
    float g[4];
  };
  EXPECT_EQ(launch(uint32_t{7}, kB, kC, kD, kE, uint32_t{11}, Matrix{{5, 6, 8, 9}}), "");
  EXPECT_THAT(values_of(*values_), right);
  values_ = buffer_of(*device_, std::vector<uint32_t>(9, 99));
  EXPECT_EQ(launch(true, kB, kC, kD, kRest), "");  // A small number fills a word.
  EXPECT_THAT(values_of(*values_), ElementsAre(1, 5, 3, uint32_t(-3), 300, 1, 4, 11, 8));
}

TEST_F(MixedKernelTest, OtherSizesAreASentence) {
  EXPECT_THAT(launch(uint32_t{7}, uint32_t{5}, kC, kD, kRest),
              HasSubstr("Argument 2 of kernel 'main' has 4 bytes, and the push constant at byte 8 has 8."));
  EXPECT_THAT(launch(uint32_t{7}, kB, kD, kD, kRest),
              HasSubstr("Argument 3 of kernel 'main' has 2 bytes, and the push constant at byte 16 has 1."));
  EXPECT_THAT(launch(uint32_t{7}, kB, kC, kD, kE),
              HasSubstr("has a push constant of 4 bytes at byte 44, for which there is no argument."));
  EXPECT_THAT(launch(), HasSubstr("Kernel 'main' has a push constant of 4 bytes at byte 0"));
}

// Kernels as people have them: what they are given is theirs to say.
class PeoplesKernelTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = testing_support::open_watched_vulkan();
    if (!opened) {
      GTEST_SKIP() << "skipped: " << opened.error().to_string();
    }
    device_ = std::move(opened).value();
  }
  template <typename... T>
  std::string launch(Code code, const T&... arguments) {
    const sdk::KernelLibrary kernels = library_of(code).value();
    sdk::Status status = kernels["main"].launch({1}, {1}, door(device_), arguments...);
    EXPECT_OK(device_->queue().wait_idle());
    return said(status);
  }

  Ref<hal::Device> device_;
};

// An array of bytes in a shader ends where the range does, and what lies behind it in the last word stays.
TEST_F(PeoplesKernelTest, ArraysOfBytesEndWithTheirRange) {
  for (const uint64_t length : {1u, 2u, 3u, 4u, 13u}) {
    const auto source = buffer_of(*device_, {0x04030201, 0x08070605}),
               target = buffer_of(*device_, {~0u, ~0u, ~0u, ~0u});
    const auto source_door = door(source), target_door = door(target);
    const std::string refused = launch(Code(bytes_length_spv), sdk::Binding<uint8_t>(*source_door, 0, 7),
                                       sdk::Binding<uint8_t>(*target_door, 0, length));
    if (refused.starts_with("UNIMPLEMENTED")) {
      GTEST_SKIP() << "skipped: " << refused;
    }
    ASSERT_EQ(refused, "");
    const std::vector<uint32_t> words = values_of(*target);
    for (uint32_t i = 0; i < 16; ++i) {
      EXPECT_EQ(words[i / 4] >> 8 * (i % 4) & 255, i < length ? i % 7 + 1 : 255) << length << " at " << i;
    }
  }
}

TEST_F(PeoplesKernelTest, WhatNothingReadsMayBeGiven) {
  const auto words = buffer_of(*device_, std::vector<uint32_t>(32, 1));
  EXPECT_EQ(launch(Code(unread_spv), door(words), 32u, 1.5), "");
  EXPECT_THAT(values_of(*words), testing::Each(7));
}

TEST_F(PeoplesKernelTest, ConstantsOfARecordLieWhereItsLayoutSays) {
  struct Pair {
    uint32_t x, y;
  };
  const auto words = buffer_of(*device_, std::vector<uint32_t>(5, 99));
  const std::string refused = launch(Code(record_mixed_spv), door(words), 7u, uint64_t{3} << 32 | 5, 2.0f, Pair{8, 9});
  if (refused.starts_with("UNIMPLEMENTED")) {
    GTEST_SKIP() << "skipped: " << refused;
  }
  EXPECT_EQ(refused, "");
  EXPECT_THAT(values_of(*words), ElementsAre(7, 5, 3, 2, 9));
  EXPECT_THAT(launch(Code(record_mixed_spv), door(words), 7u, 5u),
              HasSubstr("Argument 2 of kernel 'main' has 4 bytes, and the constant of the record at byte 8 has 8."));
  EXPECT_THAT(launch(Code(record_mixed_spv), door(words), 7u),
              HasSubstr("has a constant of the record of 8 bytes at byte 8, for which there is no argument."));
}

TEST_F(PeoplesKernelTest, WhereAddressesComeIsSaid) {
  const auto words = buffer_of(*device_, {1, 2});
  EXPECT_THAT(launch(Code(pushed_addresses_spv), door(words), door(words), 2u),
              HasSubstr("and the push constant at byte 0 has 8. It has addresses among its push constants: Baton gives "
                        "it those of buffers in a record"));
}

TEST_P(VulkanKernelTest, ACommandIsPatchedByTheTableOfEachExecution) {
  auto commands = device_->make_command_buffer({.name = "program", .slot_count = 2}).value();
  auto handle = sdk::make<Handle<hal::CommandBuffer>>(std::move(commands), *device_);
  auto& rec = reinterpret_cast<sdk::CommandBuffer&>(*handle);
  const hal::CustomCommand custom = {"app", "scale"};
  const sdk::Binding<const uint32_t> x(baton_binding{nullptr, 0, BATON_ACCESS_READ, 0, 8});
  const sdk::Binding<uint32_t> y(baton_binding{nullptr, 1, BATON_ACCESS_READ_WRITE, 0, 8});
  handle->open_for(&custom);
  EXPECT_EQ(said(library_["main"].value().record(rec, {1}, {32}, x, y, 2u, 7u)), "");
  handle->open_for(nullptr);
  const auto recording = (**handle).finish().value();
  for (const uint32_t first : {1u, 5u, 1u}) {
    const auto source = buffer_of(*device_, {first, 10}), target = buffer_of(*device_, {0, 0});
    const hal::BufferRange table[] = {source, target};
    EXPECT_OK(device_->queue().execute({}, *recording, {.buffers = table}));
    EXPECT_OK(device_->queue().wait_idle());
    EXPECT_THAT(values_of(*target), ElementsAre(7 * first, 70));
  }
}

}  // namespace
}  // namespace baton::modules
