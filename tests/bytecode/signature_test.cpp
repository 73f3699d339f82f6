// Signatures: the grammar, the counts that the VM relies on, and what agrees with what.
#include "bytecode/signature.hpp"

#include <gtest/gtest.h>

namespace baton::bytecode {
namespace {

SignatureShape shape(std::string_view signature) {
  const Result<SignatureShape> result = signature_shape(signature);
  EXPECT_TRUE(result) << signature;
  return result ? *result : SignatureShape();
}

TEST(Signature, CountsRegistersOfBothBanks) {
  EXPECT_EQ(shape("v_v"), SignatureShape());
  EXPECT_EQ(shape("iIfF_r"), (SignatureShape{.argument_values = 4, .result_refs = 1}));
  EXPECT_EQ(shape("rir<blob>_iir<hal.buffer_view>"),
            (SignatureShape{.argument_values = 1, .argument_refs = 2, .result_values = 2, .result_refs = 1}));
  EXPECT_EQ(shape("iCiIDCr<blob>D_i"), (SignatureShape{.argument_values = 1, .result_values = 1, .segments = 2}));
}

TEST(Signature, RefusesWhatIsMalformed) {
  for (const std::string_view bad : {"",    "_",    "i",        "i_",   "_i",   "v",     "iv_v",      "vi_v",
                                     "x_v", "i_x",  "i_v_",     "i__v", "r<_v", "r<>_v", "r<a b>_v",  "r<9a>_v",
                                     "C_v", "CD_v", "CiCiDD_v", "iD_v", "Ci_v", "v_CiD", "i<blob>_v", "Ci_D"}) {
    EXPECT_FALSE(signature_shape(bad)) << bad;
  }
}

TEST(Signature, RefusesMoreRegistersThanAFrameCanHave) {
  EXPECT_TRUE(signature_shape(std::string(65535, 'i') + "_v"));
  EXPECT_FALSE(signature_shape(std::string(65536, 'i') + "_v"));
  EXPECT_FALSE(signature_shape("v_" + std::string(65536, 'r')));
}

TEST(Signature, AgreesUpToTheTypeOfReferences) {
  EXPECT_TRUE(signatures_agree("iI_r<blob>", "iI_r<blob>"));
  EXPECT_TRUE(signatures_agree("ir_r<blob>", "ir<list>_r"));
  EXPECT_TRUE(signatures_agree("CiDr_v", "CiDr<list>_v"));
  EXPECT_FALSE(signatures_agree("r<blob>_v", "r<list>_v"));
  EXPECT_FALSE(signatures_agree("i_v", "I_v"));
  EXPECT_FALSE(signatures_agree("i_v", "ii_v"));
  EXPECT_FALSE(signatures_agree("r_v", "rr_v"));
  EXPECT_FALSE(signatures_agree("CiD_v", "i_v"));
}

// A type's name may hold the `_` that parts the sides.
TEST(Signature, PartsItsSides) {
  EXPECT_EQ(arguments_of("ir<a_b>_r<c_d>"), "ir<a_b>");
  EXPECT_EQ(results_of("ir<a_b>_r<c_d>"), "r<c_d>");
  EXPECT_EQ(arguments_of("v_v"), "");
  EXPECT_EQ(results_of("v_v"), "");
}

TEST(Signature, CursorKnowsSegments) {
  std::string seen;
  for (SignatureCursor at(arguments_of("iCIr<blob>DCfDF_v")); at.next();) {
    seen += value_type_letter(at.type());
    seen += at.ref_type();
    if (at.in_segment()) seen += text("@", at.segment());
    seen += ' ';
  }
  EXPECT_EQ(seen, "i I@0 rblob@0 f@1 F ");
}

TEST(Signature, DescribesItselfToPeople) {
  EXPECT_EQ(describe_signature("v_v"), "() -> ()");
  EXPECT_EQ(describe_signature("iIr<blob>CirD_i"), "(i32, i64, blob, (i32, ref)...) -> (i32)");
  EXPECT_EQ(describe_signature("CiDCIfD_fF"), "((i32)..., (i64, f32)...) -> (f32, f64)");
  EXPECT_EQ(describe_signature("nonsense"), "nonsense");
}

}  // namespace
}  // namespace baton::bytecode
