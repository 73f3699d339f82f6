// enum class Message, from verifier_messages.inc, and how a sentence is made of it. All of this is off the fast path.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/text.hpp"

namespace baton::bytecode {

enum class Message : uint8_t {
#define MESSAGE(id, sentence) id,
#include "bytecode/verifier_messages.inc"
};

// The sentence with each {} replaced by the next piece.
[[gnu::cold]] std::string sentence(Message message, std::span<const TextPiece> pieces);
[[gnu::cold]] Status make_refusal(Message message, std::span<const TextPiece> pieces);

inline Status refuse(Message message) { return make_refusal(message, {}); }
template <typename... Parts>
[[gnu::always_inline]] inline Status refuse(Message message, const Parts&... parts) {
  const TextPiece pieces[] = {parts...};
  return make_refusal(message, pieces);
}

}  // namespace baton::bytecode
