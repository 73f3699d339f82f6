#include "modules/tvm_ffi/loans.hpp"

#include <algorithm>

#include "hal/allocator.hpp"
#include "hal/dlpack.hpp"

namespace baton::modules::tvm_ffi {
namespace {

// As import_dlpack() wants it; what is not, it refuses.
bool is_dense(const baton_dl_tensor& tensor) {
  int64_t stride = 1;
  for (int32_t i = tensor.rank; tensor.strides && i-- > 0; stride *= tensor.shape[i]) {
    if (tensor.strides[i] != stride && tensor.shape[i] != 1) return false;
  }
  return true;
}

bool is_same(const baton_dl_type& a, const baton_dl_type& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

}  // namespace

struct Loans::Borrowed {
  baton_dl_managed_tensor managed{};
  std::shared_ptr<const Runtime> runtime;
  AnyObject* owner = nullptr;  // Of a tensor that the program keeps.

  ~Borrowed() {
    if (owner) runtime->release(owner);
  }
};

bool Loans::Loan::is_of(const baton_dl_tensor& tensor) const {
  const baton_dl_tensor& known = borrowed->managed.tensor;
  const std::span<const int64_t> shape = view().shape();
  return known.data == tensor.data && known.byte_offset == tensor.byte_offset &&
         known.device.type == tensor.device.type && known.device.id == tensor.device.id &&
         is_same(known.type, tensor.type) && tensor.rank >= 0 && shape.size() == static_cast<size_t>(tensor.rank) &&
         std::equal(shape.begin(), shape.end(), tensor.shape) && is_dense(tensor);
}

bool Loans::Loan::is_kept() const {
  return !count_is_one(handle->count) || !view().has_one_owner() || !view().buffer()->has_one_owner();
}

Result<baton_object*> Loans::take(const baton_dl_tensor& tensor, AnyObject* owner) {
  Loan* loan = find(tensor, owner);
  if (!loan) {
    BATON_TRY_ASSIGN(loan, add(tensor));
  }
  loan->in_call = true;
  loan->owner = owner;
  baton_object_retain(loan->handle.get());
  return loan->handle.get();
}

Loans::Loan* Loans::find(const baton_dl_tensor& tensor, const AnyObject* owner) {
  for (Loan& loan : loans_) {
    if (!(loan.in_call && loan.owner != owner) && loan.is_of(tensor)) return &loan;
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
void Loans::settle() {
  const bool may_stay = device_->allocator().uses_host_memory();
  for (size_t i = loans_.size(); i-- > 0;) {
    Loan& loan = loans_[i];
    if (!loan.in_call) continue;
    loan.in_call = false;
    const bool kept = loan.is_kept();
    if (kept && loan.owner) {
      runtime_->retain(loan.owner);
      loan.borrowed->owner = loan.owner;
    }
    if (!kept && may_stay && !loan.view().buffer()->freed()) continue;
    std::swap(loan, loans_.back());
    loans_.pop_back();
  }
}

}  // namespace baton::modules::tvm_ffi
