// A plugin with a type of its own, that counts how many of it there are.
#include <atomic>

#include "modules/sdk/module.hpp"

namespace {

std::atomic<int32_t> tokens{0};

class Token final : public baton::sdk::Object<Token> {
 public:
  static constexpr char kTypeName[] = "tested.token";
  Token() { ++tokens; }
  ~Token() { --tokens; }
};

class Tokens final : public baton::sdk::Module<Tokens> {
 public:
  Ref<Token> make_token() const { return baton::sdk::make<Token>(); }
  int32_t count() const { return tokens; }
};

}  // namespace

BATON_EXPORT_MODULE(Tokens, "tokens", BATON_TYPE(Token), BATON_FUNCTION("make", &Tokens::make_token),
                    BATON_FUNCTION("count", &Tokens::count));
