/* Loads the plugin that is named, calls counter.next twice and counter.skip once: try-counter ./counter.so?step=5 */
#include <stdio.h>

#include "modules/sdk/embed.h"

static int failed(baton_status* status) {
  if (!status) return 0;
  fprintf(stderr, "error %d: %s\n", baton_status_get_code(status), baton_status_get_message(status));
  baton_status_free(status);
  return 1;
}

static int call(baton_context* context, const char* name, const baton_value* argument) {
  baton_invocation* invocation = NULL;
  const baton_function* function = NULL;
  baton_value result;
  const int code = failed(baton_context_find(context, name, &function)) ||
                   failed(baton_invocation_create(context, &invocation)) ||
                   failed(baton_invocation_invoke(invocation, function, argument, argument ? 1 : 0, &result, 1));
  if (!code) printf("%s = %lld\n", name, (long long)result.i64);
  baton_invocation_release(invocation);
  return code;
}

int main(int argc, char** argv) {
  baton_module* module = NULL;
  baton_context* context = NULL;
  const baton_value ten = baton_value_of_i64(10);
  const baton_value back = baton_value_of_i64(-1);
  if (argc != 2) return fprintf(stderr, "usage: try-counter PLUGIN.so[?step=N]\n"), 2;
  if (failed(baton_module_load_plugin(argv[1], &module))) return 1;
  const int code = failed(baton_context_create(&module, 1, NULL, &context)) || call(context, "counter.next", NULL) ||
                   call(context, "counter.next", NULL) || call(context, "counter.skip", &ten) ||
                   !call(context, "counter.skip", &back); /* The last one is refused. */
  baton_context_release(context);
  baton_module_release(module);
  return code;
}
