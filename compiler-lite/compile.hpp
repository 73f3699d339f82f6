// The compiler as one function: text of a program in, a .bvm file or the program's text at a phase out.
//
// Free of MLIR, so that tools that only compile need none of its headers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace baton::compiler_lite {

struct CompileOptions {
  // Where to stop and print the program as text: a name of phase_names(), or "end" for bytes.
  std::string compile_to = "end";
  std::string execution_model = "async-internal";
  std::vector<std::string> target_devices = {};   // Instead of the module's hal.device.targets: "local", "cuda".
  std::vector<std::string> target_backends = {};  // "llvm-cpu", "vmvx": what the devices' executables are.
  std::vector<std::string> object_search_paths = {};
  std::string cuda_libdevice = {};  // The file with the toolkit's math functions for CUDA; empty: ours.
  // Match and replace: passes as text, a transform spec, a PDL spec; and a remark for each candidate they look at.
  std::string spec_passes = {};
  std::string transform_spec = {};
  std::string pdl_spec = {};
  bool verbose_specs = false;
  bool strip_debug = false;
  bool dump_schedule = false;  // Instead of the program: its recordings, bindings, memory plans and barriers as text.
  // For looking into the compiler, on standard error.
  bool print_ir_after_all = false;
  bool print_ir_before_all = false;
  bool print_ir_after_change = false;
  bool timing = false;
};

struct CompileOutput {
  bool ok = false;
  std::vector<std::byte> bytes;  // The file, or the text of the phase.
  std::string diagnostics;       // Errors and remarks, each with file, line, column and the source line.
};

// `name` stands in diagnostics and in the debug table.
CompileOutput compile(std::string_view source, const std::string& name, const CompileOptions& options);

// "input", ... , "end", in order.
std::vector<std::string> phase_names();

// A line each: the backends that executables can be compiled for, and what they are called.
std::string describe_targets();

}  // namespace baton::compiler_lite
