#include "tools/support/module_source.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "modules/plugin_loader.hpp"
#include "tools/support/files.hpp"
#include "tools/support/report.hpp"
#include "vm/bytecode_module.hpp"

namespace baton::tools {
namespace {

// Brings libraries of TVM-FFI, to which the loader refers weakly.
[[gnu::used]] const modules::OtherLibraries& (*const kOtherLibraries)() = modules::other_libraries;

constexpr std::string_view kElfMagic = "\177ELF";

bool is_file(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) == 0 && !S_ISDIR(about.st_mode);
}

// The file in "plugin.so@entry?key=value". Names may contain both marks: the longest that exists is meant.
std::string path_of(const std::string& source) {
  if (is_file(source)) return source;
  std::string without_parameters = source.substr(0, source.find('?'));
  if (is_file(without_parameters)) return without_parameters;
  return without_parameters.substr(0, without_parameters.rfind('@'));
}

// Looks at plain files alone: what is read from a pipe is gone.
bool is_shared_library(const std::string& path) {
  struct stat about;
  if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  std::array<char, kElfMagic.size()> head{};
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return false;
  const bool read = std::fread(head.data(), 1, head.size(), file) == head.size();
  std::fclose(file);
  return read && std::string_view(head.data(), head.size()) == kElfMagic;
}

}  // namespace

Result<bytecode::ModuleBytes> load_module_bytes(const std::string& path) {
  if (path != "-") return bytecode::ModuleBytes::map_file(path);
  tell_what_is_awaited(path, "a module file");
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, read_file(path));
  return bytecode::ModuleBytes::copy(bytes);
}

Result<Ref<const vm::Module>> load_module(const std::string& source, std::span<const Ref<const vm::Module>> importers) {
  if (source != "-" && is_shared_library(path_of(source))) {
    BATON_TRY_ASSIGN(Ref<const vm::Module> plugin, modules::load_plugin(source, importers));
    return plugin;
  }
  BATON_TRY_ASSIGN(bytecode::ModuleBytes bytes, load_module_bytes(source));
  Result<Ref<vm::BytecodeModule>> module = vm::BytecodeModule::load(std::move(bytes));
  if (!module) {
    return std::move(module).error().with_context(text("while loading ", source == "-" ? "standard input" : source));
  }
  return Ref<const vm::Module>(std::move(*module));
}

bool comes_after_importers(const std::string& source) {
  return source != "-" && is_shared_library(path_of(source)) && modules::is_other_library(source);
}

}  // namespace baton::tools
