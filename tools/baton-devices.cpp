// baton-devices: what there is to run on, what was left out and why, with a --device= line to copy for each.

#include "tools/flags/command_line.hpp"
#include "tools/support/device_report.hpp"
#include "tools/support/files.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

struct Options {
  bool json = false;
  std::string output = "-";
};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line(
      {"baton-devices",
       "Lists the devices of this machine, what they can do, and the drivers that have none here or "
       "are not in this build, with the reason.",
       "  baton-devices\n"
       "  baton-devices --json\n"
       "  baton-run-module mul.bvm $(baton-devices | grep -o -m1 -e '--device=cuda.*') ...\n"});
  line.toggle("--json", options.json, "The same as JSON, for programs");
  line.text("--output,-o", options.output, "Where it goes; - (the default) is standard output");
  return line.parse(argc, argv);
}

// Prints a driver's devices before the failure of one, so that the others are listed in any case.
Status list_devices(const Options& options) {
  hal::DriverRegistry registry;
  BATON_TRY(hal::drivers::register_drivers(registry));
  const std::vector<DriverReport> drivers = ask_drivers(registry, hal::drivers::left_out_drivers());
  BATON_TRY(write_file(options.output, bytes_of(options.json ? devices_json(drivers) : devices_text(drivers))));
  for (const DriverReport& driver : drivers) {
    const bool expected = !driver.built || driver.failure.ok() || driver.failure.code() == StatusCode::kUnavailable;
    if (!expected) return driver.failure.clone().with_context(text("while listing the devices of ", driver.name));
  }
  return Status();
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  return baton::tools::report(baton::tools::list_devices(options));
}
