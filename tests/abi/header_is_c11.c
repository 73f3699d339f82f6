/* The door is C11: everything that a plugin or an embedder includes compiles here with -Wpedantic and warnings as
 * errors. */
#include "modules/sdk/baton.h"
#include "modules/sdk/embed_device.h"
#include "modules/sdk/kernel_library.h"

/* Every header comes in through the umbrella, and its inline functions are usable from C. */
baton_value header_is_c11(baton_call* call);
baton_value header_is_c11(baton_call* call) {
  baton_object head;
  const baton_object_type type = {sizeof(baton_object_type), 0, "test.head", NULL, NULL};
  baton_object_init(&head, &type);
  baton_object_retain(&head);
  baton_call_set_ref(call, 0, &head);
  call->values[0] = baton_value_of_i32(-1);
  call->values[1] = baton_value_of_f32(1);
  call->values[2] = baton_value_of_f64(1);
  return baton_value_of_i64(-1);
}
