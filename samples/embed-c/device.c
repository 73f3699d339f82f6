/* A C app that runs a compiled program on a device, and gives it a function of its own:
 * embed-c-device scale.bvm CHANNEL [--device=local-sync]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules/sdk/embed_device.h"

/* Prints a failure and frees it; 0 when there is none. */
static int failed(baton_status* status) {
  if (!status) return 0;
  fprintf(stderr, "error %d: %s\n", baton_status_get_code(status), baton_status_get_message(status));
  baton_status_free(status);
  return 1;
}

/* The app's module: app.factor(channel), 10 to the power of the channel. */
static baton_status* factor(baton_call* call) {
  static const float factors[] = {1, 10, 100};
  const int32_t channel = call->values[0].i32;
  static const char sentence[] = "There are channels 0, 1 and 2.";
  if (channel < 0 || channel > 2) {
    return baton_host_table()->status_make(BATON_OUT_OF_RANGE, (baton_string){sentence, sizeof(sentence) - 1});
  }
  call->values[0] = baton_value_of_f32(factors[channel]);
  return NULL;
}

static baton_status* make_app_module(baton_module** out) {
  static const baton_export exports[] = {{"factor", "i_f", factor, NULL, BATON_TRAIT_PURE}};
  static const baton_module_descriptor app = {.struct_size = sizeof(app),
                                              .abi_version = BATON_ABI_VERSION,
                                              .name = "app",
                                              .export_stride = sizeof(baton_export),
                                              .exports = exports,
                                              .export_count = 1};
  return baton_module_from_descriptor(&app, out);
}

/* Calls scale(signal, channel) and prints what comes back. */
static int scale(baton_context* context, baton_invocation* invocation, baton_buffer_view* signal, int32_t channel) {
  const baton_function* function = NULL;
  baton_value arguments[2] = {{0}, baton_value_of_i32(channel)};
  baton_value result = {0};
  float scaled[4];
  arguments[0].ref = (baton_object*)signal;
  if (failed(baton_context_find(context, "scale", &function))) return 1;
  if (failed(baton_invocation_invoke(invocation, function, arguments, 2, &result, 1))) return 1;
  const int code = failed(baton_buffer_view_download((baton_buffer_view*)result.ref, scaled, sizeof(scaled)));
  if (!code) printf("channel %d: %g %g %g %g\n", channel, scaled[0], scaled[1], scaled[2], scaled[3]);
  baton_object_release(result.ref); /* results belong to the caller */
  return code;
}

int main(int argc, char** argv) {
  const char* uri = argc == 4 && strncmp(argv[3], "--device=", 9) == 0 ? argv[3] + 9 : "local-sync";
  const float numbers[] = {1, 2, 3, 4};
  const int64_t shape[] = {4};
  baton_device* device = NULL;
  baton_module* modules[3] = {NULL, NULL, NULL}; /* in the order of their imports */
  baton_context* context = NULL;
  baton_invocation* invocation = NULL;
  baton_buffer_view* signal = NULL;
  if (argc < 3) return fprintf(stderr, "usage: embed-c-device scale.bvm CHANNEL [--device=local-sync]\n"), 2;
  const int code =
      failed(baton_device_open(uri, &device)) || failed(baton_module_create_hal(&device, 1, &modules[0])) ||
      failed(make_app_module(&modules[1])) || failed(baton_module_load_file(argv[1], &modules[2])) ||
      failed(baton_context_create(modules, 3, NULL, &context)) ||
      failed(baton_invocation_create(context, &invocation)) ||
      failed(baton_buffer_view_upload(device, BATON_ELEMENT_F32, shape, 1, numbers, sizeof(numbers), &signal)) ||
      scale(context, invocation, signal, atoi(argv[2]));
  baton_object_release((baton_object*)signal); /* all of these take NULL */
  baton_invocation_release(invocation);
  baton_context_release(context);
  for (int i = 0; i < 3; ++i) baton_module_release(modules[i]);
  baton_object_release((baton_object*)device);
  return code;
}
