// The gate: every sentence of verifier_messages.inc is provoked here or by a file of tests/golden/verifier, and what is
// good passes. What text can say stands in the golden files; here are the modules that no assembler writes.
#include "bytecode/verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "bytecode/assembler.hpp"
#include "tests/bytecode/raw_module.hpp"

namespace baton::bytecode {
namespace {

// The verifier's sentence, or nothing when it accepts.
std::string verdict(std::span<const std::byte> bytes) {
  const ModuleBytes copy = ModuleBytes::copy(bytes);
  const Result<ModuleView> view = verify(copy.bytes());
  return view ? std::string() : std::string(view.error().message());
}
std::string verdict(const RawModule& module) { return verdict(module.finish().bytes()); }

std::string verdict_of_text(std::string_view text) {
  const auto bytes = assemble(text);
  return bytes ? verdict(*bytes) : std::string(bytes.error().message());
}

// A good file with `patch` written at `offset`.
std::string verdict_of_patched(size_t offset, uint32_t patch) {
  const ModuleBytes good = RawModule().finish();
  std::vector<std::byte> bytes(good.bytes().begin(), good.bytes().end());
  store_bytes(&bytes[offset], patch);
  return verdict(bytes);
}

struct Case {
  std::string sentence;
  std::function<std::string()> provoke;
};

// A case that differs from a good module by what `change` does to it.
Case raw(std::string sentence, std::function<void(RawModule&)> change) {
  return {std::move(sentence), [change] {
            RawModule module;
            change(module);
            return verdict(module);
          }};
}

// A case of one function, "f" in the sentence, with three value registers and one reference register.
Case code(std::string sentence, std::vector<uint64_t> words) {
  return {"function 0, " + sentence, [words] {
            RawModule module = RawModule::with_function("i_i", 3, 1, words);
            return verdict(module);
          }};
}

using Row = format::FunctionRow;
using O = Opcode;

// The offset that leads to the code, moved on by four; the word that is then taken for its count is made 1.
std::string provoke_misaligned() {
  RawModule module;
  module.code = {word(O::ret), word(O::ret)};
  module.functions = {Row(0, 2, 0, 0, 0)};
  const ModuleBytes good = module.finish();
  std::vector<std::byte> bytes(good.bytes().begin(), good.bytes().end());
  const auto* begin = reinterpret_cast<const uint8_t*>(good.bytes().data());
  const auto* code = reinterpret_cast<const uint8_t*>(format::GetSizePrefixedModule(begin)->code());
  const auto count = static_cast<uint32_t>(code - begin);
  for (uint32_t field = 0; field < count; field += 4) {
    if (field + load_bytes<uint32_t>(&bytes[field]) == count) store_bytes(&bytes[field], count + 4 - field);
  }
  store_bytes<uint32_t>(&bytes[count + 4], 1);
  return verdict(bytes);
}

// One long text that a hundred types share.
RawModule module_with_long_type() {
  RawModule module;
  module.types.assign(100, "t");
  module.types[0] = std::string(4000, 'a');
  return module;
}

std::string provoke_shared_text() {
  const ModuleBytes good = module_with_long_type().finish();
  std::vector<std::byte> bytes(good.bytes().begin(), good.bytes().end());
  const auto* begin = reinterpret_cast<const uint8_t*>(good.bytes().data());
  const auto* types = format::GetSizePrefixedModule(begin)->types();
  const auto shared = static_cast<uint32_t>(reinterpret_cast<const uint8_t*>(types->Get(0)) - begin);
  for (uint32_t i = 1; i < types->size(); ++i) {
    const auto field = static_cast<uint32_t>(types->Data() - begin) + 4 * i;
    store_bytes(&bytes[field], shared - field);
  }
  return verdict(bytes);
}

std::vector<Case> container_cases() {
  const std::string truncated =
      text("Truncated module: its table needs 65540 bytes and the file has ", RawModule().finish().bytes().size(), ".");
  return {
      {"Not a Baton module: 5 bytes are fewer than a header has (12).",
       [] { return verdict(std::vector<std::byte>(5)); }},
      {"Not a Baton module: the identifier is '.ELF' instead of 'BVM1'.",
       [] { return verdict_of_patched(8, 0x464c457f); }},
      {truncated, [] { return verdict_of_patched(0, 65536); }},
      {"Malformed module: its table points outside itself or lacks a required field.",
       [] { return verdict_of_patched(4, 1 << 20); }},
      raw("Module has format version 2; this reader knows version 1.", [](RawModule& m) { m.format_version = 2; }),
      raw("Module needs instruction set version 1000; this reader knows version 3.",
          [](RawModule& m) { m.isa_version = 1000; }),
      raw("Module requires features that this reader lacks (bits 1, 5, 63).",
          [](RawModule& m) { m.required_features = 1 << 1 | 1 << 5 | uint64_t{1} << 63; }),
      {"The instructions of the module are not aligned to 8 bytes.", provoke_misaligned},
      {text("The names and texts of the module add up to 400006 bytes, more than its table may refer to (",
            4 * (4 + load_bytes<uint32_t>(module_with_long_type().finish().bytes().data())), ")."),
       provoke_shared_text},
  };
}

std::vector<Case> name_cases() {
  using namespace std::string_literals;
  return {
      raw("The module has an empty name.", [](RawModule& m) { m.name = ""; }),
      raw("Export 0 has a name with a NUL character in it.",
          [](RawModule& m) {
            m.exports = {{"a\0b"s, 0}};
          }),
      raw("Type 0 'a b' is not a type name.", [](RawModule& m) { m.types = {"a b"}; }),
      raw("Type name 'blob' stands in its table twice.",
          [](RawModule& m) {
            m.types = {"blob", "list", "blob"};
          }),
      raw("Signature text 'i_v' stands in its table twice.",
          [](RawModule& m) {
            m.signatures = {"v_v", "i_v", "I_v", "f_v", "F_v", "r_v", "ii_v", "iii_v", "i_i", "i_v"};
          }),
      raw("Signature 1: Signature 'ix_v' is malformed at 1.",
          [](RawModule& m) {
            m.signatures = {"v_v", "ix_v"};
          }),
      raw("Import 0 'log' is not of the form module.function.", [](RawModule& m) { m.imports = {{"log"}}; }),
      raw("Import 0 '.log' is not of the form module.function.", [](RawModule& m) { m.imports = {{".log"}}; }),
      raw("Import 0 'log.' is not of the form module.function.", [](RawModule& m) { m.imports = {{"log."}}; }),
      raw("Export 1 'a' does not come after 'b'.",
          [](RawModule& m) {
            m.exports = {{"b", 0}, {"a", 0}};
          }),
      raw("Export 1 'a' does not come after 'a'.",
          [](RawModule& m) {
            m.exports = {{"a", 0}, {"a", 0}};
          }),
      raw("Debug table has 2 function names for 1.",
          [](RawModule& m) {
            m.debug = {{"a", "b"}, {}, {}, {}, {}};
          }),
  };
}

std::vector<Case> index_cases() {
  return {
      raw("Module has 65536 functions; 16-bit operands can name 65535.",
          [](RawModule& m) { m.functions.assign(65536, Row(0, 0, 0, 0, 0)); }),
      raw("Function 0 refers to signature 1, beyond the table of 1.",
          [](RawModule& m) { m.functions = {Row(0, 1, 1, 0, 0)}; }),
      raw("Import 0 refers to signature 7, beyond the table of 1.",
          [](RawModule& m) {
            m.imports = {{"a.b", 7}};
          }),
      raw("Import 0 refers to fallback function 3, beyond the table of 1.",
          [](RawModule& m) {
            m.imports = {{"a.b", 0, true, 3}};
          }),
      raw("Export 0 refers to function 1, beyond the table of 1.",
          [](RawModule& m) {
            m.exports = {{"a", 1}};
          }),
      raw("Global 0 refers to type 2, beyond the table of 0.",
          [](RawModule& m) { m.globals = {format::GlobalRow(0, 4, true, 0, 2)}; }),
      raw("Attribute 0 refers to function 1, beyond the table of 1.",
          [](RawModule& m) {
            m.attributes = {{1, "key", "value"}};
          }),
      raw("Initializer of the module refers to function 1, beyond the table of 1.",
          [](RawModule& m) { m.initializer = 1; }),
      raw("Location 0 refers to word 1, beyond the table of 1.",
          [](RawModule& m) {
            m.debug = {{"f"}, {}, {}, {"file"}, {{1, 0, 1, 1}}};
          }),
      raw("Location 0 refers to file 1, beyond the table of 1.",
          [](RawModule& m) {
            m.debug = {{"f"}, {}, {}, {"file"}, {{0, 1, 1, 1}}};
          }),
      raw("Location 1 is for word 0, which does not come after 0.",
          [](RawModule& m) {
            m.debug = {{"f"}, {}, {}, {"file"}, {{0, 0, 1, 1}, {0, 0, 2, 1}}};
          }),
  };
}

std::vector<Case> row_cases() {
  return {
      raw("Function 0 has the variadic signature 'CiD_v', which only an import can have.",
          [](RawModule& m) { m.signatures = {"CiD_v"}; }),
      raw("Function 0 begins at word 1 of the code instead of where the one before it ends (0).",
          [](RawModule& m) { m.functions = {Row(1, 1, 0, 0, 0)}; }),
      raw("Function 0 of 2 words ends beyond the code (1).", [](RawModule& m) { m.functions = {Row(0, 2, 0, 0, 0)}; }),
      raw("Code of 2 words goes on after the last function, which ends at 1.",
          [](RawModule& m) { m.code.push_back(word(O::ret)); }),
      raw("Global 0 has the unknown type 5.", [](RawModule& m) { m.globals = {format::GlobalRow(0, 5, true, 0, 0)}; }),
      raw("Global 0 has reserved bits that are not 0.",
          [](RawModule& m) { m.globals = {format::GlobalRow(0, 0, true, 1, 0)}; }),
      raw("Global 0 begins as 0x100000000, which no i32 can be.",
          [](RawModule& m) { m.globals = {format::GlobalRow(uint64_t{1} << 32, 0, true, 0, 0)}; }),
      raw("Global 0 begins as 0x1, which no ref can be.",
          [](RawModule& m) { m.globals = {format::GlobalRow(1, 4, true, 0, kNoIndex)}; }),
  };
}

// Rodata rows name bytes of the file; their sentences hold numbers that depend on the size of its table.
std::vector<Case> rodata_cases() {
  RawModule module;
  module.rodata = {{0, 64}, {64, 64}};
  const uint64_t begin = align_up(module.finish().bytes().size(), kRodataAlignment);
  const auto with_rows = [](std::vector<format::RodataRow> rows) {
    return [rows](RawModule& m) {
      m.rodata = rows;
      m.rodata_bytes = 128;
    };
  };
  return {
      raw(text("Rodata 0 begins at byte ", begin + 8, ", not a multiple of 64."), with_rows({{8, 8}, {64, 1}})),
      raw(text("Rodata 1 begins at byte ", begin, ", before the end of what precedes it (", begin + 64, ")."),
          with_rows({{0, 64}, {0, 64}})),
      raw(text("Rodata 1 of 65 bytes at byte ", begin + 64, " ends beyond the file (", begin + 128, ")."),
          with_rows({{0, 64}, {64, 65}})),
  };
}

// What no text says of executables; the rest stands in tests/golden/verifier.
std::vector<Case> executable_cases() {
  using namespace std::string_literals;
  const auto with = [](ExecutableRow row) {
    return [row](RawModule& m) {
      m.required_features = kFeatureExecutables;
      m.executables = {row};
    };
  };
  const auto entry = [with](EntryPointRow row) {
    return with({.name = "e", .registered_name = "e", .entry_points = {row}});
  };
  return {
      raw("Module has 1 executables and does not require feature 0, which says that it has any.",
          [](RawModule& m) { m.executables = {{.name = "e", .registered_name = "e"}}; }),
      raw("Module has 0 executables and requires feature 0, which says that it has any.",
          [](RawModule& m) { m.required_features = kFeatureExecutables; }),
      raw("Executable 0 has an empty name.", with({.name = "", .registered_name = "e"})),
      raw("Executable 0 has a name with a NUL character in it.", with({.name = "e", .registered_name = "a\0b"s})),
      raw("Executable 0, variant 0 refers to rodata 3, beyond the table of 0.",
          with({.name = "e", .variants = {{.format = "f", .rodata = 3}}})),
      raw("Executable 0, entry point 0: binding 1 has access 4, which is not 0 to 3.",
          entry({.name = "f", .constants = 0, .bindings = {1, 4}})),
      raw("Executable 0, entry point 0 has 65536 constants and 0 bindings; each may be 65535 at most.",
          entry({.name = "f", .constants = 65536})),
      raw("Executable 0, entry point 0 has 0 constants and 65536 bindings; each may be 65535 at most.",
          entry({.name = "f", .constants = 0, .bindings = std::vector<uint8_t>(65536)})),
      code("word 0 (executable): executable 1 is beyond the table of 0.", {wide_word(O::executable, 0, 1)}),
  };
}

std::vector<Case> code_cases() {
  return {
      code("word 0 (code 0x0): no instruction has this code.", {0}),
      code("word 1 (code 0xffff): no instruction has this code.", {word(O::nop), 0xffff}),
      code("word 0 (const.i64.wide): the instruction of 2 words ends beyond the function (1).",
           {word(O::const_i64_wide, 0)}),
      code("word 0 (br.table): the instruction of 3 words ends beyond the function (2).", {word(O::br_table, 0, 4), 0}),
      code("word 0 (nop): bits that no operand uses are not 0 (word 0 has 0x10000).", {word(O::nop, 1)}),
      code("word 0 (br.table): bits that no operand uses are not 0 (word 1 has 0x7).",
           {word(O::br_table, 0, 1), uint64_t{7} << 32}),
      code("word 0 (rodata): rodata 2 is beyond the table of 0.", {wide_word(O::rodata, 0, 2)}),
      code("word 0 (call): function 1 is beyond the table of 1.", {word(O::call, 1)}),
      code("word 0 (call.import): import 0 is beyond the table of 0.", {word(O::call_import, 0)}),
      code("word 0 (global.get): global 9 is beyond the table of 0.", {wide_word(O::global_get, 0, 9)}),
      code("word 0 (ref.is): type 1 is beyond the table of 0.", {word(O::type_ref, 0, 0), 1}),
      code("word 0 (br): label at word -1 is outside the function (1).", {wide_word(O::br, 0, -1)}),
      code("word 1 (br.if): label at word 3 is outside the function (3).",
           {word(O::nop), wide_word(O::br_if, 0, 2), word(O::ret)}),
      code("word 2 (br): label at word 1 points into the middle of an instruction.",
           {word(O::const_i64_wide, 1), 5, wide_word(O::br, 0, -1)}),
  };
}

// 65535 registers, which the code names, and more labels than there is time to follow them over.
std::string provoke_too_many_states() {
  std::vector<uint64_t> words(2100, wide_word(O::br, 0, 1));
  words[0] = wide_word(O::const_i32, 65534, 0);
  words.push_back(word(O::ret));
  return verdict(RawModule::with_function("v_v", 65535, 65535, words));
}

// A long block with many ways back to it, each of which loses one register more. They lie in the code in the order that
// is the worst for the walk: each is only found when the block has been walked again.
std::string provoke_too_many_passes() {
  constexpr uint16_t kRegisters = 60;
  constexpr size_t kBody = 20000;
  constexpr size_t kHead = 1, kWays = kHead + kBody + 1;  // word 0 goes to the last of the ways
  constexpr size_t kWayWords = 3;
  std::vector<uint64_t> words(kWays, word(O::nop));
  words[0] = wide_word(O::br, 0, static_cast<int32_t>(kWays + (kRegisters - 2) * kWayWords));
  words[kWays - 1] = word(O::ret);
  for (uint16_t base = 1; base < kRegisters; ++base) {
    words.push_back(word(O::call, 1, base, 0));
    words.push_back(wide_word(O::br_if, 0, static_cast<int32_t>(kHead) - static_cast<int32_t>(words.size())));
    words.push_back(base == 1 ? word(O::ret) : wide_word(O::br, 0, -2 - static_cast<int32_t>(kWayWords)));
  }
  RawModule module = RawModule::with_function(std::string(kRegisters, 'i') + "_v", kRegisters, 0, words);
  module.signatures.push_back("v_v");
  module.functions.emplace_back(static_cast<uint32_t>(words.size()), 1, 1, 0, 0);
  module.code.push_back(word(O::ret));
  return verdict(module);
}

std::vector<Case> limit_cases() {
  return {
      {"function 0, word 0 (const.i32): following the registers takes more than 73940 steps, the limit for a module "
       "with so "
       "much code.",
       provoke_too_many_states},
      {"following the registers takes more than 146256 steps, the limit for a module with so much code.",
       provoke_too_many_passes},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& group : {container_cases(), name_cases(), index_cases(), row_cases(), rodata_cases(),
                            executable_cases(), code_cases(), limit_cases()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

struct Golden {
  std::string name;
  std::string text;
  std::string sentence;
};

std::vector<Golden> golden_files() {
  constexpr std::string_view kMark = "; CHECK: ";
  std::vector<Golden> files;
  for (const auto& entry : std::filesystem::directory_iterator(BATON_GOLDEN_DIR)) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const size_t mark = text.str().find(kMark);
    if (mark == std::string::npos) continue;
    const std::string rest = text.str().substr(mark + kMark.size());
    files.push_back({entry.path().filename(), text.str(), rest.substr(0, rest.find('\n'))});
  }
  return files;
}

// Whether `sentence` can be an instance of a sentence of verifier_messages.inc, wherever in it that begins.
bool is_instance(std::string_view sentence, std::string_view pattern) {
  size_t at = 0;
  while (true) {
    const size_t gap = pattern.find("{}");
    const size_t found = sentence.find(pattern.substr(0, gap), at);
    if (found == sentence.npos) return false;
    at = found + pattern.substr(0, gap).size();
    if (gap == pattern.npos) return at == sentence.size();
    pattern.remove_prefix(gap + 2);
    if (pattern.empty()) return true;
  }
}

TEST(Verifier, SaysWhatIsWrong) {
  for (const Case& each : all_cases()) EXPECT_THAT(each.provoke(), testing::EndsWith(each.sentence));
}

TEST(Verifier, SaysWhatIsWrongInGoldenFiles) {
  const std::vector<Golden> files = golden_files();
  ASSERT_FALSE(files.empty());
  for (const Golden& golden : files) EXPECT_EQ(verdict_of_text(golden.text), golden.sentence) << golden.name;
}

TEST(Verifier, EverySentenceIsProvoked) {
  std::vector<std::string> sentences;
  for (const Case& each : all_cases()) sentences.push_back(each.sentence);
  for (const Golden& golden : golden_files()) sentences.push_back(golden.sentence);
  const auto is_provoked = [&](std::string_view pattern) {
    return std::any_of(sentences.begin(), sentences.end(),
                       [&](const auto& said) { return is_instance(said, pattern); });
  };
#define MESSAGE(id, sentence) EXPECT_TRUE(is_provoked(sentence)) << #id;
#include "bytecode/verifier_messages.inc"
}

TEST(Verifier, AcceptsAGoodModule) { EXPECT_EQ(verdict(RawModule()), ""); }

TEST(Verifier, AcceptsRodataThatIsEmptyOrEndsWithTheFile) {
  RawModule module;
  module.rodata = {{0, 100}, {128, 0}, {128, 0}};
  module.rodata_bytes = 128;
  EXPECT_EQ(verdict(module), "");
}

// What cannot run cannot read an undefined register; it is decoded all the same.
TEST(Verifier, UnreachableCodeIsOnlyDecoded) {
  EXPECT_EQ(verdict(RawModule::with_function("i_v", 3, 0, {word(O::ret), word(O::add_i32, 0, 1, 2), word(O::ret)})),
            "");
  EXPECT_THAT(verdict(RawModule::with_function("i_v", 3, 0, {word(O::ret), word(O::add_i32, 0, 1, 3), word(O::ret)})),
              testing::HasSubstr("value register 3 is outside"));
}

// An unreachable jump backwards must not take definitions from code that runs.
TEST(Verifier, UnreachableCodeTakesNothingAway) {
  EXPECT_EQ(verdict_of_text(R"(module @m
func @f(i32) -> i32 {
  const.i32 %v1, 1
head:
  return.value %v1
  call @g, %v1, %r0
  br head
}
func @g() { return })"),
            "");
}

// Blocks laid out last first: each is reached by a jump backwards, and each is walked once.
TEST(Verifier, FollowsBlocksInAnyOrder) {
  constexpr int kBlocks = 500;
  std::vector<uint64_t> words = {wide_word(O::br, 0, kBlocks), word(O::ret_value, 1)};
  for (int block = 1; block < kBlocks; ++block) words.push_back(wide_word(O::br, 0, -1));
  words[kBlocks] = word(O::move, 1, 0);
  words.push_back(wide_word(O::br, 0, -2));
  EXPECT_EQ(verdict(RawModule::with_function("i_i", 2, 0, words)), "");
}

// The wide states say what the narrow ones say, at and across the borders of their words.
TEST(Verifier, WideFramesAreFollowedLikeNarrowOnes) {
  for (const int last : {63, 64, 65, 127, 128, 300}) {
    const auto registers = static_cast<uint16_t>(last + 1);
    const auto index = static_cast<uint64_t>(last);
    const std::vector<uint64_t> good = {word(O::move, index, 0), wide_word(O::br_if, 0, 1), word(O::ret_value, index)};
    EXPECT_EQ(verdict(RawModule::with_function("i_i", registers, 0, good)), "") << last;
    const std::vector<uint64_t> bad = {wide_word(O::br_if, 0, 2), word(O::move, index, 0), word(O::ret_value, index)};
    EXPECT_EQ(
        verdict(RawModule::with_function("i_i", registers, 0, bad)),
        text("function 0, word 2 (return.value): value register ", last, " is not defined on every path to here."));
  }
}

// A call of a callee without arguments may stand at the very end of the frame.
TEST(Verifier, AcceptsAWindowAtTheEndOfTheFrame) {
  RawModule module = RawModule::with_function("v_v", 2, 1, {word(O::call, 0, 2, 1), word(O::ret)});
  EXPECT_EQ(verdict(module), "");
  module.code[0] = word(O::call, 0, 3, 1);
  EXPECT_EQ(verdict(module), "function 0, word 0 (call): value arguments [3, 3) of the call end beyond the frame (2).");
}

// Every prefix of a good file is refused, none is read past its end (the asan preset watches).
TEST(Verifier, RefusesEveryTruncation) {
  RawModule module;
  module.exports = {{"f", 0}};
  module.debug = {{"f"}, {}, {"r"}, {"file"}, {{0, 0, 1, 1}}};
  module.rodata = {{0, 64}};
  module.rodata_bytes = 64;
  const ModuleBytes whole = module.finish();
  for (size_t size = 0; size < whole.bytes().size(); ++size) {
    EXPECT_NE(verdict(whole.bytes().first(size)), "") << size;
  }
  EXPECT_EQ(verdict(whole.bytes()), "");
}

// Goal: the gate is linear. Work is counted in the steps of the second walk, which the module's code pays for.
uint64_t steps_of(const RawModule& module) {
  const auto bytes = module.finish();
  const auto view = verify(bytes.bytes());
  EXPECT_TRUE(view.has_value()) << view.error().to_string();
  return view ? view->verifier_steps() : 0;
}

TEST(VerifierSteps, StraightCodeIsWalkedOnce) {
  for (size_t size : {size_t{1}, size_t{1000}, size_t{100000}}) {
    std::vector<uint64_t> words(size, word(O::nop));
    words.back() = word(O::ret);
    EXPECT_EQ(steps_of(RawModule::with_function("v_v", 0, 0, words)), size);
    // A frame that nobody uses costs nothing.
    EXPECT_EQ(steps_of(RawModule::with_function("v_v", 65535, 65535, words)), size);
  }
}

// Many ways back to one block, each of which loses a register: the block is walked once for all of them, not once for
// each.
TEST(VerifierSteps, WaysBackAreTakenTogether) {
  constexpr uint16_t kWays = 60;
  constexpr size_t kBody = 5000;
  std::vector<uint64_t> words(1 + kBody, word(O::nop));
  for (uint16_t base = kWays; base > 0; --base) {
    words.push_back(wide_word(O::br, 0, 1));
    words.push_back(word(O::call, 1, base, 0));
    words.push_back(wide_word(O::br_if, 0, 1 - static_cast<int64_t>(words.size())));
  }
  words.push_back(word(O::ret));
  RawModule module = RawModule::with_function(std::string(kWays + 1, 'i') + "_v", 65535, 65535, words);
  module.signatures.push_back("v_v");
  module.functions.emplace_back(static_cast<uint32_t>(words.size()), 1, 1, 0, 0);
  module.code.push_back(word(O::ret));
  EXPECT_LE(steps_of(module), 2 * words.size() + 10 * kWays);
}

// However hostile, no module takes more than its account, and one account serves all functions.
TEST(VerifierSteps, ManyWideFunctionsPayTogether) {
  RawModule module = RawModule::with_function("v_v", 65535, 0, {wide_word(O::const_i32, 65534, 0), word(O::ret)});
  for (uint32_t i = 1; i < 5000; ++i) {
    module.functions.emplace_back(2 * i, 2, 0, 65535, 0);
    module.code.push_back(wide_word(O::const_i32, 65534, 0));
    module.code.push_back(word(O::ret));
  }
  EXPECT_NE(verdict(module).find("following the registers takes more than 105536 steps"), std::string::npos)
      << verdict(module);
}

}  // namespace
}  // namespace baton::bytecode
