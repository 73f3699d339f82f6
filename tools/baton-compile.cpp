// baton-compile: a program in MLIR → a .bvm file.
#include <cstdio>

#include "compiler-lite/compile.hpp"
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
  compiler_lite::CompileOptions compile;
};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line({"baton-compile", "Compiles a program in MLIR into a .bvm module file.",
                           "  baton-compile program.mlir -o program.bvm\n"
                           "  baton-compile program.mlir | baton-run-module --module=- --function=main\n"
                           "  baton-compile --compile-to=vm program.mlir\n"});
  compiler_lite::CompileOptions& compile = options.compile;
  line.positional("source", options.source, "The program; - (the default) reads standard input");
  line.text("--output,-o", options.output, "Where the module goes; - (the default) is standard output");
  line.choice("--output-format", options.output_format, {"vm-bytecode"}, "What is written");
  line.choice("--compile-to", compile.compile_to, compiler_lite::phase_names(),
              "Stop after a phase and print the program");
  line.choice("--execution-model", compile.execution_model, {"async-internal", "async-external", "host-only"},
              "Whether exports and imports take fences");
  line.texts("--target-device,--hal-target-device", compile.target_devices,
             "Devices to compile for, instead of the program's own: local, cuda");
  line.texts("--target-backends,--hal-target-backends,--hal-local-target-device-backends", compile.target_backends,
             "What the executables of the devices are: llvm-cpu, vmvx, cuda");
  line.texts("--object-search-path,--hal-executable-object-search-path", compile.object_search_paths,
             "Where object files are looked for, after the working directory");
  line.text(
      "--cuda-libdevice", compile.cuda_libdevice,
      "libdevice.10.bc of a CUDA toolkit, for math on GPUs; no toolkit is looked for, and without this the math is "
      "Baton's own");
  line.text("--preprocessing-pass-pipeline", compile.spec_passes, "Passes to run before the specs");
  line.text("--preprocessing-transform-spec-filename", compile.transform_spec,
            "A transform spec: what to match and what to put in its place");
  line.text("--preprocessing-pdl-spec-filename", compile.pdl_spec, "A PDL spec: patterns to match and rewrite");
  line.toggle("--verbose-specs", compile.verbose_specs, "Report each candidate that a spec looks at");
  line.toggle("--dump-schedule", compile.dump_schedule,
              "Print recordings, bindings, memory plans and barriers instead of the module");
  line.toggle("--strip-debug", compile.strip_debug, "Leave out names and source locations");
  line.toggle("--list-targets", options.list_targets, "Print what executables can be compiled for");
  line.toggle("--mlir-print-ir-before-all", compile.print_ir_before_all, "Print the program before each pass");
  line.toggle("--mlir-print-ir-after-all", compile.print_ir_after_all, "Print the program after each pass");
  line.toggle("--mlir-print-ir-after-change", compile.print_ir_after_change,
              "Print the program after each pass that changed it");
  line.toggle("--mlir-timing", compile.timing, "Print how long each pass took");
  return line.parse(argc, argv);
}

Status run(const Options& options) {
  if (options.list_targets) {
    print(compiler_lite::describe_targets());
    return {};
  }
  BATON_TRY_ASSIGN(const std::vector<std::byte> source, read_file(options.source));
  const std::string name = options.source == "-" ? "<stdin>" : options.source;
  const compiler_lite::CompileOutput output = compiler_lite::compile(text_of(source), name, options.compile);
  std::fwrite(output.diagnostics.data(), 1, output.diagnostics.size(), stderr);
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
