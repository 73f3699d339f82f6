#include "modules/parameters_module/parameter_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "modules/parameters_module/safetensors.hpp"

namespace baton::modules {
namespace {

Status file_failure(std::string_view verb, const std::string& path, int error) {
  const StatusCode code = error == ENOENT   ? StatusCode::kNotFound
                          : error == EACCES ? StatusCode::kPermissionDenied
                                            : StatusCode::kUnavailable;
  return failure(code, "Parameter file '", path, "' could not be ", verb, " (", std::strerror(error), ").");
}

// "weights" of "models/weights.bin".
std::string stem_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

}  // namespace

Result<Ref<MappedFile>> MappedFile::map(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return file_failure("opened", path, errno);
  struct stat about;
  const bool is_file = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  const size_t size = is_file ? static_cast<size_t>(about.st_size) : 0;
  // No mapping is empty.
  void* memory = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : nullptr;
  const int error = errno;
  close(descriptor);
  if (!is_file) return failure(StatusCode::kInvalidArgument, "Parameter file '", path, "' is not a plain file.");
  if (memory == MAP_FAILED) return file_failure("mapped", path, error);
  return make_ref<MappedFile>(std::span(static_cast<const std::byte*>(memory), size));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Status ParameterFiles::add(const ParameterSource& source) {
  BATON_TRY_ASSIGN(const Ref<MappedFile> file, MappedFile::map(source.path));
  if (!source.path.ends_with(".safetensors")) {
    const std::span<const std::byte> bytes = file->bytes();
    return insert(source.scope, stem_of(source.path),
                  {file, hal::ElementType::kU8, {static_cast<int64_t>(bytes.size())}, bytes});
  }
  auto entries = parse_safetensors(file->bytes());
  if (!entries) return std::move(entries).error().with_context(text("while reading '", source.path, "'"));
  for (SafetensorsEntry& entry : *entries) {
    BATON_TRY_CONTEXT(
        insert(source.scope, std::move(entry.name), {file, entry.element_type, std::move(entry.shape), entry.bytes}),
        "while reading '", source.path, "'");
  }
  return {};
}

Status ParameterFiles::insert(const std::string& scope, std::string key, FileParameter parameter) {
  const auto [entry, is_new] = scopes_[scope].try_emplace(std::move(key), std::move(parameter));
  if (is_new) return {};
  return failure(StatusCode::kAlreadyExists, "Parameter scope '", scope, "' has '", entry->first, "' already.");
}

Result<const FileParameter*> ParameterFiles::find(std::string_view scope, std::string_view key) const {
  const auto found = scopes_.find(scope);
  if (found == scopes_.end()) {
    std::string known;
    for (const auto& [name, unused] : scopes_) known += text(known.empty() ? "" : ", ", "'", name, "'");
    return failure(StatusCode::kNotFound, "No parameter scope '", scope,
                   "' was given; there are: ", known.empty() ? "none" : known, ".");
  }
  const auto parameter = found->second.find(key);
  if (parameter != found->second.end()) return &parameter->second;
  std::vector<std::string_view> names;
  for (const auto& [name, unused] : found->second) names.push_back(name);
  const std::string near = nearest_names(key, names);
  return failure(StatusCode::kNotFound, "Parameter scope '", scope, "' has no '", key, "' (", names.size(),
                 " parameters)", near.empty() ? "." : "; ", near);
}

}  // namespace baton::modules
