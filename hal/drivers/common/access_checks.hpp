// What kernels say that check their accesses (hal/interface/access_checks.hpp): the table of their checks, and the status
// of a call whose kernel would have left its memory.
// Threads: plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "hal/interface/access_checks.hpp"

namespace baton::hal {

struct AccessCheck {
  std::string access;  // "reads 4 bytes of binding 0"
  std::string line;    // "model.mlir:5:10"; may be empty.
};

// Rows of kAccessChecksSymbol or of kAccessChecksNote, added to `checks`; what isn't one is left out.
void read_access_checks(std::string_view rows, std::vector<AccessCheck>& checks);

struct RefusedAccess {
  std::string_view kernel;
  std::string_view executable;
  std::string_view access;
  std::string_view line;
  FailedAccess failed;
};
// OUT_OF_RANGE.
Status access_refused(const RefusedAccess& refused);

}  // namespace baton::hal
