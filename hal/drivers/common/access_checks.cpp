#include "hal/drivers/common/access_checks.hpp"

#include "base/text.hpp"

namespace baton::hal {

void read_access_checks(std::string_view rows, std::vector<AccessCheck>& checks) {
  while (!rows.empty()) {
    const std::string_view row = rows.substr(0, rows.find('\n'));
    rows.remove_prefix(std::min(row.size() + 1, rows.size()));
    const size_t middle = row.find('\t');
    if (middle == row.npos) continue;
    checks.push_back({std::string(row.substr(0, middle)), std::string(row.substr(middle + 1))});
  }
}

Status access_refused(const RefusedAccess& refused) {
  const FailedAccess& failed = refused.failed;
  return failure(StatusCode::kOutOfRange, "Kernel '", refused.kernel, "' of executable '", refused.executable, "' ",
                 refused.access, " at byte ", failed.offset, ", which has ", failed.size, " bytes",
                 refused.line.empty() ? "" : text(" (", refused.line, ")"), "; in workgroup (", failed.workgroup[0],
                 ", ", failed.workgroup[1], ", ", failed.workgroup[2], ").");
}

}  // namespace baton::hal
