#include "modules/plugin_loader.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "base/shared_object.hpp"

namespace baton::modules {

// A reference that brings nothing with it: null where none are linked.
[[gnu::weak]] const OtherLibraries& other_libraries();

namespace {

const OtherLibraries* linked_libraries() {
  const OtherLibraries& (*libraries)() = other_libraries;
  return libraries ? &libraries() : nullptr;
}

// ---- path@entry?key=value&key=value ----

bool is_symbol(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), fits);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decode(std::string_view piece) {
  std::string plain;
  for (size_t i = 0; i < piece.size(); ++i) {
    if (piece[i] != '%') {
      plain.push_back(piece[i]);
      continue;
    }
    const int high = i + 2 < piece.size() ? hex_digit(piece[i + 1]) : -1;
    const int low = i + 2 < piece.size() ? hex_digit(piece[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return failure(StatusCode::kInvalidArgument, "'%' in '", piece, "' is not followed by two hexadecimal digits.");
    }
    plain.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return plain;
}

Result<Parameter> parse_parameter(std::string_view piece) {
  const size_t equals = piece.find('=');
  if (equals == piece.npos || equals == 0) {
    return failure(StatusCode::kInvalidArgument, "Parameter '", piece, "' is not of the form key=value.");
  }
  BATON_TRY_ASSIGN(std::string key, decode(piece.substr(0, equals)));
  BATON_TRY_ASSIGN(std::string value, decode(piece.substr(equals + 1)));
  return Parameter{std::move(key), std::move(value)};
}

// ---- The library ----

struct Library {
  void* handle;
  baton_module_query query;
};

// The loader looks for a name without a slash in the system's folders; a user means the one before him.
std::string path_to_open(const std::string& path) { return path.find('/') == path.npos ? "./" + path : path; }

Result<Library> open_library(const PluginReference& reference) {
  const std::string path = path_to_open(reference.path);
  if (access(path.c_str(), R_OK) != 0) {
    return failure(StatusCode::kNotFound, "Plugin '", reference.path, "' does not exist or cannot be read.");
  }
  BATON_TRY_CONTEXT(check_shared_object(path.c_str()), "in plugin '", reference.path, "'");
  void* handle = open_shared_object(path);
  if (!handle) {
    const char* reason = dlerror();
    return failure(StatusCode::kFailedPrecondition, "Plugin '", reference.path,
                   "' cannot be opened: ", reason ? reason : "no reason given", ".");
  }
  void* symbol = dlsym(handle, reference.entry.c_str());
  if (!symbol) {
    dlclose(handle);  // nothing of it was called but its own initializers
    return failure(StatusCode::kNotFound, "Plugin '", reference.path, "' has no symbol '", reference.entry, "'.");
  }
  return Library{handle, reinterpret_cast<baton_module_query>(symbol)};
}

bool is_other(const PluginReference& reference) {
  return linked_libraries() && reference.entry == BATON_MODULE_QUERY_SYMBOL &&
         linked_libraries()->is_one(reference.path);
}

}  // namespace

Result<PluginReference> PluginReference::parse(std::string_view text) {
  PluginReference reference;
  const size_t question = text.find('?');
  std::string_view path = text.substr(0, question);
  const size_t at = path.rfind('@');
  if (at != path.npos && is_symbol(path.substr(at + 1))) {
    reference.entry = path.substr(at + 1);
    path = path.substr(0, at);
  }
  if (path.empty()) return failure(StatusCode::kInvalidArgument, "Plugin '", text, "' names no file.");
  reference.path = path;

  std::string_view rest = question == text.npos ? std::string_view() : text.substr(question + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    auto parameter = parse_parameter(rest.substr(0, end));
    if (!parameter) return std::move(parameter).error().with_context(baton::text("in plugin '", text, "'"));
    reference.parameters.push_back(*std::move(parameter));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return reference;
}

Result<Ref<const vm::Module>> load_plugin(const PluginReference& reference,
                                          std::span<const Ref<const vm::Module>> importers) {
  if (is_other(reference)) return linked_libraries()->load(reference, importers);
  BATON_TRY_ASSIGN(const Library library, open_library(reference));
  // From here on the library stays loaded: results, also failures, may point into it.
  return NativeModule::make(library.query, reference.parameters, text("plugin '", reference.path, "'"));
}

Result<Ref<const vm::Module>> load_plugin(std::string_view text, std::span<const Ref<const vm::Module>> importers) {
  BATON_TRY_ASSIGN(const PluginReference reference, PluginReference::parse(text));
  return load_plugin(reference, importers);
}

bool is_other_library(std::string_view text) {
  const auto reference = PluginReference::parse(text);
  return reference && is_other(*reference);
}

}  // namespace baton::modules
