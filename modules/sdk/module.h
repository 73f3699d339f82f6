/* A native module: what it is called, what it exports, what state it keeps. Frozen: append only.
 *
 * The same descriptor serves a module compiled into the host app (baton_context_options in embed.h, or
 * baton::modules::NativeModule) and a shared library that exports one query function. C++ authors write a class and let
 * module.hpp fill this in. */
#ifndef BATON_MODULES_SDK_MODULE_H_
#define BATON_MODULES_SDK_MODULE_H_

#include "modules/sdk/host.h"

/* One call from a program. Slots are the program's registers, read and written in place.
 *
 * `values` holds the value arguments in order and `refs` the reference arguments; value results are written to
 * values[0..] and reference results to refs[0..], each in its own order, after the arguments they overwrite have been
 * read. Reference arguments are borrowed: they are in the slots, and the program releases what is left there when the
 * call returns. To return an object call baton_call_set_ref, which releases what the slot held and stores an owned
 * reference.
 *
 * A variadic segment's elements follow each other in their banks; segments[k] is how many the k-th one has. */
typedef struct baton_call {
  void* state; /* made by create_state for this context; NULL without it */
  void* data;  /* from the export */
  baton_value* values;
  baton_object** refs;
  const uint16_t* segments;
  /* To suspend, store an owned waitable object here and return NULL: once it is ready the function is called again with
   * the same slots and that object in `resumed`. since v1 */
  baton_object* pending;
  baton_object* resumed; /* borrowed; NULL on the first call. since v1 */
} baton_call;

static inline void baton_call_set_ref(baton_call* call, uint32_t index, baton_object* owned) {
  baton_object* previous = call->refs[index];
  call->refs[index] = owned;
  baton_object_release(previous);
}

typedef baton_status* (*baton_body)(baton_call* call);

/* Traits of an export: what a host may rely on when it records a custom command or calls a function. */
/* The first four are reserved: a module may state them, and no host acts on them yet. What a command does is seen in
 * what it records: drivers split a recording at its host calls, and look at each capture themselves. */
#define BATON_TRAIT_PURE (UINT64_C(1) << 0)         /* reserved: no effect but its results */
#define BATON_TRAIT_CAPTURE_SAFE (UINT64_C(1) << 1) /* reserved: may run while a device graph is being captured */
#define BATON_TRAIT_HOST_ONLY (UINT64_C(1) << 2)    /* reserved: works on the host */
#define BATON_TRAIT_IN_PLACE (UINT64_C(1) << 3)     /* reserved: results may share storage with arguments */
#define BATON_TRAIT_COMMAND (UINT64_C(1) << 4)      /* records into its first argument (recording.h). since v2 */
/* Takes no reference argument out of its slot, and replaces none but by a result: callers may lend theirs without
 * counting. A host that does not know it counts. */
#define BATON_TRAIT_LEAVES_ARGUMENTS (UINT64_C(1) << 5)
/* Of a command: it expects the element type and the rank of a tensor in its slot (recording.h). For a command without
 * this trait the host clears them, so that its slots stay what they were. */
#define BATON_TRAIT_TYPED_TENSORS (UINT64_C(1) << 6)
/* Of a command: what its foreign functions ask for cannot be captured, because they wait for the device or allocate. A
 * recording that holds it is enqueued command by command, on a thread that may wait, and never becomes a graph. A host
 * that does not know it captures, and names the command that broke it. */
#define BATON_TRAIT_NOT_CAPTURED (UINT64_C(1) << 7)

typedef struct baton_export {
  const char* name;      /* without the module's name: "string.print" */
  const char* signature; /* bytecode/signature.hpp: "r<custom.string>_v" */
  baton_body body;
  void* data;
  uint64_t traits;
} baton_export;

struct baton_device; /* comes with the HAL */

typedef struct baton_module_descriptor {
  uint32_t struct_size; /* sizeof(baton_module_descriptor) that the module was compiled with */
  uint32_t abi_version; /* BATON_ABI_VERSION of the same */
  const char* name;
  uint32_t version;
  uint32_t export_stride; /* sizeof(baton_export) of the same: exports may grow */
  const baton_export* exports;
  uint64_t export_count;
  const baton_object_type* const* types; /* the reference types that this module provides */
  uint64_t type_count;
  void* self;                  /* passed to the functions below; shared by all contexts */
  void (*destroy)(void* self); /* the module is gone; may be NULL */
  /* State for one context. Both may be NULL: then calls have a NULL state. */
  baton_status* (*create_state)(void* self, const baton_allocator* allocator, void** out_state);
  void (*destroy_state)(void* self, void* state);
  /* Loads, allocates and builds what calls will need on a device; runs once for each state and device, before the first
   * custom command of the module is recorded there. Its failure fails that call, and the next one asks again. Or NULL.
   */
  baton_status* (*prepare)(void* state, struct baton_device* device);
} baton_module_descriptor;

/* `--module=plugin.so?key=value` gives one of these. */
typedef struct baton_parameter {
  baton_string key;
  baton_string value;
} baton_parameter;

/* The one symbol that a plugin exports, unless `--module=plugin.so@name` names another of the same type. The host table
 * outlives the module. The descriptor belongs to the plugin until `destroy` is called. */
typedef baton_status* (*baton_module_query)(const baton_host* host, uint64_t parameter_count,
                                            const baton_parameter* parameters,
                                            const baton_module_descriptor** out_descriptor);
#define BATON_MODULE_QUERY_SYMBOL "baton_module_query_v1"

#if defined(_WIN32)
#define BATON_EXPORT __declspec(dllexport)
#else
#define BATON_EXPORT __attribute__((visibility("default")))
#endif

#endif
