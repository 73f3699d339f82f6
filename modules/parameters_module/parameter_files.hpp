// ParameterFiles: constants that lie in files beside the program, by scope and key. Files are mapped and never read as
// a whole: what a program does not ask for costs nothing.
// Threads: immutable once the files are added.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ref.hpp"
#include "base/result.hpp"
#include "modules/parameters_module/tensor_entry.hpp"

namespace baton::modules {

// A file's bytes; unmapped with the last reference. Who cuts the file off takes pages away from the mapping, and reading one
// of them ends the process.
// Threads: immutable.
class MappedFile final : public RefCounted<MappedFile> {
 public:
  static Result<Ref<MappedFile>> map(const std::string& path);
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  // DATA_LOSS when the file is shorter now than it was. Before bytes are handed on.
  Status check_whole() const;

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  MappedFile(std::string path, int descriptor, std::span<const std::byte> bytes)
      : path_(std::move(path)), descriptor_(descriptor), bytes_(bytes) {}

  const std::string path_;
  const int descriptor_;
  const std::span<const std::byte> bytes_;
};

struct ParameterSource {
  std::string scope;  // May be empty.
  std::string path;  // .safetensors, .gguf, .npz: its tensors; any other: one, named as the file without its extension.
};

struct FileParameter {
  Ref<MappedFile> file;
  hal::ElementType element_type = hal::ElementType::kU8;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

class ParameterFiles {
 public:
  // Maps the file. ALREADY_EXISTS when the scope has one of its keys.
  Status add(const ParameterSource& source);

  // NOT_FOUND tells the scopes that there are, or the nearest keys.
  Result<const FileParameter*> find(std::string_view scope, std::string_view key) const;

 private:
  using Scope = std::map<std::string, FileParameter, std::less<>>;
  Status insert(const std::string& scope, const Ref<MappedFile>& file, TensorEntry entry);

  std::map<std::string, Scope, std::less<>> scopes_;
};

}  // namespace baton::modules
