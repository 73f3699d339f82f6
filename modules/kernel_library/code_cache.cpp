#include "modules/kernel_library/code_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/text.hpp"

namespace baton::modules {
namespace {

// Before the key and the code, which lie one behind the other.
struct Header {
  char magic[8] = {'b', 'a', 't', 'o', 'n', 'k', 'c', '1'};
  uint64_t key_bytes = 0;
  uint64_t code_bytes = 0;
  uint64_t sum = 0;  // Of both.
};

// FNV-1a; what two keys share is only the name of a file.
uint64_t sum_of(std::string_view bytes, uint64_t sum = 0xcbf29ce484222325) {
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return sum;
}
std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
File file_of(int descriptor, const char* mode) {
  std::FILE* file = descriptor < 0 ? nullptr : fdopen(descriptor, mode);
  if (descriptor >= 0 && !file) close(descriptor);
  return File(file, [](std::FILE* each) { return each ? std::fclose(each) : 0; });
}

// Others may write to a shared folder: accepts only a regular file that this user wrote, as make_file makes it, and no
// link or pipe.
File open_own(const std::string& path, uint64_t& bytes) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat about = {};
  const bool is_own =
      descriptor >= 0 && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
  bytes = is_own ? static_cast<uint64_t>(about.st_size) : 0;
  if (is_own || descriptor < 0) return file_of(descriptor, "rb");
  close(descriptor);
  return file_of(-1, "rb");
}
File make_file(const std::string& path) {
  unlink(path.c_str());  // Of a process that had this one's number.
  return file_of(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), "wb");
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

CodeCache CodeCache::of_user() {
  if (std::getenv("BATON_KERNEL_CACHE")) return CodeCache(variable("BATON_KERNEL_CACHE"));
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return CodeCache(cache + "/baton/kernels");
  const std::string home = variable("HOME");
  return CodeCache(home.empty() ? "" : home + "/.cache/baton/kernels");
}

std::string CodeCache::path_of(std::string_view key) const {
  std::string name = text(hex(sum_of(key)), hex(sum_of(key, sum_of("and once more"))));
  return text(folder_, "/", name, ".code");
}

std::optional<std::vector<std::byte>> CodeCache::find(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  uint64_t all = 0;
  const File file = open_own(path_of(key), all);
  Header header;
  const Header expected;
  if (!file || std::fread(&header, sizeof(header), 1, file.get()) != 1) return std::nullopt;
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0 || header.key_bytes != key.size()) {
    return std::nullopt;
  }
  if (header.code_bytes > all || all != sizeof(header) + header.key_bytes + header.code_bytes) return std::nullopt;
  std::string stored(key.size(), '\0');
  std::vector<std::byte> code(static_cast<size_t>(header.code_bytes));
  if (std::fread(stored.data(), 1, stored.size(), file.get()) != stored.size() || stored != key) return std::nullopt;
  if (std::fread(code.data(), 1, code.size(), file.get()) != code.size()) return std::nullopt;
  if (sum_of(as_text(code), sum_of(key)) != header.sum) return std::nullopt;
  return code;
}

// A cache that cannot be written stays empty, and that is no failure.
void CodeCache::store(std::string_view key, std::span<const std::byte> code) const {
  if (folder_.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  if (failed) return;
  static std::atomic<unsigned> stored{0};
  const std::string path = path_of(key);
  const std::string unfinished = text(path, ".", ::getpid(), ".", stored.fetch_add(1));
  Header header;
  header.key_bytes = key.size();
  header.code_bytes = code.size();
  header.sum = sum_of(as_text(code), sum_of(key));
  {
    const File file = make_file(unfinished);
    if (!file) return;
    const bool whole = std::fwrite(&header, sizeof(header), 1, file.get()) == 1 &&
                       std::fwrite(key.data(), 1, key.size(), file.get()) == key.size() &&
                       std::fwrite(code.data(), 1, code.size(), file.get()) == code.size() &&
                       std::fflush(file.get()) == 0;
    if (!whole) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) std::filesystem::rename(unfinished, path, failed);
  if (failed) std::filesystem::remove(unfinished, failed);
}

}  // namespace baton::modules
