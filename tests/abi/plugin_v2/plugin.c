/* FROZEN. This plugin was written against version 2 of the door. It must build, load and run with every later version,
 * byte for byte as it stands here: never change this file. If it stops working, the door broke; mend the door.
 *
 * It uses what version 2 added: devices, executables, buffers, tensors, fences, queues, and custom commands with all
 * verbs. */
#include <string.h>

#include "modules/sdk/baton.h"

static const baton_host* host;
static const baton_device_table* devices;
static const baton_recording_table* recording;

static baton_string text_of(const char* text) {
  const baton_string string = {text, strlen(text)};
  return string;
}
static baton_status* fail(baton_status_code code, const char* message) {
  return host->status_make(code, text_of(message));
}

/* ---- State: kernels of the one device that the test uses ---- */

typedef struct state {
  baton_executable* kernels;
  uint32_t scale;
  int32_t prepared;
  int32_t released; /* host functions that no recording needs any more */
} state;

static baton_status* create_state(void* self, const baton_allocator* allocator, void** out_state) {
  (void)self;
  *out_state = allocator->allocate_bytes(allocator->self, sizeof(state), sizeof(void*), 1);
  return NULL;
}

static void destroy_state(void* self, void* made) {
  state* mine = made;
  (void)self;
  baton_object_release((baton_object*)mine->kernels);
  host->allocator->free_bytes(host->allocator->self, made);
}

static baton_status* prepare(void* made, baton_device* device) {
  state* mine = made;
  const baton_executable_variant variants[] = {{text_of("no-such-format"), "", 0},
                                               {text_of("static-library"), "kernels", 7}};
  const baton_executable_request request = {
      sizeof(request), sizeof(variants) / sizeof(variants[0]), variants, text_of("kernels"), NULL, 0};
  baton_status* status = devices->executable_make(device, &request, &mine->kernels);
  ++mine->prepared;
  return status ? status : devices->executable_entry_point(mine->kernels, text_of("scale"), &mine->scale);
}

/* ---- Commands ---- */

/* A tensor stands as slot, buffer, offset, length: values[i..i + 2] and refs[j]. */
static baton_binding binding_of(const baton_call* call, int i, int j, uint32_t access) {
  const baton_binding binding = {(baton_buffer*)call->refs[j], (uint32_t)call->values[i].i64, access,
                                 (uint64_t)call->values[i + 1].i64, (uint64_t)call->values[i + 2].i64};
  return binding;
}

static baton_status* add_one(void* data, const baton_host_arguments* arguments) {
  uint32_t* values = arguments->bindings[0].data;
  uint64_t i;
  (void)data;
  for (i = 0; i < arguments->bindings[0].size / 4; ++i) values[i] += arguments->constants[0];
  return NULL;
}
static void release(void* data) { ++((state*)data)->released; }

/* (command buffer, i32 factor, x, y): y = x * factor + 1 */
static baton_status* scale(baton_call* call) {
  state* mine = call->state;
  baton_command_buffer* commands = (baton_command_buffer*)call->refs[0];
  const baton_binding x = binding_of(call, 1, 1, BATON_ACCESS_READ), y = binding_of(call, 4, 2, 0);
  const uint32_t constants[] = {(uint32_t)(y.length / 4), (uint32_t)call->values[0].i32}, one[] = {1};
  const baton_copy_buffer copy = {sizeof(copy), 0, x, y};
  const baton_barrier all = {sizeof(all), 0, NULL}, only_y = {sizeof(only_y), 1, &y};
  const baton_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                   .entry_point = mine->scale,
                                   .executable = mine->kernels,
                                   .grid = {(constants[0] + 63) / 64, 1, 1},
                                   .constant_count = 2,
                                   .constants = constants,
                                   .bindings = &y,
                                   .binding_count = 1};
  const baton_host_call host_call = {.struct_size = sizeof(host_call),
                                     .binding_count = 1,
                                     .name = {"add_one", 7},
                                     .call = add_one,
                                     .release = release,
                                     .data = mine,
                                     .bindings = &y,
                                     .constants = one,
                                     .constant_count = 1};
  baton_status* status = recording->copy_buffer(commands, &copy);
  if (!status) status = recording->barrier(commands, &all);
  if (!status) status = recording->dispatch(commands, &dispatch);
  if (!status) status = recording->barrier(commands, &only_y);
  if (!status) status = recording->host_call(commands, &host_call);
  return status;
}

/* (command buffer, x, grid): x = 7 ..., then begins with 1 2, then times 10 over the grid */
static baton_status* verbs(baton_call* call) {
  state* mine = call->state;
  baton_command_buffer* commands = (baton_command_buffer*)call->refs[0];
  const baton_binding x = binding_of(call, 0, 1, 0), grid = binding_of(call, 3, 2, BATON_ACCESS_READ);
  baton_binding start = x;
  const uint32_t first[] = {1, 2}, constants[] = {(uint32_t)(x.length / 4), 10};
  const baton_barrier all = {sizeof(all), 0, NULL};
  const baton_fill_buffer fill = {sizeof(fill), 4, 7, x};
  const baton_dispatch_indirect dispatch = {.struct_size = sizeof(dispatch),
                                            .entry_point = mine->scale,
                                            .executable = mine->kernels,
                                            .grid = grid,
                                            .constants = constants,
                                            .bindings = &x,
                                            .constant_count = 2,
                                            .binding_count = 1};
  baton_status* status = recording->fill_buffer(commands, &fill);
  start.length = sizeof(first);
  if (!status) status = recording->barrier(commands, &all);
  if (!status) {
    const baton_update_buffer update = {sizeof(update), 0, first, sizeof(first), start};
    status = recording->update_buffer(commands, &update);
  }
  if (!status) status = recording->barrier(commands, &all);
  return status ? status : recording->dispatch_indirect(commands, &dispatch);
}

/* (command buffer) asks for what only CUDA has */
static baton_status* needs_cuda(baton_call* call) {
  baton_cuda_stream stream = {sizeof(stream), 0, NULL, NULL};
  return recording->extension((baton_command_buffer*)call->refs[0], text_of(BATON_CUDA_STREAM_V1), &stream);
}

/* ---- Functions ---- */

/* () -> (i32, i32): how often prepare ran, how many host functions were released */
static baton_status* counts(baton_call* call) {
  const state* mine = call->state;
  call->values[0] = baton_value_of_i32(mine->prepared);
  call->values[1] = baton_value_of_i32(mine->released);
  return NULL;
}

/* What a call of `later` needs when its argument is there. */
typedef struct work {
  baton_buffer_view* source;
  baton_buffer_view* target;
  baton_fence* signal;
} work;

static baton_status* negate(const work* todo) {
  baton_buffer* source = devices->buffer_view_buffer(todo->source);
  baton_buffer* target = devices->buffer_view_buffer(todo->target);
  baton_mapping from = {0}, to = {0};
  baton_status* status = devices->buffer_map(source, BATON_ACCESS_READ, 0, BATON_WHOLE_LENGTH, &from);
  uint64_t i;
  if (!status) status = devices->buffer_map(target, BATON_ACCESS_WRITE, 0, from.size, &to);
  for (i = 0; !status && i < from.size / 4; ++i) ((int32_t*)to.data)[i] = -((const int32_t*)from.data)[i];
  devices->buffer_unmap(&to);
  devices->buffer_unmap(&from);
  baton_object_release((baton_object*)source);
  baton_object_release((baton_object*)target);
  return status;
}

static void on_ready(void* data, const baton_status* failure) {
  work* todo = data;
  baton_status* status =
      failure ? host->status_make(host->status_code(failure), host->status_message(failure)) : negate(todo);
  if (!status) status = devices->fence_signal(todo->signal);
  if (status) devices->fence_fail(todo->signal, status);
  host->status_free(status);
  baton_object_release((baton_object*)todo->source);
  baton_object_release((baton_object*)todo->target);
  baton_object_release((baton_object*)todo->signal);
  host->allocator->free_bytes(host->allocator->self, todo);
}

/* (tensor, wait, signal) -> tensor: its negative, once `wait` is passed */
static baton_status* later(baton_call* call) {
  baton_buffer_view* source = (baton_buffer_view*)call->refs[0];
  baton_fence *wait = (baton_fence*)call->refs[1], *ready = NULL;
  baton_buffer *given = NULL, *made = NULL;
  baton_buffer_view* target = NULL;
  baton_device* device = NULL;
  baton_status* status = NULL;
  uint64_t rank = 0;
  const int64_t* shape;
  if (!source || call->refs[0]->type != devices->buffer_view_type) return fail(BATON_INVALID_ARGUMENT, "No tensor.");
  shape = devices->buffer_view_shape(source, &rank);
  given = devices->buffer_view_buffer(source);
  status = devices->buffer_device(given, &device);
  if (!status) status = devices->fence_make(device, &ready);
  if (!status) {
    const baton_buffer_request request = {sizeof(request), BATON_MEMORY_DEVICE_LOCAL | BATON_MEMORY_HOST_VISIBLE,
                                          BATON_USAGE_ALL, 0, devices->buffer_length(given)};
    status = devices->queue_allocate(device, wait, ready, &request, &made);
  }
  if (!status) {
    const baton_buffer_view_request request = {sizeof(request), devices->buffer_view_element_type(source),
                                               devices->buffer_view_encoding(source), (uint32_t)rank, shape};
    status = devices->buffer_view_make(made, &request, &target);
  }
  if (!status) {
    work* todo = host->allocator->allocate_bytes(host->allocator->self, sizeof(work), sizeof(void*), 1);
    todo->source = source;
    todo->target = target;
    todo->signal = (baton_fence*)call->refs[2];
    baton_object_retain(call->refs[0]);
    baton_object_retain((baton_object*)target);
    baton_object_retain(call->refs[2]);
    devices->fence_on_ready(ready, on_ready, todo);
    baton_call_set_ref(call, 0, (baton_object*)target);
  }
  baton_object_release((baton_object*)given);
  baton_object_release((baton_object*)made);
  baton_object_release((baton_object*)device);
  baton_object_release((baton_object*)ready);
  return status;
}

/* (tensor) -> i64: asks about its device and memory; 1 when all answers are as they should be */
static baton_status* ask(baton_call* call) {
  baton_buffer* buffer = devices->buffer_view_buffer((baton_buffer_view*)call->refs[0]);
  baton_buffer *part = NULL, *fresh = NULL;
  baton_device *device = NULL, *again = NULL;
  baton_executable* none = NULL;
  int64_t value = 0;
  int good = 1;
  const baton_buffer_request request = {sizeof(request), BATON_MEMORY_HOST_VISIBLE, BATON_USAGE_MAPPING, 0, 8};
  baton_status* status = devices->buffer_device(buffer, &device);
  if (!status) status = devices->buffer_device(buffer, &again);
  if (!status) status = devices->buffer_subspan(buffer, 4, 4, &part);
  if (!status) status = devices->device_query(device, text_of("hal.device"), text_of("bindings_max"), &value);
  if (!status) status = devices->buffer_allocate(device, &request, &fresh);
  if (!status) status = devices->queue_barrier(device, NULL, NULL);
  if (!status) status = devices->queue_free(device, NULL, NULL, fresh);
  if (!status) status = devices->fence_wait(NULL, BATON_WAIT_FOREVER);
  if (!status) {
    baton_status* missing = devices->executable_lookup(device, text_of("nobody.knows"), &none);
    good &= host->status_code(missing) == BATON_NOT_FOUND && none == NULL;
    host->status_free(missing);
    good &= devices->device_identity(device) == devices->device_identity(again);
    good &= devices->device_name(device).size > 5 && memcmp(devices->device_name(device).data, "local", 5) == 0;
    good &= devices->buffer_length(part) == 4 && devices->buffer_length(fresh) == 8 && value > 0;
    good &=
        ((baton_object*)device)->type == devices->device_type && ((baton_object*)part)->type == devices->buffer_type;
  }
  baton_object_release((baton_object*)buffer);
  baton_object_release((baton_object*)part);
  baton_object_release((baton_object*)fresh);
  baton_object_release((baton_object*)device);
  baton_object_release((baton_object*)again);
  if (!status) call->values[0] = baton_value_of_i64(good);
  return status;
}

#define RES "Ir<hal.buffer>II"
static const baton_export exports[] = {
    {"scale", "r<hal.command_buffer>i" RES RES "_v", scale, NULL, BATON_TRAIT_COMMAND | BATON_TRAIT_CAPTURE_SAFE},
    {"verbs", "r<hal.command_buffer>" RES RES "_v", verbs, NULL, BATON_TRAIT_COMMAND},
    {"needs_cuda", "r<hal.command_buffer>_v", needs_cuda, NULL, BATON_TRAIT_COMMAND},
    {"counts", "v_ii", counts, NULL, 0},
    {"later", "r<hal.buffer_view>r<hal.fence>r<hal.fence>_r<hal.buffer_view>", later, NULL, 0},
    {"ask", "r<hal.buffer_view>_I", ask, NULL, 0},
};

static const baton_module_descriptor descriptor = {
    .struct_size = sizeof(baton_module_descriptor),
    .abi_version = 2,
    .name = "frozen2",
    .version = 1,
    .export_stride = sizeof(baton_export),
    .exports = exports,
    .export_count = sizeof(exports) / sizeof(exports[0]),
    .create_state = create_state,
    .destroy_state = destroy_state,
    .prepare = prepare,
};

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* given_host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  (void)parameter_count;
  (void)parameters;
  host = given_host;
  if (host->struct_size < sizeof(baton_host) || !host->devices || !host->recording) return NULL;
  devices = host->devices;
  recording = host->recording;
  *out_descriptor = &descriptor;
  return NULL;
}
