// baton-benchmark-executable: what one kernel costs, with a grid, bindings and constants of the user's choice.

#include "bytecode/verifier.hpp"
#include "tools/benchmark/kernel.hpp"
#include "tools/benchmark/phases.hpp"
#include "tools/benchmark/session.hpp"
#include "tools/dump/executables.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/flags/inputs.hpp"
#include "tools/support/devices.hpp"
#include "tools/support/executable_files.hpp"
#include "tools/support/files.hpp"
#include "tools/support/module_source.hpp"
#include "tools/support/report.hpp"
#include "tools/support/tensors.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::string file;
  std::string executable;
  std::string format;
  std::string entry_point;
  std::string grid = "1,1,1";
  std::vector<std::string> bindings;
  std::vector<std::string> constants;
  DeviceFlags devices;
  uint64_t batch_size = 64;
  bool print_bindings = false;
  std::string compare;
  std::string fail_on = "never";
};

constexpr uint64_t kPrinted = 16;           // Elements of a binding.
constexpr uint64_t kBatchMost = 1'000'000;  // Each is kept; a recording of more fills the memory.

constexpr flags::CommandLine::Program kProgram = {
    "baton-benchmark-executable",
    "Measures one kernel of a program or of a file of device code: loading, recording, submitting, running it. Flags "
    "that\n"
    "begin with --benchmark_ go to Google Benchmark, as with baton-benchmark-module.",
    "  baton-benchmark-executable mul.bvm --device=local-task --embedded=kernels --entry_point=multiply --grid=16 "
    "\\\n"
    "    --input=1024xf32=2 --input=1024xf32=3 --input=1024xf32=0 --constant=1024\n"
    "  baton-benchmark-executable saxpy.ptx --device=cuda --entry_point=saxpy --grid=64 --input=@x.npy --input=@y.npy "
    "--constant=f32=2\n"};

std::optional<int> parse(std::vector<char*> arguments, Options& options) {
  flags::CommandLine line(kProgram);
  line.positional("file", options.file, "A .bvm file, or device code: an ELF file, PTX, a cubin, a fatbin");
  line.text("--embedded", options.executable, "Of a .bvm file: which executable, as baton-dump-module names it");
  line.text("--format", options.format, "Of device code: its format (embedded-elf-x86_64); else by its first bytes");
  line.text("--entry_point,-e", options.entry_point, "Which kernel. May be left out when there is one");
  line.text("--grid,--workgroup_count", options.grid, "Workgroups in x, y and z: 16 or 16,4 or 16,4,1");
  line.texts("--input,--binding,-i", options.bindings,
             "One binding, in order, as baton-run-module takes it: 4xf32=1 2 3 4, 1024xf32=0, @a.npy; again for each");
  line.texts("--constant", options.constants, "One 32-bit constant: 5, 0xff, f32=1.5; again for each");
  line.number("--batch_size", options.batch_size, "Dispatches in one recording, for the time of one (64)");
  line.toggle("--print_bindings", options.print_bindings,
              "Run the kernel once before and print what is in its bindings");
  line.text("--compare", options.compare, "What --benchmark_out= wrote before: say what changed");
  line.choice("--fail_on", options.fail_on, Session::fail_on(),
              "With --compare=, exit code 1 when something is slower, or when noise forbids to tell (never)");
  add_device_flags(line, options.devices);
  return line.parse(static_cast<int>(arguments.size()), arguments.data());
}

// ---- The code -------------------------------------------------------------------------------------------------------

bool is_module(std::span<const std::byte> bytes) {
  return bytes.size() >= 12 && text_of(bytes.subspan(8, 4)) == "BVM1";
}

Result<const dump::Executable*> choose(const std::vector<dump::Executable>& executables, const std::string& name) {
  std::string known;
  for (const dump::Executable& one : executables) {
    if (one.name == name || (name.empty() && executables.size() == 1)) return &one;
    known += text(known.empty() ? "" : ", ", one.name);
  }
  if (known.empty()) return failure(StatusCode::kNotFound, "the module has no executable");
  if (name.empty()) {
    return failure(StatusCode::kInvalidArgument, "the module has ", executables.size(), " executables (", known,
                   "); choose with --embedded=");
  }
  return failure(StatusCode::kNotFound, "the module has no executable '", name, "'; it has: ", known);
}

// The variants in the file; `bytes` stays.
Status find_code(const Options& options, std::span<const std::byte> bytes, Kernel& kernel) {
  if (!is_module(bytes)) {
    static std::string format;  // Variants borrow it for as long as the tool runs.
    format = options.format;
    if (format.empty()) {
      BATON_TRY_ASSIGN(format, executable_format(options.file, bytes));
    }
    kernel.name = options.file;
    kernel.variants = {{format, bytes}};
    return {};
  }
  BATON_TRY_ASSIGN(const bytecode::ModuleView module, bytecode::verify(bytes));
  const std::vector<dump::Executable> executables = dump::list_executables(module);
  BATON_TRY_ASSIGN(const dump::Executable* executable, choose(executables, options.executable));
  kernel.name = executable->name;
  for (const dump::Variant& variant : executable->variants) kernel.variants.push_back({variant.format, variant.code});
  return {};
}

Status choose_entry_point(const std::string& name, Kernel& kernel) {
  const std::span<const hal::EntryPoint> entries = kernel.executable->entry_points();
  if (!name.empty() || entries.size() == 1) {
    kernel.entry_point_name = name.empty() ? entries[0].name : name;
    BATON_TRY_ASSIGN(kernel.entry_point, kernel.executable->find(kernel.entry_point_name));
    return {};
  }
  std::string known;
  for (const hal::EntryPoint& entry : entries) known += text(known.empty() ? "" : ", ", entry.name);
  return failure(StatusCode::kInvalidArgument, "executable '", kernel.name, "' has ", entries.size(), " entry points (",
                 known, "); choose with --entry_point=");
}

// ---- What it is called with -----------------------------------------------------------------------------------------

Status parse_grid(const std::string& given, uint32_t (&grid)[3]) {
  std::string_view rest = given;
  for (size_t axis = 0; axis < 3 && !rest.empty(); ++axis) {
    const size_t end = std::min(rest.find_first_of(",x"), rest.size());
    const Result<vm::Value> count = flags::parse_scalar(rest.substr(0, end), vm::ValueType::kI32);
    if (!count.has_value() || count->as<int32_t>() < 1) break;
    grid[axis] = static_cast<uint32_t>(count->as<int32_t>());
    rest.remove_prefix(end);
    if (rest.size() > 1) rest.remove_prefix(1);
  }
  if (rest.empty()) return {};
  return failure(StatusCode::kInvalidArgument, "--grid=", given,
                 " is not one to three numbers from 1 on, as in 16,4,1");
}

Result<uint32_t> parse_constant(std::string_view given) {
  const bool is_float = given.starts_with("f32=");
  const std::string_view number = is_float || given.starts_with("i32=") ? given.substr(4) : given;
  BATON_TRY_ASSIGN(const vm::Value value,
                   flags::parse_scalar(number, is_float ? vm::ValueType::kF32 : vm::ValueType::kI32));
  return static_cast<uint32_t>(value.bits);
}

Status prepare(const Options& options, Kernel& kernel) {
  if (options.batch_size == 0 || options.batch_size > kBatchMost) {
    return failure(StatusCode::kInvalidArgument, "--batch_size=", options.batch_size,
                   " is no number of dispatches in one recording, which are 1 to ", kBatchMost);
  }
  BATON_TRY(parse_grid(options.grid, kernel.grid));
  for (const std::string& constant : options.constants) {
    BATON_TRY_ASSIGN(const uint32_t word, parse_constant(constant));
    kernel.constants.push_back(word);
  }
  TensorFiles files;
  for (const std::string& binding : options.bindings) {
    BATON_TRY_ASSIGN(const Tensor tensor, files.load(binding));
    BATON_TRY_ASSIGN(Ref<hal::BufferView> view, upload(*kernel.device, tensor));
    kernel.bindings.push_back(std::move(view));
  }
  kernel.batch_size = options.batch_size;
  BATON_TRY_ASSIGN(kernel.executable,
                   kernel.device->make_executable({.name = kernel.name, .variants = kernel.variants}));
  return choose_entry_point(options.entry_point, kernel);
}

// What does not fit is refused here, before anything is measured.
Status run_once(const Kernel& kernel, bool print_bindings) {
  BATON_TRY_ASSIGN(const Ref<hal::Recording> recording, record(kernel, 1));
  BATON_TRY(execute(*kernel.device, *recording));
  const Ref<hal::Device> devices[] = {kernel.device};
  for (size_t i = 0; print_bindings && i < kernel.bindings.size(); ++i) {
    const hal::BufferView& view = *kernel.bindings[i];
    BATON_TRY_ASSIGN(const Tensor tensor, download(devices, view));
    print(text("binding[", i, "]: ", describe_tensor(view.shape(), view.element_type(), tensor.bytes, kPrinted), "\n"));
  }
  return {};
}

Status run(const Options& options, Session& session) {
  BATON_TRY_ASSIGN(const hal::DriverRegistry drivers, make_driver_registry(options.devices));
  BATON_TRY_ASSIGN(const bool listed, print_device_lists(drivers, options.devices));
  if (listed) return Status();
  if (options.file.empty()) return failure(StatusCode::kInvalidArgument, "no file was given");
  BATON_TRY_ASSIGN(const bytecode::ModuleBytes bytes, load_module_bytes(options.file));
  BATON_TRY_ASSIGN(const std::vector<Ref<hal::Device>> devices, open_devices(drivers, options.devices));
  if (devices.size() != 1) {
    return failure(StatusCode::kInvalidArgument, "one --device= runs the kernel, and ", devices.size(), " were given");
  }
  Kernel kernel;
  kernel.device = devices[0];
  BATON_TRY(find_code(options, bytes.bytes(), kernel));
  BATON_TRY(prepare(options, kernel));
  BATON_TRY(run_once(kernel, options.print_bindings));
  session.note("bindings", options.bindings);
  session.note("constants", options.constants);
  session.note("grid", options.grid);
  session.note("devices", options.devices.devices);
  BATON_TRY(session.begin(options.compare, options.fail_on));
  register_reference();
  register_floor(*kernel.device);
  register_kernel(kernel);
  BATON_TRY_ASSIGN([[maybe_unused]] const bool for_people, session.run());
  return session.outcome();
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  baton::tools::Session session;
  if (std::optional<int> code = baton::tools::parse(session.take_flags(argc, argv), options)) return *code;
  return baton::tools::report(baton::tools::run(options, session));
}
