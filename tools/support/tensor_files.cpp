#include "tools/support/tensor_files.hpp"

#include "tools/support/numpy.hpp"

namespace baton::tools {
namespace {

constexpr std::string_view kMember = ".npz:";

// "a.npz" and "name" of "a.npz:name"; the name is empty when none is given.
struct ArraySource {
  std::string_view path;
  std::string_view member;
};
ArraySource split(std::string_view source) {
  const size_t mark = source.find(kMember);
  if (mark == source.npos) return {source, {}};
  return {source.substr(0, mark + kMember.size() - 1), source.substr(mark + kMember.size())};
}

Result<Tensor> read_member(const SharedBytes& file, size_t& next) {
  BATON_TRY_ASSIGN(const std::vector<std::string> names, npz_names(file.bytes));
  if (next >= names.size()) return failure(StatusCode::kOutOfRange, "its ", names.size(), " arrays are used up");
  return read_npz(file, names[next++]);
}

Result<Tensor> read_next(const SharedBytes& file, size_t& next) {
  if (is_npz(file.bytes)) return read_member(file, next);
  if (next > 0 && next == file.bytes.size()) return failure(StatusCode::kOutOfRange, "its arrays are used up");
  return read_npy(file, next);
}

}  // namespace

Result<TensorFiles::OpenFile*> TensorFiles::open(std::string_view path) {
  const auto found = open_.find(path);
  if (found != open_.end()) return &found->second;
  BATON_TRY_ASSIGN(SharedBytes content, map_file(std::string(path)));
  return &open_.emplace(path, OpenFile{std::move(content)}).first->second;
}

void TensorFiles::rewind() {
  open_.clear();
  given_.clear();
}

Result<Tensor> TensorFiles::load(std::string_view text) {
  BATON_TRY_ASSIGN(Tensor tensor, find(text));
  if (tensor.bytes.empty() || given_.insert(tensor.bytes.data()).second) return tensor;
  return Tensor::of(std::move(tensor.type), {tensor.bytes.begin(), tensor.bytes.end()});
}

Result<Tensor> TensorFiles::find(std::string_view text) {
  if (text.starts_with('@') || text.starts_with('+')) return load_array(text[0], text.substr(1));
  const size_t equals = text.find('=');
  if (equals != text.npos && equals + 1 < text.size()) {
    const char mark = text[equals + 1];
    // A plus may also be the sign of a number: then digits follow it, and no file is called like that.
    const bool is_number = mark == '+' && text.find_first_not_of("+0123456789.eEinfNaj-, []", equals + 1) == text.npos;
    if (mark == '@' || (mark == '+' && !is_number)) {
      return load_raw(mark, text.substr(0, equals), text.substr(equals + 2));
    }
  }
  return parse_tensor(text);
}

Result<Tensor> TensorFiles::load_array(char mark, std::string_view source) {
  const auto [path, member] = split(source);
  BATON_TRY_ASSIGN(OpenFile * file, open(path));
  if (mark == '@') file->next = 0;
  Result<Tensor> tensor = member.empty() ? read_next(file->content, file->next) : read_npz(file->content, member);
  if (tensor) return tensor;
  return std::move(tensor).error().with_context(text("while reading '", path, "'"));
}

Result<Tensor> TensorFiles::load_raw(char mark, std::string_view type_text, std::string_view path) {
  BATON_TRY_ASSIGN(TensorType type, parse_tensor_type(type_text));
  BATON_TRY_ASSIGN(OpenFile * file, open(path));
  if (mark == '@') file->next = 0;
  file->is_raw = true;
  const size_t left = file->content.bytes.size() - file->next, length = type.length_bytes();
  if (left < length) {
    return failure(StatusCode::kInvalidArgument, "a tensor of ", type_text, " takes ", length, " bytes, and '", path,
                   "' has ", left, file->next ? " left" : "");
  }
  const auto bytes = file->content.bytes.subspan(file->next, length);
  file->next += length;
  return Tensor{std::move(type), bytes, file->content.owner};
}

Status TensorFiles::check_used_up() const {
  for (const auto& [path, file] : open_) {
    if (!file.is_raw || file.next == file.content.bytes.size()) continue;
    return failure(StatusCode::kInvalidArgument, "'", path, "' has ", file.content.bytes.size(), " bytes, and only ",
                   file.next, " of them were taken");
  }
  return {};
}

Result<std::vector<std::string>> TensorFiles::expand(const std::vector<std::string>& texts) {
  std::vector<std::string> expanded;
  for (const std::string& given : texts) {
    if (!given.starts_with('*')) {
      expanded.push_back(given);
      continue;
    }
    const std::string path = given.substr(1);
    BATON_TRY_ASSIGN(const OpenFile* file, open(path));
    const auto count = [&]() -> Result<size_t> {
      if (!is_npz(file->content.bytes)) return count_npy(file->content.bytes);
      BATON_TRY_ASSIGN(const std::vector<std::string> names, npz_names(file->content.bytes));
      return names.size();
    }();
    if (!count) return Status(count.error().clone()).with_context(text("while reading '", path, "'"));
    for (size_t i = 0; i < *count; ++i) expanded.push_back(text(i == 0 ? "@" : "+", path));
  }
  return expanded;
}

}  // namespace baton::tools
