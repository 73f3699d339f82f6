#include "bytecode/assembler.hpp"

#include "bytecode/assembler_parser.hpp"

namespace baton::bytecode {
namespace {

using assembler::Cursor;
using assembler::Declarations;

uint32_t function_index(const Declarations& declarations, const assembler::Token* symbol, Cursor& cursor) {
  if (!symbol) return kNoIndex;
  return declarations.function_names.find(*symbol, cursor).value_or(kNoIndex);
}

// Hands the declarations to the builder, kind by kind, each in the order of the text. The disassembler counts on the
// kinds' order to know where types and signatures will stand in their tables.
void declare(Declarations& declarations, Cursor& cursor, ModuleBuilder& builder) {
  builder.set_version(declarations.version);
  for (const std::string& type : declarations.types) builder.add_type(type);
  for (const std::string& signature : declarations.signatures) builder.add_signature(signature);
  for (const auto& [key, value] : declarations.attributes) builder.add_attribute(kNoIndex, key, value);
  for (assembler::ImportDeclaration& made : declarations.imports) {
    made.import.fallback = function_index(declarations, made.fallback, cursor);
    builder.add_import(made.import);
  }
  for (const ModuleBuilder::Global& global : declarations.globals) builder.add_global(global);
  for (const auto& [name, bytes] : declarations.rodata) {
    builder.add_rodata(name, std::as_bytes(std::span(bytes)), false);
  }
  for (assembler::ExecutableDeclaration& made : declarations.executables) {
    for (size_t i = 0; i < made.row.variants.size(); ++i) {
      made.row.variants[i].rodata = declarations.rodata_names.find(*made.rodata[i], cursor).value_or(kNoIndex);
      made.row.variants[i].condition = function_index(declarations, made.conditions[i], cursor);
    }
    builder.add_executable(made.row);
  }
  for (const assembler::FunctionDeclaration& made : declarations.functions) {
    const uint32_t function = builder.declare_function(made.name, made.type.signature);
    for (const std::string& name : made.exports) builder.add_export(name, function);
  }
  builder.set_initializer(function_index(declarations, declarations.initializer, cursor));
}

}  // namespace

Result<std::vector<std::byte>> assemble(std::string_view text, const AssemblerOptions& options) {
  assembler::Diagnostics diagnostics(options.file_name);
  const std::vector<assembler::Token> tokens = assembler::tokenize(text, diagnostics);
  Cursor cursor(tokens, diagnostics);
  Declarations declarations = assembler::parse_directives(cursor);
  ModuleBuilder builder(declarations.name);
  declare(declarations, cursor, builder);
  for (uint32_t i = 0; i < declarations.functions.size(); ++i) {
    if (declarations.functions[i].body != 0) assembler::assemble_body(cursor, declarations, i, options, builder);
  }
  BATON_TRY(diagnostics.status());
  if (declarations.stripped || options.strip_debug) builder.strip_debug();
  return builder.finish();
}

}  // namespace baton::bytecode
