// Status and Result for native modules: the C++ twin of status.h. Member names are those of the house (base/status.hpp,
// base/result.hpp), so code moves between a plugin and the runtime unchanged.
//
// A failure lives in the host's memory: made, read and freed through the host table.
#pragma once

#if __cplusplus < 202002L
#error "Baton's C++ headers need C++20 (-std=c++20); its C headers (*.h) need C11."
#endif

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "modules/sdk/host.hpp"

namespace baton::sdk {

enum class StatusCode : baton_status_code {
  kOk = BATON_OK,
  kCancelled = BATON_CANCELLED,
  kUnknown = BATON_UNKNOWN,
  kInvalidArgument = BATON_INVALID_ARGUMENT,
  kDeadlineExceeded = BATON_DEADLINE_EXCEEDED,
  kNotFound = BATON_NOT_FOUND,
  kAlreadyExists = BATON_ALREADY_EXISTS,
  kPermissionDenied = BATON_PERMISSION_DENIED,
  kResourceExhausted = BATON_RESOURCE_EXHAUSTED,
  kFailedPrecondition = BATON_FAILED_PRECONDITION,
  kAborted = BATON_ABORTED,
  kOutOfRange = BATON_OUT_OF_RANGE,
  kUnimplemented = BATON_UNIMPLEMENTED,
  kInternal = BATON_INTERNAL,
  kUnavailable = BATON_UNAVAILABLE,
  kDataLoss = BATON_DATA_LOSS,
  kUnauthenticated = BATON_UNAUTHENTICATED,
};

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string_view message)
      : failure_(host().status_make(static_cast<baton_status_code>(code), {message.data(), message.size()})) {}
  Status(Status&& other) noexcept : failure_(std::exchange(other.failure_, nullptr)) {}
  Status& operator=(Status&& other) noexcept {
    std::swap(failure_, other.failure_);
    return *this;
  }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  ~Status() {
    if (failure_) host().status_free(failure_);
  }

  bool ok() const { return failure_ == nullptr; }
  StatusCode code() const { return failure_ ? static_cast<StatusCode>(host().status_code(failure_)) : StatusCode::kOk; }
  std::string_view message() const {  // valid while the status lives
    if (!failure_) return {};
    const baton_string message = host().status_message(failure_);
    return {message.data, static_cast<size_t>(message.size)};
  }

  // Across the door the failure travels as a bare owned pointer.
  baton_status* release() { return std::exchange(failure_, nullptr); }
  static Status adopt(baton_status* owned) {
    Status status;
    status.failure_ = owned;
    return status;
  }

 private:
  baton_status* failure_ = nullptr;
};

namespace detail {
inline void append_text(std::string& target, std::string_view piece) { target.append(piece); }
template <typename T>
requires std::is_arithmetic_v<T>
void append_text(std::string& target, T piece) { target.append(std::to_string(piece)); }

#if defined(__cpp_exceptions)
// What is in flight says this: in a handler only. What an exception was thrown with stands behind it.
[[gnu::cold, gnu::noinline]] inline std::string thrown_text() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    std::string text = thrown.what();
#if defined(__cpp_rtti)
    try {
      std::rethrow_if_nested(thrown);
    } catch (...) {
      text += ": " + thrown_text();
    }
#endif
    return text;
  } catch (const char* text) {
    return text ? text : "a null pointer";
  } catch (const std::string& text) {
    return text;
  } catch (...) {
    return "something that is no std::exception";
  }
}
#endif
}  // namespace detail

// A failure from pieces of text: `return failure(StatusCode::kNotFound, "no device ", index);`
template <typename... Parts>
Status failure(StatusCode code, const Parts&... parts) {
  std::string message;
  (detail::append_text(message, parts), ...);
  return Status(code, message);
}

// A T, or the failure that explains why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) {  // NOLINT: a failure is a result
    if (status_.ok()) status_ = Status(StatusCode::kInternal, "A result has neither a value nor a failure.");
  }

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }

  // Only when has_value().
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  Status& error() & { return status_; }
  const Status& error() const& { return status_; }
  Status&& error() && { return std::move(status_); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace baton::sdk

// Returns a failure to the caller; goes on when ok.
#define BATON_OR_RETURN(...)                                                                  \
  do {                                                                                        \
    if (::baton::sdk::Status baton_status_ = (__VA_ARGS__); !baton_status_.ok()) [[unlikely]] \
      return baton_status_;                                                                   \
  } while (false)

// Unwraps a Result into a declaration, or returns its failure. Several statements: only inside braces.
#define BATON_ASSIGN_OR_RETURN(declaration, ...) BATON_ASSIGN_OR_RETURN_AT(__LINE__, declaration, __VA_ARGS__)
#define BATON_ASSIGN_OR_RETURN_AT(line, declaration, ...) BATON_ASSIGN_OR_RETURN_AS(line, declaration, __VA_ARGS__)
#define BATON_ASSIGN_OR_RETURN_AS(line, declaration, ...) \
  auto baton_result_##line = (__VA_ARGS__);               \
  if (!baton_result_##line.has_value()) [[unlikely]]      \
    return std::move(baton_result_##line).error();        \
  declaration = std::move(baton_result_##line).value()
