// Device code as compilers write it, made of choices: PTX, cubins, objects, fatbins, archives, LTO-IR, and what Triton
// says of a kernel. What was made is known, so that a reader is not only asked not to crash.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace baton::testing_support {

// Choices are bytes of the input, and zeros behind its end.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  // One of 0 to `count` - 1.
  uint32_t among(uint32_t count);
  uint64_t number();  // Of any size, with a liking for edges.
  bool one_in(uint32_t count) { return among(count) == count - 1; }

 private:
  uint8_t next() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

struct GeneratedPtx {
  std::string text;
  std::string version, target;
  std::vector<std::string> externs, weaks;  // Functions, in their order, each once.
  std::vector<std::string> kernels;
  std::vector<std::array<uint32_t, 3>> blocks;  // Of each kernel; zeros: any.
};
GeneratedPtx generate_ptx(Choices& choices);

struct GeneratedCubin {
  std::string bytes;
  std::vector<std::string> kernels;
  std::vector<std::vector<uint32_t>> parameters;  // Bytes of each.
  std::vector<std::array<uint32_t, 3>> blocks;
};
GeneratedCubin generate_cubin(Choices& choices);

// All that linkers take; sound.
std::string generate_image(Choices& choices, int depth = 0);
// What Triton says of the first kernel of a cubin. Some fields are missing, null, or of another type; is_sound says that
// none is that must not be.
struct GeneratedTriton {
  std::string metadata;
  bool is_sound = true;
};
GeneratedTriton generate_triton(Choices& choices, const GeneratedCubin& cubin);

// Cuts, lengthens, or overwrites: bytes, and words with numbers at edges.
void damage(Choices& choices, std::string& bytes);

}  // namespace baton::testing_support
