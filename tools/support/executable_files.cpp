#include "tools/support/executable_files.hpp"

#include "hal/code_format.hpp"
#include "tools/support/files.hpp"

namespace baton::tools {
namespace {

struct Files {
  std::vector<std::vector<std::byte>> bytes;
  hal::ExecutableRegistry registry;
};

}  // namespace

Result<std::string> executable_format(std::string_view path, std::span<const std::byte> bytes) {
  Result<std::string> told = hal::tell_code_format(bytes);
  if (!told) return std::move(told).error().with_context(text("while reading kernels of '", path, "'"));
  constexpr std::string_view kEmbedded = "embedded-";
  if (path.ends_with(".so") && told->starts_with(kEmbedded)) return text("system-", told->substr(kEmbedded.size()));
  return told;
}

Result<std::shared_ptr<const hal::ExecutableRegistry>> register_executables(std::span<const std::string> given) {
  auto files = std::make_shared<Files>();
  for (const std::string& each : given) {
    const size_t equals = each.find('=');
    if (equals == 0 || equals == each.npos || equals + 1 == each.size()) {
      return failure(StatusCode::kInvalidArgument, "--executable=", each, " is not name=file");
    }
    const std::string path = each.substr(equals + 1);
    BATON_TRY_ASSIGN(std::vector<std::byte> bytes, read_file(path));
    BATON_TRY_ASSIGN(const std::string format, executable_format(path, bytes));
    files->bytes.push_back(std::move(bytes));
    BATON_TRY(files->registry.add(std::string_view(each).substr(0, equals), format, files->bytes.back()));
  }
  const hal::ExecutableRegistry* registry = &files->registry;
  return std::shared_ptr<const hal::ExecutableRegistry>(std::move(files), registry);
}

}  // namespace baton::tools
