/* Baton for C programs: load modules, link them, call their functions, read errors. Link with Baton::runtime.
 *
 * Every function that can fail returns a baton_status*: NULL is success, anything else is freed with baton_status_free.
 * Threads: threads may share modules and contexts; each thread makes its own invocation (baton_invocation_create). If a
 * program replaces references in its globals, only one thread at a time may be in a call of a context, and a second one is
 * refused: threads of such a program each make their own context. */
#ifndef BATON_MODULES_SDK_EMBED_H_
#define BATON_MODULES_SDK_EMBED_H_

#include "modules/sdk/module.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct baton_module baton_module;
typedef struct baton_context baton_context;
typedef struct baton_function baton_function;
typedef struct baton_invocation baton_invocation;

uint32_t baton_abi_version(void);
const char* baton_version(void); /* "0.1.0" */

/* Errors. */
baton_status_code baton_status_get_code(const baton_status* status);
const char* baton_status_get_message(const baton_status* status); /* terminated; valid while the status lives */
void baton_status_free(baton_status* status);

/* Modules. Each create gives one reference, dropped by baton_module_release. A context keeps its modules alive. */
baton_status* baton_module_load_file(const char* path, baton_module** out_module);
baton_status* baton_module_load_memory(const void* data, uint64_t size, baton_module** out_module); /* copies */
baton_status* baton_module_from_descriptor(const baton_module_descriptor* descriptor, baton_module** out_module);
baton_status* baton_module_load_plugin(const char* path_entry_parameters, baton_module** out_module); /* as --module= */
void baton_module_release(baton_module* module);
const baton_host* baton_host_table(void); /* for modules compiled into the app */

/* A context: linked modules and their state. Later modules may import from earlier ones. An allocator that has no memory
 * for a context or an invocation ends the process; what programs ask for by size (blobs, lists) may fail. */
baton_status* baton_context_create(baton_module* const* modules, uint64_t module_count,
                                   const baton_allocator* allocator,
                                   baton_context** out_context); /* allocator may be NULL: malloc */
void baton_context_release(baton_context* context);

/* The same with limits for the initializers of modules that are not trusted, 0 for none. What goes beyond fails the
 * creation with the status that a call gets. `cancellation` may be cancelled from another thread meanwhile. */
typedef struct baton_cancellation baton_cancellation;
typedef struct baton_initializer_limits {
  uint32_t struct_size;                   /* sizeof(baton_initializer_limits) that the caller was compiled with */
  uint32_t reserved;                      /* 0 */
  uint64_t instructions;                  /* of each initializer */
  int64_t timeout_ns;                     /* for all of them together, from the call on */
  const baton_cancellation* cancellation; /* or NULL; it outlives the call */
} baton_initializer_limits;
baton_status* baton_context_create_with_limits(baton_module* const* modules, uint64_t module_count,
                                               const baton_allocator* allocator, const baton_initializer_limits* limits,
                                               baton_context** out_context);
/* Reading a module of strangers, with the same limits (instructions are none): large files take their time to prove. */
baton_status* baton_module_load_memory_with_limits(const void* data, uint64_t size,
                                                   const baton_initializer_limits* limits, baton_module** out_module);
baton_status* baton_cancellation_create(baton_cancellation** out_cancellation);
void baton_cancellation_cancel(baton_cancellation* cancellation); /* from any thread; it stays cancelled */
void baton_cancellation_release(baton_cancellation* cancellation);

/* Functions, found once by "function" (in the last module) or "module.function". Valid as long as the context. */
baton_status* baton_context_find(baton_context* context, const char* name, const baton_function** out_function);
/* The same for callers that know what they call: fails, naming both types, unless the function's signature is this one.
 * baton_invocation_invoke takes slots, which carry no types: an f32 that is passed for an i32 is found out here or
 * nowhere. baton_invocation_call looks at every call. */
baton_status* baton_context_find_typed(baton_context* context, const char* name, const char* signature,
                                       const baton_function** out_function);
const char* baton_function_signature(const baton_function* function); /* "iI_f", bytecode/signature.hpp */

/* Calls. Arguments and results stand in the order of the signature, values and references alike; counts must be those
 * of the signature. Reference arguments are borrowed; reference results are owned by the caller. An invocation may be
 * used again and again; a call that suspends is waited for. While it runs it takes no other: a function of the app that
 * calls back into the program makes an invocation of its own, and gets FAILED_PRECONDITION without one. */
baton_status* baton_invocation_create(baton_context* context, baton_invocation** out_invocation);
void baton_invocation_release(baton_invocation* invocation);
baton_status* baton_invocation_invoke(baton_invocation* invocation, const baton_function* function,
                                      const baton_value* arguments, uint64_t argument_count, baton_value* results,
                                      uint64_t result_count);
/* The same with types: a value of another type than the function takes is refused, and results say theirs. */
baton_status* baton_invocation_call(baton_invocation* invocation, const baton_function* function,
                                    const baton_typed_value* arguments, uint64_t argument_count,
                                    baton_typed_value* results, uint64_t result_count);
void baton_invocation_cancel(baton_invocation* invocation); /* from any thread */
/* Calls after a cancellation fail until it is cleared. */
void baton_invocation_clear_cancel(baton_invocation* invocation);
/* How long calls may take from here on, all together; 0 for no limit. A native function in flight ends first, and a
 * workgroup of a kernel on a local device; what such a device has not begun then is left out. */
void baton_invocation_set_timeout(baton_invocation* invocation, int64_t timeout_ns);
/* How many instructions they may execute; 0 for no limit. One that works on many bytes counts once more for each 64. */
void baton_invocation_set_instruction_budget(baton_invocation* invocation, uint64_t instructions);

#ifdef __cplusplus
}
#endif

#endif
