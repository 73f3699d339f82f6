/* What a plugin looks like that gives functions to kernels (--executable_plugin=). Frozen.
 *
 * A plugin is a shared library for the system's loader, or a freestanding ELF file (.sos, several architectures in one)
 * for Baton's own. It exports baton_executable_plugin_query. The layout is one that plugins in the field have already:
 * those that export iree_hal_executable_plugin_query are loaded as they are. */
#ifndef BATON_HAL_DRIVERS_LOCAL_EXECUTABLE_PLUGIN_H_
#define BATON_HAL_DRIVERS_LOCAL_EXECUTABLE_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#define BATON_EXECUTABLE_PLUGIN_VERSION 1u
#define BATON_EXECUTABLE_PLUGIN_QUERY_NAME "baton_executable_plugin_query"
#define BATON_EXECUTABLE_PLUGIN_QUERY_NAME_COMPATIBLE "iree_hal_executable_plugin_query"

/* The plugin uses no libc: Baton's own loader takes no other. */
#define BATON_EXECUTABLE_PLUGIN_STANDALONE 1u
/* Statuses may carry more than a code; only the code is looked at. */
#define BATON_EXECUTABLE_PLUGIN_FULL_STATUS 2u

/* NULL is success; else the low five bits are a status code (modules/sdk/status.h). */
typedef void* baton_executable_plugin_status;

typedef struct baton_executable_plugin_string {
  const char* data;
  size_t size;
} baton_executable_plugin_string;

typedef struct baton_executable_plugin_parameter {
  baton_executable_plugin_string key;
  baton_executable_plugin_string value;
} baton_executable_plugin_parameter;

typedef struct baton_executable_plugin_header {
  uint32_t version;
  const char* name;
  const char* description;
  uint32_t features;
  int32_t sanitizer; /* BATON_SANITIZER_... of executable_library.h */
  uint64_t reserved[8];
} baton_executable_plugin_header;

/* Commands of the allocator: 0 malloc, 1 calloc, 2 realloc, 3 free. */
typedef struct baton_executable_plugin_allocation {
  size_t byte_length;
} baton_executable_plugin_allocation;
typedef struct baton_executable_plugin_allocator {
  void* self;
  baton_executable_plugin_status (*control)(void* self, int32_t command,
                                            const baton_executable_plugin_allocation* allocation, void** inout_pointer);
} baton_executable_plugin_allocator;

typedef struct baton_executable_plugin_environment {
  baton_executable_plugin_allocator host_allocator;
} baton_executable_plugin_environment;

/* Names are sorted; "?name" may stay missing. A function that is set already is another provider's: skip it. */
typedef struct baton_executable_plugin_resolve {
  size_t count;
  const char* const* symbol_names;
  void** out_functions; /* int (*)(void* params, void* context, void* reserved) */
  void** out_contexts;
} baton_executable_plugin_resolve;

typedef struct baton_executable_plugin {
  const baton_executable_plugin_header* header; /* first: what the query returns points here */
  baton_executable_plugin_status (*load)(const baton_executable_plugin_environment* environment, size_t parameter_count,
                                         const baton_executable_plugin_parameter* parameters, void** out_self);
  void (*unload)(void* self);
  /* Fills what it has. `*out_resolution` bit 0: an optional one is missing. A required one missing: NOT_FOUND (5). */
  baton_executable_plugin_status (*resolve)(void* self, const baton_executable_plugin_resolve* request,
                                            uint32_t* out_resolution);
} baton_executable_plugin;

/* NULL when it has nothing of version `max_version` or below. */
typedef const baton_executable_plugin_header** (*baton_executable_plugin_query_function)(uint32_t max_version,
                                                                                         void* reserved);

#endif
