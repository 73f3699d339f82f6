#include "compiler-lite/binary_form.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "compiler-lite/dialects/all.hpp"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace baton::compiler_lite {
namespace {

constexpr std::string_view kMagic = "ML\xefR";
constexpr int kRead = 0, kRefused = 1;

// In the child: its exit code.
int write_text(std::string_view source, const std::string& name, int target) {
  mlir::DialectRegistry registry;
  register_dialects_but_tosa(registry);
  registry.insert<mlir::tosa::TosaDialect, mlir::ml_program::MLProgramDialect, mlir::index::IndexDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy({source.data(), source.size()}, name), llvm::SMLoc());
  const mlir::SourceMgrDiagnosticHandler handler(sources, &context, stream);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (module) {
    text.clear();
    mlir::OpPrintingFlags flags;
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
    module->print(stream, flags);
  }
  stream.flush();
  for (size_t written = 0; written < text.size();) {
    const ssize_t count = write(target, text.data() + written, text.size() - written);
    if (count <= 0) return kRefused;
    written += static_cast<size_t>(count);
  }
  return module ? kRead : kRefused;
}

std::string read_all(int source) {
  std::string text;
  char part[65536];
  while (true) {
    const ssize_t count = read(source, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part, static_cast<size_t>(count));
  }
}

}  // namespace

bool is_binary_form(std::string_view source) { return source.substr(0, kMagic.size()) == kMagic; }

TextForm text_of_binary_form(std::string_view source, const std::string& name) {
  const auto refused = [&](const std::string& why) { return TextForm{false, name + ":1:1: error: " + why + "\n"}; };
  int ends[2] = {};
  if (pipe2(ends, O_CLOEXEC) != 0) return refused("no pipe to the process that reads the binary form");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    _exit(write_text(source, name, ends[1]));
  }
  close(ends[1]);
  std::string text = child < 0 ? std::string() : read_all(ends[0]);
  close(ends[0]);
  if (child < 0) return refused("no process that reads the binary form");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kRead) return {true, std::move(text)};
  if (WIFEXITED(status) && text.find("error:") != text.npos) return {false, std::move(text)};
  return refused("the program's binary form is damaged; MLIR's reader did not get through it");
}

}  // namespace baton::compiler_lite
