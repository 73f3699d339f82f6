// A kernel add_constant that cannot be used as it stands, each time for another reason. With USABLE nothing is wrong with it.
#include "hal/drivers/local/executable_library.h"

#if defined(CPLUSPLUS)
#define LINKAGE
#elif defined(STATIC)
#define LINKAGE __attribute__((used)) static
#else
#define LINKAGE extern "C"
#endif

#if defined(NEAR)
#define NAME add_constants
#elif defined(VARIABLE)
#define NAME add_something
extern "C" const int add_constant;
const int add_constant = 1;
#else
#define NAME add_constant
#endif

namespace {

#if defined(INITIALIZED)
struct Offset {
  int value;
  Offset() : value(100) { asm volatile("" ::: "memory"); }
};
Offset offset;
#elif defined(THREAD_LOCAL)
// Found without a call, as in a program.
__attribute__((tls_model("initial-exec"))) thread_local struct { int value = 100; } offset;
#else
constexpr struct { int value = 100; } offset;
#endif

}  // namespace

LINKAGE int NAME(const baton_executable_environment* environment, const baton_dispatch_state* dispatch,
                 const baton_workgroup_state* workgroup);
LINKAGE int NAME(const baton_executable_environment*, const baton_dispatch_state* dispatch,
                 const baton_workgroup_state* workgroup) {
#if defined(THREAD_LOCAL)
  asm volatile("" : "+m"(offset.value));  // Else it is a constant.
#endif
  static_cast<int*>(dispatch->bindings[0])[workgroup->id_x] += offset.value + static_cast<int>(dispatch->constants[0]);
  return 0;
}
