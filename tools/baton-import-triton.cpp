// baton-import-triton: a kernel that Triton's compiler wrote (<kernel>.json, <kernel>.cubin) as an executable that a
// program in MLIR names; and what the two files say, for people. Apps load the pair by KernelLibrary::load_triton.

#include "tools/flags/command_line.hpp"
#include "tools/support/files.hpp"
#include "tools/support/report.hpp"
#include "tools/support/triton_text.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::string metadata;
  std::string cubin;
  std::string signature;
  std::string output = "-";
  uint64_t grid_rank = 1;
  bool describe = false;
};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line(
      {"baton-import-triton",
       "Turns a kernel of Triton's compiler into an executable that a program names: its workgroup, shared "
       "memory, cluster and scratch pointers come from the two files, which are checked against each other.",
       "  baton-import-triton add.json add.cubin -o add.mlir\n"
       "  baton-import-triton add.json add.cubin --signature='*fp32,i64,*fp32'\n"
       "  baton-import-triton dot.json dot.cubin --signature=dot.ttir --grid-rank=2\n"
       "  baton-import-triton add.json add.cubin --describe\n"});
  line.positional("metadata", options.metadata, "What Triton's compiler wrote of the kernel");
  line.positional("cubin", options.cubin, "Its machine code");
  line.text("--signature", options.signature,
            "Types of the arguments in Triton's words, or the kernel's .ttir; without it the pointers are the 8-byte "
            "arguments that come first");
  line.number("--grid-rank", options.grid_rank, "How many extents of the grid a dispatch gives, 1 to 3");
  line.toggle("--describe", options.describe, "Says what the kernel takes and how it is launched");
  line.text("--output,-o", options.output, "Where it goes; - (the default) is standard output");
  return line.parse(argc, argv);
}

Result<std::string> signature_of(const Options& options, std::string_view kernel) {
  if (!options.signature.ends_with(".ttir")) return options.signature;
  BATON_TRY_ASSIGN(const std::vector<std::byte> ttir, read_file(options.signature));
  return triton_signature({reinterpret_cast<const char*>(ttir.data()), ttir.size()}, kernel);
}

Status import(const Options& options) {
  if (options.metadata.empty() || options.cubin.empty()) {
    return failure(StatusCode::kInvalidArgument,
                   "the metadata and the cubin that Triton's compiler wrote were not given");
  }
  BATON_TRY_ASSIGN(const std::vector<std::byte> metadata, read_file(options.metadata));
  BATON_TRY_ASSIGN(const std::vector<std::byte> cubin, read_file(options.cubin));
  BATON_TRY_ASSIGN(const modules::TritonKernel kernel,
                   modules::read_triton({reinterpret_cast<const char*>(metadata.data()), metadata.size()}, cubin));
  if (options.describe) return write_file(options.output, bytes_of(triton_description(kernel)));
  BATON_TRY_ASSIGN(const std::string signature, signature_of(options, kernel.name));
  BATON_TRY_ASSIGN(const std::string program, triton_executable(kernel, signature, options.cubin, options.grid_rank));
  return write_file(options.output, bytes_of(program));
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  return baton::tools::report(baton::tools::import(options));
}
