/* A C program that runs Baton modules: embed-c MODULE.bvm FUNCTION NUMBER calls a function of type (i32) -> i32. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules/sdk/embed.h"

/* Prints a failure and frees it; 0 when there is none. */
static int failed(baton_status* status) {
  if (!status) return 0;
  fprintf(stderr, "error %d: %s\n", baton_status_get_code(status), baton_status_get_message(status));
  baton_status_free(status);
  return 1;
}

/* Calls the function once and prints what it returns. */
static int run(baton_context* context, baton_invocation* invocation, const char* name, int number) {
  const baton_function* function = NULL;
  const baton_value argument = baton_value_of_i32(number);
  baton_value result;
  if (failed(baton_context_find(context, name, &function))) return 1;
  if (strcmp(baton_function_signature(function), "i_i") != 0) {
    fprintf(stderr, "%s is no (i32) -> i32: %s\n", name, baton_function_signature(function));
    return 1;
  }
  if (failed(baton_invocation_invoke(invocation, function, &argument, 1, &result, 1))) return 1;
  printf("%s(%d) = %d\n", name, number, result.i32);
  return 0;
}

int main(int argc, char** argv) {
  baton_module* module = NULL;
  baton_context* context = NULL;
  baton_invocation* invocation = NULL;
  if (argc != 4) return fprintf(stderr, "usage: embed-c MODULE.bvm FUNCTION NUMBER\n"), 2;
  const int code =
      failed(baton_module_load_file(argv[1], &module)) || failed(baton_context_create(&module, 1, NULL, &context)) ||
      failed(baton_invocation_create(context, &invocation)) || run(context, invocation, argv[2], atoi(argv[3]));
  baton_invocation_release(invocation); /* all three take NULL */
  baton_context_release(context);
  baton_module_release(module);
  return code;
}
