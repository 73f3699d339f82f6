/* FROZEN. This plugin was written against version 1 of the door. It must build, load and run with every later version,
 * byte for byte as it stands here: never change this file. If it stops working, the door broke; mend the door.
 *
 * It uses all that version 1 has: state per context, parameters, statuses, blobs, lists, a type of its own, references
 * in and out, variadic segments, several results, and a result that comes later. */
#include <stdlib.h>
#include <string.h>

#include "modules/sdk/baton.h"

static const baton_host* host;

static baton_status* fail(baton_status_code code, const char* message) {
  const baton_string text = {message, strlen(message)};
  return host->status_make(code, text);
}

/* ---- A type of its own: a number in a box ---- */

typedef struct box {
  baton_object head;
  int64_t number;
} box;

static void box_destroy(baton_object* object) { host->allocator->free_bytes(host->allocator->self, object); }

static const baton_object_type box_type = {sizeof(baton_object_type), 0, "frozen.box", box_destroy, NULL};

static baton_object* box_make(int64_t number) {
  box* made = host->allocator->allocate_bytes(host->allocator->self, sizeof(box), sizeof(void*), 1);
  baton_object_init(&made->head, &box_type);
  made->number = number;
  return &made->head;
}

/* ---- A result that comes later: ready when it is looked at for the third time ---- */

typedef struct delay {
  baton_object head;
  int32_t looks;
} delay;

static void delay_destroy(baton_object* object) { free(object); }

static int32_t delay_wait(baton_object* object, int64_t timeout_ns) {
  delay* waited = (delay*)object;
  (void)timeout_ns;
  return ++waited->looks < 3 ? -1 : BATON_OK;
}

static const baton_object_type delay_type = {sizeof(baton_object_type), 0, "frozen.delay", delay_destroy, delay_wait};

/* ---- State ---- */

typedef struct state {
  int64_t total;
} state;

static int64_t start;

static baton_status* create_state(void* self, const baton_allocator* allocator, void** out_state) {
  state* made = allocator->allocate_bytes(allocator->self, sizeof(state), sizeof(void*), 1);
  (void)self;
  made->total = start;
  *out_state = made;
  return NULL;
}

static void destroy_state(void* self, void* made) {
  (void)self;
  host->allocator->free_bytes(host->allocator->self, made);
}

/* ---- Exports ---- */

/* (i32, i64, f32, f64) -> (i32, i64, f32, f64), each doubled */
static baton_status* twice(baton_call* call) {
  call->values[0] = baton_value_of_i32(call->values[0].i32 * 2);
  call->values[1] = baton_value_of_i64(call->values[1].i64 * 2);
  call->values[2] = baton_value_of_f32(call->values[2].f32 * 2);
  call->values[3] = baton_value_of_f64(call->values[3].f64 * 2);
  return NULL;
}

/* (i64) -> i64: the running total of this context; export data is the factor */
static baton_status* accumulate(baton_call* call) {
  state* mine = call->state;
  mine->total += call->values[0].i64 * *(const int64_t*)call->data;
  call->values[0] = baton_value_of_i64(mine->total);
  return NULL;
}

/* (i64) -> box */
static baton_status* box_create(baton_call* call) {
  baton_call_set_ref(call, 0, box_make(call->values[0].i64));
  return NULL;
}

/* (box) -> i64 */
static baton_status* box_open(baton_call* call) {
  const baton_object* object = call->refs[0];
  if (!object || object->type != &box_type) return fail(BATON_INVALID_ARGUMENT, "This is not a box.");
  call->values[0] = baton_value_of_i64(((const box*)object)->number);
  return NULL;
}

/* (blob) -> blob: the bytes backwards, in a new blob */
static baton_status* reverse(baton_call* call) {
  uint64_t size = 0, made_size = 0, i;
  int32_t writable = 0;
  const char* source;
  char* target;
  baton_object* made;
  if (!call->refs[0] || call->refs[0]->type != host->blob_type) return fail(BATON_INVALID_ARGUMENT, "This is no blob.");
  source = host->blob_bytes(call->refs[0], &size, &writable);
  made = host->blob_make(size);
  target = host->blob_bytes(made, &made_size, &writable);
  for (i = 0; i < size; ++i) target[i] = source[size - 1 - i];
  baton_call_set_ref(call, 0, made);
  return NULL;
}

/* ((i32)...) -> list */
static baton_status* list_of(baton_call* call) {
  baton_object* list = host->list_make(call->segments[0]);
  uint16_t i;
  for (i = 0; i < call->segments[0]; ++i) {
    baton_status* status = host->list_push(list, 'i', call->values[i]);
    if (status) {
      baton_object_release(list);
      return status;
    }
  }
  baton_call_set_ref(call, 0, list);
  return NULL;
}

/* (list) -> i64: the sum of its i32 */
static baton_status* sum(baton_call* call) {
  int64_t total = 0;
  uint64_t i;
  for (i = 0; i < host->list_size(call->refs[0]); ++i) {
    char type = 0;
    baton_value value;
    baton_status* status = host->list_get(call->refs[0], i, &type, &value);
    if (status) return status;
    if (type == 'i') total += value.i32;
  }
  call->values[0] = baton_value_of_i64(total);
  return NULL;
}

/* () -> i32: 7, later */
static baton_status* later(baton_call* call) {
  delay* made;
  if (call->resumed) {
    call->values[0] = baton_value_of_i32(call->resumed->type == &delay_type ? 7 : -1);
    return NULL;
  }
  made = malloc(sizeof(delay));
  baton_object_init(&made->head, &delay_type);
  made->looks = 0;
  call->pending = &made->head;
  return NULL;
}

/* () fails */
static baton_status* refuse(baton_call* call) {
  (void)call;
  return fail(BATON_UNAVAILABLE, "Not today.");
}

static const int64_t factor = 10;
static const baton_export exports[] = {
    {"twice", "iIfF_iIfF", twice, NULL, BATON_TRAIT_PURE},
    {"accumulate", "I_I", accumulate, (void*)&factor, 0},
    {"box.create", "I_r<frozen.box>", box_create, NULL, 0},
    {"box.open", "r<frozen.box>_I", box_open, NULL, 0},
    {"reverse", "r<blob>_r<blob>", reverse, NULL, 0},
    {"list_of", "CiD_r<list>", list_of, NULL, 0},
    {"sum", "r<list>_I", sum, NULL, 0},
    {"later", "v_i", later, NULL, 0},
    {"refuse", "v_v", refuse, NULL, 0},
};
static const baton_object_type* const types[] = {&box_type};

static const baton_module_descriptor descriptor = {
    .struct_size = sizeof(baton_module_descriptor),
    .abi_version = 1,
    .name = "frozen",
    .version = 1,
    .export_stride = sizeof(baton_export),
    .exports = exports,
    .export_count = sizeof(exports) / sizeof(exports[0]),
    .types = types,
    .type_count = 1,
    .create_state = create_state,
    .destroy_state = destroy_state,
};

BATON_EXPORT baton_status* baton_module_query_v1(const baton_host* given_host, uint64_t parameter_count,
                                                 const baton_parameter* parameters,
                                                 const baton_module_descriptor** out_descriptor) {
  uint64_t i;
  host = given_host;
  if (host->abi_version < 1) return NULL;
  start = 0;
  for (i = 0; i < parameter_count; ++i) {
    if (parameters[i].key.size == 5 && memcmp(parameters[i].key.data, "start", 5) == 0) {
      start = parameters[i].value.size ? parameters[i].value.data[0] - '0' : 0;
    }
  }
  *out_descriptor = &descriptor;
  return NULL;
}
