/* FROZEN. This plugin was written against version 3 of the door. It must build, load and run with every later version,
 * byte for byte as it stands here: never change this file. If it stops working, the door broke; mend the door.
 *
 * It uses what version 3 added: foreign calls, and entry points that say what they want. */
#include <string.h>

#include "modules/sdk/baton.h"

static const baton_host* host;
static int32_t released; /* foreign functions that no recording needs any more */

static baton_string text_of(const char* text) {
  const baton_string string = {text, strlen(text)};
  return string;
}

/* An executable whose one entry point is wanted as it is. */
static baton_status* prepare(void* state, baton_device* device) {
  const baton_executable_variant variant = {text_of("static-library"), "kernels", 7};
  const baton_entry_point entry = {text_of("add"), BATON_LAUNCH_LAYOUT_KNOWN, 1, 3, {64, 1, 1}, 0, {0, 0, 0}, 0, 0};
  const baton_executable_request_v3 request = {{sizeof(request), 1, &variant, text_of("kernels"), NULL, 0}, &entry, 1};
  baton_executable* kernels = NULL;
  baton_status* status = host->devices->executable_make(device, &request.request, &kernels);
  (void)state;
  baton_object_release((baton_object*)kernels);
  return status;
}

/* x += constant; what only CUDA has is refused by name. */
static baton_status* add(void* data, const baton_foreign_arguments* arguments) {
  const baton_device_range* x = &arguments->bindings[0];
  uint32_t* values = x->data;
  uint64_t i;
  baton_cuda_stream stream = {sizeof(stream), 0, NULL, NULL};
  baton_status* refused = arguments->extension(arguments->self, text_of(BATON_CUDA_STREAM_V1), &stream);
  (void)data;
  if (!refused || host->status_code(refused) != BATON_UNIMPLEMENTED || !values || !x->address || !arguments->device) {
    host->status_free(refused);
    return host->status_make(BATON_INTERNAL, text_of("A foreign call on a host is not what it was."));
  }
  host->status_free(refused);
  for (i = 0; i < x->size / 4; ++i) values[i] += arguments->constants[0];
  return NULL;
}
static void release(void* data) { ++*(int32_t*)data; }

/* (command buffer, i32 amount, x) */
static baton_status* add_to(baton_call* call) {
  const uint32_t constants[] = {(uint32_t)call->values[0].i32};
  const baton_binding x = {(baton_buffer*)call->refs[1], (uint32_t)call->values[1].i64, BATON_ACCESS_READ_WRITE,
                           (uint64_t)call->values[2].i64, (uint64_t)call->values[3].i64};
  const baton_foreign command = {
      sizeof(command), 1, text_of("add"), add, release, &released, &x, constants, NULL, 1, 0};
  return host->recording->foreign((baton_command_buffer*)call->refs[0], &command);
}
static baton_status* count(baton_call* call) {
  call->values[0] = baton_value_of_i32(released);
  return NULL;
}

static const baton_export exports[] = {
    {"add_to", "r<hal.command_buffer>iIr<hal.buffer>II_v", add_to, NULL, BATON_TRAIT_COMMAND},
    {"count", "v_i", count, NULL, 0},
};

static const baton_module_descriptor descriptor = {
    .struct_size = sizeof(baton_module_descriptor),
    .abi_version = 3,
    .name = "frozen3",
    .version = 1,
    .export_stride = sizeof(baton_export),
    .exports = exports,
    .export_count = sizeof(exports) / sizeof(exports[0]),
    .prepare = prepare,
};

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* given_host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  (void)parameter_count;
  (void)parameters;
  host = given_host;
  if (host->abi_version < 3 || !host->devices || !host->recording) return NULL;
  *out_descriptor = &descriptor;
  return NULL;
}
