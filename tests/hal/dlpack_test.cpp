// Tensors of other frameworks come in and go out without being copied, and are given back exactly once.
#include "hal/dlpack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal {
namespace {

// The layout is another project's: these numbers are theirs.
static_assert(sizeof(baton_dl_tensor) == 48 && offsetof(baton_dl_tensor, rank) == 16);
static_assert(offsetof(baton_dl_tensor, type) == 20 && offsetof(baton_dl_tensor, shape) == 24);
static_assert(offsetof(baton_dl_tensor, strides) == 32 && offsetof(baton_dl_tensor, byte_offset) == 40);
static_assert(offsetof(baton_dl_managed_tensor, manager) == 8 && offsetof(baton_dl_managed_tensor, destroy) == 16);
static_assert(offsetof(baton_dl_managed_tensor, flags) == 24 && offsetof(baton_dl_managed_tensor, tensor) == 32);
static_assert(offsetof(baton_dl_legacy_tensor, manager) == 48 && sizeof(baton_dl_legacy_tensor) == 64);

Ref<Device> open_device() {
  DriverRegistry registry;
  EXPECT_OK(drivers::register_drivers(registry));
  return *registry.open("local-sync");
}

// Someone else's tensor of 2x3 floats, which counts how often it is destroyed.
struct Foreign {
  float elements[7] = {-1, 1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {3, 1};
  int destroyed = 0;
  baton_dl_managed_tensor tensor{};

  Foreign() {
    tensor.version = {1, 1};
    tensor.manager = this;
    tensor.destroy = [](baton_dl_managed_tensor* self) { ++static_cast<Foreign*>(self->manager)->destroyed; };
    tensor.tensor = {elements, {BATON_DL_CPU, 0}, 2, {BATON_DL_FLOAT, 32, 1}, shape, strides, 4};
  }
};

TEST(DlpackTest, ATensorComesInInPlaceAndIsGivenBackOnce) {
  const Ref<Device> device = open_device();
  Foreign foreign;
  {
    auto view = import_dlpack(*device, &foreign.tensor);
    ASSERT_OK(view);
    EXPECT_EQ((*view)->type_text(), "2x3xf32");
    const auto mapping = (*view)->buffer()->map(Access::kReadWrite);
    ASSERT_OK(mapping);
    EXPECT_EQ(mapping->as<float>().data(), foreign.elements + 1);
    EXPECT_EQ(foreign.destroyed, 0);
  }
  EXPECT_EQ(foreign.destroyed, 1);
}

TEST(DlpackTest, TheFormWithoutAVersionComesInToo) {
  const Ref<Device> device = open_device();
  static int destroyed = 0;
  float number = 5;
  baton_dl_legacy_tensor tensor{{&number, {BATON_DL_CPU, 0}, 0, {BATON_DL_FLOAT, 32, 1}, nullptr, nullptr, 0},
                                nullptr,
                                [](baton_dl_legacy_tensor*) { ++destroyed; }};
  EXPECT_EQ((*import_dlpack(*device, &tensor))->type_text(), "f32");
  EXPECT_EQ(destroyed, 1);
}

TEST(DlpackTest, AReadOnlyTensorIsNotWritten) {
  const Ref<Device> device = open_device();
  Foreign foreign;
  foreign.tensor.flags = BATON_DL_READ_ONLY;
  const auto view = import_dlpack(*device, &foreign.tensor);
  ASSERT_OK(view);
  EXPECT_FALSE(has_any(view.value()->buffer()->usage(), BufferUsage::kTransferTarget | BufferUsage::kDispatchWrite));
  EXPECT_OK(view.value()->buffer()->map(Access::kRead));
  EXPECT_FAILS(view.value()->buffer()->map(Access::kWrite), StatusCode::kPermissionDenied, "constant");
  const auto out = export_dlpack(*device, *view);
  ASSERT_OK(out);
  EXPECT_EQ((*out)->flags, BATON_DL_READ_ONLY);
  EXPECT_EQ((*out)->tensor.data, foreign.elements + 1);
  (*out)->destroy(*out);
  EXPECT_FAILS(export_legacy_dlpack(*device, *view), StatusCode::kPermissionDenied, "A tensor 2x3xf32 is constant");
}

TEST(DlpackTest, WhatCannotComeInStaysTheCallers) {
  const Ref<Device> device = open_device();
  const auto refused = [&](StatusCode code, std::string_view sentence, auto change) {
    Foreign foreign;
    change(foreign);
    EXPECT_FAILS(import_dlpack(*device, &foreign.tensor), code, sentence);
    EXPECT_EQ(foreign.destroyed, 0) << sentence;
  };
  refused(StatusCode::kUnimplemented, "has version 2.0; version 1 is understood", [](Foreign& f) {
    f.tensor.version = {2, 0};
  });
  refused(StatusCode::kInvalidArgument, "has rank 65536; at most 65535 is possible",
          [](Foreign& f) { f.tensor.tensor.rank = 65536; });
  refused(StatusCode::kUnimplemented, "its stride 0 is 1, and 3 in row-major order", [](Foreign& f) {
    f.strides[0] = 1;
    f.strides[1] = 1;
  });
  refused(StatusCode::kUnimplemented, "Device 'local-sync' cannot use 24 bytes in the memory of CUDA device 3",
          [](Foreign& f) {
            f.tensor.tensor.device = {BATON_DL_CUDA, 3};
          });
  refused(StatusCode::kUnimplemented, "lies on device type 7, whose memory device 'local-sync' does not use",
          [](Foreign& f) { f.tensor.tensor.device.type = BATON_DL_VULKAN; });
  refused(StatusCode::kUnimplemented, "type code 2 of 32 bits and 4 lanes",
          [](Foreign& f) { f.tensor.tensor.type.lanes = 4; });
  refused(StatusCode::kUnimplemented, "is of float8_e4m3fn, which no tensor has: give its bits as uint8",
          [](Foreign& f) {
            f.tensor.tensor.type = {10, 8, 1};
          });
  refused(StatusCode::kUnimplemented, "is of float4_e2m1fn", [](Foreign& f) { f.tensor.tensor.type = {17, 4, 2}; });
  refused(StatusCode::kUnimplemented, "type code 2 of 8 bits", [](Foreign& f) { f.tensor.tensor.type.bits = 8; });
  refused(StatusCode::kInvalidArgument, "extent -2 in dimension 0", [](Foreign& f) { f.shape[0] = -2; });
  refused(StatusCode::kInvalidArgument, "more than can be addressed",
          [](Foreign& f) { f.shape[0] = int64_t{1} << 62; });
  for (const uint64_t offset : {1u, 2u, 3u, 5u}) {
    refused(StatusCode::kUnimplemented, "is not aligned: it lies at an address that is",
            [&](Foreign& f) { f.tensor.tensor.byte_offset = offset; });
  }
  refused(StatusCode::kInvalidArgument, "rank -1", [](Foreign& f) { f.tensor.tensor.rank = -1; });
  refused(StatusCode::kInvalidArgument, "at a null pointer", [](Foreign& f) { f.tensor.tensor.data = nullptr; });
}

TEST(DlpackTest, PinnedAndManagedMemoryIsTheHostsToo) {
  const Ref<Device> device = open_device();
  for (const int32_t type : {BATON_DL_CUDA_HOST, BATON_DL_CUDA_MANAGED}) {
    Foreign foreign;
    foreign.tensor.tensor.device.type = type;
    const auto view = import_dlpack(*device, &foreign.tensor);
    ASSERT_OK(view);
    EXPECT_EQ((*view)->buffer()->map(Access::kRead)->as<float>()[5], 6);
  }
}

TEST(DlpackTest, WithoutStreamsNoneIsWaitedFor) {
  const Ref<Device> device = open_device();
  Foreign foreign;
  const auto refused = [&](int64_t stream, StatusCode code, std::string_view sentence) {
    EXPECT_FAILS(import_dlpack(*device, &foreign.tensor, stream), code, sentence);
  };
  refused(1, StatusCode::kUnimplemented, "Device 'local-sync' knows no streams of other libraries.");
  refused(0, StatusCode::kInvalidArgument, "Stream 0 may be the legacy default stream (1) or the thread's own (2)");
  refused(-2, StatusCode::kInvalidArgument, "Stream -2 is none; -1 says that there is no stream.");
  EXPECT_EQ(foreign.destroyed, 0);
}

TEST(DlpackTest, ATensorGoesOutInPlaceAndKeepsItsMemory) {
  const Ref<Device> device = open_device();
  baton_dl_managed_tensor* tensor = nullptr;
  {
    auto buffer = device->allocator().allocate({.length = 12});
    const int64_t shape[] = {3, 2};
    auto view = BufferView::make(*buffer, shape, ElementType::kBF16);
    auto exported = export_dlpack(*device, *view);
    ASSERT_OK(exported);
    tensor = *exported;
  }
  EXPECT_EQ(tensor->tensor.rank, 2);
  EXPECT_EQ(tensor->tensor.shape[0], 3);
  EXPECT_EQ(tensor->tensor.strides[0], 2);
  EXPECT_EQ(tensor->tensor.strides[1], 1);
  EXPECT_EQ(tensor->tensor.type.code, BATON_DL_BFLOAT);
  EXPECT_EQ(tensor->tensor.type.bits, 16);
  EXPECT_EQ(tensor->tensor.device.type, BATON_DL_CPU);
  EXPECT_EQ(device->allocator().memory_use().live_bytes, 12u);
  static_cast<char*>(tensor->tensor.data)[11] = 1;  // Still there.
  auto back = import_dlpack(*device, tensor);       // And home again.
  ASSERT_OK(back);
  EXPECT_EQ((*back)->type_text(), "3x2xbf16");
  back = Status(StatusCode::kCancelled, "dropped");
  EXPECT_EQ(device->allocator().memory_use().live_bytes, 0u);
}

TEST(DlpackTest, AViewHasTheStridesOfElementsRowByRow) {
  const Ref<Device> device = open_device();
  auto buffer = device->allocator().allocate({.length = 4096});
  constexpr int64_t kHuge = int64_t{1} << 40;
  const std::vector<std::vector<int64_t>> shapes = {{},
                                                    {3},
                                                    {2, 3, 4},
                                                    {1, 1, 5, 1},
                                                    {2, 1, 2, 1, 2, 1},
                                                    {2, 1, 2, 1, 2, 1, 2},
                                                    {2, 2, 2, 2, 2, 2, 2, 2, 2},
                                                    {0},
                                                    {3, 0, 2},
                                                    {0, kHuge, kHuge}};
  for (const std::vector<int64_t>& shape : shapes) {
    auto view = BufferView::make(*buffer, shape, ElementType::kF32);
    ASSERT_OK(view);
    std::vector<int64_t> strides(shape.size());
    write_dense_strides(shape, strides.data());
    EXPECT_TRUE(std::ranges::equal((*view)->shape(), shape)) << (*view)->type_text();
    EXPECT_TRUE(std::ranges::equal((*view)->dense_strides(), strides)) << (*view)->type_text();
    if (!shape.empty()) {
      EXPECT_EQ(strides.back(), 1);
    }
    for (size_t i = 1; i < shape.size() && (*view)->element_count() > 0; ++i) {
      EXPECT_EQ(strides[i - 1], strides[i] * shape[i]) << (*view)->type_text();
    }
  }
}

TEST(DlpackTest, TypesGoOutAndComeBack) {
  const Ref<Device> device = open_device();
  auto buffer = device->allocator().allocate({.length = 16});
  for (const ElementType type :
       {ElementType::kI1, ElementType::kI8, ElementType::kI64, ElementType::kU8, ElementType::kU32, ElementType::kF16,
        ElementType::kF64, ElementType::kBF16, ElementType::kC64, ElementType::kC128}) {
    auto tensor = export_dlpack(*device, *BufferView::make(*buffer, {}, type));
    ASSERT_OK(tensor);
    EXPECT_EQ((*import_dlpack(*device, *tensor))->element_type(), type) << element_type_name(type);
  }
}

}  // namespace
}  // namespace baton::hal
