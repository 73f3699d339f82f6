#include "hal/drivers/local/code_loader.hpp"

#include "hal/drivers/local/elf_loader.hpp"
#include "hal/drivers/local/fat_elf.hpp"
#include "hal/drivers/local/system_loader.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr std::string_view kStaticLibrary = "static-library";
constexpr std::string_view kEmbeddedElf = "embedded-elf-";
constexpr std::string_view kSystemElf = "system-elf-";

Result<LoadedCode> find_static_library(const Options& options, std::string_view name) {
  std::vector<std::string_view> names;
  for (const StaticLibrary& library : options.libraries) {
    if (library.name == name) return LoadedCode{library.query, nullptr};
    names.push_back(library.name);
  }
  std::string known;
  for (const std::string_view other : names) known += text(known.empty() ? "" : ", ", other);
  return failure(StatusCode::kNotFound, "No library '", name,
                 "' is linked into the app; registered are: ", known.empty() ? "none" : known, ".");
}

template <typename Image>
Result<LoadedCode> ask_image(Ref<Image> image) {
  void* query = image->find_function(BATON_EXECUTABLE_LIBRARY_QUERY_NAME);
  if (!query) {
    return failure(StatusCode::kNotFound, "The library exports no ", BATON_EXECUTABLE_LIBRARY_QUERY_NAME, ".");
  }
  return LoadedCode{reinterpret_cast<baton_executable_library_query_function>(query), std::move(image)};
}

// Programs spell 64-bit ARM in two ways.
bool is_host_architecture(std::string_view name) {
  return name == host_code_architecture() || (name == "aarch64" && host_elf_machine() == EM_AARCH64);
}

// What follows `prefix` in `format`, or nothing.
std::string_view after(std::string_view format, std::string_view prefix) {
  return format.starts_with(prefix) ? format.substr(prefix.size()) : std::string_view();
}

}  // namespace

std::string_view host_code_architecture() { return host_elf_machine() == EM_X86_64 ? "x86_64" : "arm_64"; }

FormatMatch match_code_format(std::string_view format) {
  if (format == kStaticLibrary) return {3, "a library of the app"};
  std::string_view architecture = after(format, kEmbeddedElf);
  const int32_t rank = architecture.empty() ? 1 : 2;
  if (architecture.empty()) architecture = after(format, kSystemElf);
  if (architecture.empty()) return {-1, "not a format of the local device"};
  if (is_host_architecture(architecture)) return {rank, "code of this architecture"};
  return {-1, text("code for ", architecture, "; this host is ", host_code_architecture())};
}

bool is_linked_code(std::string_view format) { return format == kStaticLibrary; }

Result<LoadedCode> load_code(const Options& options, const ExecutableVariant& variant) {
  if (is_linked_code(variant.format)) {
    return find_static_library(options, {reinterpret_cast<const char*>(variant.data.data()), variant.data.size()});
  }
  BATON_TRY_ASSIGN(const auto bytes, select_from_fat_elf(variant.data));
  if (variant.format.starts_with(kEmbeddedElf)) {
    BATON_TRY_ASSIGN(Ref<ElfImage> image, ElfImage::load(bytes));
    return ask_image(std::move(image));
  }
  BATON_TRY_ASSIGN(Ref<SystemLibrary> library, SystemLibrary::load(bytes, variant.format));
  return ask_image(std::move(library));
}

}  // namespace baton::hal::drivers::local
