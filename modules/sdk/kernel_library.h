/* Kernels that an app or a module brings and launches itself: a cubin, PTX or fatbin on CUDA, a portable ELF file on
 * the CPU, SPIR-V on Vulkan. Frozen: append only.
 *
 * A library is made from bytes, a file, or what baton_embed_kernels() of CMake put into the program; a kernel is found
 * by its name, and launched with a grid, a workgroup and arguments, which are checked against the parameters that its
 * own code declares. Code is loaded once for each device, at the first launch there, in the device's primary context.
 *
 * An app links Baton::device and calls the functions below; a module that is loaded finds them in the table that
 * baton_host_table()->devices->kernels gives. Functions may be called from any thread; every struct that is passed
 * begins with the size that its filler knows, and bytes that are not filled are zero. since v4 */
#ifndef BATON_MODULES_SDK_KERNEL_LIBRARY_H_
#define BATON_MODULES_SDK_KERNEL_LIBRARY_H_

#include "modules/sdk/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct baton_kernel_library baton_kernel_library;
typedef struct baton_library_kernel baton_library_kernel; /* lives as long as its library */

#define BATON_KERNEL_ON_STREAM 1u   /* `stream` counts, else `device` */
#define BATON_KERNEL_COOPERATIVE 2u /* all workgroups run at the same time, and may wait for each other */
#define BATON_KERNEL_EARLY 4u       /* may begin before what it stands behind is done; the kernel waits for it itself */
#define BATON_KERNEL_DEVICE_OF_STREAM (-1)

/* How a kernel is launched, and on what: a stream of CUDA's (also one that captures), or the queue of a device. */
typedef struct baton_kernel_launch {
  uint32_t struct_size;
  uint32_t flags;        /* BATON_KERNEL_* */
  uint32_t grid[3];      /* workgroups; a zero launches nothing */
  uint32_t block[3];     /* threads of a workgroup; those for the CPU and SPIR-V know theirs: 0, 1 or the same */
  uint32_t cluster[3];   /* workgroups that run together; 0: as compiled */
  uint32_t shared_bytes; /* dynamic shared memory; what is more than the default is allowed for the kernel by itself */
  int32_t priority;      /* greater is more urgent; 0: the stream's */
  int32_t ordinal;       /* the CUDA device of the stream, or BATON_KERNEL_DEVICE_OF_STREAM */
  void* stream;          /* CUstream; 1 is the legacy default stream and 2 the thread's own, as in DLPack */
  baton_device* device;  /* borrowed */
  const baton_fence* wait; /* of a device; both may be NULL */
  const baton_fence* signal;
} baton_kernel_launch;

/* An argument: its bytes, as many as the parameter has; or a range of a buffer. Stands in arrays: never grows. */
#define BATON_KERNEL_BINDING (~UINT64_C(0))
typedef struct baton_kernel_argument {
  const void* data; /* of a range: a baton_binding; slots only where the kernel is recorded */
  uint64_t size;    /* bytes, or BATON_KERNEL_BINDING */
} baton_kernel_argument;

typedef struct baton_kernel_occupancy {
  uint32_t struct_size;
  uint32_t workgroups_per_multiprocessor;
  uint32_t multiprocessors;
  uint32_t block_for_most; /* the workgroup that fills the device best; 0: not known */
} baton_kernel_occupancy;

/* What baton_embed_kernels() writes. */
typedef struct baton_embedded_variant {
  baton_string format;
  const void* begin;
  const void* end;
} baton_embedded_variant;
typedef struct baton_embedded_kernels {
  uint32_t struct_size;
  uint32_t variant_count;
  const baton_embedded_variant* variants;
  const char* name;
  baton_kernel_library** library; /* made once, when a kernel is first asked for; stays until the program ends */
} baton_embedded_kernels;

/* Libraries; each that is given is a reference of the caller's. The bytes are copied; an empty format is recognized from
 * them. Each device takes the variant that fits it best. */
baton_status* baton_kernel_library_make(baton_string name, const baton_executable_variant* variants,
                                        uint64_t variant_count, baton_kernel_library** out_library);
baton_status* baton_kernel_library_load_file(const char* path, baton_kernel_library** out_library);
baton_status* baton_kernel_library_embedded(const baton_embedded_kernels* kernels, baton_kernel_library** out_library);
/* A kernel of Triton's, from what its compiler wrote: <kernel>.json and <kernel>.cubin. A launch gives the grid of
 * programs and the user's arguments; workgroup, shared memory, cluster and hidden pointers are known. */
baton_status* baton_kernel_library_load_triton(const char* metadata_path, const char* cubin_path,
                                               baton_kernel_library** out_library);
baton_status* baton_kernel_library_make_triton(baton_string metadata, const void* cubin, uint64_t cubin_size,
                                               baton_kernel_library** out_library);
/* From source, by NVRTC, which is opened when it is needed (CUDA's toolkit or pip's wheel; no GPU). The log of what
 * failed is in the failure. What was compiled is kept on disk: in the folder $BATON_KERNEL_CACHE (empty: nowhere), else
 * baton/kernels of the user's cache; not where `options` name folders or files to include. */
typedef struct baton_kernel_header {
  baton_string name; /* as the source includes it */
  baton_string text;
} baton_kernel_header;
typedef struct baton_kernel_compile {
  uint32_t struct_size;
  uint32_t option_count;
  baton_string name; /* of the source, for messages */
  baton_string source;
  baton_string arch;           /* "90", "90a"; empty: that of CUDA's first device */
  const baton_string* options; /* "-use_fast_math", "-DBLOCK=64" */
  const baton_kernel_header* headers;
  uint64_t header_count;
} baton_kernel_compile;
baton_status* baton_kernel_library_compile(const baton_kernel_compile* request, baton_kernel_library** out_library);
/* From parts, by nvJitLink: PTX, cubins, objects, archives, fatbins, LTO-IR (with the option "-lto"), recognized from
 * their bytes; a part's format is its name in messages. */
baton_status* baton_kernel_library_link(baton_string name, baton_string arch, const baton_executable_variant* parts,
                                        uint64_t part_count, const baton_string* options, uint64_t option_count,
                                        baton_kernel_library** out_library);
void baton_kernel_library_retain(baton_kernel_library* library);
/* Code that was launched on streams stays loaded: a graph may still hold it. Work on queues keeps what it needs. */
void baton_kernel_library_release(baton_kernel_library* library);
/* Waits for its CUDA devices and takes the code off them; a launch loads it again. The caller knows that no graph holds
 * its kernels and no thread launches them meanwhile. */
baton_status* baton_kernel_library_unload(baton_kernel_library* library);
/* Costs a look into a table when the kernel was found before. NOT_FOUND lists the nearest names. */
baton_status* baton_kernel_library_find(baton_kernel_library* library, baton_string name,
                                        const baton_library_kernel** out_kernel);
/* A variable of the code, as it is on one CUDA device. */
baton_status* baton_kernel_library_global(baton_kernel_library* library, int32_t ordinal, baton_string name,
                                          uint64_t* out_address, uint64_t* out_bytes);

/* Kernels. */
baton_string baton_kernel_name(const baton_library_kernel* kernel); /* valid while it lives */
/* Writes the sizes of the parameters, as many as fit, and how many there are. Only CUDA's code declares them. */
baton_status* baton_kernel_parameters(const baton_library_kernel* kernel, uint64_t* sizes, uint64_t sizes_count,
                                      uint64_t* out_count);
baton_status* baton_kernel_get_occupancy(const baton_library_kernel* kernel, int32_t ordinal, uint32_t threads,
                                         uint32_t shared_bytes, baton_kernel_occupancy* out_occupancy);
/* Returns as soon as the work is enqueued. A launch on a device that is refused fails its `signal`. */
baton_status* baton_kernel_launch_on(const baton_library_kernel* kernel, const baton_kernel_launch* launch,
                                     const baton_kernel_argument* arguments, uint64_t argument_count);
/* As a command of the recording that a custom command makes: ranges of slots are filled by the table of each execution.
 * Of `launch` the stream, the device and the fences are not looked at. */
baton_status* baton_kernel_record(const baton_library_kernel* kernel, baton_command_buffer* commands,
                                  const baton_kernel_launch* launch, const baton_kernel_argument* arguments,
                                  uint64_t argument_count);

typedef struct baton_kernel_table {
  uint32_t struct_size; /* the prefix that this host provides */
  uint32_t reserved;
  baton_status* (*library_make)(baton_string name, const baton_executable_variant* variants, uint64_t variant_count,
                                baton_kernel_library** out_library);
  baton_status* (*library_load_file)(const char* path, baton_kernel_library** out_library);
  baton_status* (*library_embedded)(const baton_embedded_kernels* kernels, baton_kernel_library** out_library);
  void (*library_retain)(baton_kernel_library* library);
  void (*library_release)(baton_kernel_library* library);
  baton_status* (*library_unload)(baton_kernel_library* library);
  baton_status* (*library_find)(baton_kernel_library* library, baton_string name,
                                const baton_library_kernel** out_kernel);
  baton_status* (*library_global)(baton_kernel_library* library, int32_t ordinal, baton_string name,
                                  uint64_t* out_address, uint64_t* out_bytes);
  baton_string (*name)(const baton_library_kernel* kernel);
  baton_status* (*parameters)(const baton_library_kernel* kernel, uint64_t* sizes, uint64_t sizes_count,
                              uint64_t* out_count);
  baton_status* (*get_occupancy)(const baton_library_kernel* kernel, int32_t ordinal, uint32_t threads,
                                 uint32_t shared_bytes, baton_kernel_occupancy* out_occupancy);
  baton_status* (*launch_on)(const baton_library_kernel* kernel, const baton_kernel_launch* launch,
                             const baton_kernel_argument* arguments, uint64_t argument_count);
  baton_status* (*record)(const baton_library_kernel* kernel, baton_command_buffer* commands,
                          const baton_kernel_launch* launch, const baton_kernel_argument* arguments,
                          uint64_t argument_count);
  baton_status* (*library_load_triton)(const char* metadata_path, const char* cubin_path,
                                       baton_kernel_library** out_library);
  baton_status* (*library_make_triton)(baton_string metadata, const void* cubin, uint64_t cubin_size,
                                       baton_kernel_library** out_library);
  baton_status* (*library_compile)(const baton_kernel_compile* request, baton_kernel_library** out_library);
  baton_status* (*library_link)(baton_string name, baton_string arch, const baton_executable_variant* parts,
                                uint64_t part_count, const baton_string* options, uint64_t option_count,
                                baton_kernel_library** out_library);
} baton_kernel_table;

const baton_kernel_table* baton_kernel_functions(void);

/* The kernel of an embedded library, kept in `*cache`; NULL with the failure in `*out_status`. */
const baton_library_kernel* baton_kernel_embedded(const baton_embedded_kernels* kernels, const char* name,
                                                  const baton_library_kernel** cache, baton_status** out_status);

#ifdef __cplusplus
}
#endif

/* What was embedded, after #include "<name>_kernels.h". */
#define BATON_EMBEDDED_LIBRARY(name) baton_embedded_kernels_##name

/* An argument from a variable of the type that the kernel takes. */
#define BATON_KERNEL_VALUE(variable) \
  { &(variable), sizeof(variable) }

/* For apps in C, after #include "<name>_kernels.h": a kernel of them, looked for once for each place that this stands
 * in; NULL with the failure in `*out_status`. (kernel_library.hpp has the same for C++.) */
#ifndef __cplusplus
#define BATON_EMBEDDED_KERNEL(name, kernel, out_status)                                                       \
  (__extension__({                                                                                            \
    static const baton_library_kernel* baton_cached_;                                                         \
    const baton_library_kernel* baton_known_ = __atomic_load_n(&baton_cached_, __ATOMIC_ACQUIRE);             \
    baton_known_ ? (*(out_status) = NULL, baton_known_)                                                       \
                 : baton_kernel_embedded(&baton_embedded_kernels_##name, kernel, &baton_cached_, out_status); \
  }))
#endif

#endif
