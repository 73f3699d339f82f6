#include "modules/parameters_module/gguf.hpp"

#include <algorithm>
#include <string_view>

#include "base/bytes.hpp"

namespace baton::modules {
namespace {

using hal::ElementType;

// How elements of a type are stored: how many make a block, and how many bytes a block has.
struct Layout {
  uint32_t number;  // In the file.
  ElementType type;
  uint32_t block_elements;
  uint32_t block_bytes;
};
constexpr ElementType kBytes = ElementType::kU8;
constexpr Layout kLayouts[] = {
    {0, ElementType::kF32, 1, 4},
    {1, ElementType::kF16, 1, 2},
    {2, kBytes, 32, 18},     // Q4_0
    {3, kBytes, 32, 20},     // Q4_1
    {6, kBytes, 32, 22},     // Q5_0
    {7, kBytes, 32, 24},     // Q5_1
    {8, kBytes, 32, 34},     // Q8_0
    {10, kBytes, 256, 84},   // Q2_K
    {11, kBytes, 256, 110},  // Q3_K
    {12, kBytes, 256, 144},  // Q4_K
    {13, kBytes, 256, 176},  // Q5_K
    {14, kBytes, 256, 210},  // Q6_K
    {16, kBytes, 256, 66},   // IQ2_XXS
    {17, kBytes, 256, 74},   // IQ2_XS
    {18, kBytes, 256, 98},   // IQ3_XXS
    {19, kBytes, 256, 50},   // IQ1_S
    {20, kBytes, 32, 18},    // IQ4_NL
    {21, kBytes, 256, 110},  // IQ3_S
    {22, kBytes, 256, 82},   // IQ2_S
    {23, kBytes, 256, 136},  // IQ4_XS
    {24, ElementType::kI8, 1, 1},
    {25, ElementType::kI16, 1, 2},
    {26, ElementType::kI32, 1, 4},
    {27, ElementType::kI64, 1, 8},
    {28, ElementType::kF64, 1, 8},
    {29, kBytes, 256, 56},  // IQ1_M
    {30, ElementType::kBF16, 1, 2},
    {34, kBytes, 256, 54},  // TQ1_0
    {35, kBytes, 256, 66},  // TQ2_0
    {39, kBytes, 32, 17},   // MXFP4
};

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint32_t kDimensionsMax = 4;
constexpr std::string_view kAlignmentKey = "general.alignment";

// Metadata values by their number; strings and arrays have sizes of their own.
constexpr uint32_t kUint32 = 4, kString = 8, kArray = 9;
constexpr uint8_t kValueSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

// Reads numbers and strings one behind the other.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file) {}

  uint64_t at() const { return at_; }

  Status fault(const auto&... what) const {
    return failure(StatusCode::kDataLoss, "The GGUF header has ", what..., " at byte ", at_, ".");
  }

  template <typename T>
  Result<T> number() {
    if (!range_inside(at_, sizeof(T), file_.size())) return fault("its end");
    const T value = load_bytes<T>(file_.data() + at_);
    at_ += sizeof(T);
    return value;
  }

  Result<std::string_view> string() {
    BATON_TRY_ASSIGN(const uint64_t size, number<uint64_t>());
    const auto* begin = reinterpret_cast<const char*>(file_.data() + at_);
    BATON_TRY(skip(size, 1));
    return std::string_view(begin, static_cast<size_t>(size));
  }

  Status skip(uint64_t count, uint64_t size) {
    uint64_t length = 0;
    if (__builtin_mul_overflow(count, size, &length) || !range_inside(at_, length, file_.size())) {
      return fault(count, " values of ", size, " bytes, which end beyond the file (", file_.size(), " bytes),");
    }
    at_ += length;
    return {};
  }

  Status skip_value(uint32_t type) {
    if (type == kArray) return skip_array();
    return skip_values(type, 1);
  }

 private:
  // No writer makes arrays of arrays, and they would be a way to nest without end.
  Status skip_array() {
    BATON_TRY_ASSIGN(const uint32_t type, number<uint32_t>());
    BATON_TRY_ASSIGN(const uint64_t count, number<uint64_t>());
    if (type == kArray) return fault("an array of arrays");
    return skip_values(type, count);
  }

  Status skip_values(uint32_t type, uint64_t count) {
    if (type >= std::size(kValueSizes)) return fault("a value of the unknown type ", type);
    if (type != kString) return skip(count, kValueSizes[type]);
    for (uint64_t i = 0; i < count; ++i) {
      BATON_TRY_ASSIGN(const std::string_view ignored, string());
      static_cast<void>(ignored);
    }
    return {};
  }

  std::span<const std::byte> file_;
  uint64_t at_ = 0;
};

// Reads past all metadata; the alignment is the one value in it that says where tensors lie.
Result<uint32_t> read_alignment(Reader& reader, uint64_t count) {
  uint32_t alignment = 32;
  for (uint64_t i = 0; i < count; ++i) {
    BATON_TRY_ASSIGN(const std::string_view key, reader.string());
    BATON_TRY_ASSIGN(const uint32_t type, reader.number<uint32_t>());
    if (key != kAlignmentKey || type != kUint32) {
      BATON_TRY(reader.skip_value(type));
      continue;
    }
    BATON_TRY_ASSIGN(alignment, reader.number<uint32_t>());
    if (alignment == 0 || alignment % 8 != 0) return reader.fault("the alignment ", alignment);
  }
  return alignment;
}

// What the file states of a tensor, not yet checked.
struct Claim {
  std::string_view name;
  std::vector<uint64_t> extents;  // The one that runs fastest first.
  uint32_t type;
  uint64_t offset;
};

Result<Claim> read_claim(Reader& reader) {
  Claim claim{};
  BATON_TRY_ASSIGN(claim.name, reader.string());
  BATON_TRY_ASSIGN(const uint32_t rank, reader.number<uint32_t>());
  if (rank > kDimensionsMax) return reader.fault("a tensor of ", rank, " dimensions");
  for (uint32_t i = 0; i < rank; ++i) {
    BATON_TRY_ASSIGN(const uint64_t extent, reader.number<uint64_t>());
    claim.extents.push_back(extent);
  }
  BATON_TRY_ASSIGN(claim.type, reader.number<uint32_t>());
  BATON_TRY_ASSIGN(claim.offset, reader.number<uint64_t>());
  return claim;
}

Result<TensorEntry> believe(const Claim& claim, std::span<const std::byte> data) {
  const auto layout = std::ranges::find_if(kLayouts, [&](const Layout& known) { return known.number == claim.type; });
  if (layout == std::end(kLayouts)) {
    return failure(StatusCode::kUnimplemented, "Tensor '", claim.name, "' of the GGUF file has the type number ",
                   claim.type, ", which is not known.");
  }
  const auto fault = [&](const auto&... what) {
    return failure(StatusCode::kDataLoss, "Tensor '", claim.name, "' of the GGUF file ", what..., ".");
  };
  if (claim.extents.empty() && layout->block_elements > 1) return fault("is a single element, no whole block");
  std::vector<int64_t> shape;
  uint64_t length = element_bytes(layout->type);
  for (size_t i = claim.extents.size(); i-- > 0;) {
    uint64_t extent = claim.extents[i];
    if (i == 0 && layout->block_elements > 1) {
      if (extent % layout->block_elements != 0) return fault("has rows of ", extent, " elements, no whole blocks");
      extent /= layout->block_elements;
      if (__builtin_mul_overflow(extent, uint64_t{layout->block_bytes}, &extent)) return fault("has rows without end");
    }
    if (extent > INT64_MAX || __builtin_mul_overflow(length, extent, &length)) return fault("is larger than any file");
    shape.push_back(static_cast<int64_t>(extent));
  }
  if (!range_inside(claim.offset, length, data.size())) {
    return fault("takes ", length, " bytes at ", claim.offset, ", outside of the data (", data.size(), " bytes)");
  }
  return TensorEntry{std::string(claim.name), layout->type, std::move(shape),
                     data.subspan(static_cast<size_t>(claim.offset), static_cast<size_t>(length))};
}

}  // namespace

Result<std::vector<TensorEntry>> parse_gguf(std::span<const std::byte> file) {
  Reader reader(file);
  BATON_TRY_ASSIGN(const uint32_t magic, reader.number<uint32_t>());
  if (magic != kMagic) return failure(StatusCode::kDataLoss, "A file that does not begin with GGUF is none.");
  BATON_TRY_ASSIGN(const uint32_t version, reader.number<uint32_t>());
  if (version != 2 && version != 3) {
    return failure(StatusCode::kUnimplemented, "The GGUF file has version ", version, "; 2 and 3 are read.");
  }
  BATON_TRY_ASSIGN(const uint64_t tensor_count, reader.number<uint64_t>());
  BATON_TRY_ASSIGN(const uint64_t metadata_count, reader.number<uint64_t>());
  BATON_TRY_ASSIGN(const uint32_t alignment, read_alignment(reader, metadata_count));
  std::vector<Claim> claims;
  for (uint64_t i = 0; i < tensor_count; ++i) {
    BATON_TRY_ASSIGN(Claim claim, read_claim(reader));
    claims.push_back(std::move(claim));
  }
  const uint64_t padding = (alignment - reader.at() % alignment) % alignment;
  const std::span<const std::byte> data = file.subspan(std::min<uint64_t>(reader.at() + padding, file.size()));
  std::vector<TensorEntry> entries;
  for (const Claim& claim : claims) {
    BATON_TRY_ASSIGN(TensorEntry entry, believe(claim, data));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace baton::modules
