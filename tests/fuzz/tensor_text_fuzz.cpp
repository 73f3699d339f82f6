// Tensors in text: a status or a tensor that prints and reads back the same. Small ones only: a size is no finding.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tools/support/tensor_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::tools;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto type = parse_tensor_type(text.substr(0, text.find('=')));
  if (!type || type->length_bytes() > 1 << 16) return 0;
  const auto tensor = parse_tensor(text);
  if (!tensor) return 0;
  const auto printed = describe_tensor(tensor->type.shape, tensor->type.element_type, tensor->bytes, ~uint64_t{0});
  const auto again = parse_tensor(printed);
  if (!again || again->bytes.size() != tensor->bytes.size()) std::abort();
  if (describe_tensor(again->type.shape, again->type.element_type, again->bytes, ~uint64_t{0}) != printed) std::abort();
  return 0;
}
