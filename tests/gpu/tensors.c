/* What a Python program calls to run a program of ours on its framework's tensors, in place: a library over
 * modules/sdk/embed_device.h with three functions (tensors.py). What they return is NULL or why not, until the next
 * call. */
#include <stdio.h>
#include <string.h>

#include "modules/sdk/embed_device.h"

#define EXPORTED __attribute__((visibility("default")))

static baton_device* device;
static baton_context* context;
static baton_invocation* invocation;
static const baton_function* function;

/* Keeps the message and frees the failure. */
static const char* told(baton_status* status) {
  static char message[512];
  if (!status) return NULL;
  snprintf(message, sizeof(message), "%s", baton_status_get_message(status));
  baton_status_free(status);
  return message;
}

static void drop(void* object) { baton_object_release((baton_object*)object); }

static baton_status* prepare(const char* uri, const char* file, const char* name, baton_module** modules) {
  baton_status* status = baton_device_open(uri, &device);
  if (!status) status = baton_module_create_hal(&device, 1, &modules[0]);
  if (!status) status = baton_module_load_file(file, &modules[1]);
  if (!status) status = baton_context_create(modules, 2, NULL, &context);
  if (!status) status = baton_invocation_create(context, &invocation);
  if (!status) status = baton_context_find(context, name, &function);
  return status;
}

EXPORTED const char* tensors_open(const char* uri, const char* file, const char* name);
EXPORTED const char* tensors_call(struct DLManagedTensor** inputs, int32_t count, int64_t stream,
                                  struct DLManagedTensor** out);
EXPORTED void tensors_close(void);

const char* tensors_open(const char* uri, const char* file, const char* name) {
  baton_module* modules[2] = {NULL, NULL};
  const char* message = told(prepare(uri, file, name, modules));
  for (int i = 0; i < 2; ++i) {
    if (modules[i]) baton_module_release(modules[i]);
  }
  return message;
}

/* Takes the inputs over as far as it comes: those that it has taken are NULL afterwards. */
const char* tensors_call(struct DLManagedTensor** inputs, int32_t count, int64_t stream, struct DLManagedTensor** out) {
  baton_value arguments[4] = {{0}};
  baton_value result = {0};
  baton_status* status = NULL;
  for (int32_t i = 0; i < count && i < 4 && !status; ++i) {
    baton_buffer_view* view = NULL;
    status = baton_buffer_view_import_dlpack_legacy(device, inputs[i], stream, &view);
    if (status) break;
    inputs[i] = NULL;
    arguments[i].ref = (baton_object*)view;
  }
  if (!status) status = baton_invocation_invoke(invocation, function, arguments, (uint64_t)count, &result, 1);
  for (int32_t i = 0; i < count && i < 4; ++i) drop(arguments[i].ref);
  if (!status) {
    status = baton_buffer_view_export_dlpack_legacy(device, (baton_buffer_view*)result.ref, NULL, stream, out);
    drop(result.ref);
  }
  return told(status);
}

void tensors_close(void) {
  if (invocation) baton_invocation_release(invocation);
  if (context) baton_context_release(context);
  drop(device);
}
