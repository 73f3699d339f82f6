// Goal: no field of the frozen door ever moves. Method: where each stands and how large each struct is, as numbers that
// were written down with version 1. A new field goes at the end and gets a row; no row here is ever changed.
#include <gtest/gtest.h>

#include <cstddef>

#include "modules/sdk/baton.h"

namespace {

#define FIELD(type, field, offset) static_assert(offsetof(type, field) == (offset), "a field of the door moved")
#define SIZE_V1(type, size) static_assert(sizeof(type) >= (size), "a struct of the door shrank")

SIZE_V1(baton_value, 8);
static_assert(sizeof(baton_value) == 8, "a slot is 8 bytes for ever");

SIZE_V1(baton_string, 16);
FIELD(baton_string, data, 0);
FIELD(baton_string, size, 8);

SIZE_V1(baton_object, 16);
static_assert(sizeof(baton_object) == 16, "custom objects begin behind the head");
FIELD(baton_object, type, 0);
FIELD(baton_object, count, 8);

SIZE_V1(baton_object_type, 32);
FIELD(baton_object_type, struct_size, 0);
FIELD(baton_object_type, reserved, 4);
FIELD(baton_object_type, name, 8);
FIELD(baton_object_type, destroy, 16);
FIELD(baton_object_type, wait, 24);

SIZE_V1(baton_allocator, 24);
static_assert(sizeof(baton_allocator) == 24, "it stands by value in the app");
FIELD(baton_allocator, self, 0);
FIELD(baton_allocator, allocate_bytes, 8);
FIELD(baton_allocator, free_bytes, 16);

SIZE_V1(baton_host, 128);
FIELD(baton_host, struct_size, 0);
FIELD(baton_host, abi_version, 4);
FIELD(baton_host, status_make, 8);
FIELD(baton_host, status_free, 16);
FIELD(baton_host, status_code, 24);
FIELD(baton_host, status_message, 32);
FIELD(baton_host, blob_type, 40);
FIELD(baton_host, blob_make, 48);
FIELD(baton_host, blob_wrap, 56);
FIELD(baton_host, blob_bytes, 64);
FIELD(baton_host, list_type, 72);
FIELD(baton_host, list_make, 80);
FIELD(baton_host, list_size, 88);
FIELD(baton_host, list_get, 96);
FIELD(baton_host, list_set, 104);
FIELD(baton_host, list_push, 112);
FIELD(baton_host, allocator, 120);

SIZE_V1(baton_call, 56);
FIELD(baton_call, state, 0);
FIELD(baton_call, data, 8);
FIELD(baton_call, values, 16);
FIELD(baton_call, refs, 24);
FIELD(baton_call, segments, 32);
FIELD(baton_call, pending, 40);
FIELD(baton_call, resumed, 48);

SIZE_V1(baton_export, 40);
FIELD(baton_export, name, 0);
FIELD(baton_export, signature, 8);
FIELD(baton_export, body, 16);
FIELD(baton_export, data, 24);
FIELD(baton_export, traits, 32);

SIZE_V1(baton_module_descriptor, 96);
FIELD(baton_module_descriptor, struct_size, 0);
FIELD(baton_module_descriptor, abi_version, 4);
FIELD(baton_module_descriptor, name, 8);
FIELD(baton_module_descriptor, version, 16);
FIELD(baton_module_descriptor, export_stride, 20);
FIELD(baton_module_descriptor, exports, 24);
FIELD(baton_module_descriptor, export_count, 32);
FIELD(baton_module_descriptor, types, 40);
FIELD(baton_module_descriptor, type_count, 48);
FIELD(baton_module_descriptor, self, 56);
FIELD(baton_module_descriptor, destroy, 64);
FIELD(baton_module_descriptor, create_state, 72);
FIELD(baton_module_descriptor, destroy_state, 80);
FIELD(baton_module_descriptor, prepare, 88);

SIZE_V1(baton_parameter, 32);
static_assert(sizeof(baton_parameter) == 32, "parameters come as an array");
FIELD(baton_parameter, key, 0);
FIELD(baton_parameter, value, 16);

TEST(Layout, IsWhatVersionOneFroze) {
  // The rows above are checked by the compiler; numbers that a plugin holds in its code are checked here.
  EXPECT_STREQ(BATON_MODULE_QUERY_SYMBOL, "baton_module_query_v1");
  EXPECT_EQ(BATON_OK, 0);
  EXPECT_EQ(BATON_INVALID_ARGUMENT, 3);
  EXPECT_EQ(BATON_UNAUTHENTICATED, 16);
  EXPECT_EQ(BATON_TRAIT_PURE, 1u);
  EXPECT_EQ(BATON_TRAIT_CAPTURE_SAFE, 2u);
  EXPECT_EQ(BATON_TRAIT_HOST_ONLY, 4u);
  EXPECT_EQ(BATON_TRAIT_IN_PLACE, 8u);
}

TEST(Layout, KeepsTheHighHalfOfSmallValuesZero) {
  EXPECT_EQ(baton_value_of_i32(-1).bits, 0xffffffffu);
  EXPECT_EQ(baton_value_of_f32(-0.0f).bits, 0x80000000u);
}

}  // namespace
