/* A clock that stands still unless somebody takes time: preloaded, it is the clock of the whole process (each look
 * costs 20 ns); as a plugin for kernels it provides clock.take, with which a kernel takes as long as it says. Whoever
 * measures under it gets the same figures on every machine, however busy. */
#define _POSIX_C_SOURCE 199309L /* clockid_t */
#include <stdatomic.h>
#include <time.h>

#include "hal/drivers/local/executable_plugin.h"

#define LOOK_NS 20

static _Atomic uint64_t now_ns = 1000000000;

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec* out) {
  (void)clock;
  const uint64_t now = atomic_fetch_add(&now_ns, LOOK_NS);
  out->tv_sec = (time_t)(now / 1000000000);
  out->tv_nsec = (long)(now % 1000000000);
  return 0;
}

static int take(void* params, void* context, void* reserved) {
  (void)context;
  (void)reserved;
  atomic_fetch_add(&now_ns, *(const uint64_t*)params);
  return 0;
}

static baton_executable_plugin_status load(const baton_executable_plugin_environment* environment,
                                           size_t parameter_count, const baton_executable_plugin_parameter* parameters,
                                           void** out_self) {
  (void)environment;
  (void)parameter_count;
  (void)parameters;
  *out_self = NULL;
  return NULL;
}

static void unload(void* self) { (void)self; }

/* Gives everyone the one function that there is. */
static baton_executable_plugin_status resolve(void* self, const baton_executable_plugin_resolve* request,
                                              uint32_t* out_resolution) {
  (void)self;
  (void)out_resolution;
  for (size_t i = 0; i < request->count; ++i) request->out_functions[i] = (void*)(uintptr_t)take;
  return NULL;
}

static const baton_executable_plugin_header header = {
    .version = BATON_EXECUTABLE_PLUGIN_VERSION, .name = "clock", .description = "kernels that take time"};
static baton_executable_plugin plugin = {&header, load, unload, resolve};

__attribute__((visibility("default"))) const baton_executable_plugin_header** baton_executable_plugin_query(
    uint32_t max_version, void* reserved);
const baton_executable_plugin_header** baton_executable_plugin_query(uint32_t max_version, void* reserved) {
  (void)reserved;
  return max_version >= BATON_EXECUTABLE_PLUGIN_VERSION ? (const baton_executable_plugin_header**)&plugin : NULL;
}
