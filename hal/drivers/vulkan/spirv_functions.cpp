#include "hal/drivers/vulkan/spirv_functions.hpp"

#include "hal/drivers/vulkan/spirv_module.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;

constexpr std::string_view kMain = "main";

class Reader {
 public:
  Reader(std::string_view path, std::vector<uint32_t> words) {
    read_.path = path;
    read_.version = words[1];
    read_.words = std::move(words);
  }

  Result<SpirvFunctions> all() {
    BATON_TRY(for_each_instruction(read_.words, [&](const SpirvInstruction& one) { return add(one); }));
    if (function_) return bad_spirv(0, "the last function does not end");
    if (read_.exported.empty()) export_all();
    if (read_.exported.empty()) return failure(StatusCode::kInvalidArgument, "It exports no function (Linkage).");
    return std::move(read_);
  }

 private:
  Status add(const SpirvInstruction& one) {
    if (one.op == kFunction) return begin(one);
    if (function_) {
      function_->body.push_back(one);
      if (one.op == kLabel) function_->is_declared = false;
      if (one.op == kFunctionEnd) function_ = nullptr;
      return {};
    }
    size_t length = 0;
    switch (one.op) {
      case kCapability:
        BATON_TRY(check_words(one, 2));
        read_.capabilities.insert(one[1]);
        return {};
      case kMemoryModel:
        BATON_TRY(check_words(one, 3));
        read_.addressing = one[1];
        read_.memory_model = one[2];
        return {};
      case kExtension: {
        BATON_TRY_ASSIGN(std::string name, read_string(one, 1, length));
        read_.extensions.insert(std::move(name));
        return {};
      }
      case kExtInstImport: {
        BATON_TRY(check_words(one, 3));
        BATON_TRY_ASSIGN(read_.instruction_sets[one[1]], read_string(one, 2, length));
        return {};
      }
      case kName: {
        BATON_TRY(check_words(one, 3));
        BATON_TRY_ASSIGN(names_[one[1]], read_string(one, 2, length));
        return {};
      }
      case kDecorate: return add_decoration(one);
      case kDecorateId:
      case kMemberDecorate: read_.decorations.push_back(one); return {};
      case kVariable:
        BATON_TRY(check_words(one, 4));
        read_.variables.insert(one[2]);
        return {};
      default:
        if (is_declaration(one.op)) read_.declarations.push_back(one);
        return {};  // What is left is for debuggers, and for entry points.
    }
  }

  static bool is_declaration(uint32_t op) {
    constexpr uint32_t kUndef = 1;
    return op == kUndef || (op >= kTypeVoid && op <= kSpecConstantComposite + 1);
  }

  static Status check_words(const SpirvInstruction& one, size_t least) {
    if (one.size() >= least) return {};
    return bad_spirv(one.at, text("instruction ", one.op, " lacks words"));
  }

  Status begin(const SpirvInstruction& one) {
    if (function_) return bad_spirv(one.at, "a function stands in a function");
    BATON_TRY(check_words(one, 5));
    const auto [at, is_new] = read_.functions.try_emplace(one[2]);
    if (!is_new) return bad_spirv(one.at, text("id ", one[2], " is defined twice"));
    function_ = &at->second;
    function_->body.push_back(one);
    function_->is_declared = true;
    return {};
  }

  Status add_decoration(const SpirvInstruction& one) {
    BATON_TRY(check_words(one, 3));
    if (one[2] != kLinkageAttributes) {
      // The constants of a library are what it says.
      if (one[2] != kSpecId) read_.decorations.push_back(one);
      return {};
    }
    size_t length = 0;
    BATON_TRY_ASSIGN(std::string name, read_string(one, 3, length));
    BATON_TRY(check_words(one, 4 + length));
    if (one[3 + length] != kExport) return {};
    if (!read_.exported.try_emplace(std::move(name), one[1]).second) {
      return bad_spirv(one.at, "two functions are exported under one name");
    }
    return {};
  }

  // Of several under one name, none.
  void export_all() {
    std::set<std::string> taken;
    for (const auto& [id, mangled] : names_) {
      const size_t end = mangled.find('(');
      const std::string name = mangled.substr(0, end);
      if (end == mangled.npos || name == kMain || !read_.functions.contains(id)) continue;
      if (taken.insert(name).second) {
        read_.exported[name] = id;
      } else {
        read_.exported.erase(name);
      }
    }
  }

  SpirvFunctions read_;
  std::map<uint32_t, std::string> names_;
  SpirvFunction* function_ = nullptr;
};

}  // namespace

Result<SpirvFunctions> read_functions(std::string_view path, std::span<const std::byte> code) {
  const auto read = [&]() -> Result<SpirvFunctions> {
    BATON_TRY_ASSIGN(std::vector<uint32_t> words, spirv_words(code));
    return Reader(path, std::move(words)).all();
  };
  auto functions = read();
  if (functions.has_value()) return functions;
  return std::move(functions).error().with_context(text("while reading the functions of '", path, "'"));
}

}  // namespace baton::hal::drivers::vulkan
