#include "tools/support/trace_printer.hpp"

#include <cstdio>

#include "base/text.hpp"
#include "bytecode/disassembler.hpp"
#include "vm/program.hpp"

namespace baton::tools {

void TracePrinter::instruction(const vm::LinkedModule& module, const vm::Function& function, uint32_t pc) {
  const bytecode::ModuleView& view = module.bytecode->view();
  const uint32_t code_begin = view.function(function.index).code_begin;
  const std::string line = text("[", view.name(), ".", view.function_name(function.index), "+", pc, "] ",
                                bytecode::disassemble_instruction(view, code_begin + pc), "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace baton::tools
