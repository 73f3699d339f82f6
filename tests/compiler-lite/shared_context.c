/* One context, an invocation for each of four threads, as modules/sdk/embed.h promises: every thread adds vectors of
 * lengths of its own, so that all of them record and keep recordings at the same time, and looks at every sum.
 *
 *   shared_context program.bvm device */
#include <pthread.h>
#include <stdio.h>

#include "modules/sdk/embed_device.h"

enum { kThreads = 4, kCalls = 2000, kLengthMax = 16 };

static baton_device* device;
static baton_context* context;
static const baton_function* add;
static int wrong;

static int failed(baton_status* status) {
  if (!status) return 0;
  fprintf(stderr, "status %d: %s\n", (int)baton_status_get_code(status), baton_status_get_message(status));
  baton_status_free(status);
  return 1;
}

/* value + value, n times. */
static int add_once(baton_invocation* invocation, int64_t n, float value) {
  float elements[kLengthMax];
  for (int64_t i = 0; i < n; ++i) elements[i] = value;
  const uint64_t bytes = (uint64_t)n * sizeof(float);
  baton_buffer_view *a = NULL, *b = NULL;
  baton_value arguments[2], result[1];
  if (failed(baton_buffer_view_upload(device, BATON_ELEMENT_F32, &n, 1, elements, bytes, &a))) return 0;
  if (failed(baton_buffer_view_upload(device, BATON_ELEMENT_F32, &n, 1, elements, bytes, &b))) return 0;
  arguments[0].ref = (baton_object*)a;
  arguments[1].ref = (baton_object*)b;
  int good = !failed(baton_invocation_invoke(invocation, add, arguments, 2, result, 1));
  baton_object_release((baton_object*)a);
  baton_object_release((baton_object*)b);
  if (!good) return 0;
  good = !failed(baton_buffer_view_download((baton_buffer_view*)result[0].ref, elements, bytes));
  baton_object_release(result[0].ref);
  for (int64_t i = 0; i < n; ++i) good &= elements[i] == value + value;
  return good;
}

static void* work(void* argument) {
  const int number = *(int*)argument;
  baton_invocation* invocation = NULL;
  int bad = failed(baton_invocation_create(context, &invocation));
  for (int i = 0; i < kCalls && !bad; ++i) {
    bad = !add_once(invocation, 1 + (i * 7 + number * 3) % kLengthMax, (float)(number + 1));
  }
  if (invocation) baton_invocation_release(invocation);
  if (bad) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  return NULL;
}

int main(int argc, char** argv) {
  baton_module* modules[2];
  if (argc != 3 || failed(baton_device_open(argv[2], &device)) ||
      failed(baton_module_create_hal(&device, 1, &modules[0])) ||
      failed(baton_module_load_file(argv[1], &modules[1])) ||
      failed(baton_context_create(modules, 2, NULL, &context)) || failed(baton_context_find(context, "add", &add))) {
    return 2;
  }
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) return 2;
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  printf("%d threads, %d wrong\n", kThreads, wrong);
  baton_context_release(context);
  for (int i = 1; i >= 0; --i) baton_module_release(modules[i]);
  baton_object_release((baton_object*)device);
  return wrong != 0;
}
