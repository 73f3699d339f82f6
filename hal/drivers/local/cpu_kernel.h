/* Kernels for local devices in a few words of C or C++:
 *
 *   #include "hal/drivers/local/cpu_kernel.h"
 *
 *   BATON_KERNEL(relu, 2, 1) {                     // two bindings, one constant
 *     const float* x = baton_binding(0);
 *     float* y = baton_binding(1);
 *     for (uint32_t i = baton_begin(64); i < baton_end(64, baton_constant(0)); ++i) y[i] = x[i] > 0 ? x[i] : 0;
 *     return 0;
 *   }
 *   BATON_KERNELS("activations", relu);            // once for a library: its name, then all of its kernels
 *
 * In C++ a binding is cast: static_cast<float*>(baton_binding(1)).
 * What a kernel may do and what it is given: hal/drivers/local/executable_library.h, whose tables this writes.
 * CMake's baton_cpu_kernels() compiles the file for every processor. */
#ifndef BATON_HAL_DRIVERS_LOCAL_CPU_KERNEL_H_
#define BATON_HAL_DRIVERS_LOCAL_CPU_KERNEL_H_

#include "hal/drivers/local/executable_library.h"

#ifdef __cplusplus
#define BATON_KERNEL_LINKAGE_ extern "C"
#define BATON_STATIC_ASSERT_(condition, reason) static_assert(condition, reason)
#else
#define BATON_KERNEL_LINKAGE_ extern
#define BATON_STATIC_ASSERT_(condition, reason) _Static_assert(condition, reason)
#endif

/* Begins a kernel; its body follows in braces and returns 0, or a number that fails the dispatch. */
#define BATON_KERNEL(name, bindings, constants) BATON_KERNEL_WITH(name, bindings, constants, 1, 0)

/* The same for one that tells of more than one element a workgroup, or wants memory of its own for each. */
#define BATON_KERNEL_WITH(name, bindings, constants, workgroup_size, local_memory_bytes)    \
  BATON_DECLARE_KERNEL_WITH(name, bindings, constants, workgroup_size, local_memory_bytes); \
  BATON_DEFINE_KERNEL(name)

/* For a library of several sources: a header declares each kernel, and its source begins it with BATON_DEFINE_KERNEL(name). */
#define BATON_DECLARE_KERNEL(name, bindings, constants) BATON_DECLARE_KERNEL_WITH(name, bindings, constants, 1, 0)
#define BATON_DECLARE_KERNEL_WITH(name, bindings, constants, workgroup_size, local_memory_bytes) \
  enum {                                                                                         \
    name##_binding_count = bindings,                                                             \
    name##_constant_count = constants,                                                           \
    name##_workgroup_size = workgroup_size,                                                      \
    name##_local_memory_bytes = local_memory_bytes                                               \
  };                                                                                             \
  BATON_KERNEL_LINKAGE_ int name(const baton_executable_environment* baton_environment,          \
                                 const baton_dispatch_state* baton_dispatch,                     \
                                 const baton_workgroup_state* baton_workgroup)
#define BATON_DEFINE_KERNEL(name)                                                         \
  int name(__attribute__((unused)) const baton_executable_environment* baton_environment, \
           __attribute__((unused)) const baton_dispatch_state* baton_dispatch,            \
           __attribute__((unused)) const baton_workgroup_state* baton_workgroup)

/* In a kernel: the memory of a binding, its bytes, a constant, its bits as a float, the number of the workgroup in x. */
#define baton_binding(ordinal) (baton_dispatch->bindings[ordinal])
#define baton_binding_bytes(ordinal) (baton_dispatch->binding_lengths[ordinal])
#define baton_constant(ordinal) (baton_dispatch->constants[ordinal])
#define baton_constant_float(ordinal) baton_float_of_bits_(baton_dispatch->constants[ordinal])
#define baton_workgroup_x() (baton_workgroup->id_x)
/* Of `count` elements, `each` to a workgroup in x: the first of this one, and the one behind its last. */
#define baton_begin(each) ((uint64_t)baton_workgroup->id_x * (each))
#define baton_end(each, count) baton_least_(((uint64_t)baton_workgroup->id_x + 1) * (each), (count))

static inline float baton_float_of_bits_(uint32_t bits) {
  float number;
  __builtin_memcpy(&number, &bits, sizeof number);
  return number;
}
static inline uint64_t baton_least_(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Exports up to 16 kernels, in this order, as the library of that name. */
#define BATON_KERNELS(library_name, ...)                                                                            \
  static const baton_kernel baton_kernels_[] = {BATON_EACH_(BATON_KERNEL_ITSELF_, __VA_ARGS__)};                    \
  static const char* const baton_kernel_names_[] = {BATON_EACH_(BATON_KERNEL_NAME_, __VA_ARGS__)};                  \
  static const baton_kernel_attributes baton_kernel_attributes_[] = {                                               \
      BATON_EACH_(BATON_KERNEL_ATTRIBUTES_, __VA_ARGS__)};                                                          \
  static const baton_executable_library baton_library_ = {sizeof(baton_executable_library),                         \
                                                          BATON_EXECUTABLE_LIBRARY_VERSION,                         \
                                                          library_name,                                             \
                                                          BATON_SANITIZER_NONE,                                     \
                                                          0,                                                        \
                                                          0,                                                        \
                                                          sizeof baton_kernels_ / sizeof baton_kernels_[0],         \
                                                          NULL,                                                     \
                                                          baton_kernels_,                                           \
                                                          baton_kernel_names_,                                      \
                                                          baton_kernel_attributes_};                                \
  BATON_KERNEL_LINKAGE_ BATON_EXECUTABLE_EXPORT const baton_executable_library* baton_executable_library_query(     \
      uint32_t max_version, const baton_executable_environment* environment);                                       \
  const baton_executable_library* baton_executable_library_query(uint32_t max_version,                              \
                                                                 const baton_executable_environment* environment) { \
    (void)environment;                                                                                              \
    return max_version >= BATON_EXECUTABLE_LIBRARY_VERSION ? &baton_library_ : NULL;                                \
  }                                                                                                                 \
  BATON_STATIC_ASSERT_(sizeof baton_kernels_ != 0, "a semicolon follows")

#define BATON_KERNEL_ITSELF_(name) name,
#define BATON_KERNEL_NAME_(name) #name,
#define BATON_KERNEL_ATTRIBUTES_(name) \
  {name##_constant_count, name##_binding_count, name##_workgroup_size, 1, 1, name##_local_memory_bytes},

/* BATON_EACH_(m, a, b, c) is m(a) m(b) m(c). */
#define BATON_EACH_1_(m, name) m(name)
#define BATON_EACH_2_(m, name, ...) m(name) BATON_EACH_1_(m, __VA_ARGS__)
#define BATON_EACH_3_(m, name, ...) m(name) BATON_EACH_2_(m, __VA_ARGS__)
#define BATON_EACH_4_(m, name, ...) m(name) BATON_EACH_3_(m, __VA_ARGS__)
#define BATON_EACH_5_(m, name, ...) m(name) BATON_EACH_4_(m, __VA_ARGS__)
#define BATON_EACH_6_(m, name, ...) m(name) BATON_EACH_5_(m, __VA_ARGS__)
#define BATON_EACH_7_(m, name, ...) m(name) BATON_EACH_6_(m, __VA_ARGS__)
#define BATON_EACH_8_(m, name, ...) m(name) BATON_EACH_7_(m, __VA_ARGS__)
#define BATON_EACH_9_(m, name, ...) m(name) BATON_EACH_8_(m, __VA_ARGS__)
#define BATON_EACH_10_(m, name, ...) m(name) BATON_EACH_9_(m, __VA_ARGS__)
#define BATON_EACH_11_(m, name, ...) m(name) BATON_EACH_10_(m, __VA_ARGS__)
#define BATON_EACH_12_(m, name, ...) m(name) BATON_EACH_11_(m, __VA_ARGS__)
#define BATON_EACH_13_(m, name, ...) m(name) BATON_EACH_12_(m, __VA_ARGS__)
#define BATON_EACH_14_(m, name, ...) m(name) BATON_EACH_13_(m, __VA_ARGS__)
#define BATON_EACH_15_(m, name, ...) m(name) BATON_EACH_14_(m, __VA_ARGS__)
#define BATON_EACH_16_(m, name, ...) m(name) BATON_EACH_15_(m, __VA_ARGS__)
#define BATON_EACH_PICK_(k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15, k16, each, ...) each
#define BATON_EACH_(m, ...)                                                                                     \
  BATON_EACH_PICK_(__VA_ARGS__, BATON_EACH_16_, BATON_EACH_15_, BATON_EACH_14_, BATON_EACH_13_, BATON_EACH_12_, \
                   BATON_EACH_11_, BATON_EACH_10_, BATON_EACH_9_, BATON_EACH_8_, BATON_EACH_7_, BATON_EACH_6_,  \
                   BATON_EACH_5_, BATON_EACH_4_, BATON_EACH_3_, BATON_EACH_2_, BATON_EACH_1_, 0)                \
  (m, __VA_ARGS__)

#endif
