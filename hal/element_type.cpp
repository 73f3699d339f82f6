#include "hal/element_type.hpp"

#include <vector>

namespace baton::hal {
namespace {

struct Named {
  ElementType type;
  std::string_view name;
};
constexpr Named kNames[] = {
    {ElementType::kNone, "none"},
    {ElementType::kI1, "i1"},
    {ElementType::kI8, "i8"},
    {ElementType::kI16, "i16"},
    {ElementType::kI32, "i32"},
    {ElementType::kI64, "i64"},
    {ElementType::kS8, "si8"},
    {ElementType::kS16, "si16"},
    {ElementType::kS32, "si32"},
    {ElementType::kS64, "si64"},
    {ElementType::kU8, "ui8"},
    {ElementType::kU16, "ui16"},
    {ElementType::kU32, "ui32"},
    {ElementType::kU64, "ui64"},
    {ElementType::kF16, "f16"},
    {ElementType::kF32, "f32"},
    {ElementType::kF64, "f64"},
    {ElementType::kBF16, "bf16"},
    {ElementType::kC64, "complex<f32>"},
    {ElementType::kC128, "complex<f64>"},
};

}  // namespace

std::string_view element_type_name(ElementType type) {
  for (const Named& named : kNames) {
    if (named.type == type) return named.name;
  }
  return "none";
}

Result<ElementType> parse_element_type(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Named& named : kNames) {
    if (named.type == ElementType::kNone) continue;
    if (named.name == name) return named.type;
    names.push_back(named.name);
  }
  const std::string near = nearest_names(name, names);
  return failure(StatusCode::kInvalidArgument, "'", name, "' is not an element type", near.empty() ? "." : "; ", near);
}

}  // namespace baton::hal
