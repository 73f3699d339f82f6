// baton-compile: a program in MLIR → a .bvm file.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "compiler-lite/compile.hpp"
#include "modules/kernel_library/cuda_compiler.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/support/files.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::string source = "-";
  std::string output = "-";
  std::string output_format = "vm-bytecode";
  bool list_targets = false;
  std::vector<std::string> libraries;
  compiler_lite::CompileOptions compile;
};

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line({"baton-compile", "Compiles a program in MLIR into a .bvm module file.",
                           "  baton-compile program.mlir -o program.bvm\n"
                           "  baton-compile program.mlir | baton-run-module --module=- --function=main\n"
                           "  baton-compile --compile-to=vm program.mlir\n"});
  compiler_lite::CompileOptions& compile = options.compile;
  const std::string devices =
      "Devices to compile for, instead of the program's own: " + list_of(compiler_lite::target_devices());
  const std::string backends = "What the executables of the devices are: " + list_of(compiler_lite::target_backends());
  line.positional("source", options.source, "The program; - (the default) reads standard input");
  line.text("--output,-o", options.output, "Where the module goes; - (the default) is standard output");
  line.choice("--output-format", options.output_format, {"vm-bytecode"}, "What is written");
  line.choice("--compile-to", compile.compile_to, compiler_lite::phase_names(),
              "Stop after a phase and print the program");
  line.choice("--execution-model", compile.execution_model, {"async-internal", "async-external", "host-only"},
              "Whether exports and imports take fences");
  line.texts("--target-device,--hal-target-device", compile.target_devices, devices.c_str());
  line.texts("--target-backends,--hal-target-backends,--hal-local-target-device-backends", compile.target_backends,
             backends.c_str());
  line.texts("--object-search-path,--hal-executable-object-search-path", compile.object_search_paths,
             "Where object files are looked for, after the working directory");
  for (const compiler_lite::TargetOption& option : compiler_lite::target_options()) {
    std::string names = "--" + option.name;
    for (const std::string& alias : option.aliases) names += ",--" + alias;
    line.text(names.c_str(), compile.target_options[option.name], option.meaning.c_str());
  }
  line.text("--preprocessing-pass-pipeline", compile.spec_passes, "Passes to run before the specs");
  line.text("--preprocessing-transform-spec-filename", compile.transform_spec,
            "A transform spec: what to match and what to put in its place");
  line.text("--preprocessing-pdl-spec-filename", compile.pdl_spec, "A PDL spec: patterns to match and rewrite");
  line.texts(
      "--library", options.libraries,
      "Libraries whose commands do what they are good at where they are there when the program runs: cublas,cudnn or "
      "a file NAME.library.mlir");
  if (const char* folder = std::getenv("BATON_CACHE")) compile.cache_folder = folder;
  line.text("--cache", compile.cache_folder,
            "A folder where compiled programs are kept, and looked for before anything is compiled (the default is "
            "$BATON_CACHE, else none)");
  line.toggle(
      "--explain", compile.explain,
      "Say for each product which library takes it, or why none does, and for each optional function who defines it");
  line.toggle("--sanitize", compile.sanitize,
              "Have each access of a generated kernel checked: outside of its memory it fails with a status");
  line.toggle("--verbose-specs", compile.verbose_specs, "Report each candidate that a spec looks at");
  line.toggle("--dump-schedule", compile.dump_schedule,
              "Print recordings, bindings, memory plans and barriers instead of the module");
  line.toggle("--strip-debug", compile.strip_debug, "Leave out names and source locations");
  line.toggle("--list-targets", options.list_targets, "Print what executables can be compiled for");
  line.toggle("--mlir-print-ir-before-all", compile.print_ir_before_all, "Print the program before each pass");
  line.toggle("--mlir-print-ir-after-all", compile.print_ir_after_all, "Print the program after each pass");
  line.toggle("--mlir-print-ir-after-change", compile.print_ir_after_change,
              "Print the program after each pass that changed it");
  line.toggle("--mlir-timing", compile.timing, "Print how long each pass took, and what code generation took apart");
  return line.parse(argc, argv);
}

Status check_terminal(const Options& options) {
  const bool prints_text = options.compile.compile_to != "end" || options.compile.dump_schedule;
  if (!prints_text) BATON_TRY(refuse_binary_on_terminal(options.output));
  tell_what_is_awaited(options.source, "a program in MLIR");
  return {};
}

// nvJitLink, where this machine has it; it refuses architectures that it doesn't know.
std::vector<std::byte> link_device_code(std::string_view arch, std::span<const compiler_lite::DeviceCode> code,
                                        std::string& problem) {
  std::vector<modules::LinkInput> inputs;
  for (const compiler_lite::DeviceCode& each : code) {
    inputs.push_back({each.name, std::as_bytes(std::span(each.bytes))});
  }
  const std::string_view number = arch.substr(arch.find('_') + 1);
  auto linked = modules::link_cuda(number, inputs);
  if (linked) return *std::move(linked);
  problem = linked.error().message();
  return {};
}

// A name is a file that lies beside the tools: in a build tree, and where it is installed.
Result<std::string> find_library(const std::string& name) {
  if (name.find('/') != name.npos || name.ends_with(".mlir")) return name;
  std::error_code failed;
  const std::filesystem::path tools = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* folder : {"../libraries", "../" BATON_LIBRARY_FOLDER}) {
    const std::filesystem::path file = (tools / folder / (name + ".library.mlir")).lexically_normal();
    if (std::filesystem::exists(file, failed)) return file.string();
  }
  return failure(StatusCode::kNotFound, "there is no library '", name, "': no ", name, ".library.mlir in ",
                 (tools / "../libraries").lexically_normal().string(), " or ",
                 (tools / "../" BATON_LIBRARY_FOLDER).lexically_normal().string());
}

Status run(Options options) {
  if (options.list_targets) {
    print(compiler_lite::describe_targets());
    return {};
  }
  BATON_TRY(check_terminal(options));
  BATON_TRY_ASSIGN(const std::vector<std::byte> source, read_file(options.source));
  const std::string name = options.source == "-" ? "<stdin>" : options.source;
  if (text_of(source).find_first_not_of(std::string_view(" \t\r\n\0", 5)) == std::string_view::npos) {
    return failure(StatusCode::kInvalidArgument, "'", name,
                   "' is empty, and no program in MLIR");  // A pipe that broke.
  }
  for (const std::string& libraries : options.libraries) {
    std::istringstream names(libraries);
    for (std::string library; std::getline(names, library, ',');) {
      BATON_TRY_ASSIGN(options.compile.library_files.emplace_back(), find_library(library));
    }
  }
  options.compile.device_linker = link_device_code;
  const compiler_lite::CompileOutput output = compiler_lite::compile(text_of(source), name, options.compile);
  std::fwrite(output.diagnostics.data(), 1, output.diagnostics.size(), stderr);
  std::fwrite(output.explanation.data(), 1, output.explanation.size(), stderr);
  if (!output.ok) return failure(StatusCode::kInvalidArgument, "'", name, "' was not compiled");
  return write_file(options.output, output.bytes);
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  return baton::tools::report(baton::tools::run(options));
}
