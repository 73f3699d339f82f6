/* A host in C that is one of two ranks: two programs in it, one after the other and both at once, sum what the ranks
 * have. It is told its rank by the environment, or by arguments.
 *
 *   ranks ranks.bvm RANK [join] */
#include <stdio.h>
#include <stdlib.h>

#include "modules/sdk/embed_device.h"

static int failed(baton_status* status) {
  if (!status) return 0;
  fprintf(stderr, "status %d: %s\n", (int)baton_status_get_code(status), baton_status_get_message(status));
  baton_status_free(status);
  return 1;
}

typedef struct program {
  baton_module* modules[2];
  baton_context* context;
  baton_invocation* invocation;
} program;

static int load(const char* path, baton_device* device, program* out) {
  return failed(baton_module_create_hal(&device, 1, &out->modules[0])) ||
         failed(baton_module_load_file(path, &out->modules[1])) ||
         failed(baton_context_create(out->modules, 2, NULL, &out->context)) ||
         failed(baton_invocation_create(out->context, &out->invocation));
}

static void unload(program* done) {
  if (done->invocation) baton_invocation_release(done->invocation);
  if (done->context) baton_context_release(done->context);
  for (int i = 1; i >= 0; --i) {
    if (done->modules[i]) baton_module_release(done->modules[i]);
  }
}

/* Rank 0 has `own` and rank 1 twice that: everybody gets their sum, and is who it should be. */
static int sum(program* of, baton_device* device, int rank, int own) {
  int32_t numbers[4];
  const int64_t shape[1] = {4};
  for (int i = 0; i < 4; ++i) numbers[i] = own * (rank + 1);
  const baton_function* function = NULL;
  baton_buffer_view* view = NULL;
  baton_value argument = {0}, results[3];
  int bad = failed(baton_buffer_view_upload(device, BATON_ELEMENT_I32, shape, 1, numbers, sizeof(numbers), &view));
  argument.ref = (baton_object*)view;
  bad = bad || failed(baton_context_find(of->context, "sum", &function)) ||
        failed(baton_invocation_invoke(of->invocation, function, &argument, 1, results, 3));
  if (view) baton_object_release((baton_object*)view);
  if (bad) return 1;
  if (results[0].i32 == rank && results[1].i32 == 2 && results[2].i64 == 3 * own) return 0;
  fprintf(stderr, "rank %d of %d has %d\n", (int)results[0].i32, (int)results[1].i32, (int)results[2].i64);
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int rank = atoi(argv[2]);
  baton_device* device = NULL;
  baton_module* collective = NULL;
  program first = {0}, second = {0};
  int bad = argc > 3 && failed(baton_ranks_join((uint32_t)rank, 2, NULL, 0));
  bad = bad || failed(baton_device_open("local-task?workers=2", &device)) || load(argv[1], device, &first) ||
        load(argv[1], device, &second) || sum(&first, device, rank, 5) || sum(&second, device, rank, 7) ||
        sum(&first, device, rank, 1) || failed(baton_module_create_collective(&collective));
  unload(&first);
  first = (program){0};
  bad = bad || load(argv[1], device, &first) || sum(&first, device, rank, 9);
  unload(&first);
  unload(&second);
  if (collective) baton_module_release(collective);
  if (device) baton_object_release((baton_object*)device);
  return bad;
}
