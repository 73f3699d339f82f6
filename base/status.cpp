#include "base/status.hpp"

namespace baton {

std::string_view status_code_name(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "OK";
    case StatusCode::kCancelled: return "CANCELLED";
    case StatusCode::kUnknown: return "UNKNOWN";
    case StatusCode::kInvalidArgument: return "INVALID_ARGUMENT";
    case StatusCode::kDeadlineExceeded: return "DEADLINE_EXCEEDED";
    case StatusCode::kNotFound: return "NOT_FOUND";
    case StatusCode::kAlreadyExists: return "ALREADY_EXISTS";
    case StatusCode::kPermissionDenied: return "PERMISSION_DENIED";
    case StatusCode::kResourceExhausted: return "RESOURCE_EXHAUSTED";
    case StatusCode::kFailedPrecondition: return "FAILED_PRECONDITION";
    case StatusCode::kAborted: return "ABORTED";
    case StatusCode::kOutOfRange: return "OUT_OF_RANGE";
    case StatusCode::kUnimplemented: return "UNIMPLEMENTED";
    case StatusCode::kInternal: return "INTERNAL";
    case StatusCode::kUnavailable: return "UNAVAILABLE";
    case StatusCode::kDataLoss: return "DATA_LOSS";
    case StatusCode::kUnauthenticated: return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

namespace {

// A zero would end the message for whoever reads it as C does, with the backtrace that stands behind it.
std::string without_zeros(std::string message) {
  for (size_t at = message.find('\0'); at != message.npos; at = message.find('\0', at + 2))
    message.replace(at, 1, "\\0");
  return message;
}

}  // namespace

// A status that carries kOk would be neither; it becomes kUnknown so that the failure is not lost.
Status::Status(StatusCode code, std::string message, const char* file, uint32_t line)
    : failure_(new Failure{code == StatusCode::kOk ? StatusCode::kUnknown : code, line, file,
                           without_zeros(std::move(message))}) {}

Status make_failure(StatusOrigin origin, std::span<const TextPiece> pieces) {
  return Status(origin.code, join_text(pieces), origin.file, origin.line);
}

void Status::destroy(Failure* failure) { delete failure; }

std::string Status::to_string() const {
  if (ok()) return "OK";
  return text(status_code_name(code()), "; ", message());
}

Status Status::clone() const {
  return ok() ? Status() : Status(failure_->code, failure_->message, failure_->file, failure_->line);
}

Status Status::with_context(std::string_view context) && {
  if (failure_) failure_->message.append("\n  ").append(without_zeros(std::string(context)));
  return std::move(*this);
}

}  // namespace baton
