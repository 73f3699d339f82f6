// Things that a reference register may hold: counted, of a named type. The head is baton_object's
// (modules/sdk/object.h), so a plugin's objects and ours are the same.
// Threads: the count is internally synchronized; what an object holds is up to its type.
#pragma once

#include <cstdint>

#include "base/ref.hpp"

namespace baton::vm {

struct Object;

// One per type; two types are the same when their addresses are.
struct ObjectType {
  uint32_t struct_size = sizeof(ObjectType);
  uint32_t reserved = 0;
  const char* name;
  void (*destroy)(Object* object);
  // For objects that can be awaited, else null: waits up to timeout_ns (0: looks; negative: without limit) and returns
  // kStillPending or a status code, 0 when it succeeded.
  int32_t (*wait)(Object* object, int64_t timeout_ns) = nullptr;
};
inline constexpr int32_t kStillPending = -1;

struct Object {
  explicit Object(const ObjectType* object_type) : type(object_type) {}

  void retain() { count_up(count); }
  void release() {
    if (drop()) type->destroy(this);
  }
  // Gives up one reference and says whether it was the last: then the caller destroys the object.
  bool drop() { return count_down(count); }

  const ObjectType* type;
  uint64_t count = 1;
};

inline void retain_object(Object* object) {
  if (object) object->retain();
}
inline void release_object(Object* object) {
  if (object) object->release();
}

}  // namespace baton::vm
