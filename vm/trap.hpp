// How a running program fails: a kind, found by the step that failed, and the Status that is made of it — a sentence
// with the operands' values, then where it happened and who called.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace baton::vm {

struct Machine;

// TRAP(enumerator, status code, sentence). The sentence of the last three comes from the program or the native
// function.
#define BATON_TRAPS(TRAP)                                                              \
  TRAP(kDivisionByZero, kInvalidArgument, "division by zero")                          \
  TRAP(kDivisionOverflow, kOutOfRange, "division overflows")                           \
  TRAP(kNegativePower, kInvalidArgument, "zero raised to a negative power")            \
  TRAP(kNullReference, kInvalidArgument, "reference is null")                          \
  TRAP(kWrongType, kInvalidArgument, "reference is of another type")                   \
  TRAP(kBlobRange, kOutOfRange, "access ends beyond the blob")                         \
  TRAP(kBlobReadOnly, kPermissionDenied, "blob is read-only")                          \
  TRAP(kFillSize, kInvalidArgument, "fill size is not a multiple of the pattern size") \
  TRAP(kTooLarge, kResourceExhausted, "size is larger than host memory can give")      \
  TRAP(kListRange, kOutOfRange, "index is beyond the list")                            \
  TRAP(kElementType, kInvalidArgument, "list element is of another type")              \
  TRAP(kNotWaitable, kInvalidArgument, "reference cannot be awaited")                  \
  TRAP(kUnresolvedImport, kUnavailable, "optional import is missing")                  \
  TRAP(kStackOverflow, kResourceExhausted, "call stack is full")                       \
  TRAP(kBudgetExhausted, kResourceExhausted, "instruction budget is exhausted")        \
  TRAP(kDeadline, kDeadlineExceeded, "deadline has passed")                            \
  TRAP(kCancelled, kCancelled, "invocation was cancelled")                             \
  TRAP(kFail, kUnknown, "")                                                            \
  TRAP(kAssert, kFailedPrecondition, "")                                               \
  TRAP(kNativeFailed, kUnknown, "")

enum class TrapKind : uint8_t {
  kNone,
#define TRAP(name, code, sentence) name,
  BATON_TRAPS(TRAP)
#undef TRAP
};

// What an instruction that may trap gives: a value, or why there is none.
template <typename T>
struct Fallible {
  T value;
  TrapKind trap;

  Fallible(T result) : value(result), trap(TrapKind::kNone) {}  // NOLINT: a value is a result
  Fallible(TrapKind kind) : value(), trap(kind) {}              // NOLINT: a trap is a result
};

// The status of the trap that stopped `machine`, with its backtrace. Consumes the native function's status if there is
// one.
Status describe_trap(Machine& machine);

}  // namespace baton::vm
