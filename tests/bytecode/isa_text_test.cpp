// The documents made from the table: the page in the tree is fresh, and no encoding that left the house has changed.
#include "bytecode/isa_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "bytecode/instruction_info.hpp"

namespace baton::bytecode {
namespace {

std::string file_text(const char* path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return (std::stringstream() << file.rdbuf()).str();
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("#")) lines.insert(line);
  }
  return lines;
}

TEST(IsaText, PageIsFresh) {
  EXPECT_TRUE(file_text(BATON_ISA_PAGE) == isa_markdown()) << "bytecode/ISA.md is stale: run ./dev docs";
}

TEST(IsaText, FrozenEncodingOnlyGrows) {
  const std::set<std::string> now = lines_of(isa_encoding());
  const std::set<std::string> frozen = lines_of(file_text(BATON_FROZEN_ENCODING));
  for (const std::string& line : frozen) EXPECT_TRUE(now.contains(line)) << "changed or gone: " << line;
  for (const std::string& line : now) EXPECT_TRUE(frozen.contains(line)) << "append to opcodes_v1.txt: " << line;
}

TEST(IsaText, PageAndDataHaveEveryRow) {
  const std::string page = isa_markdown();
  const std::string data = isa_json();
  for (uint16_t code = 0; code < kOpcodeLimit; ++code) {
    const InstructionInfo* row = find_info(code);
    if (!row) continue;
    EXPECT_THAT(page, testing::HasSubstr(std::string("| `").append(row->mnemonic())));
    EXPECT_THAT(data, testing::HasSubstr(std::string("\"mnemonic\": \"").append(row->mnemonic()).append("\"")));
  }
}

}  // namespace
}  // namespace baton::bytecode
