#include "compiler-lite/codegen/vulkan/glsl.hpp"

#include <cstring>
#include <optional>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

namespace baton::compiler_lite::codegen::vulkan {
namespace {

constexpr unsigned kSecondsMax = 60;

// A file that goes when this does.
class Scratch {
 public:
  explicit Scratch(llvm::StringRef ending) {
    int file = -1;
    if (llvm::sys::fs::createTemporaryFile("baton", ending, file, path_)) return;
    remover_.setFile(path_);
    stream_.emplace(file, /*shouldClose=*/true);
  }
  llvm::StringRef path() const { return path_; }
  bool write(llvm::StringRef text) {
    if (!stream_) return false;
    *stream_ << text;
    stream_->close();
    const bool good = !stream_->has_error();
    stream_->clear_error();
    return good;
  }
  std::string read() const {
    auto file = llvm::MemoryBuffer::getFile(path_);
    return file ? (*file)->getBuffer().str() : std::string();
  }

 private:
  llvm::SmallString<128> path_;
  llvm::FileRemover remover_;
  std::optional<llvm::raw_fd_ostream> stream_;
};

std::string find_program() {
  for (const char* name : {"glslangValidator", "glslang"}) {
    if (auto found = llvm::sys::findProgramByName(name)) return *found;
  }
  return {};
}

// What the compiler of shaders said, on one line, with the source's own path.
std::string one_line(std::string said, llvm::StringRef scratch, llvm::StringRef path) {
  std::string line;
  for (llvm::StringRef rest = said; !rest.empty();) {
    const auto [first, others] = rest.split('\n');
    rest = others;
    const llvm::StringRef each = first.trim();
    if (each.empty() || each == scratch) continue;
    line += (line.empty() ? "" : "; ") + each.str();
  }
  for (size_t at = line.find(scratch.str()); at != line.npos; at = line.find(scratch.str(), at + path.size())) {
    line.replace(at, scratch.size(), path.str());
  }
  return line;
}

}  // namespace

std::vector<uint32_t> compile_glsl(llvm::StringRef source, llvm::StringRef path, std::string& problem) {
  const std::string program = find_program();
  if (program.empty()) {
    problem = "GLSL is compiled by glslangValidator, which is not in the PATH; SPIR-V with linkage needs no compiler";
    return {};
  }
  std::string text = source.str();
  if (!llvm::Regex("(^|[^A-Za-z0-9_])main[ \t]*\\(").match(text)) text += "\nvoid main() {}\n";
  Scratch input("comp"), output("spv"), said("log");
  if (!input.write(text) || !output.write("") || !said.write("")) {
    problem = "there is no room for temporary files";
    return {};
  }
  const llvm::StringRef arguments[] = {program,     "--quiet", "--keep-uncalled", "--target-env",
                                       "vulkan1.2", "-o",      output.path(),     input.path()};
  const std::optional<llvm::StringRef> streams[] = {llvm::StringRef(), said.path(), said.path()};
  std::string failed;
  const int code = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, streams, kSecondsMax, 0, &failed);
  const std::string bytes = output.read();
  if (code != 0 || bytes.empty()) {
    const std::string line = one_line(said.read(), input.path(), path);
    problem = program + " refused it: " + (line.empty() ? failed : line);
    return {};
  }
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

}  // namespace baton::compiler_lite::codegen::vulkan
