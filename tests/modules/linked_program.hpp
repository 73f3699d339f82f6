// A program of native modules and one module in text, ready to be called.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
#include <vector>

#include "bytecode/assembler.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace baton::modules {

class LinkedProgram {
 public:
  LinkedProgram(std::vector<Ref<const vm::Module>> modules, std::string_view text,
                const Allocator& allocator = system_allocator()) {
    const Status status = make(std::move(modules), text, allocator);
    EXPECT_TRUE(status.ok()) << status.to_string();
  }

  vm::ExportedFunction find(std::string_view name) {
    auto function = context->find_function(name);
    EXPECT_TRUE(function.has_value()) << function.error().to_string();
    return function ? *function : vm::ExportedFunction();
  }

  // Calls and keeps the results.
  Status call(std::string_view name, std::initializer_list<vm::Value> arguments = {}) {
    const vm::ExportedFunction function = find(name);
    results.assign(size_t{function.shape.result_values} + function.shape.result_refs, vm::Value());
    vm::Invocation invocation(context);
    return invocation.invoke_slots(function, {arguments.begin(), arguments.size()}, results);
  }

  Ref<vm::Context> context;
  std::vector<vm::Value> results;

 private:
  Status make(std::vector<Ref<const vm::Module>> modules, std::string_view text, const Allocator& allocator) {
    BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, bytecode::assemble(text));
    BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> module, vm::BytecodeModule::load(bytecode::ModuleBytes::copy(bytes)));
    modules.emplace_back(std::move(module));
    BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
    BATON_TRY_ASSIGN(context, vm::Context::make(std::move(program), allocator));
    return {};
  }
};

}  // namespace baton::modules
