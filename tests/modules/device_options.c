/* A host in C gives a local device what its kernels need: kernels that are linked into it, functions that they import, a plugin
 * with others, kernels by name. device_options PROGRAM.bvm PLUGIN.so KERNELS.elf FORMAT says what went wrong, if anything. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/drivers/local/executable_library.h"
#include "modules/sdk/embed_device.h"
#include "modules/sdk/kernel_library.h"

static int failures = 0;

/* The message of a status, which it frees; "" for none. Valid until the next one. */
static const char* message_of(baton_status* status) {
  static char message[1024];
  message[0] = 0;
  if (!status) return message;
  snprintf(message, sizeof(message), "%s", baton_status_get_message(status));
  baton_status_free(status);
  return message;
}

static void expect(const char* what, const char* message, const char* part) {
  if (part[0] ? strstr(message, part) != NULL : message[0] == 0) return;
  fprintf(stderr, "%s: '%s' instead of '%s'\n", what, message, part);
  ++failures;
}

/* The app's kernels: the number by what acme.multiply makes of it and 7. */
typedef struct Product {
  uint32_t result, a, b;
} Product;
static int multiply(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                    const baton_workgroup_state* workgroup) {
  uint64_t* number = (uint64_t*)dispatch->bindings[0];
  Product product = {0, (uint32_t)*number, 7};
  (void)workgroup;
  const int result =
      environment->import_thunk(environment->import_functions[0], &product,
                                environment->import_contexts ? environment->import_contexts[0] : NULL, NULL);
  *number = product.result;
  return result;
}
static const baton_executable_library* query(uint32_t max_version, const baton_executable_environment* environment) {
  static const char* const imports[] = {"acme.multiply"};
  static const baton_kernel kernels[] = {multiply};
  static const char* const names[] = {"multiply"};
  static const baton_kernel_attributes attributes[] = {{0, 1, 1, 1, 1, 0}};
  static const baton_executable_library library = {.struct_size = sizeof(library),
                                                   .version = BATON_EXECUTABLE_LIBRARY_VERSION,
                                                   .name = "app.kernels",
                                                   .import_count = 1,
                                                   .kernel_count = 1,
                                                   .imports = imports,
                                                   .kernels = kernels,
                                                   .kernel_names = names,
                                                   .kernel_attributes = attributes};
  (void)environment;
  return max_version >= BATON_EXECUTABLE_LIBRARY_VERSION ? &library : NULL;
}

/* The function that they import: the product, and what the app adds. */
static int product_and_more(void* params, void* context, void* reserved) {
  Product* product = (Product*)params;
  (void)reserved;
  product->result = product->a * product->b + *(const uint32_t*)context;
  return 0;
}

/* What function(number) gives on a device that is opened like this, or the message of what failed. */
static const char* call(const char* program, const baton_device_options* options, const char* function,
                        int64_t number) {
  static char result[1024];
  baton_device* device = NULL;
  baton_module* modules[2] = {NULL, NULL};
  baton_context* context = NULL;
  baton_invocation* invocation = NULL;
  const baton_function* found = NULL;
  const baton_value argument = baton_value_of_i64(number);
  baton_value value = {0};
  baton_status* status = baton_device_open_with("local-sync", options, &device);
  if (!status) status = baton_module_create_hal(&device, 1, &modules[0]);
  if (!status) status = baton_module_load_file(program, &modules[1]);
  if (!status) status = baton_context_create(modules, 2, NULL, &context);
  if (!status) status = baton_context_find(context, function, &found);
  if (!status) status = baton_invocation_create(context, &invocation);
  if (!status) status = baton_invocation_invoke(invocation, found, &argument, 1, &value, 1);
  if (status) {
    snprintf(result, sizeof(result), "%s", message_of(status));
  } else {
    snprintf(result, sizeof(result), "%d", (int)value.i64);
  }
  baton_invocation_release(invocation);
  baton_context_release(context);
  for (int i = 0; i < 2; ++i) baton_module_release(modules[i]);
  baton_object_release((baton_object*)device);
  return result;
}

static const char* open_failure(const char* uri, const baton_device_options* options) {
  baton_device* device = NULL;
  const char* message = message_of(baton_device_open_with(uri, options, &device));
  if (device) {
    fprintf(stderr, "'%s' was opened\n", uri);
    ++failures;
  }
  return message;
}

static const char kLinkedName[] = "app.kernels";
static const uint32_t kThousand = 1000;
static const baton_kernel_import kImports[] = {{"acme.multiply", product_and_more, (void*)&kThousand}};
static const baton_linked_kernels kKernels[] = {{"app.kernels", query}};
static const baton_named_executable kByName[] = {{"acme.kernels", "static-library", "app.kernels", 11}};

static void run_kernels_of_the_app(const char* program, const char* plugin) {
  baton_device_options options = {.struct_size = sizeof(options)};
  expect("nothing is given", call(program, &options, "linked", 6), "app.kernels");
  expect("nothing has that name", call(program, &options, "looked_up", 6), "acme.kernels");
  options.linked_kernels = kKernels;
  options.linked_kernel_count = 1;
  expect("nobody has the function", call(program, &options, "linked", 6), "acme.multiply");
  options.imports = kImports;
  options.import_count = 1;
  expect("the app's function", call(program, &options, "linked", 6), "1042");
  options.executables = kByName;
  options.executable_count = 1;
  expect("by name", call(program, &options, "looked_up", 8), "1056");
  const char* const plugins[] = {plugin};
  options.plugins = plugins;
  options.plugin_count = 1;
  expect("the plugin is asked first", call(program, &options, "linked", 6), "84");
  /* What was embedded under a name of its own, and under another; nothing else is given for it. */
  const baton_embedded_variant variants[] = {{{"cuda-sm_90", 10}, "", ""},
                                             {{"static-library", 14}, kLinkedName, kLinkedName + 11}};
  const baton_embedded_kernels kernels = {sizeof(kernels), 2, variants, "acme.kernels", NULL};
  baton_embedded_executable embedded = {NULL, &kernels};
  options.executable_count = 0;
  options.embedded = &embedded;
  options.embedded_count = 1;
  expect("embedded", call(program, &options, "looked_up", 8), "112");
  embedded.name = "other.kernels";
  expect("embedded under another name", call(program, &options, "looked_up", 8), "registered are: other.kernels.");
  options.executable_count = 1;
  expect("both", call(program, &options, "looked_up", 8), "112");
  /* An app that was compiled before there were these fields. */
  options.struct_size = offsetof(baton_device_options, plugin_count);
  expect("an older app", call(program, &options, "linked", 6), "app.kernels");
}

/* Kernels in memory are copied: what the app had may be gone. */
static void copy_executables(const char* program, const char* kernels, const char* format) {
  FILE* file = fopen(kernels, "rb");
  char* bytes = malloc(1 << 20);
  const size_t size = file ? fread(bytes, 1, 1 << 20, file) : 0;
  if (file) fclose(file);
  const baton_named_executable executable = {"acme.kernels", format, bytes, size};
  baton_device_options options = {.struct_size = sizeof(options), .executable_count = 1, .executables = &executable};
  baton_device* device = NULL;
  expect("a file's kernels", message_of(baton_device_open_with("local-task?workers=2", &options, &device)), "");
  memset(bytes, 0, size);
  free(bytes);
  baton_module* modules[2] = {NULL, NULL};
  baton_context* context = NULL;
  baton_invocation* invocation = NULL;
  const baton_function* found = NULL;
  expect("hal", message_of(baton_module_create_hal(&device, 1, &modules[0])), "");
  expect("load", message_of(baton_module_load_file(program, &modules[1])), "");
  expect("link", message_of(baton_context_create(modules, 2, NULL, &context)), "");
  expect("find", message_of(baton_context_find(context, "looked_up", &found)), "");
  expect("invocation", message_of(baton_invocation_create(context, &invocation)), "");
  /* The first kernel of that file has three bindings: the code was read, and says so. */
  const baton_value argument = baton_value_of_i64(1);
  baton_value value = {0};
  expect("run", message_of(baton_invocation_invoke(invocation, found, &argument, 1, &value, 1)), "Entry point '");
  baton_invocation_release(invocation);
  baton_context_release(context);
  for (int i = 0; i < 2; ++i) baton_module_release(modules[i]);
  baton_object_release((baton_object*)device);
}

static void refuse_what_cannot_be(void) {
  baton_device_options none = {.struct_size = sizeof(none)};
  baton_device_options options = none;
  options.import_count = 1;
  expect("no array", open_failure("local-sync", &options), "The array of functions that kernels import is null.");
  options.imports = kImports;
  expect("no local device", open_failure("null", &options),
         "Device 'null' takes no functions of the app; local devices do.");
  const baton_kernel_import nameless = {NULL, product_and_more, NULL}, empty = {"acme.multiply", NULL, NULL};
  options.imports = &nameless;
  expect("no name", open_failure("local-sync", &options), "The name of a function that kernels import is null.");
  options.imports = &empty;
  expect("no function", open_failure("local-sync", &options),
         "The function 'acme.multiply' that kernels import is null.");
  options = none;
  options.linked_kernel_count = 1;
  expect("no array", open_failure("local-sync", &options), "The array of linked kernels is null.");
  options.linked_kernels = kKernels;
  expect("no local device", open_failure("cuda", &options),
         "Device 'cuda' takes no kernels that are linked into the app;");
  const baton_linked_kernels unnamed = {NULL, query}, unasked = {"app.kernels", NULL};
  options.linked_kernels = &unnamed;
  expect("no name", open_failure("local-sync", &options), "The name of linked kernels is null.");
  options.linked_kernels = &unasked;
  expect("no query", open_failure("local-sync", &options), "The query function of the kernels 'app.kernels' is null.");
  options = none;
  options.plugin_count = 1;
  expect("no array", open_failure("local-sync", &options), "The array of plugins is null.");
  const char* const nowhere[] = {"/nowhere/plugin.so?scale=2"};
  options.plugins = nowhere;
  expect("no plugin", open_failure("local-sync", &options), "/nowhere/plugin.so");
  expect("no local device", open_failure("vulkan", &options), "Device 'vulkan' takes no plugins for kernels;");
  const char* const missing[] = {NULL};
  options.plugins = missing;
  expect("no path", open_failure("local-sync", &options), "The path of a plugin is null.");
  options = none;
  options.executable_count = 1;
  expect("no array", open_failure("local-sync", &options), "The array of executables is null.");
  baton_named_executable executable = {NULL, "static-library", "app.kernels", 11};
  options.executables = &executable;
  expect("no name", open_failure("local-sync", &options), "The name of an executable is null.");
  executable = (baton_named_executable){"acme.kernels", NULL, "app.kernels", 11};
  expect("no format", open_failure("local-sync", &options), "The format of executable 'acme.kernels' is null.");
  executable = (baton_named_executable){"acme.kernels", "static-library", NULL, 11};
  expect("no code", open_failure("local-sync", &options), "The code of executable 'acme.kernels' is null.");
  options.executable_count = 0;
  options.embedded_count = 1;
  expect("no array", open_failure("local-sync", &options), "The array of embedded kernels is null.");
  baton_embedded_executable embedded = {"acme.kernels", NULL};
  options.embedded = &embedded;
  expect("no kernels", open_failure("local-sync", &options), "The pointer to embedded kernels is null.");
  baton_embedded_variant variant = {{"static-library", 14}, NULL, NULL};
  const baton_embedded_kernels kernels = {sizeof(kernels), 1, &variant, NULL, NULL},
                               holes = {sizeof(holes), 1, NULL, "acme", NULL};
  embedded.kernels = &holes;
  expect("no variants", open_failure("local-sync", &options), "The array of embedded kernels is null.");
  embedded.kernels = &kernels;
  expect("no embedded code", open_failure("local-sync", &options),
         "The code of what embeds kernels, or its format, is null.");
  variant = (baton_embedded_variant){{"static-library", 14}, kLinkedName, kLinkedName + 11};
  embedded.name = NULL;
  expect("nameless", open_failure("local-sync", &options), "The name of embedded kernels is null.");
  embedded.name = "acme.kernels";
  options.executable_count = 1;
  options.executables = kByName;
  expect("embedded twice", open_failure("local-sync", &options), "has a variant of format 'static-library' already.");
  options.embedded_count = 0;
  const baton_named_executable twice[] = {kByName[0], kByName[0]};
  options.executables = twice;
  options.executable_count = 2;
  expect("twice", open_failure("local-sync", &options), "acme.kernels");
}

int main(int argc, char** argv) {
  if (argc != 5) return fprintf(stderr, "usage: device_options PROGRAM.bvm PLUGIN.so KERNELS.elf FORMAT\n"), 2;
  run_kernels_of_the_app(argv[1], argv[2]);
  copy_executables(argv[1], argv[3], argv[4]);
  refuse_what_cannot_be();
  return failures != 0;
}
