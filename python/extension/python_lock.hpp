// Python's lock (the GIL): who holds it, and how things of Python are dropped by threads that do not.
//
// Every call that may wait for a device gives the lock up, and so does whatever destroys a context or a device: a
// worker that runs a Python function needs the lock to finish.
// Threads: each function says what it needs.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "base/status.hpp"
#include "modules/sdk/status.h"

namespace baton::python {

namespace nb = nanobind;

// Gives up the lock while it lives.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
  bool dropped_here_;
};

// Takes the lock while it lives, from any thread: functions of Python that the runtime calls.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  bool was_foreign_;  // Of the runtime, not of Python.
  PyGILState_STATE state_;
};

// While it lives, this thread has the lock, and what the runtime releases is dropped at once instead of later.
class DropsHere {
 public:
  DropsHere();
  ~DropsHere();
  DropsHere(const DropsHere&) = delete;
  DropsHere& operator=(const DropsHere&) = delete;

 private:
  bool before_;
};

// Gives up a reference, from any thread: at once where DropsHere says so, else when a thread with the lock comes by.
void drop(PyObject* object);
// Drops what other threads left. Needs the lock.
void drop_left_over();

// Raises `status` as the subclass of baton.StatusError that its code has, with what a Python function raised as its cause:
// meanwhile on this thread, or on one of the runtime's, whose failure this is. Needs the lock.
void set_error(const Status& status);
[[noreturn]] void raise(const Status& status);
inline void check(const Status& status) {
  if (!status.ok()) [[unlikely]]
    raise(status);
}
template <typename R>
auto take(R&& result) {
  if (!result.has_value()) [[unlikely]]
    raise(result.error());
  return std::move(result).value();
}
// The error that Python has set, as a status; it becomes the cause of what is raised next on this thread, or, on one of
// the runtime's, of what that status becomes.
Status keep_error(std::string_view where);
// Runs what may throw, for a caller in C on any thread.
template <typename Call>
baton_status* guarded(std::string_view where, const Call& call) noexcept {
  const Locked locked;
  try {
    call();
    return nullptr;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (nb::builtin_exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return reinterpret_cast<baton_status*>(keep_error(where).release());
}
// Before a call that may fail: what an earlier one left.
void forget_cause();

// How often this process was forked: what was opened before has no threads in the child.
uint64_t fork_generation();
void note_fork();

}  // namespace baton::python
