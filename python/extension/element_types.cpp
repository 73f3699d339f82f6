#include "python/extension/element_types.hpp"

namespace baton::python {
namespace {

using hal::ElementType;

struct Row {
  ElementType type;
  char kind;
  int size_bytes;
  const char* format;  // Null: the buffer protocol has none.
  const char* dtype;
};
constexpr Row kRows[] = {
    {ElementType::kI1, 'b', 1, "?", "bool"},
    {ElementType::kI8, 'i', 1, "b", "int8"},
    {ElementType::kI16, 'i', 2, "h", "int16"},
    {ElementType::kI32, 'i', 4, "i", "int32"},
    {ElementType::kI64, 'i', 8, "q", "int64"},
    {ElementType::kU8, 'u', 1, "B", "uint8"},
    {ElementType::kU16, 'u', 2, "H", "uint16"},
    {ElementType::kU32, 'u', 4, "I", "uint32"},
    {ElementType::kU64, 'u', 8, "Q", "uint64"},
    {ElementType::kF16, 'f', 2, "e", "float16"},
    {ElementType::kF32, 'f', 4, "f", "float32"},
    {ElementType::kF64, 'f', 8, "d", "float64"},
    {ElementType::kC64, 'c', 8, "Zf", "complex64"},
    {ElementType::kC128, 'c', 16, "Zd", "complex128"},
    {ElementType::kS8, 'i', 1, "b", "int8"},
    {ElementType::kS16, 'i', 2, "h", "int16"},
    {ElementType::kS32, 'i', 4, "i", "int32"},
    {ElementType::kS64, 'i', 8, "q", "int64"},
    {ElementType::kBF16, '\0', 2, nullptr, "bfloat16"},
};

const Row* row_of(ElementType type) {
  for (const Row& row : kRows) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

}  // namespace

ElementType element_type_of(char kind, int size_bytes) {
  for (const Row& row : kRows) {
    if (row.kind == kind && row.size_bytes == size_bytes) return row.type;
  }
  return ElementType::kNone;
}

ElementType element_type_of_format(std::string_view format) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<')) format.remove_prefix(1);
  if (format == "l") return ElementType::kI64;  // C's long, which is 8 bytes wherever Baton runs.
  if (format == "L") return ElementType::kU64;
  for (const Row& row : kRows) {
    if (row.format && format == row.format) return row.type;
  }
  return ElementType::kNone;
}

const char* format_of(ElementType type) {
  const Row* row = row_of(type);
  return row ? row->format : nullptr;
}

const char* dtype_name(ElementType type) {
  const Row* row = row_of(type);
  return row ? row->dtype : "none";
}

std::string_view element_in(std::string_view tensor_type) {
  if (!tensor_type.starts_with("tensor<") || !tensor_type.ends_with('>')) return {};
  std::string_view inside = tensor_type.substr(7, tensor_type.size() - 8);
  inside = inside.substr(0, inside.find(','));  // Without its encoding.
  for (size_t x = inside.find('x'); x != inside.npos; x = inside.find('x')) {
    if (inside.find_first_not_of("0123456789?") != x) break;  // No size: complex<f32> has an x, too.
    inside.remove_prefix(x + 1);
  }
  return inside;
}

}  // namespace baton::python
