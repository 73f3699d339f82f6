// PipelineCache: what Vulkan made of kernels, kept on disk, so that the next process does not compile them again.
//
// A file for each device and version of its driver, in a folder that the host names. It is written when the device goes,
// beside the file and then in its place, with what other processes put there meanwhile. A file that is cut, altered, not a
// plain file or another user's is ignored; whoever listens to the instance is told why.
// Threads: externally synchronized, but for handle(), which Vulkan synchronizes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hal/drivers/vulkan/device_facts.hpp"
#include "hal/drivers/vulkan/symbols.hpp"

namespace baton::hal::drivers::vulkan {

// The contents of the file; nothing when it is missing. A failure says why the file is ignored.
Result<std::vector<std::byte>> read_pipelines(const std::string& path);
// Whole or not at all.
Status write_pipelines(const std::string& path, std::span<const std::byte> pipelines);

class PipelineCache {
 public:
  // Of a device that is open; both outlive it.
  PipelineCache(const DeviceSymbols& symbols, VkDevice device) : symbols_(symbols), device_(device) {}
  PipelineCache(const PipelineCache&) = delete;
  ~PipelineCache();

  // Why the file is ignored, or the cache cannot be had, which harms nothing else.
  Status open(const std::string& folder, const DeviceFacts& facts);
  Status save();
  VkPipelineCache handle() const { return handle_; }

 private:
  Result<VkPipelineCache> make(std::span<const std::byte> pipelines) const;
  Result<std::vector<std::byte>> contents() const;
  Status merge(std::span<const std::byte> pipelines);

  const DeviceSymbols& symbols_;
  const VkDevice device_;
  VkPipelineCache handle_ = VK_NULL_HANDLE;
  std::string path_;
  std::vector<std::byte> read_;  // What the file held.
};

}  // namespace baton::hal::drivers::vulkan
