// Goal: what a cubin tells of its kernels is read without the driver, and one whose tables lie costs neither memory nor time
// beyond its own size. Method: cubins of nothing but names and what they tell.
#include "hal/cubin.hpp"

#include <elf.h>

#include <cstring>
#include <string>

#include "tests/support/status_matchers.hpp"

namespace baton::hal {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
template <typename T>
std::string text_of(const T& plain) {
  return {reinterpret_cast<const char*>(&plain), sizeof(plain)};
}

struct Record {
  uint8_t form = 4, number;
  uint16_t bytes = 12;
  uint32_t words[3];
};
Record parameter(uint16_t ordinal, uint16_t offset, uint32_t bytes) {
  return {.number = 0x17, .words = {0, uint32_t{ordinal} | uint32_t{offset} << 16, bytes << 18}};
}

// Sections that tell of one kernel, all with the same name and the same bytes.
std::string cubin(const std::string& kernel, const std::string& info, uint16_t count = 1) {
  const std::string names = std::string("\0.nv.info.", 10) + kernel + '\0';
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = 190;
  header.e_shoff = sizeof(header) + names.size() + info.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(count + 1);
  Elf64_Shdr naming = {}, telling = {};
  naming.sh_type = SHT_STRTAB;
  naming.sh_offset = sizeof(header);
  naming.sh_size = names.size();
  telling.sh_name = 1;
  telling.sh_type = SHT_PROGBITS;
  telling.sh_offset = sizeof(header) + names.size();
  telling.sh_size = info.size();
  std::string file = text_of(header) + names + info + text_of(naming);
  for (uint16_t i = 0; i < count; ++i) file += text_of(telling);
  return file;
}

TEST(CubinTest, TellsParametersInTheirOrder) {
  const std::string info =
      text_of(parameter(1, 8, 4)) + text_of(parameter(0, 0, 8)) + text_of(Record{.number = 0x10, .words = {128, 1, 1}});
  const auto read = read_cubin(bytes_of(cubin("scale", info)));
  ASSERT_OK(read);
  ASSERT_EQ(read->kernels.size(), 1u);
  EXPECT_EQ(read->kernels[0].name, "scale");
  ASSERT_EQ(read->kernels[0].parameters.size(), 2u);
  EXPECT_EQ(read->kernels[0].parameters[0].bytes, 8u);
  EXPECT_EQ(read->kernels[0].parameters[1].offset, 8u);
  EXPECT_EQ(read->kernels[0].block_required[0], 128u);
}

TEST(CubinTest, WhatLiesOverEachOtherIsRefused) {
  // A name of a megabyte for each of sixty thousand kernels would be 60 GB.
  EXPECT_FAILS(read_cubin(bytes_of(cubin(std::string(1 << 20, 'k'), "", 60000))), StatusCode::kDataLoss,
               "it lies over each other");
  // A parameter 4095 is a row for each before it.
  EXPECT_FAILS(read_cubin(bytes_of(cubin("k", text_of(parameter(4095, 0, 8)) + std::string(1 << 16, '\0'), 60000))),
               StatusCode::kDataLoss, "it lies over each other");
}

// Each parameter is told of, so a few bytes make no more rows than they could tell of.
TEST(CubinTest, ParametersThatNobodyTellsOfAreRefused) {
  EXPECT_FAILS(read_cubin(bytes_of(cubin("k", text_of(parameter(4095, 0, 8))))), StatusCode::kDataLoss,
               "Kernel 'k' has a parameter 4095, and room to tell of 1.");
  EXPECT_FAILS(read_cubin(bytes_of(cubin("k", text_of(parameter(0, 0, 8)).substr(0, 12)))), StatusCode::kDataLoss,
               "attributes of kernel 'k' would end behind them");
}

TEST(CubinTest, NamesEnd) {
  std::string file = cubin("scale", "");
  file[64 + 10 + 5] = 'x';  // What ended the table of names.
  EXPECT_FAILS(read_cubin(bytes_of(file)), StatusCode::kDataLoss, "a section without a name");
}

}  // namespace
}  // namespace baton::hal
