// Goal: nothing that a vendor's linker reads by its tables lies outside of the file. Method: small files of every kind,
// each cut off at every byte, and each with words that lie.
#include "hal/device_image.hpp"

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

// A fatbin of two parts.
std::string fatbin(const std::string& second = "12345678") {
  struct Part {
    uint16_t kind = 2, version = 0x101;
    uint32_t header_bytes = 16;
    uint64_t bytes;
  };
  const std::string parts = text_of(Part{.bytes = 8}) + "abcdefgh" + text_of(Part{.bytes = second.size()}) + second;
  const struct {
    uint32_t magic = 0xba55ed50;
    uint16_t version = 1, header_bytes = 16;
    uint64_t bytes;
  } header{.bytes = parts.size()};
  return text_of(header) + parts;
}

// What stands before the contents of an ELF file whose sections are all of them, and what stands behind.
std::string elf_begin(uint16_t machine, size_t contents, uint16_t sections = 1) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = machine;
  header.e_shoff = sizeof(header) + contents;
  header.e_shnum = sections;
  header.e_shentsize = sizeof(Elf64_Shdr);
  return text_of(header);
}
std::string elf_end(size_t contents, size_t sections = 1) {
  Elf64_Shdr section = {};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = sizeof(Elf64_Ehdr);
  section.sh_size = contents;
  std::string table;
  for (size_t i = 0; i < sections; ++i) table += text_of(section);
  return table;
}
std::string elf(uint16_t machine, const std::string& contents, uint16_t sections = 1) {
  return elf_begin(machine, contents.size(), sections) + contents + elf_end(contents.size(), sections);
}
constexpr uint16_t kCuda = 190;

std::string archive(const std::string& member) {
  std::string length = std::to_string(member.size());
  length.resize(10, ' ');
  const std::string head = "a.o/            0           0     0     644     " + length + "`\n";
  return "!<arch>\n" + head + member + (member.size() % 2 ? "\n" : "");
}

std::string lto_ir() {
  const struct {
    uint32_t magic = 0x7f4e43ed;
    uint8_t versions[8] = {1, 0x41, 2, 0x62, 3, 2, 7, 0};
    uint16_t header_bytes = 24, level = 1;
    uint32_t numbers_end = 40, tables_end = 44;
    uint32_t numbers[5] = {0x03840001, 0x00020002, 0x63, 0, 0};
  } head;
  return text_of(head);
}

TEST(DeviceImageTest, LtoIrHasAHead) {
  EXPECT_OK(check_device_image(bytes_of(lto_ir() + "packed")));
  for (size_t length = 4; length < lto_ir().size(); ++length) {
    EXPECT_FAILS(check_device_image(bytes_of(lto_ir().substr(0, length))), StatusCode::kDataLoss, "The LTO-IR has");
  }
  for (const size_t at : {size_t{12}, size_t{16}, size_t{20}}) {  // Each word that says where something ends.
    std::string bad = lto_ir();
    bad.replace(at, 2, "\xff\xff");
    EXPECT_FAILS(check_device_image(bytes_of(bad)), StatusCode::kDataLoss, "its head ends at") << at;
    bad.replace(at, 2, std::string(2, '\0'));
    EXPECT_FAILS(check_device_image(bytes_of(bad)), StatusCode::kDataLoss, "its head ends at") << at;
  }
  EXPECT_FAILS(check_device_image(bytes_of(archive(lto_ir().substr(0, 30)))), StatusCode::kDataLoss,
               "in the archive's member at 68");
}

// The first 24 bytes of what nvcc -dlto of CUDA 11.8, 12.4 and 13.0 made of a small file.
TEST(DeviceImageTest, TheHeadsThatCompilersWriteAreTaken) {
  const struct {
    std::string_view versions;
    size_t bytes;
  } made[] = {{{"\x01\x36\x02\x30\x03\x01\x07\x00", 8}, 3364},
              {{"\x01\x3d\x02\x47\x03\x01\x07\x00", 8}, 2744},
              {{"\x01\x41\x02\x62\x03\x02\x07\x00", 8}, 2208}};
  for (const auto& [versions, bytes] : made) {
    std::string image =
        "\xed\x43\x4e\x7f" + std::string(versions) + std::string("\x18\0\x01\0\x28\0\0\0\x2c\0\0\0", 12);
    ASSERT_EQ(image.size(), 24u);
    image.resize(bytes);
    EXPECT_OK(check_device_image(bytes_of(image))) << bytes;
    EXPECT_OK(check_device_image(bytes_of(archive(image)))) << bytes;
    EXPECT_FAILS(check_device_image(bytes_of(image.substr(0, 43))), StatusCode::kDataLoss, "its tables at 44");
  }
}

TEST(DeviceImageTest, WhatWasCutOffIsRefused) {
  const std::string inner = elf(kCuda, "0123456789abcdef");
  for (const std::string& whole : {fatbin(), fatbin(inner), inner, elf(EM_X86_64, fatbin()), archive(inner),
                                   archive(elf(EM_X86_64, fatbin() + fatbin(inner)))}) {
    EXPECT_OK(check_device_image(bytes_of(whole)));
    for (size_t length = whole.starts_with("!") ? 9 : 4; length < whole.size(); ++length) {
      EXPECT_FAILS(check_device_image(bytes_of(whole.substr(0, length))), StatusCode::kDataLoss, "The ") << length;
    }
  }
}

TEST(DeviceImageTest, WordsThatLieAreFoundWhereverTheyAre) {
  std::string bad = fatbin();
  bad[20] = 15;  // The header of the first part is too small.
  EXPECT_FAILS(check_device_image(bytes_of(bad)), StatusCode::kDataLoss, "its part at 0 of 15 and contents");
  bad = fatbin();
  bad[16 + 8] = 9;  // The first part takes a byte of the second.
  EXPECT_FAILS(check_device_image(bytes_of(bad)), StatusCode::kDataLoss, "its part at 25");
  bad = fatbin();
  bad[16 + 15] = '\x7f';
  EXPECT_FAILS(check_device_image(bytes_of(bad)), StatusCode::kDataLoss, "its part at 0");
  std::string inner = elf(kCuda, "0123456789abcdef");
  inner[47] = '\x7f';  // Where the sections begin.
  EXPECT_FAILS(check_device_image(bytes_of(fatbin(inner))), StatusCode::kDataLoss, "in a fatbin");
  EXPECT_FAILS(check_device_image(bytes_of(elf(EM_X86_64, fatbin() + fatbin(inner)))), StatusCode::kDataLoss,
               "in section 0 of an object");
  EXPECT_FAILS(check_device_image(bytes_of(archive(inner))), StatusCode::kDataLoss, "in the archive's member at 68");
  bad = archive("abc");
  bad[8 + 48] = 'x';
  EXPECT_FAILS(check_device_image(bytes_of(bad)), StatusCode::kDataLoss, "does not say how long it is");
  bad[8 + 48] = '9';
  EXPECT_FAILS(check_device_image(bytes_of(bad)), StatusCode::kDataLoss, "its member's contents are 9 bytes from 68");
  inner = elf(kCuda, "");
  inner[EI_CLASS] = ELFCLASS32;
  EXPECT_FAILS(check_device_image(bytes_of(inner)), StatusCode::kInvalidArgument, "is of class 1");
}

TEST(DeviceImageTest, EveryByteMayLie) {
  const std::string whole = archive(elf(EM_X86_64, fatbin() + fatbin(elf(kCuda, "0123456789abcdef"))));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const Status status = check_device_image(bytes_of(damaged));
      EXPECT_TRUE(status.ok() || !status.message().empty()) << at;
    }
  }
}

// Counts of more than 16 bits stand in the first section, where a linker finds them.
TEST(DeviceImageTest, CountsThatDoNotFitTheHeaderMayNotLie) {
  const std::string contents = "0123456789abcdef";
  const auto image = [&](uint64_t sections, uint32_t segments) {
    std::string whole = elf(EM_X86_64, contents);
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof(header));
    Elf64_Shdr first = {};
    first.sh_size = sections;
    first.sh_info = segments;
    header.e_shnum = 0;
    header.e_phnum = segments ? uint16_t{PN_XNUM} : uint16_t{0};
    header.e_phentsize = sizeof(Elf64_Phdr);
    return text_of(header) + contents + text_of(first);
  };
  EXPECT_OK(check_device_image(bytes_of(image(1, 0))));
  EXPECT_FAILS(check_device_image(bytes_of(image(2, 0))), StatusCode::kDataLoss, "its sections are 128 bytes from 80");
  EXPECT_FAILS(check_device_image(bytes_of(image(~uint64_t{0}, 0))), StatusCode::kDataLoss, "its sections are");
  EXPECT_FAILS(check_device_image(bytes_of(image(uint64_t{1} << 58, 0))), StatusCode::kDataLoss, "its sections are");
  EXPECT_FAILS(check_device_image(bytes_of(image(1, 70000))), StatusCode::kDataLoss, "its segments are 3920000 bytes");
}

// Objects of objects, each in a fatbin of the one before: nobody follows them down, neither far nor often.
TEST(DeviceImageTest, WhatIsNestedTakesNeitherStackNorTime) {
  constexpr size_t kLevels = 100000, kLevelBytes = 2 * 64 + 32;
  std::string begin, end;
  for (size_t level = 0; level < kLevels; ++level) {
    const size_t inner = (kLevels - level - 1) * kLevelBytes;
    begin += elf_begin(EM_X86_64, inner + 32);
    std::string empty = fatbin("");
    const uint64_t parts = inner + 16, image = inner;
    std::string head = empty.substr(0, 32);  // Of the fatbin and of its first part.
    std::memcpy(head.data() + 8, &parts, sizeof(parts));
    std::memcpy(head.data() + 24, &image, sizeof(image));
    begin += head;
  }
  for (size_t level = kLevels; level-- > 0;) end += elf_end((kLevels - level - 1) * kLevelBytes + 32);
  EXPECT_OK(check_device_image(bytes_of(begin + end)));

  std::string wide = "0123456789abcdef";
  for (int level = 0; level < 16; ++level) wide = elf(level ? EM_X86_64 : kCuda, level ? fatbin(wide) : wide, 9);
  EXPECT_FAILS(check_device_image(bytes_of(wide)), StatusCode::kDataLoss, "they lie over each other");
}

// Sections over sections: each fatbin is looked at no more often than it could be if they lay side by side.
TEST(DeviceImageTest, SectionsWithCodeLieSideBySide) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += fatbin();
  EXPECT_OK(check_device_image(bytes_of(elf(EM_X86_64, many))));
  EXPECT_FAILS(check_device_image(bytes_of(elf(EM_X86_64, many, 60000))), StatusCode::kDataLoss,
               "they lie over each other");
  EXPECT_OK(check_device_image(bytes_of(elf(EM_X86_64, "no code", 3000)))) << "which nobody looks at";
}

TEST(DeviceImageTest, WhatHasNoTablesIsTakenAsItIs) {
  for (const char* text : {"", ".version 7.0", "\xed\x43\x4e", "!<arch>", "noise"}) {
    EXPECT_OK(check_device_image(bytes_of(text)));
  }
}

}  // namespace
}  // namespace baton::hal
