#include "hal/drivers/local/import_plugin.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "hal/drivers/local/elf_loader.hpp"
#include "hal/drivers/local/executable_plugin.h"
#include "hal/drivers/local/fat_elf.hpp"
#include "hal/drivers/local/sanitizer.hpp"
#include "hal/drivers/local/system_loader.hpp"
#include "hal/file.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr std::string_view kEmbeddedPrefix = "embedded:";
constexpr std::string_view kEmbeddedSuffix = ".sos";

StatusCode code_of(baton_executable_plugin_status status) {
  return static_cast<StatusCode>(reinterpret_cast<uintptr_t>(status) & 0x1f);
}
baton_executable_plugin_status plugin_status(StatusCode code) {
  return reinterpret_cast<baton_executable_plugin_status>(static_cast<uintptr_t>(code));
}

// The allocator that plugins get: malloc, calloc, realloc, free by number.
baton_executable_plugin_status control_allocation(void*, int32_t command,
                                                  const baton_executable_plugin_allocation* allocation,
                                                  void** pointer) {
  void* made = nullptr;
  switch (command) {
    case 0: made = std::malloc(allocation->byte_length); break;
    case 1: made = std::calloc(1, allocation->byte_length); break;
    case 2: made = std::realloc(*pointer, allocation->byte_length); break;
    case 3:
      std::free(*pointer);
      *pointer = nullptr;
      return nullptr;
    default: return plugin_status(StatusCode::kUnimplemented);
  }
  if (!made) return plugin_status(StatusCode::kResourceExhausted);
  *pointer = made;
  return nullptr;
}

class PluginProvider final : public ImportProvider {
 public:
  PluginProvider(std::string name, Ref<CodeImage> image, const baton_executable_plugin& plugin)
      : name_(std::move(name)), image_(std::move(image)), plugin_(plugin) {}
  ~PluginProvider() override {
    if (loaded_ && plugin_.unload) plugin_.unload(self_);
  }

  Status load(std::span<const PluginParameter> parameters) {
    static constexpr baton_executable_plugin_environment environment = {{nullptr, control_allocation}};
    std::vector<baton_executable_plugin_parameter> pairs;
    for (const auto& [key, value] : parameters)
      pairs.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
    const StatusCode code = code_of(plugin_.load(&environment, pairs.size(), pairs.data(), &self_));
    if (code != StatusCode::kOk) {
      return failure(code, "Plugin '", name_, "' failed to load with ", status_code_name(code), ".");
    }
    loaded_ = true;
    return {};
  }

  std::string_view name() const override { return name_; }

  Status resolve(const ImportRequest& request) override {
    const baton_executable_plugin_resolve question{request.names.size(), request.names.data(),
                                                   reinterpret_cast<void**>(request.functions.data()),
                                                   request.contexts.data()};
    uint32_t resolution = 0;
    const StatusCode code = code_of(plugin_.resolve(self_, &question, &resolution));
    // What is not here may be elsewhere; KernelImports names what no library has.
    if (code == StatusCode::kOk || code == StatusCode::kNotFound) return {};
    return failure(code, "Plugin '", name_, "' failed to resolve imports with ", status_code_name(code), ".");
  }

 private:
  std::string name_;
  Ref<CodeImage> image_;  // Holds the code of everything below.
  const baton_executable_plugin& plugin_;
  void* self_ = nullptr;
  bool loaded_ = false;
};

Status check_header(const baton_executable_plugin_header& header, std::string_view path, bool embedded) {
  if (header.version != BATON_EXECUTABLE_PLUGIN_VERSION) {
    return failure(StatusCode::kFailedPrecondition, "Plugin '", path, "' has version ", header.version,
                   "; this runtime takes version ", BATON_EXECUTABLE_PLUGIN_VERSION, ".");
  }
  if (header.sanitizer != 0 && static_cast<uint32_t>(header.sanitizer) != kHostSanitizer) {
    return failure(StatusCode::kFailedPrecondition, "Plugin '", path, "' was built with sanitizer ", header.sanitizer,
                   ", the runtime with ", kHostSanitizer, ".");
  }
  if (embedded && !(header.features & BATON_EXECUTABLE_PLUGIN_STANDALONE)) {
    return failure(StatusCode::kFailedPrecondition, "Plugin '", path,
                   "' is not marked standalone, which the embedded loader needs.");
  }
  return {};
}

using QueryFunction = baton_executable_plugin_query_function;

template <typename Image>
Result<std::shared_ptr<ImportProvider>> start(std::string_view path, Ref<Image> image, bool embedded,
                                              std::span<const PluginParameter> parameters) {
  void* query = image->find_function(BATON_EXECUTABLE_PLUGIN_QUERY_NAME);
  if (!query) query = image->find_function(BATON_EXECUTABLE_PLUGIN_QUERY_NAME_COMPATIBLE);
  if (!query) {
    return failure(StatusCode::kNotFound, "Plugin '", path, "' exports no ", BATON_EXECUTABLE_PLUGIN_QUERY_NAME, ".");
  }
  const auto** header = reinterpret_cast<QueryFunction>(query)(BATON_EXECUTABLE_PLUGIN_VERSION, nullptr);
  if (!header) {
    return failure(StatusCode::kFailedPrecondition, "Plugin '", path, "' has nothing for version ",
                   BATON_EXECUTABLE_PLUGIN_VERSION, " or below.");
  }
  BATON_TRY(check_header(**header, path, embedded));
  const auto& plugin = *reinterpret_cast<const baton_executable_plugin*>(header);
  auto provider = std::make_shared<PluginProvider>(std::string(path), Ref<CodeImage>(std::move(image)), plugin);
  BATON_TRY(provider->load(parameters));
  return std::shared_ptr<ImportProvider>(std::move(provider));
}

Result<std::vector<std::byte>> read_file(const std::string& path) {
  BATON_TRY_ASSIGN(const Ref<File> file, File::open(path, FileMode::kRead));
  BATON_TRY_ASSIGN(const uint64_t length, file->length());
  std::vector<std::byte> bytes(static_cast<size_t>(length));
  BATON_TRY(file->read(0, bytes));
  return bytes;
}

}  // namespace

Result<std::shared_ptr<ImportProvider>> load_embedded_import_plugin(std::span<const std::byte> bytes,
                                                                    std::string_view name,
                                                                    std::span<const PluginParameter> parameters) {
  BATON_TRY_ASSIGN(const auto own, select_from_fat_elf(bytes));
  BATON_TRY_ASSIGN(Ref<ElfImage> image, ElfImage::load(own));
  return start(name, std::move(image), true, parameters);
}

Result<std::shared_ptr<ImportProvider>> load_import_plugin(std::string_view path,
                                                           std::span<const PluginParameter> parameters) {
  const bool prefixed = path.starts_with(kEmbeddedPrefix);
  if (!prefixed && !path.ends_with(kEmbeddedSuffix)) {
    BATON_TRY_ASSIGN(Ref<SystemLibrary> library, SystemLibrary::open(std::string(path)));
    return start(path, std::move(library), false, parameters);
  }
  if (prefixed) path.remove_prefix(kEmbeddedPrefix.size());
  BATON_TRY_ASSIGN(const auto bytes, read_file(std::string(path)));
  auto provider = load_embedded_import_plugin(bytes, path, parameters);
  if (provider.has_value()) return provider;
  return std::move(provider).error().with_context(text("while loading plugin '", path, "'"));
}

Result<std::shared_ptr<ImportProvider>> load_import_plugin_source(std::string_view source) {
  const size_t mark = source.find('?');
  std::vector<PluginParameter> parameters;
  std::string_view rest = mark == source.npos ? std::string_view() : source.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    const size_t equals = std::min(pair.find('='), pair.size());
    parameters.emplace_back(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
  }
  return load_import_plugin(source.substr(0, mark), parameters);
}

}  // namespace baton::hal::drivers::local
