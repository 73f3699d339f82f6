// A store in a directory: a file for each key, and one for each rank, which is locked while the rank lives, so that the
// others need not wait for a dead one.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "hal/file_lock.hpp"
#include "hal/rank_store.hpp"

namespace baton::hal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kValueBytesMax = 1 << 20;
constexpr int kTries = 1000;  // Of coming into a directory that others leave.

Status cannot(std::string_view verb, const std::string& path) {
  return failure(StatusCode::kUnavailable, "The store of ranks cannot ", verb, " '", path, "': ", std::strerror(errno),
                 ".");
}

// "channel/a/0" and "channel%a" stay two names.
std::string file_name(std::string_view key) {
  constexpr char digits[] = "0123456789abcdef";
  std::string name = "key.";
  for (const char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (plain) {
      name += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return name;
}

class FileStore final : public RankStore {
 public:
  FileStore(std::string directory, uint32_t rank) : directory_(std::move(directory)), rank_(rank) {}
  ~FileStore() override {
    for (const std::string& path : written_) unlink(path.c_str());
    if (presence_ >= 0) {
      unlink(presence_path(rank_).c_str());
      close(presence_);
      rmdir(directory_.c_str());  // The last one succeeds.
    }
  }

  Status open() {
    bool is_gone = true;
    Status status;
    for (int tries = 0; is_gone && tries < kTries; ++tries) status = make_presence(is_gone);
    if (!status.ok()) return status;
    if (lock_byte(presence_, kMine)) {
      drop_old_keys();
      lock_byte(presence_, kHere);
      return {};
    }
    close(std::exchange(presence_, -1));
    return failure(StatusCode::kAlreadyExists, "Another process is rank ", rank_, " in '", directory_, "'.");
  }

  // Written beside its place and moved there: nobody reads half of it.
  Status set(std::string_view key, std::string_view value) override {
    const std::string path = key_path(key, rank_), part = path + ".part";
    const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) return cannot("make", part);
    const bool whole = write(file, value.data(), value.size()) == static_cast<ssize_t>(value.size());
    close(file);
    if (!whole || rename(part.c_str(), path.c_str()) != 0) return cannot("write", path);
    std::lock_guard lock(mutex_);
    written_.insert(path);
    return {};
  }

  Result<std::string> get(std::string_view key, uint32_t from, int64_t timeout_ns) override {
    const std::string path = key_path(key, from);
    const auto end = Clock::now() + std::chrono::nanoseconds(timeout_ns);
    for (auto pause = std::chrono::microseconds(100);; pause = std::min(pause * 2, std::chrono::microseconds(20000))) {
      const bool here = is_here(from);
      std::string value;
      if (here && read_file(path, value)) return value;
      if (!here && has_been_here(from)) return rank_is_gone(key, from);
      if (Clock::now() >= end) return too_late(key, from, timeout_ns);
      std::this_thread::sleep_for(pause);
    }
  }

  void remove(std::string_view key) override {
    const std::string path = key_path(key, rank_);
    unlink(path.c_str());
    std::lock_guard lock(mutex_);
    written_.erase(path);
  }

 private:
  // Bytes of a rank's file that it locks: what it leaves behind when it dies is cleared between the two.
  static constexpr uint64_t kMine = 0, kHere = 1;

  // `is_gone`: a rank that left took the directory along, which was empty when this one had made or found it.
  Status make_presence(bool& is_gone) {
    is_gone = false;
    if (mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return cannot("make", directory_);
    struct stat facts;
    if (stat(directory_.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
      is_gone = errno == ENOENT;
      return cannot("look into", directory_);
    }
    if (facts.st_uid != geteuid()) {
      return failure(StatusCode::kPermissionDenied, "The store of ranks '", directory_, "' belongs to user ",
                     facts.st_uid, ", not to ", geteuid(), ".");
    }
    const std::string path = presence_path(rank_);
    presence_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (presence_ >= 0) return {};
    is_gone = errno == ENOENT;
    return cannot("make", path);
  }

  std::string key_path(std::string_view key, uint32_t writer) const {
    return text(directory_, "/", file_name(key), ".", writer);
  }
  std::string presence_path(uint32_t rank) const { return text(directory_, "/rank.", rank); }

  static bool read_file(const std::string& path, std::string& value) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    char buffer[4096];
    ssize_t got = 0;
    while (value.size() < kValueBytesMax && (got = read(file, buffer, sizeof(buffer))) > 0)
      value.append(buffer, static_cast<size_t>(got));
    close(file);
    return got == 0;
  }

  // Of an earlier job that died.
  void drop_old_keys() const {
    DIR* listing = opendir(directory_.c_str());
    if (!listing) return;
    const std::string mine = text(".", rank_);
    while (const dirent* entry = readdir(listing)) {
      const std::string_view name = entry->d_name;
      const bool key = name.substr(0, 4) == "key." && name.size() > mine.size();
      if (key && name.substr(name.size() - mine.size()) == mine) unlink(text(directory_, "/", name).c_str());
    }
    closedir(listing);
  }

  bool is_here(uint32_t rank) {
    const int file = ::open(presence_path(rank).c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    const bool here = byte_is_locked(file, kHere);
    close(file);
    std::lock_guard lock(mutex_);
    if (here) seen_.insert(rank);
    return here;
  }
  bool has_been_here(uint32_t rank) {
    std::lock_guard lock(mutex_);
    return seen_.count(rank) != 0;
  }

  const std::string directory_;
  const uint32_t rank_;
  int presence_ = -1;
  std::mutex mutex_;
  std::set<std::string> written_;  // Guarded by mutex_.
  std::set<uint32_t> seen_;        // Guarded by mutex_.
};

}  // namespace

Result<std::shared_ptr<RankStore>> open_file_store(const std::string& directory, uint32_t rank) {
  auto store = std::make_shared<FileStore>(directory, rank);
  BATON_TRY(store->open());
  return std::shared_ptr<RankStore>(std::move(store));
}

}  // namespace baton::hal
