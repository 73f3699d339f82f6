/* Devices and what they make, as a module sees them: buffers, tensors, fences, executables. Frozen: append only.
 *
 * The structs below are opaque, and each is a baton_object of the type that the table names: cast a pointer to
 * baton_object* to retain and release it, and cast an object back once its type is known. What a function gives in
 * `out` is owned by the caller. Results are written only on success. Every function may be called from any thread. */
#ifndef BATON_MODULES_SDK_DEVICE_H_
#define BATON_MODULES_SDK_DEVICE_H_

#include <stdint.h>

#include "modules/sdk/object.h"
#include "modules/sdk/status.h"
#include "modules/sdk/value.h"

typedef struct baton_device baton_device;
typedef struct baton_buffer baton_buffer;
typedef struct baton_buffer_view baton_buffer_view; /* a buffer with shape and element type: what tensors cross as */
typedef struct baton_fence baton_fence;             /* points in time that are waited for or signalled together */
typedef struct baton_executable baton_executable;   /* loaded device code with entry points */

struct baton_kernel_table;

#define BATON_WHOLE_LENGTH (~UINT64_C(0)) /* up to the end */
#define BATON_WAIT_FOREVER (-1)

/* The memory that a buffer is allocated from. */
#define BATON_MEMORY_DEVICE_LOCAL 1u
#define BATON_MEMORY_HOST_VISIBLE 2u /* can be mapped */
#define BATON_MEMORY_HOST_CACHED 4u

/* What a buffer may be used for. */
#define BATON_USAGE_TRANSFER_SOURCE 1u
#define BATON_USAGE_TRANSFER_TARGET 2u
#define BATON_USAGE_DISPATCH_READ 4u
#define BATON_USAGE_DISPATCH_WRITE 8u
#define BATON_USAGE_INDIRECT_GRID 16u
#define BATON_USAGE_MAPPING 32u
#define BATON_USAGE_ALL 63u

#define BATON_ACCESS_READ 1u
#define BATON_ACCESS_WRITE 2u
#define BATON_ACCESS_READ_WRITE 3u
/* Of mappings, beside WRITE: what the memory held is not wanted, and what is left unwritten may be anything. */
#define BATON_ACCESS_DISCARD 4u

/* Element types of tensors: class << 8 | bits. */
#define BATON_ELEMENT_I1 0x0101u /* one byte each */
#define BATON_ELEMENT_I8 0x0108u
#define BATON_ELEMENT_I16 0x0110u
#define BATON_ELEMENT_I32 0x0120u
#define BATON_ELEMENT_I64 0x0140u
#define BATON_ELEMENT_S8 0x0208u
#define BATON_ELEMENT_S16 0x0210u
#define BATON_ELEMENT_S32 0x0220u
#define BATON_ELEMENT_S64 0x0240u
#define BATON_ELEMENT_U8 0x0308u
#define BATON_ELEMENT_U16 0x0310u
#define BATON_ELEMENT_U32 0x0320u
#define BATON_ELEMENT_U64 0x0340u
#define BATON_ELEMENT_F16 0x0410u
#define BATON_ELEMENT_F32 0x0420u
#define BATON_ELEMENT_F64 0x0440u
#define BATON_ELEMENT_BF16 0x0510u

#define BATON_ENCODING_OPAQUE 0u
#define BATON_ENCODING_DENSE_ROW_MAJOR 1u

typedef struct baton_buffer_request {
  uint32_t struct_size;
  uint32_t memory; /* BATON_MEMORY_* */
  uint32_t usage;  /* BATON_USAGE_* */
  uint32_t reserved;
  uint64_t length; /* bytes */
} baton_buffer_request;

typedef struct baton_buffer_view_request {
  uint32_t struct_size;
  uint32_t element_type; /* BATON_ELEMENT_* */
  uint32_t encoding;     /* BATON_ENCODING_* */
  uint32_t rank;
  const int64_t* shape;
} baton_buffer_view_request;

/* One form of the same code; the device takes the most specific that it can run. Stands in arrays: never grows. */
typedef struct baton_executable_variant {
  baton_string format; /* "embedded-elf-x86_64", "static-library", "cuda-sm_90" */
  const void* data;    /* used in place: lives as long as the executable */
  uint64_t size;
} baton_executable_variant;

typedef struct baton_executable_request {
  uint32_t struct_size;
  uint32_t variant_count;
  const baton_executable_variant* variants;
  baton_string name;         /* for messages and traces */
  const uint32_t* constants; /* specialization */
  uint64_t constant_count;
} baton_executable_request;

/* How an entry point is to be launched, and the layout that the module assumes; where code and device know, both are
 * checked. Stands in arrays: never grows. since v3 */
#define BATON_LAUNCH_LAYOUT_KNOWN 1u /* constant_count and binding_count are to be checked */
#define BATON_LAUNCH_COOPERATIVE 2u  /* all workgroups run at the same time, and may wait for each other */
#define BATON_LAUNCH_EARLY 4u /* may begin before what it stands behind is done; the kernel waits for it itself */
typedef struct baton_entry_point {
  baton_string name;
  uint32_t flags; /* BATON_LAUNCH_* */
  uint32_t constant_count;
  uint32_t binding_count;
  uint32_t workgroup_size[3];
  uint32_t local_memory_bytes;    /* beside what the code has */
  uint32_t cluster_size[3];       /* workgroups that run together; 0: as compiled */
  uint32_t local_memory_carveout; /* how much of the fast memory is to be local, in percent and one more; 0: not set */
  int32_t priority;               /* greater is more urgent; 0: the queue's */
} baton_entry_point;

/* A request with such entry points. since v3 */
typedef struct baton_executable_request_v3 {
  baton_executable_request request; /* its struct_size is that of the whole; what executable_make is given */
  const baton_entry_point* entry_points;
  uint64_t entry_point_count;
} baton_executable_request_v3;

/* A buffer's bytes on the host, from buffer_map to buffer_unmap. */
typedef struct baton_mapping {
  void* data;
  uint64_t size;
  void* self; /* the host's */
} baton_mapping;

typedef struct baton_device_table {
  uint32_t struct_size; /* the prefix that this host provides */
  uint32_t reserved;

  /* The types that programs know as hal.device and so on. since v2 */
  const baton_object_type* device_type;
  const baton_object_type* buffer_type;
  const baton_object_type* buffer_view_type;
  const baton_object_type* fence_type;
  const baton_object_type* executable_type;

  /* Devices. since v2 */
  /* The same for all objects that stand for one device, and for no other device that is alive. */
  const void* (*device_identity)(const baton_device* device);
  baton_string (*device_name)(const baton_device* device); /* "local-sync", "cuda://0"; valid while it lives */
  baton_status* (*device_query)(baton_device* device, baton_string category, baton_string key, int64_t* out_value);

  /* Executables. since v2 */
  baton_status* (*executable_make)(baton_device* device, const baton_executable_request* request,
                                   baton_executable** out);
  /* What the app registered under `name`. NOT_FOUND lists what there is. */
  baton_status* (*executable_lookup)(baton_device* device, baton_string name, baton_executable** out);
  baton_status* (*executable_entry_point)(const baton_executable* executable, baton_string name, uint32_t* out_index);

  /* Buffers. since v2 */
  baton_status* (*buffer_allocate)(baton_device* device, const baton_buffer_request* request, baton_buffer** out);
  baton_status* (*buffer_subspan)(baton_buffer* buffer, uint64_t offset, uint64_t length, baton_buffer** out);
  uint64_t (*buffer_length)(const baton_buffer* buffer);
  baton_status* (*buffer_device)(baton_buffer* buffer, baton_device** out);
  /* The caller has waited for what makes the contents its own. `access` is BATON_ACCESS_*. */
  baton_status* (*buffer_map)(baton_buffer* buffer, uint32_t access, uint64_t offset, uint64_t length,
                              baton_mapping* out);
  void (*buffer_unmap)(baton_mapping* mapping); /* of an empty mapping: nothing */

  /* Buffer views. since v2 */
  baton_status* (*buffer_view_make)(baton_buffer* buffer, const baton_buffer_view_request* request,
                                    baton_buffer_view** out);
  baton_buffer* (*buffer_view_buffer)(baton_buffer_view* view); /* owned by the caller */
  uint32_t (*buffer_view_element_type)(const baton_buffer_view* view);
  uint32_t (*buffer_view_encoding)(const baton_buffer_view* view);
  const int64_t* (*buffer_view_shape)(const baton_buffer_view* view, uint64_t* out_rank); /* valid while it lives */

  /* Fences. NULL counts as passed, and may be signalled and failed without effect. since v2 */
  baton_status* (*fence_make)(baton_device* device, baton_fence** out); /* not passed yet */
  /* Ok once passed, the failure, or DEADLINE_EXCEEDED. 0 only looks; negative: without limit. */
  baton_status* (*fence_wait)(const baton_fence* fence, int64_t timeout_ns);
  baton_status* (*fence_signal)(const baton_fence* fence);
  void (*fence_fail)(const baton_fence* fence, const baton_status* why); /* `why` stays the caller's */
  /* Calls `ready` once, when the fence is passed (NULL) or failed (borrowed for the call): from within when that is
   * now, else from the thread that signals; it must not wait there. */
  void (*fence_on_ready)(const baton_fence* fence, void (*ready)(void* data, const baton_status* failure), void* data);

  /* Operations that the device's queue runs when `wait` is passed; `signal` is passed when they are done, or failed
   * with what went wrong. since v2 */
  baton_status* (*queue_allocate)(baton_device* device, const baton_fence* wait, const baton_fence* signal,
                                  const baton_buffer_request* request, baton_buffer** out);
  baton_status* (*queue_free)(baton_device* device, const baton_fence* wait, const baton_fence* signal,
                              baton_buffer* buffer);
  baton_status* (*queue_barrier)(baton_device* device, const baton_fence* wait, const baton_fence* signal);

  /* Kernels that a module brings and launches itself: kernel_library.h. NULL in a host that was linked without them.
   * since v4 */
  const struct baton_kernel_table* (*kernels)(void);
} baton_device_table;

#endif
