// From text to a running program in one line, for tests: assemble, load, link, make a context, call. What a test does
// not expect to fail throws with the sentence, which GoogleTest prints.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/assembler.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace baton::vm::testing {

template <typename T>
T expect_ok(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(result).value();
}
inline void expect_ok(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

using Modules = std::initializer_list<Ref<const Module>>;

// `text` without its 'module' line gets one.
inline Ref<BytecodeModule> load_text(std::string_view text, const bytecode::AssemblerOptions& options = {}) {
  const std::string headed =
      text.find("module @") == text.npos ? std::string("module @test\n").append(text) : std::string(text);
  const std::vector<std::byte> bytes = expect_ok(bytecode::assemble(headed, options));
  return expect_ok(BytecodeModule::load(bytecode::ModuleBytes::copy(bytes)));
}

inline Result<Ref<Program>> link(Modules modules) { return Program::link({modules.begin(), modules.size()}); }

inline Ref<Context> make_context(Modules modules, const Allocator& allocator = system_allocator()) {
  return expect_ok(Context::make(expect_ok(link(modules)), allocator));
}
inline Ref<Context> make_context(std::string_view text) { return make_context({load_text(text)}); }

// Room for the results of `function`, which call() fills.
inline std::vector<Value> results_for(const ExportedFunction& function) {
  return std::vector<Value>(size_t{function.shape.result_values} + function.shape.result_refs);
}

using Arguments = std::initializer_list<Value>;

inline Result<std::vector<Value>> call(Invocation& invocation, const Ref<Context>& context, std::string_view name,
                                       Arguments arguments = {}) {
  const ExportedFunction function = expect_ok(context->find_function(name));
  std::vector<Value> results = results_for(function);
  BATON_TRY(invocation.invoke_slots(function, {arguments.begin(), arguments.size()}, results));
  return results;
}
inline Result<std::vector<Value>> call(const Ref<Context>& context, std::string_view name, Arguments arguments = {}) {
  Invocation invocation(context);
  return call(invocation, context, name, arguments);
}

inline int32_t call_i32(const Ref<Context>& context, std::string_view name, Arguments arguments = {}) {
  return expect_ok(call(context, name, arguments)).at(0).i32;
}

// The failure of a call that must fail.
inline Status call_fails(const Ref<Context>& context, std::string_view name, Arguments arguments = {}) {
  auto results = call(context, name, arguments);
  if (results) throw std::runtime_error("the call succeeded");
  return std::move(results).error();
}

}  // namespace baton::vm::testing
