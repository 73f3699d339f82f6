// baton-dump-module: a .bvm file as text that assembles back to the same bytes, as JSON, or section by section; what
// this machine would do with it; its device code as files.

#include "bytecode/disassembler.hpp"
#include "bytecode/verifier.hpp"
#include "tools/dump/explain.hpp"
#include "tools/dump/extract.hpp"
#include "tools/dump/json.hpp"
#include "tools/dump/sections.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/support/files.hpp"
#include "tools/support/module_source.hpp"
#include "tools/support/report.hpp"
#include "tools/support/surroundings.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::string module = "-";
  std::string output = "-";
  std::string format = "text";
  std::vector<std::string> sections;
  bool sizes = false;
  bool disassembly = false;
  bool explain = false;
  std::vector<std::string> providers;
  DeviceFlags devices;
  std::string extract;
};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line({"baton-dump-module",
                           "Shows what a .bvm module file holds. Its text assembles back to the same bytes.",
                           "  baton-dump-module add.bvm > add.bvmasm\n"
                           "  baton-dump-module add.bvm --format=json\n"
                           "  baton-dump-module add.bvm --sizes\n"
                           "  baton-dump-module add.bvm --section=imports --section=exports\n"
                           "  baton-dump-module mul.bvm --disassembly\n"
                           "  baton-dump-module mul.bvm --explain --device=cuda --module=blas.so\n"
                           "  baton-dump-module mul.bvm --extract=kernels\n"});
  line.positional("module", options.module, "The .bvm file; - (the default) reads standard input");
  line.text("--output,-o", options.output, "Where the text goes; - (the default) is standard output");
  line.choice("--format", options.format, {"text", "json"}, "What to write: text (the default) or json");
  line.choices("--section", options.sections, dump::section_names(), "Only this section, for people; again for more");
  line.toggle("--sizes", options.sizes, "The same as --section=sizes");
  line.toggle("--disassembly", options.disassembly,
              "The same as --section=disassembly: instructions with their pc, under the lines of source");
  line.toggle("--explain", options.explain,
              "Which variant of each executable this machine would take and why not the others; who provides imports");
  line.texts("--module,-m", options.providers,
             "For --explain: a .bvm file or plugin that may provide imports; again for more");
  line.texts("--device,-d", options.devices.devices,
             "For --explain: this device, and load there what it takes, which runs code of the file; again for more. "
             "Else one of "
             "each driver, and nothing is loaded");
  line.texts("--executable_plugin", options.devices.executable_plugins,
             "For --explain: a library with functions that CPU kernels import; again for more");
  add_no_native_code(line, options.devices);
  line.text("--extract", options.extract, "Write the embedded device code into this folder, a file for each variant");
  return line.parse(argc, argv);
}

Result<std::string> describe(const bytecode::ModuleView& module, const Options& options) {
  std::vector<std::string> sections = options.sections;
  if (options.sizes) sections.insert(sections.begin(), "sizes");
  if (options.disassembly) sections.push_back("disassembly");
  const bool json = options.format == "json";
  if (sections.empty() && !options.explain) return json ? dump::module_json(module) : bytecode::disassemble(module);
  if (json)
    return failure(StatusCode::kInvalidArgument,
                   "--format=json holds all sections; leave out --section, --sizes, --disassembly and --explain");
  std::string text;
  for (const std::string& section : sections) text += dump::describe_section(module, section);
  if (options.explain) {
    BATON_TRY_ASSIGN(const dump::Surroundings here, look_around(options.devices, options.providers));
    text += dump::explain(module, here);
  }
  return text;
}

Status dump_module(const Options& options) {
  BATON_TRY_ASSIGN(const bytecode::ModuleBytes bytes, load_module_bytes(options.module));
  Result<bytecode::ModuleView> module = bytecode::verify(bytes.bytes());
  if (!module) return std::move(module).error().with_context(text("while reading ", options.module));
  if (!options.extract.empty()) {
    BATON_TRY_ASSIGN(const std::string files, dump::extract(*module, options.extract));
    return write_file(options.output, bytes_of(files));
  }
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
