// Goal: no field of the frozen door ever moves. Method: where each stands and how large each struct is, as numbers that
// were written down with each version. A new field goes at the end and gets a row; no row here is ever changed.
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "modules/sdk/baton.h"
#include "modules/sdk/embed_device.h"
#include "modules/sdk/kernel_library.h"

namespace {

#define FIELD(type, field, offset) static_assert(offsetof(type, field) == (offset), "a field of the door moved")
#define SIZE_V1(type, size) static_assert(sizeof(type) >= (size), "a struct of the door shrank")

// The functions that take and give devices and tensors are called as they were written down.
#define FUNCTION(name, ...) \
  static_assert(std::is_same_v<decltype(&name), __VA_ARGS__>, "a function of the door changed")
FUNCTION(baton_device_open, baton_status* (*)(const char*, baton_device**));
FUNCTION(baton_module_create_hal, baton_status* (*)(baton_device* const*, uint64_t, baton_module**));
FUNCTION(baton_ranks_join, baton_status* (*)(uint32_t, uint32_t, const char*, int64_t));
FUNCTION(baton_module_create_collective, baton_status* (*)(baton_module**));
FUNCTION(baton_buffer_view_upload, baton_status* (*)(baton_device*, uint32_t, const int64_t*, uint64_t, const void*,
                                                     uint64_t, baton_buffer_view**));
FUNCTION(baton_buffer_view_download, baton_status* (*)(const baton_buffer_view*, void*, uint64_t));
FUNCTION(baton_buffer_view_import_peer,
         baton_status* (*)(baton_device*, const baton_buffer_view*, baton_buffer_view**));
FUNCTION(baton_buffer_view_import_dlpack,
         baton_status* (*)(baton_device*, DLManagedTensorVersioned*, int64_t, baton_buffer_view**));
FUNCTION(baton_buffer_view_import_dlpack_legacy,
         baton_status* (*)(baton_device*, DLManagedTensor*, int64_t, baton_buffer_view**));
FUNCTION(baton_buffer_view_export_dlpack, baton_status* (*)(baton_device*, const baton_buffer_view*, const baton_fence*,
                                                            int64_t, DLManagedTensorVersioned**));
FUNCTION(baton_buffer_view_export_dlpack_legacy,
         baton_status* (*)(baton_device*, const baton_buffer_view*, const baton_fence*, int64_t, DLManagedTensor**));

FUNCTION(baton_device_open_with, baton_status* (*)(const char*, const baton_device_options*, baton_device**));
static_assert(sizeof(baton_device_functions) == 24, "it stands in arrays");
FIELD(baton_device_functions, name, 0);
FIELD(baton_device_functions, data, 8);
FIELD(baton_device_functions, size, 16);
SIZE_V1(baton_device_options, 24);
FIELD(baton_device_options, struct_size, 0);
FIELD(baton_device_options, function_count, 4);
FIELD(baton_device_options, trace, 8);
FIELD(baton_device_options, functions, 16);
FIELD(baton_device_options, plugin_count, 24);
FIELD(baton_device_options, import_count, 28);
FIELD(baton_device_options, linked_kernel_count, 32);
FIELD(baton_device_options, executable_count, 36);
FIELD(baton_device_options, plugins, 40);
FIELD(baton_device_options, imports, 48);
FIELD(baton_device_options, linked_kernels, 56);
FIELD(baton_device_options, executables, 64);
FIELD(baton_device_options, embedded_count, 72);
FIELD(baton_device_options, embedded, 80);
static_assert(sizeof(baton_embedded_executable) == 16, "it stands in arrays");
FIELD(baton_embedded_executable, name, 0);
FIELD(baton_embedded_executable, kernels, 8);
static_assert(sizeof(baton_kernel_import) == 24, "it stands in arrays");
FIELD(baton_kernel_import, name, 0);
FIELD(baton_kernel_import, function, 8);
FIELD(baton_kernel_import, context, 16);
static_assert(sizeof(baton_linked_kernels) == 16, "it stands in arrays");
FIELD(baton_linked_kernels, name, 0);
FIELD(baton_linked_kernels, query, 8);
static_assert(sizeof(baton_named_executable) == 32, "it stands in arrays");
FIELD(baton_named_executable, name, 0);
FIELD(baton_named_executable, format, 8);
FIELD(baton_named_executable, data, 16);
FIELD(baton_named_executable, size, 24);

SIZE_V1(baton_value, 8);
static_assert(sizeof(baton_value) == 8, "a slot is 8 bytes for ever");
static_assert(sizeof(baton_typed_value) == 16 && offsetof(baton_typed_value, letter) == 8, "a slot and its letter");

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

// ---- Since version 2 ------------------------------------------------------------------------------------------------

#define SIZE_V2(type, size) static_assert(sizeof(type) >= (size), "a struct of the door shrank")
// What stands in arrays keeps its size for ever.
#define SIZE_FOR_EVER(type, size) static_assert(sizeof(type) == (size), "an array of the door has other strides")

SIZE_V2(baton_host, 144);
FIELD(baton_host, devices, 128);
FIELD(baton_host, recording, 136);

SIZE_V2(baton_buffer_request, 24);
FIELD(baton_buffer_request, struct_size, 0);
FIELD(baton_buffer_request, memory, 4);
FIELD(baton_buffer_request, usage, 8);
FIELD(baton_buffer_request, reserved, 12);
FIELD(baton_buffer_request, length, 16);

SIZE_V2(baton_buffer_view_request, 24);
FIELD(baton_buffer_view_request, struct_size, 0);
FIELD(baton_buffer_view_request, element_type, 4);
FIELD(baton_buffer_view_request, encoding, 8);
FIELD(baton_buffer_view_request, rank, 12);
FIELD(baton_buffer_view_request, shape, 16);

SIZE_FOR_EVER(baton_executable_variant, 32);
FIELD(baton_executable_variant, format, 0);
FIELD(baton_executable_variant, data, 16);
FIELD(baton_executable_variant, size, 24);

SIZE_V2(baton_executable_request, 48);
FIELD(baton_executable_request, struct_size, 0);
FIELD(baton_executable_request, variant_count, 4);
FIELD(baton_executable_request, variants, 8);
FIELD(baton_executable_request, name, 16);
FIELD(baton_executable_request, constants, 32);
FIELD(baton_executable_request, constant_count, 40);

SIZE_FOR_EVER(baton_mapping, 24);
FIELD(baton_mapping, data, 0);
FIELD(baton_mapping, size, 8);
FIELD(baton_mapping, self, 16);

SIZE_V2(baton_device_table, 248);
FIELD(baton_device_table, struct_size, 0);
FIELD(baton_device_table, reserved, 4);
FIELD(baton_device_table, device_type, 8);
FIELD(baton_device_table, buffer_type, 16);
FIELD(baton_device_table, buffer_view_type, 24);
FIELD(baton_device_table, fence_type, 32);
FIELD(baton_device_table, executable_type, 40);
FIELD(baton_device_table, device_identity, 48);
FIELD(baton_device_table, device_name, 56);
FIELD(baton_device_table, device_query, 64);
FIELD(baton_device_table, executable_make, 72);
FIELD(baton_device_table, executable_lookup, 80);
FIELD(baton_device_table, executable_entry_point, 88);
FIELD(baton_device_table, buffer_allocate, 96);
FIELD(baton_device_table, buffer_subspan, 104);
FIELD(baton_device_table, buffer_length, 112);
FIELD(baton_device_table, buffer_device, 120);
FIELD(baton_device_table, buffer_map, 128);
FIELD(baton_device_table, buffer_unmap, 136);
FIELD(baton_device_table, buffer_view_make, 144);
FIELD(baton_device_table, buffer_view_buffer, 152);
FIELD(baton_device_table, buffer_view_element_type, 160);
FIELD(baton_device_table, buffer_view_encoding, 168);
FIELD(baton_device_table, buffer_view_shape, 176);
FIELD(baton_device_table, fence_make, 184);
FIELD(baton_device_table, fence_wait, 192);
FIELD(baton_device_table, fence_signal, 200);
FIELD(baton_device_table, fence_fail, 208);
FIELD(baton_device_table, fence_on_ready, 216);
FIELD(baton_device_table, queue_allocate, 224);
FIELD(baton_device_table, queue_free, 232);
FIELD(baton_device_table, queue_barrier, 240);
// since v4
FIELD(baton_device_table, kernels, 248);
static_assert(sizeof(baton_kernel_argument) == 16, "it stands in arrays");
static_assert(sizeof(baton_embedded_variant) == 32, "it stands in arrays");
FIELD(baton_kernel_launch, struct_size, 0);
FIELD(baton_kernel_launch, flags, 4);
FIELD(baton_kernel_launch, grid, 8);
FIELD(baton_kernel_launch, block, 20);
FIELD(baton_kernel_launch, cluster, 32);
FIELD(baton_kernel_launch, shared_bytes, 44);
FIELD(baton_kernel_launch, priority, 48);
FIELD(baton_kernel_launch, ordinal, 52);
FIELD(baton_kernel_launch, stream, 56);
FIELD(baton_kernel_launch, device, 64);
FIELD(baton_kernel_launch, wait, 72);
FIELD(baton_kernel_launch, signal, 80);
FIELD(baton_embedded_kernels, variants, 8);
FIELD(baton_embedded_kernels, name, 16);
FIELD(baton_embedded_kernels, library, 24);
FIELD(baton_kernel_table, library_make, 8);
FIELD(baton_kernel_table, library_find, 56);
FIELD(baton_kernel_table, launch_on, 96);
FIELD(baton_kernel_table, record, 104);
FIELD(baton_kernel_table, library_load_triton, 112);
FIELD(baton_kernel_table, library_make_triton, 120);
FIELD(baton_kernel_table, library_compile, 128);
FIELD(baton_kernel_table, library_link, 136);
FIELD(baton_kernel_compile, arch, 40);
FIELD(baton_kernel_compile, header_count, 72);

SIZE_FOR_EVER(baton_binding, 32);
FIELD(baton_binding, buffer, 0);
FIELD(baton_binding, slot, 8);
FIELD(baton_binding, access, 12);
FIELD(baton_binding, offset, 16);
FIELD(baton_binding, length, 24);

SIZE_FOR_EVER(baton_constant_slot, 8);
FIELD(baton_constant_slot, constant, 0);
FIELD(baton_constant_slot, slot, 4);

SIZE_V2(baton_fill_buffer, 48);
FIELD(baton_fill_buffer, struct_size, 0);
FIELD(baton_fill_buffer, pattern_bytes, 4);
FIELD(baton_fill_buffer, pattern, 8);
FIELD(baton_fill_buffer, target, 16);

SIZE_V2(baton_update_buffer, 56);
FIELD(baton_update_buffer, struct_size, 0);
FIELD(baton_update_buffer, reserved, 4);
FIELD(baton_update_buffer, source, 8);
FIELD(baton_update_buffer, source_size, 16);
FIELD(baton_update_buffer, target, 24);

SIZE_V2(baton_copy_buffer, 72);
FIELD(baton_copy_buffer, struct_size, 0);
FIELD(baton_copy_buffer, reserved, 4);
FIELD(baton_copy_buffer, source, 8);
FIELD(baton_copy_buffer, target, 40);

SIZE_V2(baton_dispatch, 64);
FIELD(baton_dispatch, struct_size, 0);
FIELD(baton_dispatch, entry_point, 4);
FIELD(baton_dispatch, executable, 8);
FIELD(baton_dispatch, grid, 16);
FIELD(baton_dispatch, constant_count, 28);
FIELD(baton_dispatch, constants, 32);
FIELD(baton_dispatch, bindings, 40);
FIELD(baton_dispatch, constant_slots, 48);
FIELD(baton_dispatch, binding_count, 56);
FIELD(baton_dispatch, constant_slot_count, 60);

SIZE_V2(baton_dispatch_indirect, 88);
FIELD(baton_dispatch_indirect, struct_size, 0);
FIELD(baton_dispatch_indirect, entry_point, 4);
FIELD(baton_dispatch_indirect, executable, 8);
FIELD(baton_dispatch_indirect, grid, 16);
FIELD(baton_dispatch_indirect, constants, 48);
FIELD(baton_dispatch_indirect, bindings, 56);
FIELD(baton_dispatch_indirect, constant_slots, 64);
FIELD(baton_dispatch_indirect, constant_count, 72);
FIELD(baton_dispatch_indirect, binding_count, 76);
FIELD(baton_dispatch_indirect, constant_slot_count, 80);
FIELD(baton_dispatch_indirect, reserved, 84);

SIZE_V2(baton_barrier, 16);
FIELD(baton_barrier, struct_size, 0);
FIELD(baton_barrier, binding_count, 4);
FIELD(baton_barrier, bindings, 8);

SIZE_FOR_EVER(baton_bytes, 16);
FIELD(baton_bytes, data, 0);
FIELD(baton_bytes, size, 8);

SIZE_V2(baton_host_arguments, 32);
FIELD(baton_host_arguments, struct_size, 0);
FIELD(baton_host_arguments, binding_count, 4);
FIELD(baton_host_arguments, bindings, 8);
FIELD(baton_host_arguments, constants, 16);
FIELD(baton_host_arguments, constant_count, 24);

SIZE_V2(baton_host_call, 80);
FIELD(baton_host_call, struct_size, 0);
FIELD(baton_host_call, binding_count, 4);
FIELD(baton_host_call, name, 8);
FIELD(baton_host_call, call, 24);
FIELD(baton_host_call, release, 32);
FIELD(baton_host_call, data, 40);
FIELD(baton_host_call, bindings, 48);
FIELD(baton_host_call, constants, 56);
FIELD(baton_host_call, constant_slots, 64);
FIELD(baton_host_call, constant_count, 72);
FIELD(baton_host_call, constant_slot_count, 76);

SIZE_V2(baton_recording_table, 88);
FIELD(baton_recording_table, struct_size, 0);
FIELD(baton_recording_table, reserved, 4);
FIELD(baton_recording_table, command_buffer_type, 8);
FIELD(baton_recording_table, device, 16);
FIELD(baton_recording_table, fill_buffer, 24);
FIELD(baton_recording_table, update_buffer, 32);
FIELD(baton_recording_table, copy_buffer, 40);
FIELD(baton_recording_table, dispatch, 48);
FIELD(baton_recording_table, dispatch_indirect, 56);
FIELD(baton_recording_table, barrier, 64);
FIELD(baton_recording_table, host_call, 72);
FIELD(baton_recording_table, extension, 80);

SIZE_V2(baton_cuda_stream, 24);
FIELD(baton_cuda_stream, struct_size, 0);
FIELD(baton_cuda_stream, capturing, 4);
FIELD(baton_cuda_stream, stream, 8);
FIELD(baton_cuda_stream, context, 16);

SIZE_V2(baton_cuda_graph, 48);
FIELD(baton_cuda_graph, struct_size, 0);
FIELD(baton_cuda_graph, dependency_count, 4);
FIELD(baton_cuda_graph, graph, 8);
FIELD(baton_cuda_graph, dependencies, 16);
FIELD(baton_cuda_graph, context, 24);
FIELD(baton_cuda_graph, self, 32);
FIELD(baton_cuda_graph, join, 40);

// ---- Since version 3 ----
#define SIZE_V3(type, size) static_assert(sizeof(type) >= (size), "a struct of the door shrank")

FIELD(baton_recording_table, foreign, 88);
SIZE_V3(baton_recording_table, 96);

static_assert(sizeof(baton_entry_point) == 64, "it stands in arrays");
FIELD(baton_entry_point, name, 0);
FIELD(baton_entry_point, flags, 16);
FIELD(baton_entry_point, constant_count, 20);
FIELD(baton_entry_point, binding_count, 24);
FIELD(baton_entry_point, workgroup_size, 28);
FIELD(baton_entry_point, local_memory_bytes, 40);
FIELD(baton_entry_point, cluster_size, 44);
FIELD(baton_entry_point, local_memory_carveout, 56);
FIELD(baton_entry_point, priority, 60);

SIZE_V3(baton_executable_request_v3, 64);
FIELD(baton_executable_request_v3, request, 0);
FIELD(baton_executable_request_v3, entry_points, 48);
FIELD(baton_executable_request_v3, entry_point_count, 56);

static_assert(sizeof(baton_device_range) == 24, "it stands in arrays");
FIELD(baton_device_range, address, 0);
FIELD(baton_device_range, data, 8);
FIELD(baton_device_range, size, 16);

SIZE_V3(baton_foreign_arguments, 56);
FIELD(baton_foreign_arguments, struct_size, 0);
FIELD(baton_foreign_arguments, binding_count, 4);
FIELD(baton_foreign_arguments, bindings, 8);
FIELD(baton_foreign_arguments, constants, 16);
FIELD(baton_foreign_arguments, constant_count, 24);
FIELD(baton_foreign_arguments, device, 32);
FIELD(baton_foreign_arguments, self, 40);
FIELD(baton_foreign_arguments, extension, 48);

SIZE_V3(baton_foreign, 80);
FIELD(baton_foreign, struct_size, 0);
FIELD(baton_foreign, binding_count, 4);
FIELD(baton_foreign, name, 8);
FIELD(baton_foreign, call, 24);
FIELD(baton_foreign, release, 32);
FIELD(baton_foreign, data, 40);
FIELD(baton_foreign, bindings, 48);
FIELD(baton_foreign, constants, 56);
FIELD(baton_foreign, constant_slots, 64);
FIELD(baton_foreign, constant_count, 72);
FIELD(baton_foreign, constant_slot_count, 76);

FIELD(baton_recording_table, channel_type, 96);
FIELD(baton_recording_table, channel_rank, 104);
FIELD(baton_recording_table, channel_count, 112);
FIELD(baton_recording_table, collective, 120);
FIELD(baton_collective, struct_size, 0);
FIELD(baton_collective, operation, 4);
FIELD(baton_collective, reduction, 8);
FIELD(baton_collective, element_type, 12);
FIELD(baton_collective, root, 16);
FIELD(baton_collective, to, 20);
FIELD(baton_collective, from, 24);
FIELD(baton_collective, channel, 32);
FIELD(baton_collective, source, 40);
FIELD(baton_collective, target, 72);

TEST(Layout, IsWhatVersionTwoFroze) {
  EXPECT_EQ(BATON_TRAIT_COMMAND, 16u);
  EXPECT_EQ(BATON_WHOLE_LENGTH, UINT64_MAX);
  EXPECT_EQ(BATON_WAIT_FOREVER, -1);
  EXPECT_EQ(BATON_MEMORY_HOST_CACHED, 4u);
  EXPECT_EQ(BATON_USAGE_MAPPING, 32u);
  EXPECT_EQ(BATON_USAGE_ALL, 63u);
  EXPECT_EQ(BATON_ACCESS_READ_WRITE, 3u);
  EXPECT_EQ(BATON_ELEMENT_F32, 0x420u);
  EXPECT_EQ(BATON_ENCODING_DENSE_ROW_MAJOR, 1u);
  EXPECT_STREQ(BATON_CUDA_STREAM_V1, "cuda.stream.v1");
  EXPECT_STREQ(BATON_CUDA_GRAPH_V1, "cuda.graph.v1");
}

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
