// elf_loader: freestanding files run from memory; files that are broken, hostile or for others get a sentence.
#include "hal/drivers/local/elf_loader.hpp"

#include <cstddef>
#include <cstring>

#include "hal/allocator.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/drivers/local/fat_elf.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "tests/support/files.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::local {
namespace {

using Bytes = std::vector<std::byte>;

Bytes file_of(std::string_view name) { return testing_support::read_file(text(BATON_TEST_ELF_FOLDER, name, ".elf")); }
Bytes packed_kernels() { return file_of(host_elf_machine() == EM_X86_64 ? "packed_x86_64" : "packed_aarch64"); }
Bytes host_kernels() { return file_of(host_elf_machine() == EM_X86_64 ? "kernels_x86_64" : "kernels_aarch64"); }
Bytes foreign_kernels() { return file_of(host_elf_machine() == EM_X86_64 ? "kernels_aarch64" : "kernels_x86_64"); }
std::string_view host_format() {
  return host_elf_machine() == EM_X86_64 ? "embedded-elf-x86_64" : "embedded-elf-arm_64";
}

Elf64_Ehdr& header_of(Bytes& bytes) { return *reinterpret_cast<Elf64_Ehdr*>(bytes.data()); }
std::span<Elf64_Phdr> segments_of(Bytes& bytes) {
  return {reinterpret_cast<Elf64_Phdr*>(bytes.data() + header_of(bytes).e_phoff), header_of(bytes).e_phnum};
}
Elf64_Phdr* find_segment(Bytes& bytes, uint32_t type) {
  for (Elf64_Phdr& segment : segments_of(bytes)) {
    if (segment.p_type == type) return &segment;
  }
  return nullptr;
}
std::span<Elf64_Dyn> dynamic_of(Bytes& bytes) {
  const Elf64_Phdr* segment = find_segment(bytes, PT_DYNAMIC);
  return {reinterpret_cast<Elf64_Dyn*>(bytes.data() + segment->p_offset), segment->p_filesz / sizeof(Elf64_Dyn)};
}
Elf64_Dyn* find_dynamic(Bytes& bytes, int64_t tag) {
  for (Elf64_Dyn& entry : dynamic_of(bytes)) {
    if (entry.d_tag == tag) return &entry;
  }
  return nullptr;
}

void expect_to_run(const Bytes& bytes) {
  ASSERT_FALSE(bytes.empty());
  const auto device = make_driver()->open("sync", {}).value();
  const ExecutableVariant variants[] = {{"cuda-sm_90", {}}, {host_format(), bytes}};
  const auto executable = device->make_executable({.name = "kernels", .variants = variants}).value();
  const auto target = device->allocator().allocate({.length = 24}).value();
  const Binding bindings[] = {target};
  const auto commands = device->make_command_buffer().value();
  ASSERT_OK(commands->dispatch({.executable = executable.get(),
                                .entry_point = executable->find("write_ids").value(),
                                .grid = {3, 2, 1},
                                .bindings = bindings}));
  ASSERT_OK(device->queue().execute({}, *commands->finish().value()));
  ASSERT_OK(device->queue().wait_idle());
  const auto mapping = target->map(Access::kRead).value();
  const auto ids = mapping.as<uint32_t>();
  EXPECT_EQ(std::vector<uint32_t>(ids.begin(), ids.end()), (std::vector<uint32_t>{0, 1, 2, 100, 101, 102}));
  EXPECT_FAILS(executable->find("write_id"), StatusCode::kNotFound,
               "Executable 'kernels' has no entry point 'write_id' (5 entry points); did you mean 'write_ids'?");
}

TEST(ElfLoaderTest, RunsAKernelFromMemory) { expect_to_run(host_kernels()); }

constexpr int64_t kPacked = 36;  // DT_RELR, which some elf.h lack.

TEST(ElfLoaderTest, PackedRelocationsAreApplied) {
  Bytes bytes = packed_kernels();
  ASSERT_NE(find_dynamic(bytes, kPacked), nullptr);
  expect_to_run(bytes);
  auto* words = reinterpret_cast<uint64_t*>(bytes.data() + find_dynamic(bytes, kPacked)->d_un.d_ptr);
  const uint64_t first = words[0];
  words[0] = 0;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "the relocation at 0x0 is not in a writable segment.");
  words[0] = ~uint64_t{0};  // Bits without a first place.
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "the relocation at 0x0 is not in a writable segment.");
  words[0] = ~uint64_t{1};
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "is not in a writable segment.");
  words[0] = first;
  find_dynamic(bytes, kPacked)->d_un.d_ptr = 0x3ff00000;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "the packed relocation table at 0x3ff00000");
}

TEST(ElfLoaderTest, SaysForEachVariantWhyItDoesNotFit) {
  const auto device = make_driver()->open("sync", {}).value();
  const ExecutableVariant variants[] = {{"cuda-sm_90", {}}, {"embedded-elf-riscv_64", {}}};
  EXPECT_FAILS(device->make_executable({.name = "kernels", .variants = variants}), StatusCode::kNotFound,
               "None of the 2 variants of executable 'kernels' fits device 'local-sync'.\n"
               "  'cuda-sm_90': not a format of the local device\n"
               "  'embedded-elf-riscv_64': code for riscv_64; this host is ");
}

TEST(ElfLoaderTest, RecognisesOtherArchitectures) {
  const Bytes bytes = foreign_kernels();
  ASSERT_FALSE(bytes.empty());
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kFailedPrecondition,
               host_elf_machine() == EM_X86_64 ? "The ELF file is for aarch64; this host is x86_64."
                                               : "The ELF file is for x86_64; this host is aarch64.");
}

TEST(ElfLoaderTest, EveryTruncationIsRefusedOrRuns) {
  const Bytes bytes = host_kernels();
  for (size_t size = 0; size < bytes.size(); size += 7) {
    const auto image = ElfImage::load(std::span(bytes).first(size));
    if (size < sizeof(Elf64_Ehdr)) {
      EXPECT_FAILS(image, StatusCode::kDataLoss, "are not an ELF file.");
    }
  }
}

TEST(ElfLoaderTest, RefusesWritableCode) {
  Bytes bytes = host_kernels();
  for (Elf64_Phdr& segment : segments_of(bytes)) {
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X)) segment.p_flags |= PF_W;
  }
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kPermissionDenied, "that is writable and executable.");
}

TEST(ElfLoaderTest, RefusesSegmentsBeyondTheFile) {
  Bytes bytes = host_kernels();
  find_segment(bytes, PT_LOAD)->p_filesz = uint64_t{1} << 40;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "end beyond the file");
  bytes = host_kernels();
  find_segment(bytes, PT_LOAD)->p_memsz = uint64_t{1} << 40;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "does not fit an image of 1073741824.");
}

// Found by elf_loader_fuzz: a GNU hash chain over zeros was walked through an image of a gigabyte.
TEST(ElfLoaderTest, AGnuHashChainWithoutEndIsRefusedSoon) {
  Bytes bytes = testing_support::read_file(BATON_FUZZ_CORPUS "elf_loader/gnu_hash_without_end");
  ASSERT_GT(bytes.size(), sizeof(Elf64_Ehdr));
  // The file is for one architecture, the loader for this one.
  const Bytes kernels = host_kernels();
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), kernels.data() + offsetof(Elf64_Ehdr, e_machine),
              sizeof(Elf64_Ehdr::e_machine));
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "names more than 65536 symbols.");
}

TEST(ElfLoaderTest, RefusesWhatIsNotFreestanding) {
  Bytes bytes = host_kernels();
  find_dynamic(bytes, DT_HASH)->d_tag = DT_NEEDED;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kFailedPrecondition, "needs another shared library");
  bytes = host_kernels();
  find_dynamic(bytes, DT_HASH)->d_tag = DT_INIT_ARRAY;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kFailedPrecondition, "has initializers");
  bytes = host_kernels();
  find_dynamic(bytes, DT_HASH)->d_tag = DT_TEXTREL;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kPermissionDenied, "relocations in its code");
  bytes = host_kernels();
  find_segment(bytes, PT_GNU_STACK)->p_type = PT_TLS;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kFailedPrecondition, "thread-local variables");
}

TEST(ElfLoaderTest, RefusesRelocationsThatReachOut) {
  Bytes bytes = host_kernels();
  find_dynamic(bytes, DT_RELA)->d_un.d_ptr = 0x3ff00000;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "lies outside of its segments");
  bytes = host_kernels();
  const uint64_t table =
      find_dynamic(bytes, DT_RELA)->d_un.d_ptr;  // In the first segment, where address is file offset.
  auto& relocation = *reinterpret_cast<Elf64_Rela*>(bytes.data() + table);
  const Elf64_Rela saved = relocation;
  relocation.r_offset = 0;
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "the relocation at 0x0 is not in a writable segment.");
  relocation = saved;
  relocation.r_info = ELF64_R_INFO(7, host_elf_machine() == EM_X86_64 ? R_X86_64_TPOFF64 : R_AARCH64_TLS_TPREL);
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kUnimplemented, "The ELF file has a relocation of type");
  relocation.r_info = ELF64_R_INFO(999, host_elf_machine() == EM_X86_64 ? R_X86_64_64 : R_AARCH64_ABS64);
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kDataLoss, "a relocation names symbol 999 of");
}

// What the processor chooses is no address yet: a call of it would run the resolver in its place.
TEST(ElfLoaderTest, RefusesFunctionsThatAreChosenWhenLoaded) {
  const bool is_x86 = host_elf_machine() == EM_X86_64;
  Bytes bytes = host_kernels();
  auto& relocation = *reinterpret_cast<Elf64_Rela*>(bytes.data() + find_dynamic(bytes, DT_RELA)->d_un.d_ptr);
  relocation.r_info = ELF64_R_INFO(0, is_x86 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE);
  EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kFailedPrecondition,
               "has a function that is chosen when it is loaded (ifunc, target_clones)");
  auto* symbols = reinterpret_cast<Elf64_Sym*>(bytes.data() + find_dynamic(bytes, DT_SYMTAB)->d_un.d_ptr);
  symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
  for (const int type : {is_x86 ? R_X86_64_64 : R_AARCH64_ABS64, is_x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT}) {
    relocation.r_info = ELF64_R_INFO(1, static_cast<uint64_t>(type));
    EXPECT_FAILS(ElfImage::load(bytes), StatusCode::kFailedPrecondition,
                 "has a function 'baton_executable_library_query' that is chosen when it is loaded");
  }
}

// A symbol that is a number, and no place in the file, moves with nothing.
TEST(ElfLoaderTest, AbsoluteSymbolsAreNotMoved) {
  Bytes bytes = host_kernels();
  auto& relocation = *reinterpret_cast<Elf64_Rela*>(bytes.data() + find_dynamic(bytes, DT_RELA)->d_un.d_ptr);
  auto* symbols = reinterpret_cast<Elf64_Sym*>(bytes.data() + find_dynamic(bytes, DT_SYMTAB)->d_un.d_ptr);
  symbols[1].st_shndx = SHN_ABS;
  relocation.r_info = ELF64_R_INFO(1, host_elf_machine() == EM_X86_64 ? R_X86_64_64 : R_AARCH64_ABS64);
  relocation.r_addend = 2;
  const auto image = ElfImage::load(bytes);
  ASSERT_OK(image);
  const auto* query = static_cast<const std::byte*>((*image)->find_function("baton_executable_library_query"));
  ASSERT_NE(query, nullptr);
  const std::byte* base = query - symbols[1].st_value;
  EXPECT_EQ(load_bytes<uint64_t>(base + relocation.r_offset), symbols[1].st_value + 2);
}

TEST(ElfLoaderTest, FindsExportedFunctionsOnly) {
  const auto image = ElfImage::load(host_kernels()).value();
  EXPECT_NE(image->find_function("baton_executable_library_query"), nullptr);
  EXPECT_EQ(image->find_function("write_ids"), nullptr);
  EXPECT_EQ(image->find_function(""), nullptr);
}

// A FatELF file of `files`, by machine.
Bytes make_fat(std::span<const std::pair<uint16_t, Bytes>> files) {
  Bytes fat(8 + 24 * files.size());
  const uint32_t magic = 0x1F0E70FA;
  std::memcpy(fat.data(), &magic, 4);
  fat[4] = std::byte{1};
  fat[6] = static_cast<std::byte>(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const uint64_t offset = fat.size(), size = files[i].second.size();
    std::byte* record = fat.data() + 8 + 24 * i;
    std::memcpy(record, &files[i].first, 2);
    record[4] = std::byte{2};
    record[5] = std::byte{1};
    std::memcpy(record + 8, &offset, 8);
    std::memcpy(record + 16, &size, 8);
    fat.insert(fat.end(), files[i].second.begin(), files[i].second.end());
  }
  return fat;
}

TEST(ElfLoaderTest, FatFilesHoldSeveralArchitectures) {
  const uint16_t foreign = host_elf_machine() == EM_X86_64 ? EM_AARCH64 : EM_X86_64;
  const std::pair<uint16_t, Bytes> both[] = {{foreign, foreign_kernels()}, {host_elf_machine(), host_kernels()}};
  const Bytes fat = make_fat(both);
  const auto own = select_from_fat_elf(fat).value();
  EXPECT_EQ(own.size(), host_kernels().size());
  EXPECT_OK(ElfImage::load(own));
  const Bytes strange = make_fat(std::span(both).first(1));
  EXPECT_FAILS(select_from_fat_elf(strange), StatusCode::kFailedPrecondition, "The FatELF file has nothing for");
  EXPECT_FAILS(select_from_fat_elf(std::span(fat).first(40)), StatusCode::kDataLoss, "Malformed FatELF file");
  EXPECT_FAILS(select_from_fat_elf(std::span(fat).first(100)), StatusCode::kDataLoss, "ends beyond the file (100).");
}

TEST(ElfLoaderTest, FatFilesAreMadeOfThinOnes) {
  const Bytes own = host_kernels(), foreign = foreign_kernels();
  const ThinElf both[] = {{"foreign.so", foreign}, {"own.so", own}};
  const Bytes fat = make_fat_elf(both).value();
  const auto taken = select_from_fat_elf(fat).value();
  EXPECT_TRUE(std::equal(taken.begin(), taken.end(), own.begin(), own.end()));
  EXPECT_OK(ElfImage::load(taken));
  EXPECT_FAILS(select_from_fat_elf(make_fat_elf(std::span(both).first(1)).value()), StatusCode::kFailedPrecondition,
               "The FatELF file has nothing for");

  const ThinElf twice[] = {{"own.so", own}, {"again.so", own}};
  EXPECT_FAILS(make_fat_elf(twice), StatusCode::kInvalidArgument, "'again.so' is the second file for");
  const ThinElf nested[] = {{"fat.sos", fat}};
  EXPECT_FAILS(make_fat_elf(nested), StatusCode::kInvalidArgument, "'fat.sos' is a FatELF file");
  const ThinElf cut[] = {{"cut.so", std::span(own).first(20)}};
  EXPECT_FAILS(make_fat_elf(cut), StatusCode::kInvalidArgument, "'cut.so' is not a shared object");
  EXPECT_FAILS(make_fat_elf({}), StatusCode::kInvalidArgument, "holds 1 to 255 files, not 0.");
}

}  // namespace
}  // namespace baton::hal::drivers::local
