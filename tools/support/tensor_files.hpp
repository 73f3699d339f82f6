// Tensors as --input= and --expected_output= name them:
//
//   2x2xf32=1 2 3 4      values, or one for all
//   2x2xf32=@raw.bin     the bytes of a file; +raw.bin: those behind what was taken from it last
//   @a.npy               the first array of a file; +a.npy: the next one; *a.npy: all from the first on
//   @a.npz:name          one by its name; @a.npz, +a.npz, *a.npz: in the order of the archive
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "tools/support/files.hpp"
#include "tools/support/tensor_text.hpp"

namespace baton::tools {

// Keeps files open between the tensors that are taken from them, and where the next one begins. Programs may write what
// they are given, so no two tensors share their bytes.
// Threads: externally synchronized.
class TensorFiles {
 public:
  Result<Tensor> load(std::string_view text);

  // The same list with as many texts in place of each "*file" as the file has arrays.
  Result<std::vector<std::string>> expand(const std::vector<std::string>& texts);

  // A raw file of which bytes are left over was meant for another shape.
  Status check_used_up() const;
  // Each "+file" begins at the front again.
  void rewind();

 private:
  struct OpenFile {
    SharedBytes content;
    size_t next = 0;      // A byte of a .npy or raw file, a member's number of a .npz.
    bool is_raw = false;  // Taken by tensors that state their type.
  };

  Result<OpenFile*> open(std::string_view path);
  Result<Tensor> find(std::string_view text);
  Result<Tensor> load_array(char mark, std::string_view path);
  Result<Tensor> load_raw(char mark, std::string_view type_text, std::string_view path);

  std::map<std::string, OpenFile, std::less<>> open_;
  std::set<const std::byte*> given_;  // Where tensors lie that were handed out.
};

}  // namespace baton::tools
