/* What a custom command receives: the command buffer that a program is recording, and the verbs to record into it.
 * Frozen: append only.
 *
 * A custom command is an export with BATON_TRAIT_COMMAND. Its first argument is the command buffer (refs[0], an object
 * of command_buffer_type); then each tensor is four arguments: slot (i64), buffer (a reference, null when the slot
 * counts), offset and length in bytes (i64; length -1: to the end); scalars stand in their places. Bits 32 and 33 of
 * the slot are how the memory is used (BATON_ACCESS_*, 0: unknown). So alpha * x + y is
 * "r<hal.command_buffer>fIr<hal.buffer>IIIr<hal.buffer>II_v".
 *
 * The command buffer takes commands only while the export that received it runs. A recording is made once and executed
 * many times, each time with a table that fills its slots: so a command records what is to happen, and does none of it
 * itself. Functions may be called by the thread of the call only. Every struct begins with the size that its filler
 * knows. */
#ifndef BATON_MODULES_SDK_RECORDING_H_
#define BATON_MODULES_SDK_RECORDING_H_

#include "modules/sdk/device.h"

/* The parts of a tensor's slot argument. The element type (BATON_ELEMENT_*, 0: unknown) and the rank are there for
 * commands with BATON_TRAIT_TYPED_TENSORS when the program states them, as compiled programs do. */
#define BATON_SLOT_INDEX(slot) ((uint32_t)(slot))
#define BATON_SLOT_ACCESS(slot) ((uint32_t)((uint64_t)(slot) >> 32 & 3))
#define BATON_SLOT_ELEMENT_TYPE(slot) ((uint32_t)((uint64_t)(slot) >> 34 & 0xffff))
#define BATON_SLOT_RANK(slot) ((uint32_t)((uint64_t)(slot) >> 50 & 0x3f))

typedef struct baton_command_buffer baton_command_buffer; /* a baton_object of command_buffer_type */

/* A range of memory that a command works on. Transfers write nothing that is only to be read. Stands in arrays: never
 * grows. */
typedef struct baton_binding {
  baton_buffer* buffer; /* borrowed; NULL: the slot counts */
  uint32_t slot;        /* filled by the table of each execution */
  uint32_t access;      /* BATON_ACCESS_*; 0 is read and write. Transfers know theirs. */
  uint64_t offset;
  uint64_t length; /* BATON_WHOLE_LENGTH: to the end; transfers must know theirs */
} baton_binding;

/* A constant that the table of each execution fills. Stands in arrays: never grows. */
typedef struct baton_constant_slot {
  uint32_t constant; /* index in the command's constants */
  uint32_t slot;     /* constant slot of the recording */
} baton_constant_slot;

/* Repeats the low 1, 2, 4 or 8 bytes of a pattern. */
typedef struct baton_fill_buffer {
  uint32_t struct_size;
  uint32_t pattern_bytes;
  uint64_t pattern;
  baton_binding target;
} baton_fill_buffer;

/* Writes bytes that are copied into the recording. */
typedef struct baton_update_buffer {
  uint32_t struct_size;
  uint32_t reserved;
  const void* source;
  uint64_t source_size;
  baton_binding target;
} baton_update_buffer;

typedef struct baton_copy_buffer {
  uint32_t struct_size;
  uint32_t reserved;
  baton_binding source;
  baton_binding target;
} baton_copy_buffer;

/* Runs an entry point over a grid of workgroups. */
typedef struct baton_dispatch {
  uint32_t struct_size;
  uint32_t entry_point;
  baton_executable* executable;
  uint32_t grid[3]; /* workgroups in x, y, z */
  uint32_t constant_count;
  const uint32_t* constants;
  const baton_binding* bindings;
  const baton_constant_slot* constant_slots;
  uint32_t binding_count;
  uint32_t constant_slot_count;
} baton_dispatch;

/* A dispatch whose grid (three uint32_t) is read from memory when it runs. */
typedef struct baton_dispatch_indirect {
  uint32_t struct_size;
  uint32_t entry_point;
  baton_executable* executable;
  baton_binding grid;
  const uint32_t* constants;
  const baton_binding* bindings;
  const baton_constant_slot* constant_slots;
  uint32_t constant_count;
  uint32_t binding_count;
  uint32_t constant_slot_count;
  uint32_t reserved;
} baton_dispatch_indirect;

/* What was recorded before is done before what is recorded after begins. Between two barriers commands are unordered.
 */
typedef struct baton_barrier {
  uint32_t struct_size;
  uint32_t binding_count;
  const baton_binding* bindings; /* none: all memory */
} baton_barrier;

typedef struct baton_bytes {
  void* data;
  uint64_t size;
} baton_bytes;

/* What a host function is called with, each time the recording is executed. */
typedef struct baton_host_arguments {
  uint32_t struct_size;
  uint32_t binding_count;
  const baton_bytes* bindings; /* of this execution */
  const uint32_t* constants;
  uint64_t constant_count;
} baton_host_arguments;

/* Runs code of the host in order with the commands around it, on whatever thread runs the queue. A failure fails the
 * execution. `release` (may be NULL) is called when no recording needs `data` any more; also when this is refused. */
typedef struct baton_host_call {
  uint32_t struct_size;
  uint32_t binding_count;
  baton_string name; /* for messages and traces; empty: the command's */
  baton_status* (*call)(void* data, const baton_host_arguments* arguments);
  void (*release)(void* data);
  void* data;
  const baton_binding* bindings;
  const uint32_t* constants;
  const baton_constant_slot* constant_slots;
  uint32_t constant_count;
  uint32_t constant_slot_count;
} baton_host_call;

/* A binding as the device and the host see it. Stands in arrays: never grows. */
typedef struct baton_device_range {
  uint64_t address; /* for the device */
  void* data;       /* the same bytes for the host; NULL where it cannot see them */
  uint64_t size;
} baton_device_range;

/* What a foreign function is called with. All of it until the function returns. */
typedef struct baton_foreign_arguments {
  uint32_t struct_size;
  uint32_t binding_count;
  const baton_device_range* bindings; /* of this table */
  const uint32_t* constants;
  uint64_t constant_count;
  baton_device* device; /* borrowed */
  /* What only one kind of device has to enqueue with, as `extension` of the table below. `self` is its first argument.
   */
  void* self;
  baton_status* (*extension)(void* self, baton_string name, void* out);
} baton_foreign_arguments;

/* Work that a library enqueues by itself, in order with the commands around it. The function is called with the memory
 * of a table, because addresses are known only then: on a stream for each execution, in a graph and on Vulkan once for
 * each table that comes (what it enqueued is kept for a few of them), on a host for each execution, on a device that runs nothing
 * never. What it enqueues must depend on its arguments alone. It may be called from any thread, on several at once.
 * `release` (may be NULL) is called when no recording needs `data` any more; also when this is refused. since v3 */
typedef struct baton_foreign {
  uint32_t struct_size;
  uint32_t binding_count;
  baton_string name; /* for messages and traces; empty: the command's */
  baton_status* (*call)(void* data, const baton_foreign_arguments* arguments);
  void (*release)(void* data);
  void* data;
  const baton_binding* bindings;
  const uint32_t* constants;
  const baton_constant_slot* constant_slots;
  uint32_t constant_count;
  uint32_t constant_slot_count;
} baton_foreign;

/* What the ranks of a channel do together, and how they reduce. */
enum {
  BATON_COLLECTIVE_ALL_REDUCE = 0,
  BATON_COLLECTIVE_ALL_GATHER = 1,
  BATON_COLLECTIVE_REDUCE_SCATTER = 2,
  BATON_COLLECTIVE_BROADCAST = 3,
  BATON_COLLECTIVE_REDUCE = 4,
  BATON_COLLECTIVE_ALL_TO_ALL = 5,
  BATON_COLLECTIVE_SEND = 6,
  BATON_COLLECTIVE_RECEIVE = 7,
  BATON_COLLECTIVE_PERMUTE = 8
};
enum {
  BATON_REDUCTION_NONE = 0,
  BATON_REDUCTION_SUM = 1,
  BATON_REDUCTION_PRODUCT = 2,
  BATON_REDUCTION_MINIMUM = 3,
  BATON_REDUCTION_MAXIMUM = 4,
  BATON_REDUCTION_AVERAGE = 5
};
#define BATON_NO_RANK 0xffffffffu

typedef struct baton_channel baton_channel; /* a baton_object of channel_type: programs hand it over */

/* All ranks of the channel record the same ones in the same order. With n ranks an all-gather writes n times what it
 * reads, a reduce-scatter reads n times what it writes, a send has no target and a receive no source. since v4 */
typedef struct baton_collective {
  uint32_t struct_size;
  uint32_t operation;    /* BATON_COLLECTIVE_* */
  uint32_t reduction;    /* BATON_REDUCTION_* */
  uint32_t element_type; /* BATON_ELEMENT_* */
  uint32_t root;         /* of broadcast and reduce */
  uint32_t to;           /* of send and permute; BATON_NO_RANK: nobody */
  uint32_t from;         /* of receive and permute; from nobody come zeros */
  uint32_t reserved;
  baton_channel* channel;
  baton_binding source;
  baton_binding target;
} baton_collective;

typedef struct baton_recording_table {
  uint32_t struct_size; /* the prefix that this host provides */
  uint32_t reserved;

  const baton_object_type* command_buffer_type;            /* hal.command_buffer. since v2 */
  baton_device* (*device)(baton_command_buffer* commands); /* borrowed: lives as long as the command buffer. since v2 */

  /* A refused command is not recorded, and the recording goes on. since v2 */
  baton_status* (*fill_buffer)(baton_command_buffer* commands, const baton_fill_buffer* command);
  baton_status* (*update_buffer)(baton_command_buffer* commands, const baton_update_buffer* command);
  baton_status* (*copy_buffer)(baton_command_buffer* commands, const baton_copy_buffer* command);
  baton_status* (*dispatch)(baton_command_buffer* commands, const baton_dispatch* command);
  baton_status* (*dispatch_indirect)(baton_command_buffer* commands, const baton_dispatch_indirect* command);
  baton_status* (*barrier)(baton_command_buffer* commands, const baton_barrier* command);
  baton_status* (*host_call)(baton_command_buffer* commands, const baton_host_call* command);

  /* What only one kind of device has, by name: fills the struct that the name stands for (cuda.h, vulkan.h), whose first
   * field is the size that the caller knows. UNIMPLEMENTED names the device and the command where there is none. since v2 */
  baton_status* (*extension)(baton_command_buffer* commands, baton_string name, void* out);

  baton_status* (*foreign)(baton_command_buffer* commands, const baton_foreign* command); /* since v3 */

  const baton_object_type* channel_type; /* hal.channel. since v4, as what follows */
  uint32_t (*channel_rank)(baton_channel* channel);
  uint32_t (*channel_count)(baton_channel* channel);
  baton_status* (*collective)(baton_command_buffer* commands, const baton_collective* command);
} baton_recording_table;

#endif
