// CodeCache: what a compiler made, in files of a folder, found again by everything that it was made from.
//
// A file holds its whole key, which is compared, and a sum of its contents: whatever lies in the folder, what comes
// back was stored under exactly this key. Files appear whole, so processes may share a folder; one that cannot be read
// or written is a cache that has nothing.
// Threads: immutable.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace baton::modules {

class CodeCache {
 public:
  // An empty folder: nothing is kept.
  explicit CodeCache(std::string folder) : folder_(std::move(folder)) {}
  // $BATON_KERNEL_CACHE (empty: none), else baton/kernels in $XDG_CACHE_HOME or ~/.cache.
  static CodeCache of_user();

  std::optional<std::vector<std::byte>> find(std::string_view key) const;
  void store(std::string_view key, std::span<const std::byte> code) const;

 private:
  std::string path_of(std::string_view key) const;
  std::string folder_;
};

}  // namespace baton::modules
