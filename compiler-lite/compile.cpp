#include "compiler-lite/compile.hpp"

#include "compiler-lite/binary_form.hpp"
#include "compiler-lite/cache.hpp"
#include "compiler-lite/dialects/all.hpp"
#include "compiler-lite/emit/module.hpp"
#include "compiler-lite/lower/later_text.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "compiler-lite/lower/upstream_tosa.hpp"
#include "compiler-lite/nesting.hpp"
#include "compiler-lite/pipeline.hpp"
#include "compiler-lite/schedule/schedule.hpp"
#include "compiler-lite/specs/apply_specs.hpp"
#include "llvm/Support/SourceMgr.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace baton::compiler_lite {

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// The program as text, as --compile-to= shows it.
std::vector<std::byte> print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  return bytes_of(stream.str());
}

bool run(llvm::SourceMgr& sources, mlir::MLIRContext& context, const CompileOptions& options,
         std::vector<std::byte>& bytes, std::string& explanation) {
  const mlir::ParserConfig unverified(&context, /*verifyAfterParse=*/false);
  const mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(sources, unverified);
  if (!module || failed(lower::unify_maps(*module)) || failed(mlir::verify(*module))) return false;
  std::string schedule;
  if (failed(run_pipeline(*module, options, schedule, explanation))) return false;
  if (options.dump_schedule) {
    bytes = bytes_of(schedule);
    return true;
  }
  if (options.compile_to != "end") {
    bytes = print(*module);
    return true;
  }
  mlir::FailureOr<std::vector<std::byte>> emitted = emit::emit_module(*module, {.strip_debug = options.strip_debug});
  if (failed(emitted)) return false;
  bytes = std::move(*emitted);
  return true;
}

CompileOutput compile_anew(std::string_view source, const std::string& name, const CompileOptions& options) {
  CompileOutput output;
  if (is_binary_form(source)) {
    TextForm form = text_of_binary_form(source, name);
    if (form.ok) return compile_anew(form.text, name, options);
    output.diagnostics = std::move(form.text);
    return output;
  }
  output.diagnostics = check_nesting(source, name);
  if (!output.diagnostics.empty()) return output;
  llvm::StringRef text(source.data(), source.size());
  std::optional<lower::EarlierText> earlier = lower::earlier_text(text, name);
  if (earlier && !earlier->diagnostics.empty()) {
    output.diagnostics = std::move(earlier->diagnostics);
    return output;
  }
  if (earlier) text = earlier->text;
  mlir::DialectRegistry registry;
  register_dialects(registry);
  schedule::register_schedule(registry);
  // All that is registered is loaded below, and these dialects are many.
  if (spec_options(options).any()) specs::register_spec_dialects(registry);
  // Threads of its own cost more than they bring for programs of this size.
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.loadAllAvailableDialects();  // Steps make operations of most of them.
  context.printOpOnDiagnostic(false);

  llvm::raw_string_ostream diagnostics(output.diagnostics);
  // Specs match operations of tosa themselves.
  std::optional<lower::LoweredTosa> tosa;
  if (!spec_options(options).any()) tosa = lower::lower_upstream_tosa(text, name);
  if (tosa && !tosa->ok) {
    output.diagnostics = std::move(tosa->diagnostics);
    return output;
  }
  if (tosa) text = tosa->text;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
  const mlir::SourceMgrDiagnosticHandler handler(sources, &context, diagnostics);
  output.ok = run(sources, context, options, output.bytes, output.explanation);
  diagnostics.flush();
  return output;
}

}  // namespace

CompileOutput compile(std::string_view source, const std::string& name, const CompileOptions& options) {
  const Cache cache(source, name, options);
  if (std::optional<CompileOutput> kept = cache.find()) return std::move(*kept);
  CompileOutput output = compile_anew(source, name, options);
  cache.keep(output);
  return output;
}

}  // namespace baton::compiler_lite
