#include "hal/drivers/vulkan/pipeline_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/bytes.hpp"
#include "hal/drivers/vulkan/status.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

constexpr char kMagic[8] = {'B', 'A', 'T', 'O', 'N', 'V', 'P', '1'};
struct Header {
  char magic[sizeof(kMagic)];
  uint64_t length;
  uint64_t sum;
};
constexpr uint64_t kBytesMax = 256 << 20;

uint64_t sum_of(std::span<const std::byte> bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) sum = (sum ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  return sum;
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

Status ignored(const std::string& path, std::string_view reason) {
  return failure(StatusCode::kDataLoss, "The pipeline cache ", path, " is ignored: ", reason, ".");
}

bool read_all(int file, std::span<std::byte> target) {
  while (!target.empty()) {
    const ssize_t count = ::read(file, target.data(), target.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    target = target.subspan(static_cast<size_t>(count));
  }
  return true;
}

bool write_all(int file, std::span<const std::byte> source) {
  while (!source.empty()) {
    const ssize_t count = ::write(file, source.data(), source.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    source = source.subspan(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

Result<std::vector<std::byte>> read_pipelines(const std::string& path) {
  // A pipe is not waited for.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (file.number < 0) {
    if (errno == ENOENT) return std::vector<std::byte>();
    return ignored(path, std::strerror(errno));
  }
  struct stat about {};
  if (fstat(file.number, &about) != 0 || !S_ISREG(about.st_mode)) return ignored(path, "it is no plain file");
  if (about.st_uid != geteuid() || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return ignored(path, "others may have written it");
  }
  const auto size = static_cast<uint64_t>(about.st_size);
  if (size < sizeof(Header) || size > kBytesMax) return ignored(path, text("it has ", size, " bytes"));
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  if (!read_all(file.number, bytes)) return ignored(path, "it cannot be read whole");
  const auto header = load_bytes<Header>(bytes.data());
  bytes.erase(bytes.begin(), bytes.begin() + sizeof(Header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) return ignored(path, "it does not begin as one");
  if (header.length != bytes.size() || header.sum != sum_of(bytes)) return ignored(path, "it is cut or altered");
  return bytes;
}

Status write_pipelines(const std::string& path, std::span<const std::byte> pipelines) {
  if (pipelines.size() > kBytesMax - sizeof(Header)) return {};  // It would be ignored.
  static std::atomic<uint32_t> count{0};
  const std::string beside = text(path, ".", getpid(), ".", ++count);
  std::error_code cannot_make;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), cannot_make);
  bool is_whole = false;
  int error = 0;
  {
    const Descriptor file{::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    Header header{{}, pipelines.size(), sum_of(pipelines)};
    std::memcpy(header.magic, kMagic, sizeof(kMagic));
    is_whole = file.number >= 0 && write_all(file.number, std::as_bytes(std::span(&header, 1))) &&
               write_all(file.number, pipelines);
    error = errno;
    if (file.number >= 0 && !is_whole) unlink(beside.c_str());
  }
  if (is_whole) {
    if (std::rename(beside.c_str(), path.c_str()) == 0) return {};
    error = errno;
    unlink(beside.c_str());
  }
  return failure(StatusCode::kUnavailable, "The pipeline cache ", path, " cannot be written: ", std::strerror(error),
                 ".");
}

PipelineCache::~PipelineCache() {
  if (handle_) symbols_.vkDestroyPipelineCache(device_, handle_, nullptr);
}

Result<VkPipelineCache> PipelineCache::make(std::span<const std::byte> pipelines) const {
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = pipelines.size();
  info.pInitialData = pipelines.data();
  VkPipelineCache made = VK_NULL_HANDLE;
  BATON_VULKAN_TRY(symbols_, vkCreatePipelineCache, device_, &info, nullptr, &made);
  return made;
}

Status PipelineCache::open(const std::string& folder, const DeviceFacts& facts) {
  path_ = text(folder, "/", facts.uuid, "-", facts.driver_version, ".pipelines");
  const auto read = read_pipelines(path_);
  if (read.has_value()) read_ = *read;
  BATON_TRY_ASSIGN(handle_, make(read_));
  return read.has_value() ? Status() : read.error().clone();
}

Result<std::vector<std::byte>> PipelineCache::contents() const {
  size_t size = 0;
  BATON_VULKAN_TRY(symbols_, vkGetPipelineCacheData, device_, handle_, &size, nullptr);
  std::vector<std::byte> bytes(size);
  BATON_VULKAN_TRY(symbols_, vkGetPipelineCacheData, device_, handle_, &size, bytes.data());
  bytes.resize(size);
  return bytes;
}

Status PipelineCache::merge(std::span<const std::byte> pipelines) {
  BATON_TRY_ASSIGN(const VkPipelineCache other, make(pipelines));
  const VkResult merged = symbols_.vkMergePipelineCaches(device_, handle_, 1, &other);
  symbols_.vkDestroyPipelineCache(device_, other, nullptr);
  return merged == VK_SUCCESS ? Status() : vulkan_failure(merged, "vkMergePipelineCaches");
}

Status PipelineCache::save() {
  if (!handle_) return {};
  const auto there = read_pipelines(path_);  // What is ignored is written over.
  if (there.has_value() && *there != read_) BATON_TRY(merge(*there));
  BATON_TRY_ASSIGN(const std::vector<std::byte> now, contents());
  if (there.has_value() && *there == now) return {};
  return write_pipelines(path_, now);
}

}  // namespace baton::hal::drivers::vulkan
