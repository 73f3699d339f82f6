// The compiler as one function: text of a program in, a .bvm file or the program's text at a phase out.
//
// Free of MLIR, so that tools that only compile need none of its headers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler-lite/device_linker.hpp"

namespace baton::compiler_lite {

struct CompileOptions {
  // Where to stop and print the program as text: a name of phase_names(), or "end" for bytes.
  std::string compile_to = "end";
  std::string execution_model = "async-internal";
  std::vector<std::string> target_devices = {};   // Instead of the module's hal.device.targets: of target_devices().
  std::vector<std::string> target_backends = {};  // What the devices' executables are: of target_backends().
  std::map<std::string, std::string> target_options = {};  // By the names of target_options().
  std::vector<std::string> object_search_paths = {};
  // Match and replace: passes as text, a transform spec, a PDL spec; and a remark for each candidate they look at.
  std::string spec_passes = {};
  std::string transform_spec = {};
  std::string pdl_spec = {};
  bool verbose_specs = false;
  // Files NAME.library.mlir: whose commands take work where they are there. And a line for each product, and for each
  // optional function of kernels, in `explanation`.
  std::vector<std::string> library_files = {};
  bool explain = false;
  bool sanitize = false;  // Kernels that are generated check each access of memory.
  // Where compiled programs are kept, and looked for before anything is compiled; empty: nowhere.
  std::string cache_folder = {};
  // Links generated code with objects that only the vendor of a device can read. Null: such objects are refused.
  DeviceLinker device_linker = nullptr;
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
  std::string explanation;       // Who takes what, and why.
  std::string diagnostics;       // Errors and remarks, each with file, line, column and the source line.
};

// `name` stands in diagnostics and in the debug table.
CompileOutput compile(std::string_view source, const std::string& name, const CompileOptions& options);

// "input", ... , "end", in order.
std::vector<std::string> phase_names();

// What executables can be compiled for, by the names of the command line.
std::vector<std::string> target_devices();
std::vector<std::string> target_backends();
// A line each.
std::string describe_targets();

// What one target alone wants to know.
struct TargetOption {
  std::string name;
  std::string meaning;
  std::vector<std::string> aliases;
};
std::vector<TargetOption> target_options();

}  // namespace baton::compiler_lite
