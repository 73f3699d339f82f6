// A module with a reference type of its own. BATON_MODULE_QUERY names its query function, so that the same source
// serves as a plugin (--module=custom.so@create_custom_module) and inside a program (main.cpp).
#include <cstdio>

#include "modules/sdk/module.hpp"

namespace {

using namespace baton::sdk;

// A counted string; programs hold references to it and know its type by this name.
class String final : public Object<String> {
 public:
  static constexpr char kTypeName[] = "custom.string";
  explicit String(std::string_view from) : text(from) {}

  const std::string text;
};

class Custom final : public Module<Custom> {
 public:
  Ref<String> create(std::string_view text) {
    std::printf("CREATE %.*s\n", static_cast<int>(text.size()), text.data());
    return baton::sdk::make<String>(text);
  }
  int64_t length(const String& string) {
    std::printf("LENGTH %s = %zu\n", string.text.c_str(), string.text.size());
    return static_cast<int64_t>(string.text.size());
  }
  void print(const String& string) { std::printf("PRINT %s\n", string.text.c_str()); }
};

}  // namespace

// What only debug builds have: programs import it as optional.
#ifndef NDEBUG
#define DEBUG_EXPORTS BATON_FUNCTION("string.dprint", &Custom::print),
#else
#define DEBUG_EXPORTS
#endif

BATON_MODULE_QUERY(create_custom_module, Custom, "custom",            //
                   BATON_TYPE(String),                                //
                   BATON_FUNCTION("string.create", &Custom::create),  //
                   BATON_FUNCTION("string.length", &Custom::length),  //
                   DEBUG_EXPORTS                                      //
                       BATON_FUNCTION("string.print", &Custom::print));
