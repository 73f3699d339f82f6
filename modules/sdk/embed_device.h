/* Baton for C programs, with devices: open them, give them to programs, bring tensors in and out. Link with
 * Baton::device. Frozen: append only.
 *
 * Devices, tensors and what else device.h names are counted objects: baton_object_release((baton_object*)device) drops
 * one, and a program keeps what it uses. The table behind baton_host_table()->devices does the rest: fences, buffers,
 * executables. Threads: every function may be called from any thread. */
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
/* The elements of a tensor, copied to `target`, whose size must be theirs. */
baton_status* baton_buffer_view_download(const baton_buffer_view* view, void* target, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
