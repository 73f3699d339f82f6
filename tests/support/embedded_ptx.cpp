#include "tests/support/embedded_ptx.hpp"

#ifdef BATON_CONFORMANCE_PTX
__asm__(
    ".pushsection .rodata\n"
    "conformance_ptx_begin: .incbin \"" BATON_CONFORMANCE_PTX
    "\"\n"
    "conformance_ptx_end: .byte 0\n"
    ".popsection\n");
extern "C" const char conformance_ptx_begin[];
extern "C" const char conformance_ptx_end[];
#endif

namespace baton::testing_support {

std::string_view conformance_ptx() {
#ifdef BATON_CONFORMANCE_PTX
  return {conformance_ptx_begin, static_cast<size_t>(conformance_ptx_end - conformance_ptx_begin)};
#else
  return {};
#endif
}

}  // namespace baton::testing_support
