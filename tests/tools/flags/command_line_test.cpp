// Flags are found under all their spellings, values arrive, and wrong ones end the program with code 1.
#include "tools/flags/command_line.hpp"

#include <gtest/gtest.h>

namespace baton::tools::flags {
namespace {

struct Parsed {
  std::string text;
  std::vector<std::string> texts;
  std::vector<std::string> rest;
  std::string choice = "text";
  uint64_t number = 0;
  bool toggle = false;
  std::optional<int> code;
};

Parsed parse(std::vector<std::string> arguments) {
  Parsed parsed;
  CommandLine line({"baton-test", "A test.", "  baton-test\n"});
  line.text("--output,-o", parsed.text, "text");
  line.texts("--module", parsed.texts, "texts");
  line.choice("--format", parsed.choice, {"text", "json"}, "choice");
  line.number("--max_instructions", parsed.number, "number");
  line.toggle("--trace", parsed.toggle, "toggle");
  line.positionals("rest", parsed.rest, "rest");
  std::vector<char*> pointers;
  std::string name = "baton-test";
  pointers.push_back(name.data());
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  parsed.code = line.parse(static_cast<int>(pointers.size()), pointers.data());
  return parsed;
}

TEST(CommandLine, ReadsEveryKindOfFlag) {
  const Parsed parsed = parse(
      {"--module=a.bvm", "-o", "out", "--module=-", "--max_instructions=7", "--trace", "--format=json", "b.bvm", "-"});
  EXPECT_FALSE(parsed.code.has_value());
  EXPECT_EQ(parsed.text, "out");
  EXPECT_EQ(parsed.texts, (std::vector<std::string>{"a.bvm", "-"}));
  EXPECT_EQ(parsed.rest, (std::vector<std::string>{"b.bvm", "-"}));
  EXPECT_EQ(parsed.choice, "json");
  EXPECT_EQ(parsed.number, 7u);
  EXPECT_TRUE(parsed.toggle);
}

TEST(CommandLine, TakesDashesForUnderscoresAndTheOldPrefix) {
  EXPECT_EQ(parse({"--max-instructions=8"}).number, 8u);
  EXPECT_EQ(parse({"--iree-max-instructions=9"}).number, 9u);
  EXPECT_EQ(parse({"--iree_max_instructions=10"}).number, 10u);
}

TEST(CommandLine, ShortNamesTakeAnEqualsSign) {
  EXPECT_EQ(parse({"-o=out", "a.bvm"}).text, "out");
  EXPECT_EQ(parse({"-o=out/x=y.bvm"}).text, "out/x=y.bvm");
  EXPECT_EQ(parse({"-o=out", "a.bvm"}).rest, (std::vector<std::string>{"a.bvm"}));
  EXPECT_EQ(parse({"-o="}).text, "");
  EXPECT_EQ(parse({"-oout"}).text, "out");
}

// As compilers write it: -march=native.
TEST(CommandLine, LongNamesMayHaveOneDash) {
  EXPECT_EQ(parse({"-output=out", "a.bvm"}).text, "out");
  EXPECT_EQ(parse({"-output", "out", "a.bvm"}).text, "out");
  EXPECT_EQ(parse({"-oout"}).text, "out");
}

TEST(CommandLine, KeepsWhatFollowsTheEqualsSign) {
  EXPECT_EQ(parse({"--module=x.so@entry?key=a=b&c=--trace"}).texts[0], "x.so@entry?key=a=b&c=--trace");
}

TEST(CommandLine, KeepsTargetsOfAbsentFlags) {
  const Parsed parsed = parse({});
  EXPECT_FALSE(parsed.code.has_value());
  EXPECT_EQ(parsed.choice, "text");
}

TEST(CommandLine, EndsWithOneOnWrongFlags) {
  EXPECT_EQ(parse({"--modul=a"}).code, 1);
  EXPECT_EQ(parse({"-x"}).code, 1);
  EXPECT_EQ(parse({"--format=xml"}).code, 1);
  EXPECT_EQ(parse({"--max_instructions=many"}).code, 1);
  EXPECT_EQ(parse({"--output"}).code, 1);
}

TEST(CommandLine, EndsWithZeroOnHelpAndVersion) {
  EXPECT_EQ(parse({"--help"}).code, 0);
  EXPECT_EQ(parse({"--version"}).code, 0);
}

}  // namespace
}  // namespace baton::tools::flags
