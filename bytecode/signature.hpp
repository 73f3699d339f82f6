// A function type as text, the calling convention that both sides of a link compare: arguments, `_`, results.
//
//   i I f F        i32 i64 f32 f64
//   r              a reference of any type
//   r<blob>        a reference of that type (or null)
//   C ... D        a variadic segment: the letters between repeat as often as the call says
//   v              nothing (an empty side)
//
// "iI_r<blob>" takes (i32, i64) and returns a blob. One type has one spelling, so equal text means equal type; a bare
// `r` agrees with any reference type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bytecode/value_type.hpp"

namespace baton::bytecode {

// How many registers of each bank a call needs, without allocating: what the VM keeps for each function.
struct SignatureShape {
  uint16_t argument_values = 0;
  uint16_t argument_refs = 0;
  uint16_t result_values = 0;
  uint16_t result_refs = 0;
  uint16_t segments = 0;  // Variadic segments; the argument counts above leave their elements out.

  friend bool operator==(const SignatureShape&, const SignatureShape&) = default;
};

// What one element of a variadic segment takes of each bank.
struct SegmentShape {
  uint32_t values = 0;
  uint32_t refs = 0;
};

// Letters, digits, `_` and `.`, not beginning with a digit or a dot: what may stand in r<...> and in a module's type
// table.
bool is_type_name(std::string_view name);

// Checks the text and counts its registers.
Result<SignatureShape> signature_shape(std::string_view signature);
// The segments of a well-formed signature; `shapes` holds SignatureShape::segments of them.
void segment_shapes(std::string_view signature, SegmentShape* shapes);

// Whether a call written for one may reach the other: equal but for bare `r` on either side.
bool signatures_agree(std::string_view importer, std::string_view exporter);

// The parsed form, for tools and messages.
struct SignatureType {
  ValueType type = ValueType::kI32;
  std::string_view ref_type;  // Points into the signature text; empty for a bare `r` and for values.
};
struct Signature {
  struct Argument {
    SignatureType type;                  // When segment is empty.
    std::vector<SignatureType> segment;  // A variadic segment otherwise.
  };
  std::vector<Argument> arguments;
  std::vector<SignatureType> results;
};
Result<Signature> parse_signature(std::string_view signature);

// "(i32, i64, blob, (i32, ref)...) -> (i32)": for people.
std::string describe_signature(std::string_view signature);

// Walks one side of a well-formed signature without allocating: `for (SignatureCursor at(arguments_of(s));
// at.next();)`.
std::string_view arguments_of(std::string_view signature);  // The text before `_`; "v" becomes empty.
std::string_view results_of(std::string_view signature);
class SignatureCursor {
 public:
  explicit SignatureCursor(std::string_view side) : rest_(side) {}
  // Moves to the next type; segment marks C and D are skipped (in_segment() tells). False at the end.
  bool next();
  ValueType type() const { return type_; }
  std::string_view ref_type() const { return ref_type_; }
  bool in_segment() const { return in_segment_; }
  uint32_t segment() const { return segments_ - 1; }  // Which one, from 0, when in_segment().

 private:
  std::string_view rest_;
  std::string_view ref_type_;
  uint32_t segments_ = 0;  // Begun so far.
  ValueType type_ = ValueType::kI32;
  bool in_segment_ = false;
};

}  // namespace baton::bytecode
