// hal.bounds.*: failures of compiled programs whose sizes or indices don't fit, with the numbers in the sentence.

#include "modules/hal_module/exports.hpp"

namespace baton::modules::exports::bounds {

Status fail(int32_t code, std::string_view sentence, int64_t first, int64_t second) {
  if (code <= BATON_OK || code > BATON_UNAUTHENTICATED) {
    return failure(StatusCode::kInvalidArgument, "A program cannot fail with code ", code,
                   "; failures have codes 1 to ", BATON_UNAUTHENTICATED, ".");
  }
  std::string filled;
  for (size_t at = 0; at < sentence.size(); ++at) {
    const bool is_number =
        sentence[at] == '$' && at + 1 < sentence.size() && (sentence[at + 1] == '0' || sentence[at + 1] == '1');
    if (!is_number) {
      filled += sentence[at];
    } else {
      filled += std::to_string(sentence[++at] == '0' ? first : second);
    }
  }
  return Status(static_cast<StatusCode>(code), std::move(filled));
}

}  // namespace baton::modules::exports::bounds
