// baton-dump-module: a .bvm file as text that assembles back to the same bytes, as JSON, or section by section.

#include "bytecode/disassembler.hpp"
#include "bytecode/verifier.hpp"
#include "tools/dump/json.hpp"
#include "tools/dump/sections.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/support/files.hpp"
#include "tools/support/module_source.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::string module = "-";
  std::string output = "-";
  std::string format = "text";
  std::vector<std::string> sections;
  bool sizes = false;
};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line({"baton-dump-module",
                           "Shows what a .bvm module file holds. Its text assembles back to the same bytes.",
                           "  baton-dump-module add.bvm > add.bvmasm\n"
                           "  baton-dump-module add.bvm --format=json\n"
                           "  baton-dump-module add.bvm --sizes\n"
                           "  baton-dump-module add.bvm --section=imports --section=exports\n"});
  line.positional("module", options.module, "The .bvm file; - (the default) reads standard input");
  line.text("--output,-o", options.output, "Where the text goes; - (the default) is standard output");
  line.choice("--format", options.format, {"text", "json"}, "What to write: text (the default) or json");
  line.choices("--section", options.sections, dump::section_names(), "Only this section, for people; again for more");
  line.toggle("--sizes", options.sizes, "The same as --section=sizes");
  return line.parse(argc, argv);
}

Result<std::string> describe(const bytecode::ModuleView& module, const Options& options) {
  std::vector<std::string> sections = options.sections;
  if (options.sizes) sections.insert(sections.begin(), "sizes");
  const bool json = options.format == "json";
  if (sections.empty()) return json ? dump::module_json(module) : bytecode::disassemble(module);
  if (json)
    return failure(StatusCode::kInvalidArgument, "--format=json holds all sections; leave out --section and --sizes");
  std::string text;
  for (const std::string& section : sections) text += dump::describe_section(module, section);
  return text;
}

Status dump_module(const Options& options) {
  BATON_TRY_ASSIGN(const bytecode::ModuleBytes bytes, load_module_bytes(options.module));
  Result<bytecode::ModuleView> module = bytecode::verify(bytes.bytes());
  if (!module) return std::move(module).error().with_context(text("while reading ", options.module));
  BATON_TRY_ASSIGN(const std::string text, describe(*module, options));
  return write_file(options.output, bytes_of(text));
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  return baton::tools::report(baton::tools::dump_module(options));
}
