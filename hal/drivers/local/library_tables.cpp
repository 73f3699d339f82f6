#include "hal/drivers/local/library_tables.hpp"

namespace baton::hal::drivers::local {
namespace {

Status outside(std::string_view what) {
  return failure(StatusCode::kDataLoss, "The library has its ", what, " outside of its own code and data.");
}

template <typename T>
bool has_table(const CodeImage& image, const T* table, uint64_t count) {
  return count <= UINT32_MAX && reinterpret_cast<uintptr_t>(table) % alignof(T) == 0 &&
         image.holds(table, count * sizeof(T));
}

Status check_kernels(const baton_executable_library& library, const CodeImage& image) {
  const uint32_t count = library.kernel_count;
  if (count == 0) return {};
  const bool whole = has_table(image, library.kernels, count) && has_table(image, library.kernel_names, count) &&
                     (!library.kernel_attributes || has_table(image, library.kernel_attributes, count));
  if (!whole) return outside(text("tables of ", count, " kernels"));
  for (uint32_t i = 0; i < count; ++i) {
    if (library.kernel_names[i] && !image.holds_text(library.kernel_names[i])) {
      return outside(text("name of kernel ", i));
    }
    if (library.kernels[i] && !image.holds_code(reinterpret_cast<const void*>(library.kernels[i]))) {
      return outside(text("kernel ", i));
    }
  }
  return {};
}

Status check_imports(const baton_executable_library& library, const CodeImage& image) {
  if (library.import_count == 0) return {};
  if (!has_table(image, library.imports, library.import_count)) return outside("table of imports");
  for (uint32_t i = 0; i < library.import_count; ++i) {
    if (!image.holds_text(library.imports[i])) return outside(text("name of import ", i));
  }
  return {};
}

Status check_checks(const baton_executable_library* library, const CodeImage& image) {
  const auto* checked = reinterpret_cast<const baton_checked_library*>(library);
  if (!has_table(image, checked, 1)) return outside("table of checks");
  if (checked->check_count != 0 && !has_table(image, checked->checks, checked->check_count)) {
    return outside("table of checks");
  }
  for (uint64_t i = 0; i < checked->check_count; ++i) {
    const auto& [access, line] = checked->checks[i];
    if (!image.holds_text(access) || !image.holds_text(line)) return outside(text("words of check ", i));
  }
  return {};
}

}  // namespace

Status check_tables(const baton_executable_library* library, const CodeImage& image) {
  if (!has_table(image, library, 1)) return outside("description");
  BATON_TRY(check_kernels(*library, image));
  BATON_TRY(check_imports(*library, image));
  return library->version == BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED ? check_checks(library, image) : Status();
}

}  // namespace baton::hal::drivers::local
