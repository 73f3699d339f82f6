// baton-fat-elf: portable libraries of kernels for several processors as one file (.sos), of which a loader takes its own.

#include "hal/drivers/local/fat_elf.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/support/files.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output = "-";
};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line(
      {"baton-fat-elf",
       "Makes one file of portable libraries for different processors: --executable= and --executable_plugin= take it "
       "on each of them.",
       "  baton-fat-elf kernels_x86_64.so kernels_arm_64.so -o kernels.sos\n"});
  line.positionals("files", options.files, "Shared objects in ELF, one for each processor");
  line.text("--output,-o", options.output, "Where it goes; - (the default) is standard output");
  return line.parse(argc, argv);
}

Status make(const Options& options) {
  BATON_TRY(refuse_binary_on_terminal(options.output, "a library of kernels", "kernels.sos"));
  std::vector<std::vector<std::byte>> contents;
  std::vector<hal::drivers::local::ThinElf> files;
  contents.reserve(options.files.size());
  for (const std::string& name : options.files) {
    tell_what_is_awaited(name, "a shared object");
    BATON_TRY_ASSIGN(std::vector<std::byte> bytes, read_file(name));
    files.push_back({name, contents.emplace_back(std::move(bytes))});
  }
  BATON_TRY_ASSIGN(const std::vector<std::byte> fat, hal::drivers::local::make_fat_elf(files));
  return write_file(options.output, fat);
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  return baton::tools::report(baton::tools::make(options));
}
