#include "modules/tvm_ffi/runtime.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/shared_object.hpp"
#include "base/text.hpp"

namespace baton::modules::tvm_ffi {
namespace {

constexpr const char* kFileName = "libtvm_ffi.so";
constexpr uint32_t kMajor = 0, kMinor = 1;

// ---- Where it is ----------------------------------------------------------------------------------------------------

std::vector<std::string> candidates(const std::string& told) {
  if (!told.empty()) return {told};
  if (const char* variable = std::getenv("BATON_TVM_FFI_LIBRARY"); variable && *variable) return {variable};
  std::vector<std::string> found;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* environment = std::getenv(name);
    if (!environment || !*environment) continue;
    std::error_code failed;
    for (const auto& python : std::filesystem::directory_iterator(std::filesystem::path(environment) / "lib", failed)) {
      const std::string path = (python.path() / "site-packages/tvm_ffi/lib" / kFileName).string();
      if (::access(path.c_str(), R_OK) == 0) found.push_back(path);
    }
  }
  found.emplace_back(kFileName);
  return found;
}

// Functions of other libraries find it by its name, so it is visible to all, as in Python.
Result<void*> open_library(const std::string& told) {
  if (told.empty()) {
    if (void* loaded = dlopen(kFileName, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD)) return loaded;
  }
  std::string reason;
  for (const std::string& path : candidates(told)) {
    if (path.find('/') != path.npos)
      BATON_TRY_CONTEXT(check_shared_object(path.c_str()), "in TVM-FFI's library '", path, "'");
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) return handle;
    reason = dlerror();
  }
  return failure(StatusCode::kUnavailable, "TVM-FFI's library cannot be opened (", reason,
                 "). It comes with pip install apache-tvm-ffi; BATON_TVM_FFI_LIBRARY says the file.");
}

template <typename Function>
Status find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function) return {};
  return failure(StatusCode::kFailedPrecondition, "TVM-FFI's library has no '", name, "'; versions ", kMajor, ".",
                 kMinor, " are understood.");
}

Status check_version(const Runtime& runtime) {
  Version version{};
  runtime.get_version(&version);
  if (version.major == kMajor && version.minor == kMinor) return {};
  return failure(StatusCode::kFailedPrecondition, "TVM-FFI's library is of version ", version.major, ".", version.minor,
                 ".", version.patch, "; versions ", kMajor, ".", kMinor, " are understood.");
}

// ---- Errors ---------------------------------------------------------------------------------------------------------

struct Kind {
  std::string_view name;
  StatusCode code;
};
// Looking up a kind takes the first row with its name; looking up a code takes the first row with that code.
constexpr Kind kKinds[] = {
    {"ValueError", StatusCode::kInvalidArgument},
    {"TypeError", StatusCode::kInvalidArgument},
    {"IndexError", StatusCode::kOutOfRange},
    {"KeyError", StatusCode::kNotFound},
    {"AttributeError", StatusCode::kNotFound},
    {"FileNotFoundError", StatusCode::kNotFound},
    {"NotImplementedError", StatusCode::kUnimplemented},
    {"MemoryError", StatusCode::kResourceExhausted},
    {"PermissionError", StatusCode::kPermissionDenied},
    {"FileExistsError", StatusCode::kAlreadyExists},
    {"TimeoutError", StatusCode::kDeadlineExceeded},
    {"KeyboardInterrupt", StatusCode::kCancelled},
    {"RuntimeError", StatusCode::kInternal},
    {"InternalError", StatusCode::kInternal},
    {"AssertionError", StatusCode::kFailedPrecondition},
};

StatusCode code_of(std::string_view kind) {
  for (const Kind& known : kKinds) {
    if (known.name == kind) return known.code;
  }
  return StatusCode::kUnknown;
}

std::string_view kind_of(StatusCode code) {
  for (const Kind& known : kKinds) {
    if (known.code == code) return known.name;
  }
  return "RuntimeError";
}

// "ValueError" of "ValueError: the number is 0", else nothing.
std::string_view kind_told(std::string_view sentence) {
  for (const Kind& known : kKinds) {
    if (sentence.starts_with(known.name) && sentence.substr(known.name.size()).starts_with(": ")) return known.name;
  }
  return {};
}

std::string_view view_of(const ByteArray& bytes) { return bytes.data ? std::string_view(bytes.data, bytes.size) : ""; }

ByteArray bytes_of(std::string_view text) { return {text.data(), text.size()}; }

// Where a trace leaves the function and goes on in its caller, which the program's own trace describes better.
constexpr std::string_view kOurCallers = "baton::modules::tvm_ffi::";

// "at scale.main, word 13 (scale.mlir:5:19)" as a line of a trace, in the form that frontends read.
std::string trace_line(std::string_view place) {
  if (place.starts_with("File \"")) return text("  ", place, "\n");  // Of a function of theirs.
  for (const std::string_view start : {"called from ", "from ", "at ", "in "}) {
    if (place.starts_with(start)) {
      place.remove_prefix(start.size());
      break;
    }
  }
  std::string_view file = "baton", line = "0";
  const size_t open = place.rfind(" (");
  const size_t first = open == place.npos ? place.npos : place.find(':', open);
  const size_t second = first == place.npos ? place.npos : place.find(':', first + 1);
  if (second != place.npos && place.ends_with(')')) {
    file = place.substr(open + 2, first - open - 2);
    line = place.substr(first + 1, second - first - 1);
    place = place.substr(0, std::min(open, place.find(", word ")));
  }
  return text("  File \"", file, "\", line ", line, ", in ", place, "\n");
}

// The lines of a status behind the first say where it came from, the innermost first.
std::string trace_of(std::string_view lines) {
  std::string trace;
  for (std::string_view rest = lines; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    while (!line.empty() && line[0] == ' ') line.remove_prefix(1);
    if (!line.empty()) trace += trace_line(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return trace;
}

}  // namespace

Status failure_of(std::string_view kind, std::string_view message, std::string_view backtrace) {
  Status failed = failure(code_of(kind), kind, ": ", message);
  for (std::string_view rest = backtrace; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    if (line.find(kOurCallers) != line.npos) break;
    if (line.find_first_not_of(' ') != line.npos) {
      failed = std::move(failed).with_context(line.substr(line.find_first_not_of(' ')));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return failed;
}

namespace {

// The first line, and the next where it ends in a colon; `text` keeps the rest.
std::string take_sentence(std::string_view& text) {
  std::string sentence;
  do {
    const size_t begin = std::min(text.find_first_not_of("\n "), text.size());
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (begin == text.size()) break;
    if (!sentence.empty()) sentence += ' ';
    sentence += text.substr(begin, end - begin);
    text.remove_prefix(end);
  } while (sentence.ends_with(':'));
  return sentence;
}

}  // namespace

Result<std::shared_ptr<const Runtime>> Runtime::open(const std::string& path) {
  BATON_TRY_ASSIGN(void* const library, open_library(path));
  auto runtime = std::make_shared<Runtime>();
  BATON_TRY(find(library, "TVMFFIGetVersion", runtime->get_version));
  BATON_TRY(check_version(*runtime));
#define FUNCTION(member, symbol, result, ...) BATON_TRY(find(library, #symbol, runtime->member));
#include "modules/tvm_ffi/symbols.inc"
#undef FUNCTION
  return std::shared_ptr<const Runtime>(std::move(runtime));
}

Status Runtime::take_error(int code) const {
  void* raised = nullptr;
  if (code != kRaisedInFrontend) error_take(&raised);
  if (!raised) {
    return failure(StatusCode::kUnknown, code == kRaisedInFrontend
                                             ? "It raised an error of its frontend, which only that frontend has."
                                             : "It failed and raised no error.");
  }
  const auto& cell = cell_of<ErrorCell>(static_cast<AnyObject*>(raised));
  Status failed = failure_of(view_of(cell.kind), view_of(cell.message), view_of(cell.backtrace));
  release(raised);
  return failed;
}

int Runtime::raise(const Status& failed) const {
  std::string_view trace_lines = failed.message();
  const std::string whole = take_sentence(trace_lines);
  const std::string trace = trace_of(trace_lines);
  const std::string_view sentence = whole;
  const std::string_view told = kind_told(sentence);  // By a function of theirs.
  const ByteArray kind = bytes_of(told.empty() ? kind_of(failed.code()) : told),
                  message = bytes_of(told.empty() ? sentence : sentence.substr(told.size() + 2)),
                  backtrace = bytes_of(trace);
  void* error = nullptr;
  if (error_create(&kind, &message, &backtrace, &error) != 0) return kRaised;
  error_raise(error);
  release(error);
  return kRaised;
}

}  // namespace baton::modules::tvm_ffi
