// LLD opens its inputs by path and writes its output to a path. The paths are those of memory files and of a pipe
// (/proc/self/fd/N), so nothing reaches a disk and nothing is left behind, whatever happens.
#include "compiler-lite/codegen/cpu/link.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <thread>

#include "compiler-lite/codegen/child_process.hpp"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace baton::compiler_lite::codegen::cpu {
namespace {

class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(MemoryFile&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  MemoryFile& operator=(MemoryFile&&) = delete;

  bool good() const { return descriptor_ >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  bool write_all(llvm::StringRef bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written <= 0) return false;
      bytes = bytes.drop_front(static_cast<size_t>(written));
    }
    return true;
  }

 private:
  int descriptor_;
};

// Where the linker writes to. It would put a temporary file beside an output that is a regular file, and memory files
// are; a pipe gets the finished bytes in one stream, which a thread reads meanwhile.
class OutputPipe {
 public:
  OutputPipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) return;
    reader_ = std::thread([this] { read_all(); });
  }
  ~OutputPipe() { finish(); }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  bool good() const { return ends_[0] >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[1]); }

  // What was written, after the last writer is gone.
  std::vector<char> finish() {
    if (reader_.joinable()) {
      close(ends_[1]);
      reader_.join();
      close(ends_[0]);
    }
    return std::move(bytes_);
  }

 private:
  void read_all() {
    char part[64 * 1024];
    for (;;) {
      const ssize_t count = read(ends_[0], part, sizeof(part));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      bytes_.insert(bytes_.end(), part, part + count);
    }
  }

  int ends_[2] = {-1, -1};
  std::vector<char> bytes_;
  std::thread reader_;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// LLD says "error: undefined symbol: NAME" for each.
std::vector<std::string> find_undefined(llvm::StringRef messages) {
  std::vector<std::string> names;
  const llvm::StringRef mark = "undefined symbol: ";
  for (size_t at = messages.find(mark); at != llvm::StringRef::npos; at = messages.find(mark, at)) {
    at += mark.size();
    names.push_back(messages.slice(at, messages.find('\n', at)).str());
  }
  return names;
}

bool run_lld(llvm::ArrayRef<std::string> arguments, llvm::raw_ostream& messages) {
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  return lld::lldMain(pointers, messages, messages, {{lld::Gnu, &lld::elf::link}}).retCode == 0;
}

bool run_here(llvm::ArrayRef<std::string> arguments, std::string& messages) {
  llvm::raw_string_ostream stream(messages);
  return run_lld(arguments, stream);
}

// What LLD calls fatal ends its process, and damage may do the same; objects of users are linked in one that nobody needs.
bool run_apart(llvm::ArrayRef<std::string> arguments, size_t bytes, std::string& messages) {
  ChildOutput output = run_in_child(seconds_max(bytes), [&](int target) {
    llvm::raw_fd_ostream stream(target, /*shouldClose=*/false, /*unbuffered=*/true);
    return run_lld(arguments, stream);
  });
  messages = output.problem.empty() ? std::move(output.text) : output.problem.str();
  const bool linked = output.answer.value_or(false);
  if (messages.empty() && !linked) messages = "the linker did not get through it; an object is damaged";
  return linked;
}

}  // namespace

LinkResult link_elf(llvm::ArrayRef<LinkInput> inputs, llvm::StringRef exported) {
  LinkResult result;
  OutputPipe output;
  std::vector<MemoryFile> files;
  std::vector<std::string> arguments = {
      "ld.lld",        "-shared",           "-nostdlib",       "-static",     "--no-undefined", "-Bsymbolic",
      "--gc-sections", "--hash-style=sysv", "--build-id=none", "--strip-all", "-znow",          "-zrelro",
      "--icf=all",     "--threads=1",       "--error-limit=0", "-o",          output.path()};
  bool good = output.good(), is_apart = false;
  size_t bytes = 0;
  for (const LinkInput& input : inputs) {
    is_apart = is_apart || input.is_from_user;
    bytes += input.bytes.size();
    files.emplace_back("input");
    good = good && files.back().good() && files.back().write_all(input.bytes);
    arguments.push_back(files.back().path());
  }
  if (!good) {
    result.messages = "No memory for the linker's files.";
    return result;
  }
  // Objects of users may export what they like: a version script hides all but the query function.
  MemoryFile script("script");
  if (!script.good() || !script.write_all(("{ global: " + exported.str() + "; local: *; };"))) return result;
  arguments.push_back("--version-script=" + script.path());
  {
    static std::mutex mutex;  // LLD keeps its state in globals, which a child gets as they are.
    const std::lock_guard<std::mutex> lock(mutex);
    result.linked = is_apart ? run_apart(arguments, bytes, result.messages) : run_here(arguments, result.messages);
  }
  result.bytes = output.finish();
  for (size_t i = 0; i < files.size(); ++i) replace_all(result.messages, files[i].path(), inputs[i].name);
  result.undefined = find_undefined(result.messages);
  return result;
}

}  // namespace baton::compiler_lite::codegen::cpu
