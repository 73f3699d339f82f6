// An app that compiles a program and runs it, in one process.
#include <cstdio>

#include "compiler-lite/compile.hpp"
#include "vm/bytecode_module.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace {

using namespace baton;

constexpr std::string_view kSource = R"(
func.func @triple(%a: i32) -> i32 {
  %three = arith.constant 3 : i32
  %product = arith.muli %a, %three : i32
  return %product : i32
}
)";

Status run() {
  const compiler_lite::CompileOutput output =
      compiler_lite::compile(kSource, "triple.mlir", {.execution_model = "host-only"});
  if (!output.ok) return Status(StatusCode::kInternal, output.diagnostics);
  BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> module, vm::BytecodeModule::load(bytecode::ModuleBytes::copy(output.bytes)));
  const Ref<const vm::Module> modules[] = {module};
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
  BATON_TRY_ASSIGN(Ref<vm::Context> context, vm::Context::make(program));
  BATON_TRY_ASSIGN(const vm::ExportedFunction triple, context->find_function("triple"));
  vm::Invocation invocation(context);
  const vm::TypedValue argument = int32_t{4};
  vm::Value result;
  BATON_TRY(invocation.invoke(triple, {&argument, 1}, {&result, 1}));
  std::printf("compiled and run: %d\n", result.as<int32_t>());
  return {};
}

}  // namespace

int main() {
  const Status status = run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
