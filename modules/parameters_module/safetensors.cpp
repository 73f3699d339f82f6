#include "modules/parameters_module/safetensors.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"

namespace baton::modules {
namespace {

using hal::ElementType;

struct Named {
  std::string_view name;
  ElementType type;
};
constexpr Named kTypes[] = {
    {"BOOL", ElementType::kI1},   {"U8", ElementType::kU8},   {"I8", ElementType::kI8},   {"U16", ElementType::kU16},
    {"I16", ElementType::kI16},   {"U32", ElementType::kU32}, {"I32", ElementType::kI32}, {"U64", ElementType::kU64},
    {"I64", ElementType::kI64},   {"F16", ElementType::kF16}, {"F32", ElementType::kF32}, {"F64", ElementType::kF64},
    {"BF16", ElementType::kBF16}, {"C64", ElementType::kC64},
};

// Reads the part of JSON that headers are written in: objects, strings, arrays of whole numbers.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Status fault(std::string_view what) const {
    return failure(StatusCode::kDataLoss, "The safetensors header has ", what, " at byte ", at_, ".");
  }

  // Takes `mark` when it comes next.
  bool take(char mark) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != mark) return false;
    ++at_;
    return true;
  }
  Status expect(char mark) {
    if (take(mark)) return {};
    return fault(text("no '", std::string_view(&mark, 1), "'"));
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  Result<std::string> string() {
    BATON_TRY(expect('"'));
    std::string result;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return fault("a control character in a string");
      if (text_[at_] != '\\') {
        result += text_[at_++];
        continue;
      }
      ++at_;
      BATON_TRY(escape(result));
    }
    BATON_TRY(expect('"'));
    return result;
  }

  Result<uint64_t> number() {
    skip_blanks();
    uint64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return fault("no whole number");
    at_ += static_cast<size_t>(stop - begin);
    return value;
  }

  Result<std::vector<uint64_t>> numbers() {
    BATON_TRY(expect('['));
    std::vector<uint64_t> all;
    if (take(']')) return all;
    do {
      BATON_TRY_ASSIGN(const uint64_t one, number());
      all.push_back(one);
    } while (take(','));
    BATON_TRY(expect(']'));
    return all;
  }

  // Calls member(key) for each member of an object; it reads the value.
  template <typename Member>
  Status object(Member&& member) {
    BATON_TRY(expect('{'));
    if (take('}')) return {};
    do {
      BATON_TRY_ASSIGN(const std::string key, string());
      BATON_TRY(expect(':'));
      BATON_TRY(member(key));
    } while (take(','));
    return expect('}');
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  Status escape(std::string& result) {
    constexpr std::string_view kMarks = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return fault("an end in a string");
    const char mark = text_[at_++];
    if (mark == 'u') return unicode(result);
    const size_t which = kMarks.find(mark);
    if (which == kMarks.npos) return fault("an unknown escape");
    result += kMeant[which];
    return {};
  }

  Result<uint32_t> four_digits() {
    uint32_t code = 0;
    const char* begin = text_.data() + at_;
    const char* end = begin + std::min<size_t>(4, text_.size() - at_);
    const auto [stop, error] = std::from_chars(begin, end, code, 16);
    if (error != std::errc() || stop != begin + 4) return fault("no four digits behind \\u");
    at_ += 4;
    return code;
  }

  // As UTF-8; a pair of surrogates is one character.
  Status unicode(std::string& result) {
    BATON_TRY_ASSIGN(uint32_t code, four_digits());
    if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      BATON_TRY_ASSIGN(const uint32_t low, four_digits());
      if (low < 0xdc00 || low > 0xdfff) return fault("half a pair of surrogates");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xd800 && code <= 0xdfff) {
      return fault("half a pair of surrogates");
    }
    const auto put = [&result](uint32_t byte) { result += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6);
      put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    }
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
};

// What the file states of a tensor, not yet checked.
struct Claim {
  std::optional<ElementType> element_type;
  std::optional<std::vector<uint64_t>> shape;
  std::optional<std::vector<uint64_t>> offsets;
};

Result<Claim> read_claim(HeaderReader& reader) {
  Claim claim;
  BATON_TRY(reader.object([&](const std::string& key) -> Status {
    if (key == "dtype") {
      BATON_TRY_ASSIGN(const std::string name, reader.string());
      for (const Named& named : kTypes) {
        if (named.name == name) claim.element_type = named.type;
      }
      if (claim.element_type) return {};
      return failure(StatusCode::kUnimplemented, "The safetensors header has dtype '", name, "', which no tensor has.");
    }
    if (key == "shape") {
      BATON_TRY_ASSIGN(claim.shape, reader.numbers());
      return {};
    }
    if (key == "data_offsets") {
      BATON_TRY_ASSIGN(claim.offsets, reader.numbers());
      return {};
    }
    return reader.fault(text("an unknown member '", key, "'"));
  }));
  return claim;
}

// Nothing when they exceed what can be addressed.
std::optional<uint64_t> length_of(const Claim& claim) {
  uint64_t length = element_bytes(*claim.element_type);
  for (uint64_t extent : *claim.shape) {
    if (extent > INT64_MAX || __builtin_mul_overflow(length, extent, &length)) return std::nullopt;
  }
  return length;
}

Result<TensorEntry> believe(std::string name, const Claim& claim, std::span<const std::byte> data) {
  const auto fault = [&](const auto&... what) {
    return failure(StatusCode::kDataLoss, "Tensor '", name, "' of the safetensors file ", what..., ".");
  };
  if (!claim.element_type || !claim.shape || !claim.offsets || claim.offsets->size() != 2) {
    return fault("lacks its dtype, shape or two data_offsets");
  }
  const uint64_t begin = (*claim.offsets)[0], end = (*claim.offsets)[1];
  if (begin > end || end > data.size()) {
    return fault("lies at [", begin, ", ", end, "), outside of the data (", data.size(), " bytes)");
  }
  const std::optional<uint64_t> length = length_of(claim);
  if (!length || *length != end - begin) {
    return fault("has ", end - begin, " bytes, which is not what its shape takes");
  }
  return TensorEntry{std::move(name),
                     *claim.element_type,
                     {claim.shape->begin(), claim.shape->end()},
                     data.subspan(begin, end - begin)};
}

}  // namespace

Result<std::vector<TensorEntry>> parse_safetensors(std::span<const std::byte> file) {
  if (file.size() < 8) return failure(StatusCode::kDataLoss, "A file of ", file.size(), " bytes is no safetensors.");
  const auto header_size = load_bytes<uint64_t>(file.data());
  if (header_size > file.size() - 8) {
    return failure(StatusCode::kDataLoss, "The safetensors header of ", header_size, " bytes ends beyond the file (",
                   file.size(), ").");
  }
  const auto data = file.subspan(8 + header_size);
  HeaderReader reader({reinterpret_cast<const char*>(file.data()) + 8, static_cast<size_t>(header_size)});
  std::vector<TensorEntry> entries;
  BATON_TRY(reader.object([&](const std::string& name) -> Status {
    if (name == "__metadata__") {
      return reader.object([&](const std::string&) -> Status {
        BATON_TRY_ASSIGN(const std::string ignored, reader.string());
        return {};
      });
    }
    BATON_TRY_ASSIGN(const Claim claim, read_claim(reader));
    BATON_TRY_ASSIGN(TensorEntry entry, believe(name, claim, data));
    entries.push_back(std::move(entry));
    return {};
  }));
  if (!reader.at_end()) return reader.fault("more than one object");
  return entries;
}

}  // namespace baton::modules
