// What kernels that check their accesses (baton-compile --sanitize) and the drivers of GPUs agree on.
//
// Each check of an executable has a number, counted from one. A kernel that would leave its memory writes a
// FailedAccess where the driver says, the first of its dispatch alone, and goes on without the access.
#pragma once

#include <cstdint>

namespace baton::hal {

// All zero: no access failed.
struct FailedAccess {
  uint32_t number;
  uint32_t workgroup[3];
  int64_t offset;  // In bytes, from the begin of what is accessed.
  uint64_t size;   // Of what is accessed.
};
static_assert(sizeof(FailedAccess) == 32 && alignof(FailedAccess) == 8);

// What the checks are about, in the order of their numbers: "<access>\t<line>\n" each, as in
// "reads 4 bytes of binding 0\tmodel.mlir:5:10\n". In PTX and what is made of it that is a symbol's bytes. Its kernels
// take the length of each binding, 64 bits, and the address of the FailedAccess behind what the program passes.
inline constexpr char kAccessChecksSymbol[] = "baton_access_checks";
// In SPIR-V notes of the module that begin so. A dispatch's record ends with the FailedAccess, at a multiple of eight.
inline constexpr char kAccessChecksNote[] = "baton.access_checks ";

}  // namespace baton::hal
