/* The structs in which frameworks hand tensors to each other without copying (DLPack, major version 1, and the form
 * before it). The layout is theirs and frozen; the names are ours, so that this header and theirs may be included
 * together. */
#ifndef BATON_HAL_DLPACK_H_
#define BATON_HAL_DLPACK_H_

#include <stdint.h>

/* baton_dl_device.type */
#define BATON_DL_CPU 1
#define BATON_DL_CUDA 2
#define BATON_DL_CUDA_HOST 3
#define BATON_DL_VULKAN 7
#define BATON_DL_CUDA_MANAGED 13

/* baton_dl_type.code */
#define BATON_DL_INT 0
#define BATON_DL_UINT 1
#define BATON_DL_FLOAT 2
#define BATON_DL_BFLOAT 4
#define BATON_DL_COMPLEX 5
#define BATON_DL_BOOL 6

/* baton_dl_managed_tensor.flags */
#define BATON_DL_READ_ONLY (UINT64_C(1) << 0)
#define BATON_DL_IS_COPIED (UINT64_C(1) << 1)

#define BATON_DL_MAJOR_VERSION 1u
#define BATON_DL_MINOR_VERSION 0u

typedef struct baton_dl_device {
  int32_t type;
  int32_t id;
} baton_dl_device;

typedef struct baton_dl_type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} baton_dl_type;

typedef struct baton_dl_tensor {
  void* data;
  baton_dl_device device;
  int32_t rank;
  baton_dl_type type;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL: dense, the last dimension running fastest */
  uint64_t byte_offset;
} baton_dl_tensor;

/* DLManagedTensorVersioned. Whoever takes it calls `destroy` once, when it needs the memory no more. */
typedef struct baton_dl_managed_tensor {
  struct {
    uint32_t major;
    uint32_t minor;
  } version;
  void* manager;
  void (*destroy)(struct baton_dl_managed_tensor* self);
  uint64_t flags;
  baton_dl_tensor tensor;
} baton_dl_managed_tensor;

/* DLManagedTensor, without a version. */
typedef struct baton_dl_legacy_tensor {
  baton_dl_tensor tensor;
  void* manager;
  void (*destroy)(struct baton_dl_legacy_tensor* self);
} baton_dl_legacy_tensor;

#endif
