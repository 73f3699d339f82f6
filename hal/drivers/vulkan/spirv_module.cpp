#include "hal/drivers/vulkan/spirv_module.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;

constexpr uint32_t kBindingsMax = 64;
// No device has as many; arguments' places are below it (KernelParameter::place).
constexpr uint64_t kPushBytesMax = UINT16_MAX;
// Names that are followed from entry points, all together: each follows them anew, so long ones would take the time of
// their square. Kernels have some hundred each.
constexpr size_t kFollowedMax = size_t{1} << 24;
constexpr uint32_t kImageTexelPointer = 60, kCopyMemorySized = 64;
constexpr uint32_t kVersionMin = 0x00010000, kVersionMax = 0x00010600;

// Those of floats have numbers of their own.
bool is_atomic(uint32_t op) {
  constexpr uint32_t kFloatMin = 5614, kFloatMax = 5615, kFloatAdd = 6035;
  return (op >= kAtomicLoad && op <= kAtomicXor) || op == kFloatMin || op == kFloatMax || op == kFloatAdd;
}

struct Function {
  std::set<uint32_t> names;  // Variables of the module and functions that it calls.
};

class Reader {
 public:
  Reader(uint32_t bound, std::span<const uint32_t> constants) : declarations_(bound, constants) {}

  Status add(const SpirvInstruction& one) {
    switch (one.op) {
      case kCapability:
        if (one.size() < 2) return bad_spirv(one.at, "a capability lacks its number");
        module_.capabilities.push_back(one[1]);
        return {};
      case kEntryPoint: return add_entry_point(one);
      case kExecutionMode:
      case kExecutionModeId: return add_mode(one);
      case kModuleProcessed: return read_note(one);
      case kExtInstImport: return read_import(one);
      case kFunction: return begin_function(one);
      case kFunctionEnd: return end_function(one);
      default: return function_ ? add_use(one) : declarations_.add(one);
    }
  }

  Result<SpirvModule> finish(uint32_t version) {
    if (function_) return bad_spirv(0, "the last function does not end");
    if (module_.entry_points.empty()) {
      return failure(StatusCode::kInvalidArgument, "The SPIR-V has no entry point for compute.");
    }
    module_.version = version;
    BATON_TRY_ASSIGN(module_.specialized, declarations_.specialized());
    for (SpirvEntryPoint& entry : module_.entry_points) {
      BATON_TRY_CONTEXT(complete(entry), "in entry point '", entry.name, "'");
    }
    return std::move(module_);
  }

 private:
  Status add_entry_point(const SpirvInstruction& one) {
    if (one.size() < 4) return bad_spirv(one.at, "an entry point lacks words");
    BATON_TRY(declarations_.check_id(one, one[2]));
    size_t words = 0;
    SpirvEntryPoint entry;
    BATON_TRY_ASSIGN(entry.name, read_string(one, 3, words));
    entry.function = one[2];
    if (one[1] != kGlCompute) return {};
    if (!names_.insert(entry.name).second) {
      return bad_spirv(one.at, text("a second entry point '", entry.name, "'"));
    }
    module_.entry_points.push_back(std::move(entry));
    return {};
  }

  Status read_note(const SpirvInstruction& one) {
    size_t words = 0;
    BATON_TRY_ASSIGN(const std::string note, read_string(one, 1, words));
    constexpr std::string_view folds = kFoldsGrid;
    if (note.starts_with(folds)) folding_.insert(note.substr(folds.size()));
    constexpr std::string_view hands = kHandsOver;
    if (note.starts_with(hands)) handing_.insert(note.substr(hands.size()));
    constexpr std::string_view checks = kAccessChecksNote;
    if (note.starts_with(checks))
      read_access_checks(std::string_view(note).substr(checks.size()), module_.access_checks);
    return {};
  }

  Status read_import(const SpirvInstruction& one) {
    size_t words = 0;
    BATON_TRY_ASSIGN(const std::string name, read_string(one, 2, words));
    if (name == "GLSL.std.450") mathematics_.insert(one[1]);
    return {};
  }

  Status add_mode(const SpirvInstruction& one) {
    if (one.size() < 3) return bad_spirv(one.at, "an execution mode lacks words");
    if (one[2] >= kModeDenormPreserve && one[2] <= kModeRoundingModeRtz) {
      if (one.size() < 4) return bad_spirv(one.at, "an execution mode lacks words");
      if (one[3] != 16 && one[3] != 32 && one[3] != 64) {
        return bad_spirv(one.at, text("a mode of floats of ", one[3], " bits"));
      }
      float_modes_[one[1]].insert({one[2], one[3]});
      return {};
    }
    if (one[2] != kModeLocalSize && one[2] != kModeLocalSizeId) return {};
    if (one.size() < 6) return bad_spirv(one.at, "a workgroup size lacks words");
    const Size size{one[2] == kModeLocalSizeId, {one[3], one[4], one[5]}};
    if (!sizes_.try_emplace(one[1], size).second) {
      return bad_spirv(one.at, text("a second workgroup size for id ", one[1]));
    }
    module_.sizes_by_id = module_.sizes_by_id || size.by_id;
    return {};
  }

  Status begin_function(const SpirvInstruction& one) {
    if (function_) return bad_spirv(one.at, "a function stands in a function");
    if (one.size() < 5) return bad_spirv(one.at, "a function lacks words");
    BATON_TRY(declarations_.check_new(one, one[2]));
    function_ = &functions_[one[2]];
    return {};
  }

  Status end_function(const SpirvInstruction& one) {
    if (!function_) return bad_spirv(one.at, "a function ends that did not begin");
    function_ = nullptr;
    return {};
  }

  // Which words of an instruction can name a variable of the module, or a function.
  Status add_use(const SpirvInstruction& one) {
    size_t first = 0, last = 0;
    switch (one.op) {
      case kLoad:
      case kAccessChain:
      case kInBoundsAccessChain:
      case kPtrAccessChain:
      case kInBoundsPtrAccessChain:
      case kImageTexelPointer:
      case kArrayLength:
      case kCopyObject: first = last = 3; break;
      case kSelect:
      case kFunctionCall: first = 3, last = one.size() - 1; break;
      case kPhi: return add_merged(one);
      case kReturnValue: first = last = 1; break;
      case kStore:
      case kAtomicStore: first = last = 1; break;
      case kCopyMemorySized:
      case kCopyMemory: first = 1, last = 2; break;
      case kVariable:  // What it begins with may be a variable of the module.
        if (one.size() < 5) return {};
        first = last = 4;
        break;
      case kExtInst:  // Some results go to a pointer; of other sets' operands it is not known which are ids.
        if (one.size() < 6 || !mathematics_.contains(one[3])) return {};
        first = 5, last = one.size() - 1;
        break;
      default:
        if (one.op >= kPtrEqual && one.op <= kPtrDiff) {
          first = 3, last = 4;
        } else if (is_atomic(one.op)) {
          first = last = 3;
        } else {
          return {};
        }
    }
    if (one.size() <= std::max(first, last)) return bad_spirv(one.at, "an instruction lacks words");
    for (size_t word = first; word <= last; ++word) {
      BATON_TRY(declarations_.check_id(one, one[word]));
      function_->names.insert(one[word]);
    }
    return {};
  }

  // Values by turns with the blocks that they come from.
  Status add_merged(const SpirvInstruction& one) {
    for (size_t word = 3; word < one.size(); word += 2) {
      BATON_TRY(declarations_.check_id(one, one[word]));
      function_->names.insert(one[word]);
    }
    return {};
  }

  Result<std::set<uint32_t>> reached_variables(uint32_t entry) {
    std::set<uint32_t> variables, seen{entry};
    std::vector<uint32_t> open{entry};
    while (!open.empty()) {
      const auto function = functions_.find(open.back());
      open.pop_back();
      if (function == functions_.end()) continue;
      followed_ += function->second.names.size() + 1;
      if (followed_ > kFollowedMax) {
        return failure(StatusCode::kOutOfRange, "The SPIR-V's entry points reach more than ", kFollowedMax,
                       " names, all together.");
      }
      for (const uint32_t id : function->second.names) {
        if (declarations_.variables().contains(id)) variables.insert(id);
        if (functions_.contains(id) && seen.insert(id).second) open.push_back(id);
      }
    }
    return variables;
  }

  Status complete(SpirvEntryPoint& entry) {
    if (!functions_.contains(entry.function)) {
      return failure(StatusCode::kInvalidArgument, "Its function (id ", entry.function, ") is not there.");
    }
    BATON_TRY(set_workgroup_size(entry));
    BATON_TRY_ASSIGN(const std::set<uint32_t> variables, reached_variables(entry.function));
    word_elements_ = 0;
    for (const uint32_t id : variables) BATON_TRY(add_variable(entry, id));
    entry.small_elements &= ~word_elements_;
    const auto modes = float_modes_.find(entry.function);
    if (modes != float_modes_.end()) entry.float_modes.assign(modes->second.begin(), modes->second.end());
    const auto& all = module_.capabilities;
    const bool addresses = std::find(all.begin(), all.end(), kPhysicalAddresses) != all.end();
    entry.by_address = addresses && entry.binding_count == 0 && entry.push_bytes == sizeof(uint64_t);
    if (entry.by_address) add_record(entry, variables);
    entry.folds_grid = entry.by_address && folding_.contains(entry.name);
    entry.hands_over = handing_.contains(entry.name);
    return {};
  }

  Status set_workgroup_size(SpirvEntryPoint& entry) const {
    if (declarations_.has_workgroup_size()) return declarations_.read_workgroup_size(entry.workgroup_size);
    const auto found = sizes_.find(entry.function);
    if (found == sizes_.end()) return failure(StatusCode::kInvalidArgument, "Its workgroup has no size.");
    for (size_t axis = 0; axis < 3; ++axis) {
      uint64_t threads = found->second.words[axis];
      if (found->second.by_id) {
        BATON_TRY_ASSIGN(threads, declarations_.integer(found->second.words[axis]));
      }
      entry.workgroup_size[axis] = static_cast<uint32_t>(std::min<uint64_t>(threads, ~uint32_t{0}));
    }
    return {};
  }

  Status add_variable(SpirvEntryPoint& entry, uint32_t id) {
    const SpirvVariable& variable = declarations_.variables().at(id);
    BATON_TRY_ASSIGN(const uint32_t type, declarations_.pointee(variable.type));
    switch (variable.storage_class) {
      case kWorkgroup: {
        BATON_TRY_ASSIGN(const uint64_t bytes, declarations_.type_bytes(type));
        // Blocks lie one above the other. No sum wraps around: each has at most 2^40 bytes, and there are at most 2^22.
        static_assert(SpirvDeclarations::kBytesMax <= ~uint64_t{0} / kIdsMax);
        const bool is_block = declarations_.decoration(type, kBlock) != nullptr;
        entry.shared_bytes = is_block ? std::max(entry.shared_bytes, bytes) : entry.shared_bytes + bytes;
        return {};
      }
      case kPushConstant: {
        BATON_TRY_ASSIGN(const uint64_t bytes, declarations_.type_bytes(type));
        if (bytes > kPushBytesMax) return failure(StatusCode::kInvalidArgument, "Its push constants have no end.");
        entry.push_bytes = std::max(entry.push_bytes, static_cast<uint32_t>((bytes + 3) / 4 * 4));
        BATON_TRY_ASSIGN(entry.push_members, declarations_.members(type));
        return {};
      }
      case kStorageBuffer: return add_binding(entry, id, type);
      case kUniform:
        if (declarations_.decoration(element_of(type), kBufferBlock)) return add_binding(entry, id, type);
        return failure(StatusCode::kUnimplemented, "It reads a uniform buffer; bindings are storage buffers.");
      case kUniformConstant:
        return failure(StatusCode::kUnimplemented, "It reads an image, a sampler or a texel buffer; bindings are ",
                       "storage buffers.");
      default: return {};
    }
  }

  // None of a struct that is too large for arguments, or has no size.
  std::vector<SpirvMember> small_members(uint32_t type) const {
    const Result<uint64_t> bytes = declarations_.type_bytes(type);
    if (!bytes || *bytes > kPushBytesMax) return {};
    Result<std::vector<SpirvMember>> members = declarations_.members(type);
    return members ? std::move(members).value() : std::vector<SpirvMember>();
  }

  // What the address among the push constants points to; nothing where it is a number.
  void add_record(SpirvEntryPoint& entry, const std::set<uint32_t>& variables) const {
    for (const uint32_t id : variables) {
      const SpirvVariable& variable = declarations_.variables().at(id);
      if (variable.storage_class != kPushConstant) continue;
      const Result<uint32_t> block = declarations_.pointee(variable.type);
      const SpirvInstruction* made = block ? declarations_.declared(*block) : nullptr;
      if (!made || made->op != kTypeStruct || made->size() != 3) return;
      const Result<uint32_t> record = declarations_.pointee((*made)[2]);
      if (!record) return;
      entry.record_members = small_members(*record);
    }
  }

  // What an array holds; any other type as it is.
  uint32_t element_of(uint32_t type) const {
    const SpirvInstruction* made = declarations_.declared(type);
    const bool is_array = made && (made->op == kTypeArray || made->op == kTypeRuntimeArray);
    return is_array ? (*made)[2] : type;
  }

  Status add_binding(SpirvEntryPoint& entry, uint32_t id, uint32_t type) {
    const uint32_t* set = declarations_.decoration(id, kDescriptorSet);
    const uint32_t* binding = declarations_.decoration(id, kBinding);
    if (!set || !binding || *set != 0) {
      return failure(StatusCode::kUnimplemented, "A storage buffer is not a binding of descriptor set 0.");
    }
    const SpirvInstruction* made = declarations_.declared(type);
    if (!made || made->op != kTypeStruct) {
      return failure(StatusCode::kUnimplemented, "Binding ", *binding, " is an array of storage buffers.");
    }
    if (*binding >= kBindingsMax) {
      return failure(StatusCode::kOutOfRange, "Binding ", *binding, " is beyond the ", kBindingsMax,
                     " that a dispatch may have.");
    }
    entry.binding_count = std::max(entry.binding_count, *binding + 1);
    const uint32_t stride = declarations_.open_stride(type);
    if (stride != 0 && stride < 4) {
      entry.small_elements |= uint64_t{1} << *binding;
    } else {
      word_elements_ |= uint64_t{1} << *binding;
    }
    return {};
  }

  struct Size {
    bool by_id;
    uint32_t words[3];
  };

  SpirvModule module_;
  SpirvDeclarations declarations_;
  std::map<uint32_t, Size> sizes_;
  std::map<uint32_t, std::set<SpirvFloatMode>> float_modes_;
  std::set<std::string> names_, folding_, handing_;  // Kernels by name.
  std::set<uint32_t> mathematics_;                   // Sets of instructions that are GLSL's functions.
  uint64_t word_elements_ = 0;                       // Of an entry point, bindings that it also sees as words.
  size_t followed_ = 0;
  std::map<uint32_t, Function> functions_;
  Function* function_ = nullptr;
};

}  // namespace

std::string spirv_version_text(uint32_t version) { return text(version >> 16 & 255, ".", version >> 8 & 255); }

Result<std::vector<uint32_t>> spirv_words(std::span<const std::byte> code) {
  if (code.size() % 4 != 0 || code.size() < 20) {
    return failure(StatusCode::kInvalidArgument, "The SPIR-V has ", code.size(),
                   " bytes; it is words, five of them a header.");
  }
  std::vector<uint32_t> words(code.size() / 4);  // A file's bytes may lie anywhere.
  std::memcpy(words.data(), code.data(), code.size());
  if (words[0] == __builtin_bswap32(kMagic)) {
    return failure(StatusCode::kInvalidArgument, "The SPIR-V is big-endian; Baton takes little-endian words.");
  }
  if (words[0] != kMagic) {
    return failure(StatusCode::kInvalidArgument, "The code is no SPIR-V: it does not begin with 0x07230203.");
  }
  const uint32_t version = words[1], bound = words[3];
  if (version < kVersionMin || version > kVersionMax || (version & 0xff0000ff) != 0) {
    return failure(StatusCode::kInvalidArgument, "The SPIR-V is of version ", spirv_version_text(version),
                   "; Baton reads ", spirv_version_text(kVersionMin), " to ", spirv_version_text(kVersionMax), ".");
  }
  if (bound == 0 || bound > kIdsMax) return bad_spirv(3, text("a bound of ", bound, " for ids"));
  return words;
}

Result<SpirvModule> read_spirv(std::span<const std::byte> code, std::span<const uint32_t> constants) {
  BATON_TRY_ASSIGN(const std::vector<uint32_t> words, spirv_words(code));
  Reader reader(words[3], constants);
  BATON_TRY(for_each_instruction(words, [&](const SpirvInstruction& one) { return reader.add(one); }));
  return reader.finish(words[1]);
}

}  // namespace baton::hal::drivers::vulkan
