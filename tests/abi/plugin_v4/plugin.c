/* FROZEN. This plugin was written against version 4 of the door. It must build, load and run with every later version,
 * byte for byte as it stands here: never change this file. If it stops working, the door broke; mend the door.
 *
 * It uses what version 4 added: kernels of its own, which it finds through the table of devices, records into a
 * program's recording, and launches on a device's queue. */
#include <string.h>

#include "modules/sdk/baton.h"
#include "modules/sdk/kernel_library.h"

static const baton_host* host;
static const baton_kernel_table* kernels;
static baton_kernel_library* library;
static const baton_library_kernel* scale;
static char path[4096]; /* of the file with the kernels */

static baton_string text_of(const char* text) {
  const baton_string string = {text, strlen(text)};
  return string;
}

/* Code from the file that the parameter names; a kernel that it has not is refused. */
static baton_status* prepare(void* state, baton_device* device) {
  const baton_library_kernel* missing = NULL;
  baton_status* status = NULL;
  (void)state;
  (void)device;
  if (library) return NULL; /* of another device */
  status = kernels->library_load_file(path, &library);
  if (!status) status = kernels->library_find(library, text_of("scale"), &scale);
  if (status) return status;
  if (kernels->name(scale).size != 5 || memcmp(kernels->name(scale).data, "scale", 5) != 0) {
    return host->status_make(BATON_INTERNAL, text_of("The kernel is not called what it was asked for by."));
  }
  status = kernels->library_find(library, text_of(""), &missing);
  if (!status || missing) return host->status_make(BATON_INTERNAL, text_of("There is a kernel without a name."));
  host->status_free(status);
  kernels->library_retain(library);
  kernels->library_release(library);
  return NULL;
}

static baton_kernel_launch launch_of(uint32_t count) {
  baton_kernel_launch launch;
  memset(&launch, 0, sizeof(launch));
  launch.struct_size = sizeof(launch);
  launch.ordinal = BATON_KERNEL_DEVICE_OF_STREAM;
  launch.grid[0] = (count + 63) / 64;
  launch.grid[1] = launch.grid[2] = 1;
  launch.block[0] = launch.block[1] = launch.block[2] = 0; /* kernels for the CPU know theirs */
  return launch;
}

/* (command buffer, i32 factor, x): x *= factor, by this plugin's kernel, in the program's recording */
static baton_status* scale_slot(baton_call* call) {
  const uint32_t factor = (uint32_t)call->values[0].i32;
  const uint32_t count = (uint32_t)(call->values[3].i64 / 4);
  const baton_binding x = {(baton_buffer*)call->refs[1], BATON_SLOT_INDEX(call->values[1].i64), BATON_ACCESS_READ_WRITE,
                           (uint64_t)call->values[2].i64, (uint64_t)call->values[3].i64};
  const baton_kernel_argument arguments[] = {
      {&x, BATON_KERNEL_BINDING}, BATON_KERNEL_VALUE(count), BATON_KERNEL_VALUE(factor)};
  const baton_kernel_launch launch = launch_of(count);
  return kernels->record(scale, (baton_command_buffer*)call->refs[0], &launch, arguments, 3);
}

/* (buffer, i32 factor): the same at once, on the queue of the buffer's device */
static baton_status* scale_now(baton_call* call) {
  baton_buffer* buffer = (baton_buffer*)call->refs[0];
  const uint32_t factor = (uint32_t)call->values[0].i32;
  const uint32_t count = (uint32_t)(host->devices->buffer_length(buffer) / 4);
  const baton_binding x = {buffer, 0, BATON_ACCESS_READ_WRITE, 0, BATON_WHOLE_LENGTH};
  const baton_kernel_argument arguments[] = {
      {&x, BATON_KERNEL_BINDING}, BATON_KERNEL_VALUE(count), BATON_KERNEL_VALUE(factor)};
  baton_kernel_launch launch = launch_of(count);
  baton_device* device = NULL;
  baton_fence* done = NULL;
  baton_status* status = host->devices->buffer_device(buffer, &device);
  if (!status) status = host->devices->fence_make(device, &done);
  if (!status) {
    launch.device = device;
    launch.signal = done;
    status = kernels->launch_on(scale, &launch, arguments, 3);
  }
  if (!status) status = host->devices->fence_wait(done, -1);
  baton_object_release((baton_object*)done);
  baton_object_release((baton_object*)device);
  return status;
}

static const baton_export exports[] = {
    {"scale_slot", "r<hal.command_buffer>iIr<hal.buffer>II_v", scale_slot, NULL, BATON_TRAIT_COMMAND},
    {"scale_now", "r<hal.buffer>i_v", scale_now, NULL, 0},
};

static void destroy(void* state) {
  (void)state;
  if (library) kernels->library_release(library);
  library = NULL;
}

static const baton_module_descriptor descriptor = {
    .struct_size = sizeof(baton_module_descriptor),
    .abi_version = 4,
    .name = "frozen4",
    .version = 1,
    .export_stride = sizeof(baton_export),
    .exports = exports,
    .export_count = sizeof(exports) / sizeof(exports[0]),
    .destroy = destroy,
    .prepare = prepare,
};

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* given_host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  uint64_t i;
  host = given_host;
  if (host->abi_version < 4 || !host->devices || !host->devices->kernels) return NULL;
  kernels = host->devices->kernels();
  if (!kernels) return NULL;
  for (i = 0; i < parameter_count; ++i) {
    if (parameters[i].value.size < sizeof(path)) memcpy(path, parameters[i].value.data, parameters[i].value.size);
  }
  *out_descriptor = &descriptor;
  return NULL;
}
