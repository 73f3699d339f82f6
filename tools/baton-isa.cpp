// baton-isa: the instruction table as documents. bytecode/ISA.md is `baton-isa --markdown`.

#include "bytecode/isa_text.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/support/files.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

struct Options {
  bool markdown = false;
  bool json = false;
  bool encoding = false;
  std::string output = "-";
};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line({"baton-isa",
                           "Prints the instruction table: every instruction, its encoding and its meaning.",
                           "  baton-isa --markdown --output=bytecode/ISA.md\n"
                           "  baton-isa --json\n"});
  line.toggle("--markdown", options.markdown, "As a page for people (the default)");
  line.toggle("--json", options.json, "As data for other programs");
  line.toggle("--encoding", options.encoding, "As lines of code, mnemonic and operands: what may never change");
  line.text("--output,-o", options.output, "Where it goes; - (the default) is standard output");
  return line.parse(argc, argv);
}

Status print_table(const Options& options) {
  if (options.markdown + options.json + options.encoding > 1) {
    return failure(StatusCode::kInvalidArgument, "give one of --markdown, --json and --encoding");
  }
  const std::string table = options.json       ? bytecode::isa_json()
                            : options.encoding ? bytecode::isa_encoding()
                                               : bytecode::isa_markdown();
  return write_file(options.output, bytes_of(table));
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  return baton::tools::report(baton::tools::print_table(options));
}
