#include "tools/dump/extract.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "tools/dump/executables.hpp"
#include "tools/support/files.hpp"

namespace baton::tools::dump {
namespace {

// Names come from the file, which may say anything: what is no part of a plain file name becomes `_`.
std::string plain(std::string_view name) {
  std::string file(name.substr(0, 100));
  std::replace_if(
      file.begin(), file.end(),
      [](unsigned char letter) { return !std::isalnum(letter) && letter != '-' && letter != '_' && letter != '.'; },
      '_');
  return file.empty() || file[0] == '.' ? "_" + file : file;
}

Status make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return failure(StatusCode::kPermissionDenied, "folder '", folder, "' cannot be made (", error.message(), ")");
}

}  // namespace

Result<std::string> extract(const bytecode::ModuleView& module, const std::string& folder) {
  BATON_TRY(make_folder(folder));
  std::string lines;
  std::set<std::string> taken;
  for (const Executable& executable : list_executables(module)) {
    for (const Variant& variant : executable.variants) {
      const std::string stem = text(plain(executable.name), ".", plain(variant.format));
      std::string name = text(stem, ".", code_suffix(variant));
      for (int more = 2; !taken.insert(name).second; ++more) name = text(stem, "-", more, ".", code_suffix(variant));
      const std::string path = text(folder, "/", name);
      BATON_TRY(write_file(path, variant.code));
      lines += text(path, ": ", variant.code.size(), " bytes\n");
    }
  }
  return lines.empty() ? Result<std::string>(text("no device code in module '", module.name(), "'\n")) : lines;
}

}  // namespace baton::tools::dump
