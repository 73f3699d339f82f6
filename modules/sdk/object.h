/* Things that a reference register may hold: shared, counted, of a named type. Frozen: append only. */
#ifndef BATON_MODULES_SDK_OBJECT_H_
#define BATON_MODULES_SDK_OBJECT_H_

#include <stdint.h>

typedef struct baton_object baton_object;

/* One per type, alive as long as any object of it. Two types are the same when their addresses are. */
typedef struct baton_object_type {
  uint32_t struct_size; /* sizeof(baton_object_type) that the module was compiled with */
  uint32_t reserved;
  const char* name;                      /* as programs spell it: "custom.string" */
  void (*destroy)(baton_object* object); /* the last reference is gone */
  /* For objects that can be awaited, else NULL. Waits up to timeout_ns (0: only looks; negative: without limit) and
   * returns -1 while still pending, else a status code: 0 when it succeeded. Callable from any thread. since v1 */
  int32_t (*wait)(baton_object* object, int64_t timeout_ns);
} baton_object_type;

/* The head of every object. Custom objects begin with it. */
struct baton_object {
  const baton_object_type* type;
  uint64_t count; /* references; changed only by the two functions below */
};

/* A new object's head: one reference, which the caller owns. */
static inline void baton_object_init(baton_object* object, const baton_object_type* type) {
  object->type = type;
  object->count = 1;
}
static inline void baton_object_retain(baton_object* object) {
  if (object) (void)__atomic_fetch_add(&object->count, 1, __ATOMIC_RELAXED);
}
/* A thread that holds the last reference needs no locked instruction to be sure of it. */
static inline void baton_object_release(baton_object* object) {
  if (object && (__atomic_load_n(&object->count, __ATOMIC_ACQUIRE) == 1 ||
                 __atomic_fetch_sub(&object->count, 1, __ATOMIC_ACQ_REL) == 1)) {
    object->type->destroy(object);
  }
}

#endif
