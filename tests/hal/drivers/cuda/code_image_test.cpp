// Code that was cut off, or whose tables lie, is refused before the driver reads beyond its end.
#include "hal/drivers/cuda/code_image.hpp"

#include <elf.h>

#include <cstring>
#include <vector>

#include "hal/code_format.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// A cubin of a header, a section of 16 bytes and the table of two sections.
struct Cubin {
  Elf64_Ehdr header = {};
  std::byte contents[16] = {};
  Elf64_Shdr sections[2] = {};

  Cubin() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_ABIVERSION] = 8;
    header.e_machine = 190;
    header.e_flags = 0x06005a04;
    header.e_shoff = offsetof(Cubin, sections);
    header.e_shnum = 2;
    header.e_shentsize = sizeof(Elf64_Shdr);
    sections[0].sh_type = SHT_PROGBITS;
    sections[0].sh_offset = offsetof(Cubin, contents);
    sections[0].sh_size = sizeof(contents);
    sections[1].sh_type = SHT_NOBITS;  // Takes no bytes of the file.
    sections[1].sh_size = 1 << 20;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(this, 1)); }
};

TEST(CodeImageTest, ACubinMayNotBeCutOff) {
  const Cubin whole;
  EXPECT_OK(check_image(whole.bytes()));
  EXPECT_EQ(cubin_arch(whole.bytes()), 90);
  for (size_t size = 4; size < sizeof(Cubin); ++size) {
    EXPECT_FAILS(check_image(whole.bytes().first(size)), StatusCode::kDataLoss, "The cubin has");
  }
  EXPECT_FAILS(check_image(whole.bytes().first(100)), StatusCode::kDataLoss,
               "The cubin has 100 bytes; its sections are 128 bytes from 80 on.");
}

TEST(CodeImageTest, TablesMayNotLie) {
  Cubin cubin;
  cubin.sections[0].sh_size = ~uint64_t{0};
  EXPECT_FAILS(check_image(cubin.bytes()), StatusCode::kDataLoss,
               "contents of section 0 are 18446744073709551615 bytes");
  cubin = Cubin();
  cubin.header.e_shoff = ~uint64_t{0} - 8;
  EXPECT_FAILS(check_image(cubin.bytes()), StatusCode::kDataLoss, "its sections are 128 bytes from");
  cubin = Cubin();
  cubin.header.e_shentsize = 1;
  EXPECT_FAILS(check_image(cubin.bytes()), StatusCode::kDataLoss, "sections of 1 bytes and segments of 0");
  cubin = Cubin();
  cubin.header.e_phnum = 3;
  cubin.header.e_phentsize = sizeof(Elf64_Phdr);
  cubin.header.e_phoff = 100;
  EXPECT_FAILS(check_image(cubin.bytes()), StatusCode::kDataLoss, "its segments are 168 bytes from 100 on.");
  cubin = Cubin();
  cubin.header.e_machine = EM_X86_64;
  EXPECT_FAILS(check_image(cubin.bytes()), StatusCode::kInvalidArgument,
               "The ELF file is code for machine 62; CUDA's is 190.");
}

TEST(CodeImageTest, AFatbinMayNotBeCutOff) {
  const uint32_t whole[] = {0xba55ed50, 0x00100001, 8, 0, 1, 2};
  const auto bytes = std::as_bytes(std::span(whole));
  EXPECT_OK(check_image(bytes));
  EXPECT_EQ(cubin_arch(bytes), 0);
  for (size_t size = 4; size < sizeof(whole); ++size) {
    EXPECT_FAILS(check_image(bytes.first(size)), StatusCode::kDataLoss, "The fatbin has");
  }
  EXPECT_FAILS(check_image(bytes.first(20)), StatusCode::kDataLoss,
               "The fatbin has 20 bytes; its contents are 8 bytes from 16 on.");
}

TEST(CodeImageTest, PtxSaysItsVersion) {
  const auto version = [](std::string_view code) { return ptx_version(std::as_bytes(std::span(code))); };
  EXPECT_EQ(version("// made by hand\n.version 8.4\n.target sm_90\n"), "8.4");
  EXPECT_EQ(version(".version\t7.0"), "7.0");
  for (const std::string_view none : {"", ".version", ".version   ", "garbage"}) EXPECT_EQ(version(none), "") << none;
  EXPECT_OK(check_image(std::as_bytes(std::span(std::string_view("garbage")))));
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
