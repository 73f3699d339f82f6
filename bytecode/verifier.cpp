// The order of proof: container, tables, code. Each step may only rely on the steps before it; module_ is null until
// the flatbuffer itself is proved.
#include "bytecode/verifier.hpp"

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "bytecode/module_verifier.hpp"
#include "bytecode/opcode.hpp"
#include "bytecode/verify_code.hpp"

namespace baton::bytecode {
namespace {

// Size prefix, root offset, identifier.
constexpr size_t kHeaderBytes = 12;
constexpr size_t kIdentifierOffset = 8;

constexpr std::string_view kSentences[] = {
#define MESSAGE(id, sentence) sentence,
#include "bytecode/verifier_messages.inc"
};

// Bytes of a file as they may be shown: anything but printable ASCII becomes '.'.
std::string printable(std::span<const std::byte> bytes) {
  std::string result;
  for (std::byte byte : bytes) {
    const char c = static_cast<char>(byte);
    result += c >= ' ' && c <= '~' ? c : '.';
  }
  return result;
}

std::string list_bits(uint64_t bits) {
  std::string result;
  for (uint32_t bit = 0; bit < 64; ++bit) {
    if (bits >> bit & 1) result += text(result.empty() ? "" : ", ", bit);
  }
  return result;
}

}  // namespace

std::string sentence(Message message, std::span<const TextPiece> pieces) {
  std::string result;
  std::string_view rest = kSentences[static_cast<size_t>(message)];
  for (const TextPiece& piece : pieces) {
    const size_t gap = rest.find("{}");
    BATON_CHECK(gap != rest.npos);
    result.append(rest.substr(0, gap));
    append_text(result, piece);
    rest.remove_prefix(gap + 2);
  }
  return result.append(rest);
}

Status make_refusal(Message message, std::span<const TextPiece> pieces) {
  return Status(StatusCode::kInvalidArgument, sentence(message, pieces));
}

Result<ModuleView> verify(std::span<const std::byte> bytes) {
  BATON_CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % 8 == 0);
  return ModuleVerifier(bytes).verify();
}

Result<ModuleView> ModuleVerifier::verify() {
  BATON_TRY(check_container());
  // Beyond this point every table and string lies inside the bytes.
  BATON_TRY(check_versions());
  BATON_TRY(check_tables());
  // Beyond this point every index in a table is in range; the view may be asked anything but to run.
  CodeVerifier code(view(), *module_, facts_);
  for (uint32_t function = 0; function < facts_.function_count; ++function) BATON_TRY(code.check(function));
  ModuleView proved = view();
  proved.longest_stretch_ = code.longest_stretch();
  proved.steps_ = code.steps();
  return proved;
}

// The prefix says how long the flatbuffer is; what follows is rodata, which may be larger than a flatbuffer can be.
Status ModuleVerifier::check_container() {
  if (bytes_.size() < kHeaderBytes) return refuse(Message::kFileTooSmall, bytes_.size(), kHeaderBytes);
  const auto identifier = bytes_.subspan(kIdentifierOffset, 4);
  if (std::memcmp(identifier.data(), format::ModuleIdentifier(), 4) != 0) {
    return refuse(Message::kWrongIdentifier, printable(identifier));
  }
  table_size_bytes_ = sizeof(uint32_t) + uint64_t{load_bytes<uint32_t>(bytes_.data())};
  if (table_size_bytes_ > bytes_.size()) return refuse(Message::kTruncated, table_size_bytes_, bytes_.size());
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes_.data());
  if (table_size_bytes_ >= FLATBUFFERS_MAX_BUFFER_SIZE) return refuse(Message::kMalformedTable);
  flatbuffers::Verifier verifier(begin, table_size_bytes_);
  if (!format::VerifySizePrefixedModuleBuffer(verifier)) return refuse(Message::kMalformedTable);
  module_ = format::GetSizePrefixedModule(begin);
  return Status();
}

Status ModuleVerifier::check_versions() const {
  if (module_->format_version() != kFormatVersion) {
    return refuse(Message::kOtherFormat, module_->format_version(), kFormatVersion);
  }
  if (module_->isa_version() > kIsaVersion) return refuse(Message::kNewerIsa, module_->isa_version(), kIsaVersion);
  const uint64_t unknown = module_->required_features() & ~kFeatureExecutables;
  if (unknown != 0) return refuse(Message::kRequiredFeatures, list_bits(unknown));
  return Status();
}

}  // namespace baton::bytecode
