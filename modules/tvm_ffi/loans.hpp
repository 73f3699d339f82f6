// Tensors of callers, as a program has them for the time of a call.
//
// A tensor is wrapped (a buffer over its memory, a view, a handle) and stays so: while the program lets go of all of it by
// the end of each call, the next call with the same tensor finds it, and nothing is made. What a program keeps keeps the
// caller's tensor, and is wrapped anew next time. A wrapped tensor that no call uses keeps nothing of its caller's.
// Threads: externally synchronized.
#pragma once

#include <memory>
#include <vector>

#include "hal/allocator.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/tvm_ffi/runtime.hpp"

namespace baton::modules::tvm_ffi {

class Loans {
 public:
  Loans(std::shared_ptr<const Runtime> runtime, Ref<hal::Device> device)
      : runtime_(std::move(runtime)), device_(std::move(device)), is_host_(device_->allocator().uses_host_memory()) {}
  Loans(const Loans&) = delete;
  Loans& operator=(const Loans&) = delete;

  // Borrowed until settle(). `owner`: the tensor's object, or null where it has none; it lives until then.
  Result<baton_object*> take(const baton_dl_tensor& tensor, AnyObject* owner);
  // After a call.
  void settle() {
    if (in_call_ > 0) settle_all();
  }

 private:
  // What a buffer over a caller's memory gives back when it goes.
  struct Borrowed;
  struct Loan {
    sdk::Ref<Handle<hal::BufferView>> handle;
    Borrowed* borrowed = nullptr;
    AnyObject* owner = nullptr;  // In a call.
    bool in_call = false;

    const hal::BufferView& view() const { return **handle; }
    bool is_kept() const;
  };
  static constexpr size_t kLoansMax = 16;

  // Not one that is lent to another tensor of this call: the program may keep either.
  Loan* find(const baton_dl_tensor& tensor, const AnyObject* owner);
  Result<Loan*> add(const baton_dl_tensor& tensor);
  Loan& room();
  void settle_all();

  std::shared_ptr<const Runtime> runtime_;
  Ref<hal::Device> device_;
  const bool is_host_;
  std::vector<Loan> loans_;
  size_t in_call_ = 0;   // How many are.
  size_t next_ = 0;      // Where the search for the next one begins: calls that repeat find each at the first look.
  size_t replaced_ = 0;  // Counts on; the next one that makes room.
};

}  // namespace baton::modules::tvm_ffi
