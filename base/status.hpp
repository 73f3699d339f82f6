// How an operation says that it failed: one pointer, null when it did not.
//
// A failure owns its code, its sentence and the place that made it; context is added on the way up
// ("  while linking import 'custom.print'"). The codes are the canonical set, so that users need learn no new words.
// baton_status in modules/sdk/status.h is the same object seen through the C door.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace baton {

enum class StatusCode : int32_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "INVALID_ARGUMENT" and so on; "UNKNOWN" for numbers outside the set.
std::string_view status_code_name(StatusCode code);

class [[nodiscard]] Status {
 public:
  struct Failure {
    StatusCode code;
    uint32_t line;
    const char* file;  // A string literal: the source file that made the failure.
    std::string message;
  };

  Status() = default;  // ok
  Status(StatusCode code, std::string message, const char* file = __builtin_FILE(),
         uint32_t line = static_cast<uint32_t>(__builtin_LINE()));
  Status(Status&& other) noexcept : failure_(std::exchange(other.failure_, nullptr)) {}
  Status& operator=(Status&& other) noexcept {
    std::swap(failure_, other.failure_);
    return *this;
  }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  ~Status() {
    if (failure_) destroy(failure_);
  }

  bool ok() const { return failure_ == nullptr; }
  StatusCode code() const { return failure_ ? failure_->code : StatusCode::kOk; }
  std::string_view message() const { return failure_ ? std::string_view(failure_->message) : std::string_view(); }
  // "NOT_FOUND; no module 'custom' ..." — what the tools print. "OK" when ok.
  std::string to_string() const;
  Status clone() const;

  // Appends a line of context to a failure; nothing to an ok status.
  Status with_context(std::string_view context) &&;

  // Across the C door the failure travels as a bare owned pointer.
  Failure* release() { return std::exchange(failure_, nullptr); }
  static Status adopt(Failure* failure) {
    Status status;
    status.failure_ = failure;
    return status;
  }

 private:
  static void destroy(Failure* failure);

  Failure* failure_ = nullptr;
};

// A failure from pieces of text: `return failure(StatusCode::kNotFound, "no export '", name, "'");`
// The location is the caller's, carried by the implicit conversion from StatusCode.
struct StatusOrigin {
  StatusCode code;
  const char* file;
  uint32_t line;
  StatusOrigin(StatusCode from, const char* at_file = __builtin_FILE(),
               uint32_t at_line = static_cast<uint32_t>(__builtin_LINE()))
      : code(from), file(at_file), line(at_line) {}
};

Status make_failure(StatusOrigin origin, std::span<const TextPiece> pieces);

template <typename... Parts>
[[gnu::always_inline]] inline Status failure(StatusOrigin origin, const Parts&... parts) {
  const TextPiece pieces[] = {parts...};
  return make_failure(origin, pieces);
}

}  // namespace baton

#define BATON_CONCAT_INNER(a, b) a##b
#define BATON_CONCAT(a, b) BATON_CONCAT_INNER(a, b)

// Returns a failure to the caller; goes on when ok.
#define BATON_TRY(expression)                                                           \
  do {                                                                                  \
    if (::baton::Status baton_status_ = (expression); !baton_status_.ok()) [[unlikely]] \
      return baton_status_;                                                             \
  } while (false)

// The same, with a line of context: BATON_TRY_CONTEXT(load(path), "while loading '", path, "'");
#define BATON_TRY_CONTEXT(expression, ...)                                              \
  do {                                                                                  \
    if (::baton::Status baton_status_ = (expression); !baton_status_.ok()) [[unlikely]] \
      return std::move(baton_status_).with_context(::baton::text(__VA_ARGS__));         \
  } while (false)

// Unwraps a Result into a declaration. Several statements: only inside braces.
#define BATON_TRY_ASSIGN(declaration, expression) \
  BATON_TRY_ASSIGN_INNER(BATON_CONCAT(baton_result_, __LINE__), declaration, expression)
#define BATON_TRY_ASSIGN_INNER(result, declaration, expression) \
  auto result = (expression);                                   \
  if (!result.has_value()) [[unlikely]]                         \
    return std::move(result).error();                           \
  declaration = std::move(result).value()
