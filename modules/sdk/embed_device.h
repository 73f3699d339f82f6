/* Baton for C programs, with devices: open them, give them to programs, bring tensors in and out. Link with
 * Baton::device. Frozen: append only.
 *
 * Devices, tensors and the other things of device.h are counted objects: baton_object_release((baton_object*)device) drops
 * one, and a program keeps what it uses. The table behind baton_host_table()->devices does the rest: fences, buffers,
 * executables.
 * Threads: every function may be called from any thread. */
#ifndef BATON_MODULES_SDK_EMBED_DEVICE_H_
#define BATON_MODULES_SDK_EMBED_DEVICE_H_

#include "modules/sdk/device.h"
#include "modules/sdk/embed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What --device= takes: "local-sync", "local-task?workers=4", "cuda://0", "null". */
baton_status* baton_device_open(const char* uri, baton_device** out_device);

/* The module "hal" over these devices, which programs see in this order; it stands before them in
 * baton_context_create. */
baton_status* baton_module_create_hal(baton_device* const* devices, uint64_t device_count, baton_module** out_module);

/* A tensor as programs take it, in a new buffer of the device; `data` has the elements densely, row by row, and is
 * copied. `element_type` is a BATON_ELEMENT_* of device.h. */
baton_status* baton_buffer_view_upload(baton_device* device, uint32_t element_type, const int64_t* shape, uint64_t rank,
                                       const void* data, uint64_t size, baton_buffer_view** out_view);
/* The elements of a tensor, copied to `target`, whose size must be theirs. A tensor does not keep its device alive:
 * hold the device for as long as the tensor is read. */
baton_status* baton_buffer_view_download(const baton_buffer_view* view, void* target, uint64_t size);

/* A tensor of one device for another: the same memory, which both may use from here on. Fails, naming both, where the
 * device cannot reach it. The order of what the two do is that of fences. */
baton_status* baton_buffer_view_import_peer(baton_device* device, const baton_buffer_view* view,
                                            baton_buffer_view** out_view);

/* Tensors of other frameworks come and go in place, as DLPack has them; the structs are those of its dlpack.h. A tensor
 * that came in is destroyed, from any thread, when nothing holds the view any more and the device is through with it;
 * if the call failed it stays the caller's. One that went out is the caller's to destroy.
 *
 * `stream` is the framework's stream that makes the contents, or will use them, as DLPack says: a CUDA stream's handle,
 * 1 for the legacy default stream, 2 for the thread's own. What the device is given from here on begins after what is
 * on that stream; what is put on it from here on begins when `ready` is passed or, with NULL, when all is done that the
 * device was given so far. No thread of the host waits. For a tensor that goes out it must live until the tensor is
 * destroyed. With BATON_NO_STREAM the contents are there, and the framework is through with them when it destroys. */
#define BATON_NO_STREAM INT64_C(-1)
struct DLManagedTensor;
struct DLManagedTensorVersioned;
baton_status* baton_buffer_view_import_dlpack(baton_device* device, struct DLManagedTensorVersioned* tensor,
                                              int64_t stream, baton_buffer_view** out_view);
baton_status* baton_buffer_view_import_dlpack_legacy(baton_device* device, struct DLManagedTensor* tensor,
                                                     int64_t stream, baton_buffer_view** out_view);
baton_status* baton_buffer_view_export_dlpack(baton_device* device, const baton_buffer_view* view,
                                              const baton_fence* ready, int64_t stream,
                                              struct DLManagedTensorVersioned** out_tensor);
baton_status* baton_buffer_view_export_dlpack_legacy(baton_device* device, const baton_buffer_view* view,
                                                     const baton_fence* ready, int64_t stream,
                                                     struct DLManagedTensor** out_tensor);

/* Tensors of the host's, for calls that take and give nothing else. The elements are dense, row by row. */
#define BATON_TENSOR_RANK_MAX 8
typedef struct baton_tensor {
  uint32_t element_type; /* BATON_ELEMENT_* */
  uint32_t rank;
  int64_t shape[BATON_TENSOR_RANK_MAX];
  void* data;
  uint64_t size; /* Of data, in bytes. */
} baton_tensor;

/* Calls a function whose parameters and results are tensors and waits for it: inputs are copied to the device, and its
 * results to where `outputs` say: `data` and `size` are the room that there is; type, shape and the size that was used
 * are written. What the program declares is compared with what is given, and what differs is told in words. A result
 * that is larger than its room fails the call. Looks the function up and makes an invocation in each call: for programs
 * that are called often there are baton_context_find and baton_invocation_invoke. */
baton_status* baton_call_tensors(baton_context* context, baton_device* device, const char* function,
                                 const baton_tensor* inputs, uint64_t input_count, baton_tensor* outputs,
                                 uint64_t output_count);

/* A timeline of what programs and devices do, for Perfetto and chrome://tracing. Devices that are opened with it tell
 * it what they run; calls of an invocation that has it are on it too. It outlives them all. */
typedef struct baton_trace baton_trace;
baton_status* baton_trace_create(baton_trace** out_trace);
void baton_trace_release(baton_trace* trace);
baton_status* baton_device_open_traced(const char* uri, baton_trace* trace, baton_device** out_device);
/* NULL for no more. One call of the invocation at a time, as ever. */
void baton_invocation_set_trace(baton_invocation* invocation, baton_trace* trace);
/* Once what it should hold is done. */
baton_status* baton_trace_write(baton_trace* trace, const char* path);

/* From here on a signal that ends the process inside a kernel of a local device (SIGSEGV, SIGBUS, SIGILL, SIGFPE) first
 * says on standard error which kernel, which workgroup and what the address has to do with its bindings; then it goes to
 * whoever handled it before. Once for a process; more change nothing. */
void baton_name_kernel_crashes(void);

/* Device code with functions that kernels of programs import. For CUDA: PTX, a relocatable cubin, a fatbin, an object, an
 * archive or, where nvJitLink is on the machine, LTO-IR. For Vulkan: SPIR-V. It is copied. */
typedef struct baton_device_functions {
  const char* name; /* For messages: the file it came from. */
  const void* data;
  uint64_t size;
} baton_device_functions;

/* A function of the app that kernels for local devices import by name; what it gets is as in a plugin of
 * --executable_plugin=: `params` points to a struct of the results, then the arguments; what is not 0 fails the dispatch.
 * It is called from any thread, several at once. */
typedef struct baton_kernel_import {
  const char* name;
  int (*function)(void* params, void* context, void* reserved);
  void* context;
} baton_kernel_import;

/* Kernels that are linked into the app, as hal/drivers/local/executable_library.h describes them: programs for local
 * devices name them with the format "static-library" and this name as data. */
struct baton_executable_environment;
struct baton_executable_library;
typedef struct baton_linked_kernels {
  const char* name;
  const struct baton_executable_library* (*query)(uint32_t max_version,
                                                  const struct baton_executable_environment* environment);
} baton_linked_kernels;

/* Kernels in memory that programs ask for by name, as --executable=name=file gives them: a variant each, of which the
 * device takes what fits it best. `format` is what it is: "embedded-elf-x86_64", "system-elf-x86_64", "cuda-ptx",
 * "cuda-fatbin", "spirv". It is copied. */
typedef struct baton_named_executable {
  const char* name;
  const char* format;
  const void* data;
  uint64_t size;
} baton_named_executable;

/* What baton_embed_kernels() put into the app, for programs that ask for it by name: `kernels` is
 * &BATON_EMBEDDED_LIBRARY(name) after #include "<name>_kernels.h". Without a name it is that under which they were
 * embedded. Used in place. */
struct baton_embedded_kernels;
typedef struct baton_embedded_executable {
  const char* name;
  const struct baton_embedded_kernels* kernels;
} baton_embedded_executable;

/* How a device is opened. Zero everywhere but in the first field opens it as baton_device_open does. */
typedef struct baton_device_options {
  uint32_t struct_size; /* sizeof(baton_device_options) that the caller was compiled with */
  uint32_t function_count;
  baton_trace* trace; /* As baton_device_open_traced has it, or NULL. */
  /* Linked on devices of CUDA and Vulkan with programs that import functions, when those are loaded: a function that nobody has, or that
   * two of these have, fails the load. Other devices refuse them. */
  const baton_device_functions* functions;
  /* From here on for local devices, which alone have such kernels: others refuse them. Fields that `struct_size` leaves out
   * are zero. */
  uint32_t plugin_count;
  uint32_t import_count;
  uint32_t linked_kernel_count;
  uint32_t executable_count;          /* For all devices. */
  const char* const* plugins;         /* "plugin.so?key=value", as --executable_plugin= takes them. */
  const baton_kernel_import* imports; /* Asked for what no plugin has. */
  const baton_linked_kernels* linked_kernels;
  const baton_named_executable* executables;
  uint32_t embedded_count; /* For all devices, like `executables`. */
  uint32_t reserved;
  const baton_embedded_executable* embedded;
} baton_device_options;
baton_status* baton_device_open_with(const char* uri, const baton_device_options* options, baton_device** out_device);

/* Ranks: processes that run a program together. A process is one rank, which it is told by the environment (mpirun, srun,
 * or BATON_RANK, BATON_RANKS and BATON_STORE), or here, before its first program asks for a channel. All programs of the
 * process meet the other ranks in one store: "file:/directory", "tcp://host:port", where rank 0 serves it, or with NULL
 * BATON_STORE's, or that of the ranks which one process started on this machine. `timeout_ns` is how long a rank waits
 * for the others; 0: the environment's. Where nothing says it there is one rank. Fails when the process is another rank
 * by then. */
baton_status* baton_ranks_join(uint32_t rank, uint32_t rank_count, const char* store, int64_t timeout_ns);
/* The module "collective", which compiled programs of several ranks import. Looks for the ranks. */
baton_status* baton_module_create_collective(baton_module** out_module);

#ifdef __cplusplus
}
#endif

#endif
