#include "tests/support/embedded_ptx.hpp"

#ifdef BATON_CONFORMANCE_PTX
// EMBED(name, file): the bytes of a file, with a zero behind them.
#define EMBED(name, file)                                         \
  __asm__(                                                        \
      ".pushsection .rodata\n"                                    \
      ".balign 64\n" #name "_begin: .incbin \"" file "\"\n" #name \
      "_end: .byte 0\n"                                           \
      ".popsection\n");                                           \
  extern "C" const char name##_begin[];                           \
  extern "C" const char name##_end[];
EMBED(conformance_ptx, BATON_CONFORMANCE_PTX)
EMBED(conformance_cubin, BATON_CONFORMANCE_CUBIN)
#define EMBEDDED(name) \
  std::string_view { name##_begin, static_cast<size_t>(name##_end - name##_begin) }
#else
#define EMBEDDED(name) \
  std::string_view {}
#endif

namespace baton::testing_support {

std::string_view conformance_ptx() { return EMBEDDED(conformance_ptx); }
std::string_view conformance_cubin() { return EMBEDDED(conformance_cubin); }

}  // namespace baton::testing_support
