// Files of kernels: what they are, and what the command line says of them.
#include "tools/support/executable_files.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tools/support/files.hpp"

namespace baton::tools {
namespace {

using testing::HasSubstr;

std::string format_of(const std::string& path, std::span<const std::byte> bytes) {
  const auto format = executable_format(path, bytes);
  return format.has_value() ? *format : std::string(format.error().message());
}

std::vector<std::byte> elf(uint16_t machine) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_machine = machine;
  std::vector<std::byte> bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

TEST(ExecutableFilesTest, TellsFormatsByBytes) {
  EXPECT_EQ(format_of("kernels.sos", elf(EM_X86_64)), "embedded-elf-x86_64");
  EXPECT_EQ(format_of("kernels.elf", elf(EM_AARCH64)), "embedded-elf-arm_64");
  EXPECT_EQ(format_of("kernels.so", elf(EM_X86_64)), "system-elf-x86_64");
  EXPECT_EQ(format_of("kernels.cubin", elf(EM_CUDA)), "cuda-nvptx-fb");
  EXPECT_EQ(format_of("kernels.ptx", bytes_of("// ours\n.version 8.0\n.target sm_75\n")), "cuda-ptx");
  EXPECT_EQ(format_of("kernels", bytes_of("// ours\n.version 8.0\n.target sm_75\n")), "cuda-ptx");
  EXPECT_EQ(format_of("kernels.spv", bytes_of("\x03\x02\x23\x07")), "vulkan-spirv-fb");
  EXPECT_THAT(format_of("notes.txt", bytes_of(".version")), HasSubstr("no device code that is known"));
  EXPECT_THAT(format_of("short.so", bytes_of("\x7f"
                                             "ELF")),
              HasSubstr("no device code that is known"));
  EXPECT_THAT(format_of("empty", {}), HasSubstr("no device code that is known"));
}

TEST(ExecutableFilesTest, WantsANameAndAFile) {
  for (const std::string given : {"kernels.so", "=kernels.so", "name="}) {
    EXPECT_THAT(register_executables(std::span(&given, 1)).error().message(), HasSubstr("is not name=file")) << given;
  }
  const std::string missing = "name=/nowhere/kernels.so";
  EXPECT_THAT(register_executables(std::span(&missing, 1)).error().message(), HasSubstr("/nowhere/kernels.so"));
}

}  // namespace
}  // namespace baton::tools
