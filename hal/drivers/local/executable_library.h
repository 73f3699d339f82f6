/* What a CPU executable looks like to Baton: kernels in a table behind one query function. Frozen: append only.
 *
 * Compiled kernels (an ELF file in memory or on disk) and kernels linked into the host app are the same library.
 *
 *   static int add_one(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
 *                      const baton_workgroup_state* workgroup) {
 *     float* values = (float*)dispatch->bindings[0];
 *     values[workgroup->id_x] += 1.0f;
 *     return 0;
 *   }
 *
 * A kernel is called once for each workgroup, on any thread, many at once. It needs no libc, allocates nothing, keeps
 * nothing in static memory, and returns 0, or a number of its own that fails the dispatch and is told to the user. */
#ifndef BATON_HAL_DRIVERS_LOCAL_EXECUTABLE_LIBRARY_H_
#define BATON_HAL_DRIVERS_LOCAL_EXECUTABLE_LIBRARY_H_

#include <stddef.h>
#include <stdint.h>

#define BATON_EXECUTABLE_LIBRARY_VERSION 1u
/* Of a library whose kernels check their accesses: it begins a baton_checked_library. */
#define BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED 2u
#define BATON_EXECUTABLE_LIBRARY_QUERY_NAME "baton_executable_library_query"

/* Before the query function of a library. */
#define BATON_EXECUTABLE_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* The processor that all kernels of a process run on: feature words, meaning by architecture (processor.h). */
#define BATON_PROCESSOR_DATA_COUNT 8
typedef struct baton_processor {
  uint64_t data[BATON_PROCESSOR_DATA_COUNT];
} baton_processor;

/* An imported function. `params` points to a struct of the results, then the arguments, as the two sides agreed. */
typedef int (*baton_import_function)(void* params, void* context, void* reserved);
/* Calls an import; lets the runtime stand between. Non-zero results go on to the runtime. */
typedef int (*baton_import_thunk)(baton_import_function function, void* params, void* context, void* reserved);

/* The same for all dispatches of one loaded executable. */
typedef struct baton_executable_environment {
  const uint32_t* constants; /* specialization constants */
  baton_import_thunk import_thunk;
  const baton_import_function*
      import_functions; /* by ordinal in baton_executable_library; NULL: optional and missing */
  void* const* import_contexts;
  baton_processor processor;
} baton_executable_environment;

/* The same for all workgroups of one dispatch. */
typedef struct baton_dispatch_state {
  uint32_t workgroup_count_x, workgroup_count_y, workgroup_count_z;
  uint32_t workgroup_size_x, workgroup_size_y, workgroup_size_z;
  uint16_t constant_count;
  uint16_t binding_count;
  uint32_t max_concurrency; /* workgroups that may run at once */
  const uint32_t* constants;
  void* const* bindings; /* offsets applied; not NULL */
  const size_t* binding_lengths;
} baton_dispatch_state;

/* What a kernel of a checked library says of the access that it didn't make, before it returns non-zero. */
typedef struct baton_failed_check {
  uint32_t number; /* into the library's checks, from one; 0: none failed */
  uint64_t offset; /* in bytes, from the begin of what is accessed; before it: a huge number */
  uint64_t size;   /* of it, in bytes */
} baton_failed_check;

typedef struct baton_workgroup_state {
  uint32_t id_x, id_y, id_z;
  uint32_t processor_id; /* where it ran when it started; a hint */
  void* local_memory;    /* this workgroup's alone while it runs; contents undefined; 64-byte aligned */
  size_t local_memory_size;
  baton_failed_check* failed_check; /* all zero; for checked libraries */
} baton_workgroup_state;

typedef int (*baton_kernel)(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                            const baton_workgroup_state* workgroup);

typedef struct baton_kernel_attributes {
  uint16_t constant_count;
  uint16_t binding_count;
  uint32_t workgroup_size_x, workgroup_size_y, workgroup_size_z; /* 0 counts as 1 */
  uint32_t local_memory_size;                                    /* bytes */
} baton_kernel_attributes;

#define BATON_SANITIZER_NONE 0u
#define BATON_SANITIZER_ADDRESS 1u
#define BATON_SANITIZER_MEMORY 2u
#define BATON_SANITIZER_THREAD 3u
#define BATON_SANITIZER_UNDEFINED 4u

typedef struct baton_executable_library {
  uint32_t struct_size; /* sizeof(baton_executable_library) of the one who fills it */
  uint32_t version;     /* BATON_EXECUTABLE_LIBRARY_VERSION */
  const char* name;
  uint32_t sanitizer; /* must fit the runtime's */
  uint32_t constant_count;

  /* Functions that the runtime must find: sorted by name; "?name" may stay missing. */
  uint32_t import_count;
  uint32_t kernel_count;
  const char* const* imports;

  const baton_kernel* kernels;
  const char* const* kernel_names;
  const baton_kernel_attributes* kernel_attributes; /* NULL: nothing is known about constants and bindings */
} baton_executable_library;

/* One check, for people. */
typedef struct baton_access_check {
  const char* access; /* "reads 4 bytes of binding 1" */
  const char* line;   /* of the program, "model.mlir:5:10"; may be empty */
} baton_access_check;

/* Version BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED. */
typedef struct baton_checked_library {
  baton_executable_library library;
  const baton_access_check* checks;
  uint64_t check_count;
} baton_checked_library;

/* Exported as BATON_EXECUTABLE_LIBRARY_QUERY_NAME. NULL when it has nothing of version `max_version` or below.
 * The environment is complete but for the imports, which the runtime resolves after this call. */
typedef const baton_executable_library* (*baton_executable_library_query_function)(
    uint32_t max_version, const baton_executable_environment* environment);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
