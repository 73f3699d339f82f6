// baton-as: .bvmasm text → a .bvm file.

#include "bytecode/assembler.hpp"
#include "bytecode/verifier.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/support/files.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::string source = "-";
  std::string output = "-";
  bool record_locations = false;
  bool strip_debug = false;
  bool no_verify = false;
};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line({"baton-as", "Assembles .bvmasm text into a .bvm module file.",
                           "  baton-as add.bvmasm -o add.bvm\n"
                           "  baton-as add.bvmasm | baton-run-module - --function=add --input=2 --input=3\n"});
  line.positional("source", options.source, "The text; - (the default) reads standard input");
  line.text("--output,-o", options.output, "Where the module goes; - (the default) is standard output");
  line.toggle("-g,--record-locations", options.record_locations, "Traps shall name lines of this text");
  line.toggle("--strip-debug", options.strip_debug, "Leave out names and source locations");
  line.toggle("--no-verify", options.no_verify, "Write the module although the verifier would refuse it");
  return line.parse(argc, argv);
}

// What is refused is made once more, with what it takes to name functions and lines.
Status verify(std::span<const std::byte> bytes, std::string_view source, bytecode::AssemblerOptions assembler) {
  if (bytecode::verify(bytes)) return {};
  assembler.record_locations = true;
  assembler.strip_debug = false;
  BATON_TRY_ASSIGN(const std::vector<std::byte> told, bytecode::assemble(source, assembler));
  auto verified = bytecode::verify(told);
  if (verified) verified = bytecode::verify(bytes);
  return std::move(verified).error().with_context(text("in the module made of '", assembler.file_name, "'"));
}

Status assemble(const Options& options) {
  BATON_TRY(refuse_binary_on_terminal(options.output));
  tell_what_is_awaited(options.source, "a program as text");
  BATON_TRY_ASSIGN(const std::vector<std::byte> source, read_file(options.source));
  bytecode::AssemblerOptions assembler;
  if (options.source != "-") assembler.file_name = options.source;
  assembler.record_locations = options.record_locations;
  assembler.strip_debug = options.strip_debug;
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, bytecode::assemble(text_of(source), assembler));
  if (!options.no_verify) BATON_TRY(verify(bytes, text_of(source), assembler));
  return write_file(options.output, bytes);
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  return baton::tools::report(baton::tools::assemble(options));
}
