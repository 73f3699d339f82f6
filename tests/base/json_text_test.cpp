#include "base/json_text.hpp"

#include <gtest/gtest.h>

namespace baton {
namespace {

std::string json(std::string_view bytes) {
  std::string target;
  append_json_string(target, bytes);
  return target;
}

TEST(JsonText, EscapesWhatJsonHasNoPlaceFor) {
  EXPECT_EQ(json(""), R"("")");
  EXPECT_EQ(json("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json(std::string_view("\n\0\x1f", 3)), R"("\u000a\u0000\u001f")");
  EXPECT_EQ(json("\x7f\u00e9\u20ac\U0001f600"), "\"\x7f\u00e9\u20ac\U0001f600\"");
}

// The first and the last of each length, and what lies just outside.
TEST(JsonText, KnowsWhatIsUtf8) {
  for (const char* good : {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
    EXPECT_EQ(as_utf8(good), good);
  }
  for (const char* bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe0\xa0", "\xed\xa0\x80",
        "\xef\xbf\x41", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(bad)) << testing::PrintToString(bad);
    EXPECT_TRUE(is_utf8(as_utf8(bad)));
  }
}

TEST(JsonText, PutsAMarkForWhatIsNone) {
  EXPECT_EQ(as_utf8("a\xff\xfez"), "a\xef\xbf\xbd\xef\xbf\xbdz");
  EXPECT_EQ(as_utf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(json("\xff\""), "\"\xef\xbf\xbd\\\"\"");
}

}  // namespace
}  // namespace baton
