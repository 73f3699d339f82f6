#include "tests/fuzz/device_code_generator.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace baton::testing_support {
namespace {

constexpr uint16_t kMachineCuda = 190;

template <typename T>
std::string bytes_of(const T& plain) {
  return {reinterpret_cast<const char*>(&plain), sizeof(plain)};
}

void align(std::string& bytes, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

// ---- PTX ------------------------------------------------------------------------------------------------------------

constexpr const char* kNames[] = {"add", "adder",     "add_", "_ad$d",   "scale",
                                  "k1",  "cuda_mine", "cnpx", "weakest", "entry"};
constexpr const char* kBrought[] = {"vprintf",    "malloc", "free", "__assertfail", "cudaGetParameterBufferV2",
                                    "cnpv2Launch"};

constexpr const char* kStrings[] = {
    "\"/a//b.cu\"", "\"/a/*.cu\"", "\"a\\\" /* b\"", "\".extern .func nobody()\"", "\".entry add .reqntid 9 {\"",
    "\"\""};

class PtxWriter {
 public:
  explicit PtxWriter(Choices& choices) : choices_(choices) {}

  GeneratedPtx write() {
    made_.version = text(6 + choices_.among(3)) + "." + text(choices_.among(10));
    constexpr const char* kTargets[] = {"52", "80", "90", "90a", "100f", "120"};
    made_.target = kTargets[choices_.among(std::size(kTargets))];
    blank();
    put({".version", made_.version});
    put({".target", "sm_" + made_.target + (choices_.one_in(3) ? ", texmode_independent" : "")});
    put({".address_size", "64"});
    for (uint32_t left = choices_.among(7); left > 0; --left) declare();
    return std::move(made_);
  }

 private:
  static std::string text(uint32_t number) { return std::to_string(number); }

  // What may stand between any two words.
  void blank() {
    switch (choices_.among(10)) {
      case 1: made_.text += "\t"; break;
      case 2: made_.text += "\n"; break;
      case 3: made_.text += " // .extern .func nobody(); \" /*\n"; break;
      case 4: made_.text += " /* .entry add .reqntid 7 \n \" // */ "; break;
      case 5: made_.text += "\r\n"; break;
      default: made_.text += ' '; break;
    }
  }
  void put(const std::vector<std::string>& words) {
    for (const std::string& word : words) made_.text += word, blank();
    made_.text += '\n';
  }
  std::string new_name() {
    for (uint32_t tries = 0; tries < std::size(kNames); ++tries) {
      const std::string name = kNames[(choices_.among(std::size(kNames)) + tries) % std::size(kNames)];
      if (std::find(taken_.begin(), taken_.end(), name) != taken_.end()) continue;
      taken_.push_back(name);
      return name;
    }
    taken_.push_back("f" + text(static_cast<uint32_t>(taken_.size())));
    return taken_.back();
  }
  void function(const char* linkage, const std::string& name, bool has_body) {
    std::vector<std::string> words = {linkage, ".func"};
    if (choices_.one_in(2)) words.insert(words.end(), {"(.param", ".b32", "r)"});
    words.insert(words.end(), {name, "(", ".param", ".align", "8", ".b8", "a[16]", ")"});
    if (has_body)
      words.insert(words.end(), {"{", "ret;", "}"});
    else
      words.push_back(";");
    put(words);
  }
  void kernel() {
    const std::string name = new_name();
    std::array<uint32_t, 3> block = {};
    std::vector<std::string> words = {".visible", ".entry", name, "(", ".param", ".u64", name + "_param_0", ")"};
    if (choices_.one_in(4)) words.insert(words.end(), {".minnctapersm", "2"});
    if (choices_.one_in(2)) {
      const uint32_t sizes = 1 + choices_.among(3);
      block = {1, 1, 1};
      std::string list;
      for (uint32_t i = 0; i < sizes; ++i) {
        block[i] = 1 + choices_.among(64);
        list += (i == 0 ? "" : choices_.one_in(2) ? " , " : ",") + text(block[i]);
      }
      words.insert(words.end(), {".reqntid", list});
    }
    words.insert(words.end(), {"{", "ret;", "}"});
    put(words);
    made_.kernels.push_back(name);
    made_.blocks.push_back(block);
  }
  void declare() {
    switch (choices_.among(8)) {
      case 0: kernel(); break;
      case 1:
        made_.externs.push_back(new_name());
        function(".extern", made_.externs.back(), false);
        break;
      case 2:
        made_.weaks.push_back(new_name());
        function(".weak", made_.weaks.back(), true);
        break;
      case 3: function(".extern", kBrought[choices_.among(std::size(kBrought))], false); break;
      case 4: function(".visible", new_name(), true); break;
      case 5: put({".extern", ".shared", ".align", "16", ".b8", "room[];"}); break;
      case 6: put({".file", "1", kStrings[choices_.among(std::size(kStrings))]}); break;
      default: put({".global", ".b8", "text[3]", "=", "{1,", "2,", "0};"}); break;
    }
  }

  Choices& choices_;
  GeneratedPtx made_;
  std::vector<std::string> taken_;
};

// ---- ELF ------------------------------------------------------------------------------------------------------------

class ElfWriter {
 public:
  ElfWriter(uint16_t machine, uint16_t type, uint32_t flags) {
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_ident[EI_DATA] = ELFDATA2LSB;
    header_.e_ident[EI_ABIVERSION] = 8;
    header_.e_machine = machine;
    header_.e_type = type;
    header_.e_flags = flags;
    header_.e_ehsize = sizeof(header_);
    header_.e_shentsize = sizeof(Elf64_Shdr);
    header_.e_phentsize = sizeof(Elf64_Phdr);
    bytes_ = bytes_of(header_);
    add("", "", SHT_NULL);
  }
  void add(const std::string& name, const std::string& contents, uint32_t type = SHT_PROGBITS) {
    Elf64_Shdr section = {};
    section.sh_name = static_cast<uint32_t>(names_.size());
    names_ += name + '\0';
    section.sh_type = type;
    align(bytes_, 8);
    section.sh_offset = bytes_.size();
    section.sh_size = contents.size();
    bytes_ += contents;
    sections_.push_back(section);
  }
  std::string finish(bool has_segments) {
    header_.e_shstrndx = static_cast<uint16_t>(sections_.size());
    names_ += ".shstrtab";
    names_ += '\0';
    const uint32_t own = static_cast<uint32_t>(names_.size()) - 10;
    Elf64_Shdr naming = {};
    naming.sh_name = own;
    naming.sh_type = SHT_STRTAB;
    naming.sh_offset = bytes_.size();
    naming.sh_size = names_.size();
    bytes_ += names_;
    sections_.push_back(naming);
    align(bytes_, 8);
    header_.e_shoff = bytes_.size();
    header_.e_shnum = static_cast<uint16_t>(sections_.size());
    for (const Elf64_Shdr& section : sections_) bytes_ += bytes_of(section);
    if (has_segments) {
      Elf64_Phdr segment = {};
      segment.p_type = PT_LOAD;
      segment.p_filesz = sizeof(header_);
      header_.e_phoff = bytes_.size();
      header_.e_phnum = 1;
      bytes_ += bytes_of(segment);
    }
    bytes_.replace(0, sizeof(header_), bytes_of(header_));
    return bytes_;
  }

 private:
  Elf64_Ehdr header_ = {};
  std::string bytes_, names_;
  std::vector<Elf64_Shdr> sections_;
};

struct Attribute {
  uint8_t form, number;
  uint16_t bytes;
};

std::string parameter_info(uint16_t ordinal, uint16_t offset, uint32_t bytes) {
  struct {
    uint32_t index = 0;
    uint16_t ordinal, offset;
    uint32_t flags;
  } const info = {.ordinal = ordinal, .offset = offset, .flags = bytes << 18 | 0x1f000};
  return bytes_of(Attribute{4, 0x17, sizeof(info)}) + bytes_of(info);
}

// A kernel's attributes; parameters are told last first, as compilers do.
std::string kernel_info(Choices& choices, std::vector<uint32_t>& parameters, std::array<uint32_t, 3>& block) {
  std::string info = bytes_of(Attribute{4, 0x37, 4}) + bytes_of(uint32_t{0x7d});
  constexpr uint32_t kSizes[] = {8, 8, 8, 4, 4, 1, 2, 12, 128};
  for (uint32_t left = choices.among(9); left > 0; --left)
    parameters.push_back(kSizes[choices.among(std::size(kSizes))]);
  std::vector<uint16_t> offsets;
  uint32_t end = 0;
  for (const uint32_t bytes : parameters) {
    const uint32_t alignment = bytes == 12 ? 4 : std::min(bytes, 64u);
    end = (end + alignment - 1) / alignment * alignment;
    offsets.push_back(static_cast<uint16_t>(end));
    end += bytes;
  }
  for (size_t i = parameters.size(); i-- > 0;)
    info += parameter_info(static_cast<uint16_t>(i), offsets[i], parameters[i]);
  info += bytes_of(Attribute{3, 0x1b, 0xff});
  if (choices.one_in(2)) {
    block = {32 * (1 + choices.among(32)), 1, 1};
    info += bytes_of(Attribute{4, 0x10, sizeof(block)}) + bytes_of(block);
  }
  return info;
}

// ---- Fatbins, archives, LTO-IR --------------------------------------------------------------------------------------

std::string fatbin(Choices& choices, int depth) {
  std::string parts;
  for (uint32_t left = choices.among(4); left > 0; --left) {
    std::string image = depth < 2 && choices.one_in(2) ? generate_cubin(choices).bytes : generate_ptx(choices).text;
    align(image, 8);
    struct {
      uint16_t kind = 2, version = 0x101;
      uint32_t header_bytes = 64;
      uint64_t bytes;
      uint8_t rest[48] = {};
    } const part = {.bytes = image.size()};
    parts += bytes_of(part) + image;
  }
  struct {
    uint32_t magic = 0xba55ed50;
    uint16_t version = 1, header_bytes = 16;
    uint64_t bytes;
  } const header = {.bytes = parts.size()};
  return bytes_of(header) + parts;
}

std::string lto_ir(Choices& choices) {
  struct {
    uint32_t magic = 0x7f4e43ed;
    uint8_t versions[8] = {1, 0x41, 2, 0x62, 3, 2, 7, 0};
    uint16_t header_bytes = 24, level = 1;
    uint32_t numbers_end = 40, tables_end = 44;
    uint32_t numbers[5] = {0x03840001, 0x00020002, 0x63, 0, 0};
  } const head;
  return bytes_of(head) + std::string(choices.among(200), 'p');
}

std::string object(Choices& choices, int depth) {
  ElfWriter elf(EM_X86_64, ET_REL, 0);
  elf.add(".text", "code");
  if (choices.one_in(2)) elf.add(".nv_fatbin", fatbin(choices, depth + 1));
  if (choices.one_in(2)) elf.add("__nv_relfatbin", fatbin(choices, depth + 1) + fatbin(choices, depth + 1));
  elf.add(".bss", "", SHT_NOBITS);
  return elf.finish(false);
}

std::string archive(Choices& choices, int depth) {
  std::string bytes = "!<arch>\n";
  for (uint32_t left = choices.among(4); left > 0; --left) {
    const std::string member = choices.one_in(4) ? std::string(4, '\0') : generate_image(choices, depth + 1);
    std::string length = std::to_string(member.size());
    length.resize(10, ' ');
    bytes += "a.o/            0           0     0     644     " + length + "`\n" + member;
    if (member.size() % 2) bytes += '\n';
  }
  return bytes;
}

}  // namespace

uint32_t Choices::among(uint32_t count) {
  const uint32_t wide = count > 256 ? next() : 0;
  return (wide << 8 | next()) % count;
}

uint64_t Choices::number() {
  constexpr uint64_t kEdges[] = {0,
                                 1,
                                 0x7f,
                                 0xff,
                                 0xffff,
                                 0x10000,
                                 0x7fffffff,
                                 0xffffffff,
                                 uint64_t{1} << 32,
                                 uint64_t{1} << 58,
                                 ~uint64_t{0} >> 1,
                                 ~uint64_t{0},
                                 ~uint64_t{0} - 7,
                                 ~uint64_t{0} - 63};
  const uint32_t which = among(std::size(kEdges) + 4);
  if (which < std::size(kEdges)) return kEdges[which];
  return uint64_t{next()} << (8 * among(8)) | next();
}

GeneratedPtx generate_ptx(Choices& choices) { return PtxWriter(choices).write(); }

GeneratedCubin generate_cubin(Choices& choices) {
  GeneratedCubin made;
  ElfWriter elf(kMachineCuda, choices.one_in(4) ? ET_REL : ET_EXEC, 90u << 8);
  elf.add(".nv.info", bytes_of(Attribute{4, 0x2f, 4}) + bytes_of(uint32_t{1}));
  const uint32_t count = 1 + choices.among(3);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = std::string(kNames[choices.among(std::size(kNames))]) + std::to_string(i);
    made.kernels.push_back(name);
    made.parameters.emplace_back();
    made.blocks.push_back({});
    elf.add(".nv.info." + name, kernel_info(choices, made.parameters.back(), made.blocks.back()));
    elf.add(".text." + name, std::string(16 * choices.among(8), 't'));
    if (choices.one_in(2)) elf.add(".nv.shared." + name, "", SHT_NOBITS);
  }
  made.bytes = elf.finish(choices.one_in(2));
  return made;
}

std::string generate_image(Choices& choices, int depth) {
  switch (choices.among(depth < 2 ? 6 : 3)) {
    case 0: return generate_ptx(choices).text;
    case 1: return generate_cubin(choices).bytes;
    case 2: return lto_ir(choices);
    case 3: return fatbin(choices, depth);
    case 4: return object(choices, depth);
    default: return archive(choices, depth);
  }
}

GeneratedTriton generate_triton(Choices& choices, const GeneratedCubin& cubin) {
  GeneratedTriton made;
  std::string list;
  const auto raw = [&](const char* key, const std::string& value) {
    list += std::string(list.empty()        ? "{"
                        : choices.one_in(2) ? ","
                                            : ", ") +
            "\"" + key + "\"" + (choices.one_in(2) ? ": " : ":") + value;
  };
  // Of `field`, which may be left out or null where `needed` is false.
  const auto field = [&](const char* key, const std::string& value, bool needed) {
    switch (choices.among(24)) {
      case 20: made.is_sound &= !needed; return;
      case 21: made.is_sound &= !needed; return raw(key, "null");
      case 22: made.is_sound = false; return raw(key, "[3, {\"a\": \"}\"}]");
      case 23: made.is_sound = false; return raw(key, value[0] == '"' ? "7" : "\"7\"");
      default: return raw(key, value);
    }
  };
  const std::array<uint32_t, 3>& block = cubin.blocks[0];
  const uint32_t warps = block[0] ? block[0] / 32 : 1 + choices.among(32);
  raw("hash", "\"\\\"}{\\\\\"");
  if (choices.one_in(8)) {
    made.is_sound = false;
    raw("target", choices.one_in(2) ? "{\"backend\": \"hip\", \"arch\": \"gfx90a\"}" : "null");
  } else {
    raw("target", "{\"backend\": \"cuda\", \"arch\": 90, \"warp_size\": 32}");
  }
  field("num_warps", std::to_string(warps), true);
  field("num_ctas", std::to_string(1 + choices.among(16)), false);
  raw("maxnreg", "null");
  field("shared", std::to_string(choices.among(60000)), true);
  field("launch_pdl", choices.one_in(2) ? "true" : "false", false);
  field("launch_cooperative_grid", "false", false);
  field("triton_version", "\"3.9.0\"", false);
  raw("tensordesc_meta", choices.one_in(2) ? "[]" : "[{\"swizzle\": 3, \"block_size\": [64, 64]}]");
  const auto& parameters = cubin.parameters[0];
  const bool has_two = parameters.size() >= 2 && parameters.back() == 8 && parameters[parameters.size() - 2] == 8;
  if (has_two) {
    field("global_scratch_size", std::to_string(choices.among(1000)), false);
    field("profile_scratch_size", "0", false);
  }
  field("name", "\"" + cubin.kernels[0] + "\"", true);
  made.metadata = list + (choices.one_in(2) ? "}\n" : "}");
  return made;
}

void damage(Choices& choices, std::string& bytes) {
  for (uint32_t left = 1 + choices.among(4); left > 0 && !bytes.empty(); --left) {
    const size_t at = static_cast<size_t>(choices.among(65536)) % bytes.size();
    const uint64_t word = choices.number();
    switch (choices.among(6)) {
      case 0: bytes.resize(at); break;
      case 1: bytes[at] = static_cast<char>(word); break;
      case 2: bytes.insert(at, 1 + word % 64, static_cast<char>(word >> 8)); break;
      case 3: bytes.erase(at, 1 + word % 64); break;
      default: {
        const size_t width = size_t{1} << choices.among(4), aligned = at / width * width;
        std::memcpy(bytes.data() + aligned, &word, std::min(width, bytes.size() - aligned));
        break;
      }
    }
  }
}

}  // namespace baton::testing_support
