/* How a call through the door says that it failed. Frozen: append only.
 *
 * NULL is success. The function that receives a failure owns it, and frees it through the host table (host.h), so
 * that one allocator makes and frees it. */
#ifndef BATON_MODULES_SDK_STATUS_H_
#define BATON_MODULES_SDK_STATUS_H_

#include <stdint.h>

typedef struct baton_status baton_status; /* opaque */

typedef int32_t baton_status_code; /* one of: */
#define BATON_OK 0
#define BATON_CANCELLED 1
#define BATON_UNKNOWN 2
#define BATON_INVALID_ARGUMENT 3
#define BATON_DEADLINE_EXCEEDED 4
#define BATON_NOT_FOUND 5
#define BATON_ALREADY_EXISTS 6
#define BATON_PERMISSION_DENIED 7
#define BATON_RESOURCE_EXHAUSTED 8
#define BATON_FAILED_PRECONDITION 9
#define BATON_ABORTED 10
#define BATON_OUT_OF_RANGE 11
#define BATON_UNIMPLEMENTED 12
#define BATON_INTERNAL 13
#define BATON_UNAVAILABLE 14
#define BATON_DATA_LOSS 15
#define BATON_UNAUTHENTICATED 16

#endif
