/* What a module may ask of the program that hosts it. Frozen: entries are only appended; a removed one stays as NULL.
 *
 * A plugin may use an entry only when struct_size covers it. Every function may be called from any
 * thread unless its comment says otherwise. */
#ifndef BATON_MODULES_SDK_HOST_H_
#define BATON_MODULES_SDK_HOST_H_

#include <stddef.h>
#include <stdint.h>

#include "modules/sdk/object.h"
#include "modules/sdk/status.h"
#include "modules/sdk/value.h"
#include "modules/sdk/version.h"

typedef struct baton_allocator {
  void* self;
  void* (*allocate_bytes)(void* self, size_t size, size_t alignment, int zeroed);
  void (*free_bytes)(void* self, void* memory);
} baton_allocator;

struct baton_device_table;
struct baton_recording_table;

typedef struct baton_host {
  uint32_t struct_size; /* the prefix that this host provides */
  uint32_t abi_version;

  /* Statuses. since v1 */
  baton_status* (*status_make)(baton_status_code code, baton_string message);
  void (*status_free)(baton_status* status);
  baton_status_code (*status_code)(const baton_status* status);
  baton_string (*status_message)(const baton_status* status); /* valid while the status lives */

  /* Blobs: host bytes that programs read and write. since v1 */
  const baton_object_type* blob_type;
  baton_object* (*blob_make)(uint64_t size); /* zeroed; one reference, owned by the caller */
  /* Over memory of the caller, which release(release_data) gives back when the last reference goes; release may be
   * NULL. */
  baton_object* (*blob_wrap)(void* data, uint64_t size, int32_t writable, void (*release)(void* release_data),
                             void* release_data);
  /* The bytes of a blob; `*out_writable` tells whether they may be changed. The object must be of blob_type. */
  void* (*blob_bytes)(baton_object* blob, uint64_t* out_size, int32_t* out_writable);

  /* Lists. Types are the letters of signature text: i I f F r. Externally synchronized. since v1 */
  const baton_object_type* list_type;
  baton_object* (*list_make)(uint64_t capacity);
  uint64_t (*list_size)(baton_object* list);
  /* References are borrowed from the list by get and retained by set and push. */
  baton_status* (*list_get)(baton_object* list, uint64_t index, char* out_type, baton_value* out_value);
  baton_status* (*list_set)(baton_object* list, uint64_t index, char type, baton_value value);
  baton_status* (*list_push)(baton_object* list, char type, baton_value value);

  /* Host memory, from the allocator that the app chose. since v1 */
  const baton_allocator* allocator;

  /* Devices, and recording into their command buffers: device.h, recording.h. NULL in a host without devices. since v2
   */
  const struct baton_device_table* devices;
  const struct baton_recording_table* recording;
} baton_host;

#endif
