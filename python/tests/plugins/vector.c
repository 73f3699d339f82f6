/* A plugin in C for tests/jax_commands_test.py. Its commands call the host: `affine` is y = a * x + b, `moments` has two
 * results, `named` takes text and an array of weights, `broken` fails while it records. */
#include <string.h>

#include "modules/sdk/module.h"
#include "modules/sdk/recording.h"

static const baton_host* host;

/* A tensor is the values slot, offset and length, and a reference between them. */
static baton_binding binding_at(const baton_call* call, int value, int ref, uint32_t access) {
  return (baton_binding){.buffer = (baton_buffer*)call->refs[ref],
                         .slot = BATON_SLOT_INDEX(call->values[value].i64),
                         .access = access,
                         .offset = (uint64_t)call->values[value + 1].i64,
                         .length = (uint64_t)call->values[value + 2].i64};
}

static baton_status* call_host(const baton_call* call, baton_status* (*body)(void*, const baton_host_arguments*),
                               const baton_binding* bindings, uint32_t binding_count, const float* constants,
                               uint32_t constant_count) {
  uint32_t words[8];
  memcpy(words, constants, constant_count * sizeof(float));
  const baton_host_call command = {.struct_size = sizeof(command),
                                   .binding_count = binding_count,
                                   .call = body,
                                   .bindings = bindings,
                                   .constants = words,
                                   .constant_count = constant_count};
  return host->recording->host_call((baton_command_buffer*)call->refs[0], &command);
}

static float constant_at(const baton_host_arguments* arguments, int index) {
  float number;
  memcpy(&number, &arguments->constants[index], sizeof(number));
  return number;
}

static baton_status* run_affine(void* data, const baton_host_arguments* arguments) {
  const float* x = arguments->bindings[0].data;
  float* y = arguments->bindings[1].data;
  (void)data;
  for (uint64_t i = 0; i < arguments->bindings[0].size / sizeof(float); ++i)
    y[i] = constant_at(arguments, 0) * x[i] + constant_at(arguments, 1);
  return NULL;
}

static baton_status* affine(baton_call* call) {
  const baton_binding bindings[] = {binding_at(call, 0, 1, BATON_ACCESS_READ),
                                    binding_at(call, 5, 2, BATON_ACCESS_WRITE)};
  const float constants[] = {call->values[3].f32, call->values[4].f32};
  return call_host(call, run_affine, bindings, 2, constants, 2);
}

static baton_status* run_moments(void* data, const baton_host_arguments* arguments) {
  const float* x = arguments->bindings[0].data;
  const uint64_t count = arguments->bindings[0].size / sizeof(float);
  float sum = 0, squares = 0;
  (void)data;
  for (uint64_t i = 0; i < count; ++i) sum += x[i], squares += x[i] * x[i];
  memcpy(arguments->bindings[1].data, &sum, sizeof(sum));
  memcpy(arguments->bindings[2].data, &squares, sizeof(squares));
  return NULL;
}

static baton_status* moments(baton_call* call) {
  const baton_binding bindings[] = {binding_at(call, 0, 1, BATON_ACCESS_READ),
                                    binding_at(call, 3, 2, BATON_ACCESS_WRITE),
                                    binding_at(call, 6, 3, BATON_ACCESS_WRITE)};
  return call_host(call, run_moments, bindings, 3, NULL, 0);
}

/* mode is "sum" or "mean" of x weighted; the attributes come by name: mode, weights. */
static baton_status* run_named(void* data, const baton_host_arguments* arguments) {
  const float* x = arguments->bindings[0].data;
  float* y = arguments->bindings[1].data;
  const uint64_t count = arguments->constant_count - 1;
  float sum = 0;
  (void)data;
  for (uint64_t i = 0; i < count; ++i) sum += x[i] * constant_at(arguments, (int)i + 1);
  y[0] = constant_at(arguments, 0) != 0 ? sum / (float)count : sum;
  return NULL;
}

static baton_status* named(baton_call* call) {
  const baton_binding bindings[] = {binding_at(call, 0, 1, BATON_ACCESS_READ),
                                    binding_at(call, 3, 4, BATON_ACCESS_WRITE)};
  uint64_t mode_size, weights_size;
  int32_t is_writable;
  const char* mode = host->blob_bytes(call->refs[2], &mode_size, &is_writable);
  const void* weights = host->blob_bytes(call->refs[3], &weights_size, &is_writable);
  float constants[8] = {mode_size == 4 && memcmp(mode, "mean", 4) == 0};
  if (weights_size > 7 * sizeof(float)) {
    static const char message[] = "There are more than seven weights.";
    return host->status_make(BATON_INVALID_ARGUMENT, (baton_string){message, sizeof(message) - 1});
  }
  memcpy(constants + 1, weights, weights_size);
  return call_host(call, run_named, bindings, 2, constants, 1 + (uint32_t)(weights_size / sizeof(float)));
}

static baton_status* broken(baton_call* call) {
  static const char message[] = "The vector is broken.";
  (void)call;
  return host->status_make(BATON_UNAVAILABLE, (baton_string){message, sizeof(message) - 1});
}

#define TENSOR "Ir<hal.buffer>II"
static const baton_export exports[] = {
    {"affine", "r<hal.command_buffer>" TENSOR "ff" TENSOR "_v", affine, NULL, BATON_TRAIT_COMMAND},
    {"broken", "r<hal.command_buffer>" TENSOR TENSOR "_v", broken, NULL, BATON_TRAIT_COMMAND},
    {"moments", "r<hal.command_buffer>" TENSOR TENSOR TENSOR "_v", moments, NULL, BATON_TRAIT_COMMAND},
    {"named", "r<hal.command_buffer>" TENSOR "r<blob>r<blob>" TENSOR "_v", named, NULL, BATON_TRAIT_COMMAND},
};

static const baton_module_descriptor descriptor = {
    .struct_size = sizeof(descriptor),
    .abi_version = BATON_ABI_VERSION,
    .name = "vector",
    .version = 1,
    .export_stride = sizeof(baton_export),
    .exports = exports,
    .export_count = sizeof(exports) / sizeof(exports[0]),
};

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* given, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor);
BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* given, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  (void)parameter_count, (void)parameters;
  host = given;
  *out_descriptor = &descriptor;
  return NULL;
}
