// The module "custom" as a plugin: strings that are made of tensors, and a function that fails. Its query function has
// a name of its own, which --module=module.so@create_custom_module gives.
#include <cstdio>

#include "modules/sdk/module.hpp"

namespace {

using namespace baton::sdk;

class String final : public Object<String> {
 public:
  static constexpr char kTypeName[] = "custom.string";
  explicit String(std::string_view from) : text(from) {}

  const std::string text;
};

class Custom final : public Module<Custom> {
 public:
  // "5xi8=0 1 2 3 4"
  Result<Ref<String>> from_tensor(const BufferView& tensor) {
    BATON_ASSIGN_OR_RETURN(const Mapping<const int8_t> elements, tensor.map<const int8_t>());
    std::string text;
    for (int64_t extent : tensor.shape()) text += std::to_string(extent) + "x";
    text += "i8=";
    for (int8_t element : elements) text += std::to_string(element) + " ";
    text.pop_back();
    std::printf("CREATE %s\n", text.c_str());
    std::fflush(stdout);
    return baton::sdk::make<String>(text);
  }
  Status fail() { return failure(StatusCode::kUnknown, "Forced failure"); }
  void print(const String& string) {
    std::printf("PRINT %s\n", string.text.c_str());
    std::fflush(stdout);
  }
};

}  // namespace

BATON_MODULE_QUERY(create_custom_module, Custom, "custom",  //
                   BATON_TYPE(String),                      //
                   BATON_FUNCTION("string.from_tensor", &Custom::from_tensor),
                   BATON_FUNCTION("string.print", &Custom::print), BATON_FUNCTION("fail", &Custom::fail));
