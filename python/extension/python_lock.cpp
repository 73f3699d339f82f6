#include "python/extension/python_lock.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace baton::python {
namespace {

thread_local bool drops_here = false;
thread_local PyObject* cause = nullptr;  // Owned: what a Python function raised.
thread_local bool is_foreign = false;    // Python knows of this thread only while it runs a function of Python.

// What functions of Python raised on threads of the runtime, until whoever waits for their work is told: the failure
// that comes to them begins with this text. Changed with the lock.
struct RaisedElsewhere {
  std::string text;
  PyObject* error;  // Owned.
};
constexpr size_t kRaisedElsewhereMax = 16;  // Of older ones nobody asked what became of the work.
std::vector<RaisedElsewhere>& raised_elsewhere() {
  static auto* all = new std::vector<RaisedElsewhere>;  // Outlives every thread.
  return *all;
}

void keep_for_others(std::string_view text, PyObject* error) {
  auto& all = raised_elsewhere();
  all.push_back({std::string(text), error});
  if (all.size() <= kRaisedElsewhereMax) return;
  PyObject* const oldest = all.front().error;
  all.erase(all.begin());
  Py_DECREF(oldest);  // Last: it may run code of Python.
}

// The latest whose failure this is, or null; owned.
PyObject* take_from_others(std::string_view message) {
  auto& all = raised_elsewhere();
  for (size_t i = all.size(); i-- > 0;) {
    const std::string_view text = all[i].text;
    if (!message.starts_with(text) || (message.size() > text.size() && message[text.size()] != '\n')) continue;
    PyObject* const error = all[i].error;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    return error;
  }
  return nullptr;
}

// What threads without the lock gave up. One for the process: its interpreter is one.
struct LeftOver {
  std::mutex mutex;
  std::vector<PyObject*> objects;
  std::atomic<bool> any{false};
};
LeftOver& left_over() {
  static auto* one = new LeftOver;  // Outlives every thread.
  return *one;
}

std::atomic<uint64_t> forks{0};

int drop_pending(void*) {
  drop_left_over();
  return 0;
}

nb::object errors_module() { return nb::module_::import_("baton._errors"); }

// Python ends threads that ask for the lock while it shuts down, by unwinding them, which would let go of its objects
// without the lock. Such a thread stays where it is instead, until the process ends.
template <typename Take>
void or_stay(const Take& take_lock) {
  try {
    take_lock();
  } catch (...) {
    for (;;) pause();
  }
}

PyObject* new_reference(nb::handle object) { return nb::borrow(object).release().ptr(); }

}  // namespace

Unlocked::Unlocked() : state_(PyEval_SaveThread()), dropped_here_(std::exchange(drops_here, false)) {}
Unlocked::~Unlocked() {
  or_stay([&] { PyEval_RestoreThread(state_); });
  drops_here = dropped_here_;
}

Locked::Locked() : was_foreign_(std::exchange(is_foreign, PyGILState_GetThisThreadState() == nullptr)) {
  or_stay([&] { state_ = PyGILState_Ensure(); });
}
Locked::~Locked() {
  PyGILState_Release(state_);
  is_foreign = was_foreign_;
}

DropsHere::DropsHere() : before_(std::exchange(drops_here, true)) {}
DropsHere::~DropsHere() { drops_here = before_; }

void drop(PyObject* object) {
  if (!object) return;
  if (drops_here) return Py_DECREF(object);
  if (!Py_IsInitialized()) return;  // The interpreter is gone, and the object with it.
  const std::lock_guard lock(left_over().mutex);
  left_over().objects.push_back(object);
  // The interpreter's main thread comes by soon; if its queue is full, the next call into Baton does.
  if (!left_over().any.exchange(true)) Py_AddPendingCall(drop_pending, nullptr);
}

void drop_left_over() {
  if (!left_over().any.load(std::memory_order_relaxed)) return;
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(left_over().mutex);
    objects.swap(left_over().objects);
    left_over().any = false;
  }
  for (PyObject* object : objects) Py_DECREF(object);
}

namespace {

// A message may hold what others wrote: bytes that are no UTF-8, or half a character of Python's. Both are shown by their
// numbers.
nb::object text_of(std::string_view message) {
  PyObject* text = PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace");
  if (!text) throw nb::python_error();
  return nb::steal(text);
}
std::string bytes_of(nb::handle text) {
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!bytes) throw nb::python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

}  // namespace

void set_error(const Status& status) {
  PyObject* raised = take_from_others(status.message());
  if (!raised) raised = std::exchange(cause, nullptr);
  try {
    // Ctrl-C and sys.exit() in a function of Python are no failures of the program: they go on as they are.
    if (raised && !PyErr_GivenExceptionMatches(raised, PyExc_Exception)) {
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised)), raised);
      Py_DECREF(raised);
      return;
    }
    const std::string_view message = status.message();
    nb::object error = errors_module().attr("error_of")(static_cast<int>(status.code()), text_of(message));
    if (raised) PyException_SetCause(error.ptr(), raised);  // Takes the reference over.
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  } catch (nb::python_error& broken) {
    broken.restore();
  }
}

void raise(const Status& status) {
  set_error(status);
  throw nb::python_error();
}

Status keep_error(std::string_view where) {
  try {
    nb::python_error error;  // Takes what is set.
    nb::object told = errors_module().attr("status_of")(error.value());
    const int code = nb::cast<int>(told[0]);
    const std::string message = bytes_of(told[1]);
    Status failed = Status(static_cast<StatusCode>(code), message).with_context(where);
    if (is_foreign) {
      keep_for_others(failed.message(), new_reference(error.value()));
    } else {
      Py_XDECREF(std::exchange(cause, new_reference(error.value())));
    }
    return failed;
  } catch (nb::python_error&) {
    return failure(StatusCode::kUnknown, "A Python function raised what cannot be told.").with_context(where);
  }
}

void forget_cause() {
  if (cause) [[unlikely]]
    Py_DECREF(std::exchange(cause, nullptr));
}

uint64_t fork_generation() { return forks.load(std::memory_order_relaxed); }
void note_fork() { forks.fetch_add(1, std::memory_order_relaxed); }

}  // namespace baton::python
