#include "hal/drivers/cuda/linked_functions.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/bytes.hpp"
#include "hal/device_image.hpp"
#include "hal/drivers/cuda/code_image.hpp"
#include "hal/drivers/cuda/required_block.hpp"
#include "hal/drivers/cuda/variants.hpp"

namespace baton::hal::drivers::cuda {
namespace {

constexpr size_t kLogBytes = 8192;

bool is_brought_by_cuda(std::string_view name) {
  constexpr std::string_view kNames[] = {"vprintf", "malloc", "free", "__assertfail", "__assert_fail"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  // cudaGetParameterBufferV2 is CUDA's; cuda_mine is a user's own.
  const auto is_capital_at = [&](size_t at) { return at < name.size() && name[at] >= 'A' && name[at] <= 'Z'; };
  return name.starts_with("__cuda") || (name.starts_with("cuda") && is_capital_at(4)) ||
         (name.starts_with("cnp") && (is_capital_at(3) || name.substr(3).starts_with("v2")));
}

std::string_view without_space(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

// Behind ".extern": "  .func (.param .b32 r) name(" → "name"; empty where it is no function.
std::string_view function_name(std::string_view text) {
  constexpr std::string_view kFunction = ".func";
  text = without_space(text);
  if (!text.starts_with(kFunction)) return {};
  text = without_space(text.substr(kFunction.size()));
  if (text.starts_with('(')) {
    const size_t end = text.find_first_of("();{", 1);
    if (end == text.npos || text[end] != ')') return {};
    text = without_space(text.substr(end + 1));
  }
  size_t length = 0;
  while (length < text.size() && is_ptx_name(text[length])) ++length;
  return text.substr(0, length);
}

void add_wanted(std::string_view ptx, std::string_view linkage, bool has_fallback, std::vector<WantedFunction>& all) {
  std::set<std::string, std::less<>> known;
  for (const WantedFunction& one : all) known.insert(one.name);
  for (size_t at = ptx.find(linkage); at != ptx.npos; at = ptx.find(linkage, at + 1)) {
    const std::string_view name = function_name(ptx.substr(at + linkage.size()));
    if (name.empty() || is_brought_by_cuda(name)) continue;
    if (known.emplace(name).second) all.push_back({std::string(name), has_fallback});
  }
}

struct LinkInput {
  CUjitInputType type;
  const char* kind;
};

LinkInput input_of(std::span<const std::byte> code) {
  constexpr std::string_view kArchive = "!<arch>\n";
  constexpr size_t kMachineAt = 18;
  constexpr uint16_t kCudaMachine = 190;
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  if (text.starts_with(kArchive)) return {CU_JIT_INPUT_LIBRARY, "an archive"};
  switch (code_kind(code)) {
    case CodeKind::kFatbin: return {CU_JIT_INPUT_FATBINARY, "a fatbin"};
    case CodeKind::kCubin: break;
    case CodeKind::kPtx: return {CU_JIT_INPUT_PTX, "PTX"};
  }
  const bool is_device_code =
      code.size() >= kMachineAt + 2 && load_bytes<uint16_t>(code.data() + kMachineAt) == kCudaMachine;
  return is_device_code ? LinkInput{CU_JIT_INPUT_CUBIN, "a cubin"} : LinkInput{CU_JIT_INPUT_OBJECT, "an object"};
}

std::string names_of(std::span<const WantedFunction> wanted) {
  std::string names;
  for (const WantedFunction& one : wanted) names += text(names.empty() ? "'" : ", '", one.name, "'");
  return names;
}

std::string names_of(std::span<const DeviceCode> code) {
  std::string names;
  for (const DeviceCode& one : code) names += text(names.empty() ? "'" : ", '", one.name, "'");
  return names;
}

// One link. The driver writes into its log for as long as the state lives.
class Link {
 public:
  explicit Link(PrimaryContext& context) : context_(context) {}
  ~Link() {
    if (state_) context_.symbols().cuLinkDestroy(state_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  Status begin() {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log_, reinterpret_cast<void*>(kLogBytes)};
    return context_.status_of(context_.symbols().cuLinkCreate(2, options, values, &state_), "cuLinkCreate");
  }

  Status add(std::string_view name, std::span<const std::byte> code) {
    const LinkInput input = input_of(code);
    // Text ends with a zero, which files do not bring; the driver only reads.
    std::string bytes(reinterpret_cast<const char*>(code.data()), code.size());
    const size_t size = bytes.size() + (input.type == CU_JIT_INPUT_PTX ? 1 : 0);
    return said(context_.symbols().cuLinkAddData(state_, input.type, bytes.data(), size, std::string(name).c_str(), 0,
                                                 nullptr, nullptr),
                "cuLinkAddData")
        .with_context(text("while linking '", name, "', taken for ", input.kind));
  }

  Result<std::vector<std::byte>> finish() {
    void* linked = nullptr;
    size_t size = 0;
    BATON_TRY(said(context_.symbols().cuLinkComplete(state_, &linked, &size), "cuLinkComplete"));
    const auto* bytes = static_cast<const std::byte*>(linked);
    return std::vector<std::byte>(bytes, bytes + size);
  }

 private:
  Status said(CUresult result, const char* call) {
    Status status = context_.status_of(result, call);
    std::string_view log(log_);
    while (!log.empty() && (log.back() == '\n' || log.back() == ' ')) log.remove_suffix(1);
    if (status.ok() || log.empty()) return status;
    return std::move(status).with_context(text("the driver's linker said: ", log));
  }

  PrimaryContext& context_;
  CUlinkState state_ = nullptr;
  char log_[kLogBytes] = "";
};

Result<std::vector<std::byte>> link_by_driver(PrimaryContext& context, std::span<const DeviceCode> code) {
  Link link(context);
  BATON_TRY(link.begin());
  for (const DeviceCode& one : code) BATON_TRY(link.add(one.name, one.bytes));
  return link.finish();
}

bool is_lto_ir(const DeviceCode& code) {
  constexpr std::string_view kMagic = "\xed\x43\x4e\x7f";
  return std::string_view(reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size()).starts_with(kMagic);
}

// NVIDIA's linkers don't agree on what happens then, and one of them takes the first of PTX without a word.
Status check_defined_once(std::span<const DeviceCode> code) {
  std::map<std::string, std::string_view, std::less<>> parts;  // That define a function.
  for (const DeviceCode& one : code) {
    if (code_kind(one.bytes) != CodeKind::kPtx) continue;
    const std::string ptx = ptx_without_comments({reinterpret_cast<const char*>(one.bytes.data()), one.bytes.size()});
    constexpr std::string_view kVisible = ".visible";
    for (size_t at = ptx.find(kVisible); at != ptx.npos; at = ptx.find(kVisible, at + 1)) {
      const std::string_view rest = std::string_view(ptx).substr(at + kVisible.size());
      const std::string_view name = function_name(rest);
      if (name.empty()) continue;
      const size_t end = rest.find_first_of("{;");
      if (end == rest.npos) break;
      if (rest[end] == ';') continue;
      const auto [known, is_new] = parts.emplace(name, one.name);
      if (!is_new) {
        return failure(StatusCode::kAlreadyExists, "Function '", name, "' is defined twice, by '", known->second,
                       "' and by '", one.name, "'.");
      }
    }
  }
  return {};
}

// Linkers read as far as tables say.
Status check_images(std::span<const DeviceCode> code) {
  for (const DeviceCode& one : code) BATON_TRY_CONTEXT(check_device_image(one.bytes), "while linking '", one.name, "'");
  return {};
}

// "90", and "90a" for kernels that want what only this architecture has, "100f" for what only its family has.
std::string arch_of(const PrimaryContext& context, std::span<const std::byte> kernels) {
  const std::string arch = text(context.facts().arch());
  const std::string target = ptx_target(kernels);
  const bool wants_more =
      target.size() == arch.size() + 1 && target.starts_with(arch) && (target.back() == 'a' || target.back() == 'f');
  return wants_more ? target : arch;
}

// The driver's linker is there on every machine, so it comes first; it knows no LTO-IR, and says little of objects and
// archives that hold some.
Result<std::vector<std::byte>> link_all(PrimaryContext& context, const DeviceLinker* linker,
                                        std::span<const DeviceCode> code) {
  BATON_TRY(check_images(code));
  BATON_TRY(check_defined_once(code));
  const auto lto = std::find_if(code.begin(), code.end(), is_lto_ir);
  Status refused;
  if (lto == code.end()) {
    auto linked = link_by_driver(context, code);
    if (linked.has_value() || !linker) return linked;
    refused = std::move(linked).error();
  } else if (!linker) {
    return failure(StatusCode::kUnimplemented, "'", lto->name,
                   "' is LTO-IR, which the driver's linker does not take; no other is registered.");
  }
  auto linked = linker->link(arch_of(context, code[0].bytes), code);
  if (linked.has_value() || refused.ok()) return linked;
  return std::move(refused).with_context(text("the other linker said: ", linked.error().message()));
}

}  // namespace

std::vector<WantedFunction> wanted_functions(std::span<const std::byte> code) {
  if (code_kind(code) != CodeKind::kPtx) return {};
  const std::string ptx = ptx_without_comments({reinterpret_cast<const char*>(code.data()), code.size()});
  std::vector<WantedFunction> all;
  add_wanted(ptx, ".extern", false, all);
  add_wanted(ptx, ".weak", true, all);
  return all;
}

Result<std::vector<std::byte>> link_functions(PrimaryContext& context, std::span<const std::byte> code,
                                              const RegisteredFunctions& registered) {
  const std::vector<WantedFunction> wanted = wanted_functions(code);
  if (wanted.empty()) return std::vector<std::byte>();
  if (!registered.functions.empty()) {
    std::vector<DeviceCode> parts = {{"the program's kernels", code}};
    for (const DeviceFunctions& one : registered.functions) parts.push_back({one.name, one.code});
    auto linked = link_all(context, registered.linker.get(), parts);
    if (linked.has_value()) return linked;
    return std::move(linked).error().with_context(
        text("The kernels import ", names_of(wanted),
             ", and cannot be linked with what is registered: ", names_of(std::span(parts).subspan(1))));
  }
  std::string missing;
  for (const WantedFunction& one : wanted) {
    if (!one.has_fallback) missing += text(missing.empty() ? "'" : ", '", one.name, "'");
  }
  if (missing.empty()) return std::vector<std::byte>();
  return failure(StatusCode::kNotFound, "The kernels import functions that nobody provides: ", missing,
                 "; device code that defines them is registered before programs are loaded.");
}

}  // namespace baton::hal::drivers::cuda
