// Cache: compiled programs in a folder, each in a file whose name is a digest of all that made it: the text and its name, what the
// compiler was told, the files that it was pointed at, the compiler itself, and the processor.
//
// A file appears there as a whole or not at all, so that any number of processes may share a folder. One that is
// damaged, or that another user wrote, is as if it were not there. Nothing is ever deleted: that is up to who owns it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler-lite/compile.hpp"

namespace baton::compiler_lite {

class Cache {
 public:
  // Nothing is kept without options.cache_folder, for output that is there to be looked at, and for programs that name
  // object files.
  Cache(std::string_view source, const std::string& name, const CompileOptions& options);

  std::optional<CompileOutput> find() const;
  // A folder that can't be written keeps nothing.
  void keep(const CompileOutput& output) const;

 private:
  std::string path_;  // Empty: none is kept.
  std::string key_;
};

}  // namespace baton::compiler_lite
