#include "compiler-lite/cache.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Host.h"

namespace baton::compiler_lite {
namespace {

using llvm::StringRef;

// Begins each file; what stands behind it differs with the number.
constexpr StringRef kMagic = "baton-cache-1\n";

// A digest of parts, of which none runs into the next.
class Digest {
 public:
  void add(StringRef part) {
    hash_.update(std::to_string(part.size()) + ":");
    hash_.update(part);
  }
  void add(const std::vector<std::string>& parts) {
    add(std::to_string(parts.size()));
    for (const std::string& part : parts) add(part);
  }
  void add_file(StringRef path) {
    add(path);
    if (path.empty()) return;
    const auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    add(file ? (*file)->getBuffer() : StringRef("missing"));
  }
  // The file that holds the code at `address`. Reading all of it would take longer than compiling many a program.
  void add_code(const void* address) {
    Dl_info code = {};
    struct stat about = {};
    // The main program's name may be one that the shell looked up.
    const bool is_library = dladdr(address, &code) != 0 && code.dli_fname && code.dli_fname[0] == '/';
    if (stat(is_library ? code.dli_fname : "/proc/self/exe", &about) != 0) return add("unknown");
    for (const auto number :
         {static_cast<int64_t>(about.st_size), static_cast<int64_t>(about.st_ino),
          static_cast<int64_t>(about.st_mtim.tv_sec), static_cast<int64_t>(about.st_mtim.tv_nsec)}) {
      add(std::to_string(number));
    }
  }
  std::string text() { return llvm::toHex(hash_.final(), /*LowerCase=*/true); }

 private:
  llvm::SHA256 hash_;
};

std::string digest_of(StringRef text) {
  Digest digest;
  digest.add(text);
  return digest.text();
}

void add_processor(Digest& digest) {
  digest.add(llvm::sys::getHostCPUName());
  std::vector<std::string> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    if (feature.second) features.push_back(feature.first().str());
  }
  llvm::sort(features);
  digest.add(features);
}

std::string key_of(StringRef source, const std::string& name, const CompileOptions& options) {
  Digest digest;
  digest.add_code(reinterpret_cast<const void*>(&compile));
  digest.add_code(reinterpret_cast<const void*>(&llvm::sys::getHostCPUName));
  add_processor(digest);
  digest.add(source);
  digest.add(name);
  digest.add(options.execution_model);
  digest.add(options.target_devices);
  digest.add(options.target_backends);
  for (const auto& [option, value] : options.target_options) {
    digest.add(option);
    digest.add_file(value);  // Some of them are paths.
  }
  digest.add(options.spec_passes);
  digest.add_file(options.transform_spec);
  digest.add_file(options.pdl_spec);
  for (const std::string& file : options.library_files) digest.add_file(file);
  for (const bool wanted : {options.explain, options.sanitize, options.strip_debug}) digest.add(wanted ? "1" : "0");
  return digest.text();
}

// Object files lie in folders that are searched.
bool names_objects(StringRef text) { return text.contains("hal.executable.object"); }
bool file_names_objects(StringRef path) {
  const auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file && names_objects((*file)->getBuffer());
}

bool is_kept(StringRef source, const CompileOptions& options) {
  const bool is_looked_at = options.compile_to != "end" || options.dump_schedule || options.verbose_specs ||
                            options.print_ir_after_all || options.print_ir_before_all ||
                            options.print_ir_after_change || options.timing;
  return !options.cache_folder.empty() && !is_looked_at && !names_objects(source) &&
         !file_names_objects(options.transform_spec) && !file_names_objects(options.pdl_spec);
}

// The file's text, if this user or the system's wrote it.
std::optional<std::string> read_own(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  const auto closed = llvm::make_scope_exit([&] { close(descriptor); });
  struct stat about = {};
  const bool is_own =
      fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && (about.st_uid == geteuid() || about.st_uid == 0);
  if (!is_own) return std::nullopt;
  const auto file = llvm::MemoryBuffer::getOpenFile(descriptor, path, static_cast<uint64_t>(about.st_size),
                                                    /*RequiresNullTerminator=*/false);
  if (!file) return std::nullopt;
  return (*file)->getBuffer().str();
}

// "12:twelve bytes": the part, and `text` behind it.
std::optional<StringRef> take_part(StringRef& text) {
  const auto [number, rest] = text.split(':');
  size_t size = 0;
  if (number.getAsInteger(10, size) || size > rest.size()) return std::nullopt;
  text = rest.drop_front(size);
  return rest.take_front(size);
}

std::string part(StringRef text) { return std::to_string(text.size()) + ":" + text.str(); }

}  // namespace

Cache::Cache(std::string_view source, const std::string& name, const CompileOptions& options) {
  if (!is_kept(source, options)) return;
  key_ = key_of(source, name, options);
  llvm::SmallString<256> path(options.cache_folder);
  llvm::sys::path::append(path, key_ + ".program");
  path_ = path.str().str();
}

std::optional<CompileOutput> Cache::find() const {
  const std::optional<std::string> text = path_.empty() ? std::nullopt : read_own(path_);
  if (!text) return std::nullopt;
  StringRef rest = *text;
  if (!rest.consume_front(kMagic)) return std::nullopt;
  const std::optional<StringRef> digest = take_part(rest);
  if (!digest || digest_of(key_ + rest.str()) != *digest) return std::nullopt;
  const std::optional<StringRef> diagnostics = take_part(rest);
  const std::optional<StringRef> explanation = diagnostics ? take_part(rest) : std::nullopt;
  const std::optional<StringRef> bytes = explanation ? take_part(rest) : std::nullopt;
  if (!bytes || !rest.empty()) return std::nullopt;
  const auto* begin = reinterpret_cast<const std::byte*>(bytes->data());
  return CompileOutput{true, {begin, begin + bytes->size()}, explanation->str(), diagnostics->str()};
}

void Cache::keep(const CompileOutput& output) const {
  if (path_.empty() || !output.ok) return;
  const StringRef bytes(reinterpret_cast<const char*>(output.bytes.data()), output.bytes.size());
  const std::string parts = part(output.diagnostics) + part(output.explanation) + part(bytes);
  const std::string text = kMagic.str() + part(digest_of(key_ + parts)) + parts;
  const StringRef folder = llvm::sys::path::parent_path(path_);
  if (llvm::sys::fs::create_directories(folder, /*IgnoreExisting=*/true, llvm::sys::fs::owner_all)) return;
  std::string beside = path_ + ".XXXXXX";
  const int descriptor = mkostemp(beside.data(), O_CLOEXEC);
  if (descriptor < 0) return;
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(descriptor, text.data() + written, text.size() - written);
    if (count <= 0) break;
    written += static_cast<size_t>(count);
  }
  const bool is_whole = close(descriptor) == 0 && written == text.size();
  if (!is_whole || std::rename(beside.c_str(), path_.c_str()) != 0) unlink(beside.c_str());
}

}  // namespace baton::compiler_lite
