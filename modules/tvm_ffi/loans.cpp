#include "modules/tvm_ffi/loans.hpp"

#include <bit>

#include "hal/dlpack.hpp"

namespace baton::modules::tvm_ffi {
namespace {

bool is_same(const baton_dl_type& a, const baton_dl_type& b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}
bool is_same(const baton_dl_device& a, const baton_dl_device& b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

// Whether the tensor has the view's shape, and its elements lie row by row, as import_dlpack() wants it.
bool has_shape(const baton_dl_tensor& tensor, const hal::BufferView& view) {
  const std::span<const int64_t> shape = view.shape(), strides = view.dense_strides();
  if (tensor.rank < 0 || shape.size() != static_cast<size_t>(tensor.rank)) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (tensor.shape[i] != shape[i]) return false;
    if (tensor.strides && tensor.strides[i] != strides[i] && shape[i] != 1) return false;
  }
  return true;
}

}  // namespace

struct Loans::Borrowed {
  baton_dl_managed_tensor managed{};
  std::shared_ptr<const Runtime> runtime;
  AnyObject* owner = nullptr;  // The owner of a tensor that the program keeps.

  ~Borrowed() {
    if (owner) runtime->release(owner);
  }
};

bool Loans::Loan::is_kept() const {
  return !count_is_one(handle->count) || !view().has_one_owner() || !view().buffer()->has_one_owner();
}

Result<baton_object*> Loans::take(const baton_dl_tensor& tensor, AnyObject* owner) {
  Loan* loan = find(tensor, owner);
  if (!loan) {
    BATON_TRY_ASSIGN(loan, add(tensor));
  }
  in_call_ += !loan->in_call;
  loan->in_call = true;
  loan->owner = owner;
  return loan->handle.get();
}

Loans::Loan* Loans::find(const baton_dl_tensor& tensor, const AnyObject* owner) {
  for (size_t tries = loans_.size(); tries > 0; --tries) {
    if (next_ >= loans_.size()) next_ = 0;
    Loan& loan = loans_[next_++];
    const baton_dl_tensor& known = loan.borrowed->managed.tensor;
    if (known.data != tensor.data || (loan.in_call && loan.owner != owner)) continue;
    if (known.byte_offset == tensor.byte_offset && is_same(known.device, tensor.device) &&
        is_same(known.type, tensor.type) && has_shape(tensor, loan.view()))
      return &loan;
  }
  return nullptr;
}

Result<Loans::Loan*> Loans::add(const baton_dl_tensor& tensor) {
  auto borrowed = std::make_unique<Borrowed>();
  borrowed->runtime = runtime_;
  borrowed->managed = {.version = {BATON_DL_MAJOR_VERSION, BATON_DL_MINOR_VERSION},
                       .manager = borrowed.get(),
                       .destroy = [](baton_dl_managed_tensor* self) { delete static_cast<Borrowed*>(self->manager); },
                       .flags = 0,
                       .tensor = tensor};
  BATON_TRY_ASSIGN(auto view, hal::import_dlpack(*device_, &borrowed->managed));
  Loan& loan = room();
  loan.borrowed = borrowed.release();  // The buffer's now.
  loan.handle = wrap(std::move(view));
  return &loan;
}

// A new one, or one that is in no call.
Loans::Loan& Loans::room() {
  if (loans_.size() >= kLoansMax) {
    for (size_t tries = 0; tries < kLoansMax; ++tries) {
      Loan& oldest = loans_[replaced_++ % loans_.size()];
      if (!oldest.in_call) return oldest;
    }
  }
  return loans_.emplace_back();
}

// Work that is still under way has a part in its buffers; only a host's is done when its call is.
void Loans::settle_all() {
  next_ = 0;
  for (size_t i = loans_.size(); i-- > 0;) {
    Loan& loan = loans_[i];
    if (!loan.in_call) continue;
    loan.in_call = false;
    const bool kept = loan.is_kept();
    if (kept && loan.owner) {
      runtime_->retain(loan.owner);
      loan.borrowed->owner = loan.owner;
    }
    if (!kept && is_host_ && !loan.view().buffer()->freed()) continue;
    std::swap(loan, loans_.back());
    loans_.pop_back();
  }
  in_call_ = 0;
}

}  // namespace baton::modules::tvm_ffi
