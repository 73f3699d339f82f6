#include "compiler-lite/binary_form.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <limits>

#include "compiler-lite/codegen/child_process.hpp"
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
// Beyond what any program takes: MLIR needs some ten times the memory.
uint64_t memory_bytes_max(size_t source_bytes) { return (uint64_t{4} << 30) + 16 * uint64_t{source_bytes}; }

void set_limit(decltype(RLIMIT_AS) which, uint64_t most) {
  rlimit limit = {};
  if (getrlimit(which, &limit) != 0 || most >= limit.rlim_cur) return;
  limit.rlim_cur = most;
  setrlimit(which, &limit);
}

// In the child, on top of what this process has: a host with CUDA holds far more addresses than memory.
void set_limits(size_t source_bytes) {
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, codegen::seconds_max(source_bytes));
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  if (pages == 0) return;
  set_limit(RLIMIT_AS, pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + memory_bytes_max(source_bytes));
}

// All of the program, whatever flags for printing the command line has.
mlir::OpPrintingFlags flags_of_all() {
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  flags.elideLargeElementsAttrs(kNoLimit).elideLargeResourceString(kNoLimit);
  return flags.printLargeElementsAttrWithHex().skipRegions(false);
}

// In the child.
bool write_text(std::string_view source, const std::string& name, int target) {
  set_limits(source.size());
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
    module->print(stream, flags_of_all());
  }
  stream.flush();
  codegen::write_all(target, text);
  return static_cast<bool>(module);
}

}  // namespace

bool is_binary_form(std::string_view source) { return source.substr(0, kMagic.size()) == kMagic; }

TextForm text_of_binary_form(std::string_view source, const std::string& name) {
  const auto refused = [&](const std::string& why) { return TextForm{false, name + ":1:1: error: " + why + "\n"}; };
  codegen::ChildOutput output = codegen::run_in_child(codegen::seconds_max(source.size()),
                                                      [&](int target) { return write_text(source, name, target); });
  if (!output.problem.empty()) return refused("MLIR's reader of the binary form: " + output.problem.str());
  std::string& text = output.text;
  if (output.answer == true || (output.answer == false && text.find("error:") != text.npos)) {
    return {*output.answer, std::move(text)};
  }
  return refused("the program's binary form is damaged, or too long as text; MLIR's reader did not get through it");
}

}  // namespace baton::compiler_lite
