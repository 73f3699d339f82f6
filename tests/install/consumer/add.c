/* A host app in C: loads the module named on its command line and calls its `add`. */
#include <stdio.h>

#include "modules/sdk/embed.h"

/* Prints why, when there is a reason. */
static int failed(baton_status* status) {
  if (!status) return 0;
  fprintf(stderr, "%s\n", baton_status_get_message(status));
  baton_status_free(status);
  return 1;
}

int main(int argc, char** argv) {
  baton_module* module = NULL;
  baton_context* context = NULL;
  baton_invocation* invocation = NULL;
  const baton_function* add = NULL;
  baton_value arguments[] = {baton_value_of_i32(2), baton_value_of_i32(3)};
  baton_value result;
  int code = failed(baton_module_load_file(argc > 1 ? argv[1] : "add.bvm", &module)) ||
             failed(baton_context_create(&module, 1, NULL, &context)) ||
             failed(baton_context_find(context, "add", &add)) ||
             failed(baton_invocation_create(context, &invocation)) ||
             failed(baton_invocation_invoke(invocation, add, arguments, 2, &result, 1));
  if (!code) printf("2 + 3 = %d\n", result.i32);
  baton_invocation_release(invocation);
  baton_context_release(context);
  baton_module_release(module);
  return code;
}
