/* smooth.bvm filters.so: the same program from C, once. */
#include <stdio.h>

#include "modules/sdk/embed_device.h"

static baton_status* run(const char* program, const char* plugin) {
  baton_module* modules[3] = {0};
  baton_device* device = NULL;
  baton_context* context = NULL;
  float numbers[] = {0, 0, 6, 0, 0}, results[5];
  const baton_tensor x = {BATON_ELEMENT_F32, 1, {5}, numbers, sizeof numbers};
  baton_tensor y = {0, 0, {0}, results, sizeof results};
  baton_status* status = baton_device_open("local-sync", &device);
  if (!status) status = baton_module_create_hal(&device, 1, &modules[0]);
  if (!status) status = baton_module_load_plugin(plugin, &modules[1]);
  if (!status) status = baton_module_load_file(program, &modules[2]);
  if (!status) status = baton_context_create(modules, 3, NULL, &context);
  if (!status) status = baton_call_tensors(context, device, "smooth", &x, 1, &y, 1);
  if (!status) printf("softened: %g %g %g %g %g\n", results[0], results[1], results[2], results[3], results[4]);
  baton_context_release(context);
  for (int i = 0; i < 3; ++i) baton_module_release(modules[i]);
  baton_object_release((baton_object*)device);
  return status;
}

int main(int count, char** arguments) {
  baton_status* status = count == 3 ? run(arguments[1], arguments[2]) : NULL;
  if (!status) return count == 3 ? 0 : 2;
  fprintf(stderr, "%s\n", baton_status_get_message(status));
  baton_status_free(status);
  return 1;
}
