#include "modules/parameters_module/parameter_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "modules/parameters_module/gguf.hpp"
#include "modules/parameters_module/npy.hpp"
#include "modules/parameters_module/safetensors.hpp"
#include "modules/parameters_module/zip.hpp"

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

using Entries = std::vector<TensorEntry>;

Result<TensorEntry> read_npy(std::string name, std::span<const std::byte> file) {
  BATON_TRY_ASSIGN(NpyArray array, parse_npy(file));
  if (array.is_fortran) {
    return failure(StatusCode::kUnimplemented, "Array '", name,
                   "' is in Fortran order; parameters are used where they lie, in C order.");
  }
  return TensorEntry{std::move(name), array.element_type, std::move(array.shape), array.bytes};
}

Result<Entries> read_npz(std::span<const std::byte> file) {
  BATON_TRY_ASSIGN(const std::vector<ZipMember> members, parse_zip(file));
  Entries entries;
  for (const ZipMember& member : members) {
    const std::string_view name = member.name.substr(0, member.name.size() - (member.name.ends_with(".npy") ? 4 : 0));
    if (member.is_deflated) {
      return failure(StatusCode::kUnimplemented, "Array '", name,
                     "' is packed; parameters are used where they lie, as they are.");
    }
    BATON_TRY_ASSIGN(TensorEntry entry, read_npy(std::string(name), member.bytes));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<Entries> read_entries(std::string_view path, std::span<const std::byte> file) {
  if (path.ends_with(".safetensors")) return parse_safetensors(file);
  if (path.ends_with(".gguf")) return parse_gguf(file);
  if (path.ends_with(".npz")) return read_npz(file);
  TensorEntry whole{stem_of(path), hal::ElementType::kU8, {static_cast<int64_t>(file.size())}, file};
  if (path.ends_with(".npy")) {
    BATON_TRY_ASSIGN(whole, read_npy(std::move(whole.name), file));
  }
  Entries entries;
  entries.push_back(std::move(whole));
  return entries;
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
  if (is_file && memory != MAP_FAILED)
    return make_ref<MappedFile>(path, descriptor, std::span(static_cast<const std::byte*>(memory), size));
  close(descriptor);
  if (!is_file) return failure(StatusCode::kInvalidArgument, "Parameter file '", path, "' is not a plain file.");
  return file_failure("mapped", path, error);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  close(descriptor_);
}

Status MappedFile::check_whole() const {
  struct stat about;
  if (fstat(descriptor_, &about) != 0) return file_failure("looked at", path_, errno);
  if (static_cast<uint64_t>(about.st_size) >= bytes_.size()) return {};
  return failure(StatusCode::kDataLoss, "Parameter file '", path_, "' had ", bytes_.size(),
                 " bytes when it was mapped, and now has ", about.st_size, ".");
}

Status ParameterFiles::add(const ParameterSource& source) {
  BATON_TRY_ASSIGN(const Ref<MappedFile> file, MappedFile::map(source.path));
  auto entries = read_entries(source.path, file->bytes());
  if (!entries) return std::move(entries).error().with_context(text("while reading '", source.path, "'"));
  for (TensorEntry& entry : *entries) {
    BATON_TRY_CONTEXT(insert(source.scope, file, std::move(entry)), "while reading '", source.path, "'");
  }
  return {};
}

Status ParameterFiles::insert(const std::string& scope, const Ref<MappedFile>& file, TensorEntry entry) {
  FileParameter parameter{file, entry.element_type, std::move(entry.shape), entry.bytes};
  const auto [added, is_new] = scopes_[scope].try_emplace(std::move(entry.name), std::move(parameter));
  if (is_new) return {};
  return failure(StatusCode::kAlreadyExists, "Parameter scope '", scope, "' has '", added->first, "' already.");
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
