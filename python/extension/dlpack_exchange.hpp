// DLPack's C exchange API: the table of functions that a type of tensors may have as __dlpack_c_exchange_api__ (DLPack
// 1.2 and later). Tensors go through it without a capsule, a method's call or a keyword; PyTorch's cost a fifth.
// baton.Tensor has such a table, too.
//
// A table gives the memory and nothing else. Whatever else a tensor of PyTorch may be (one whose values are the negated
// or conjugated ones of its memory, or one that gradients are wanted for) is asked for first.
// Threads: with Python's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "hal/dlpack.hpp"

namespace baton::python {

namespace nb = nanobind;

struct DestroyHanded {
  void operator()(baton_dl_managed_tensor* tensor) const {
    if (tensor->destroy) tensor->destroy(tensor);
  }
};
using Handed = std::unique_ptr<baton_dl_managed_tensor, DestroyHanded>;

// A tensor that its owner handed out.
struct HandedOut {
  Handed tensor;                    // Null: `value` has no table, or is more than memory; ask is_lazy() and __dlpack__.
  int64_t stream = hal::kNoStream;  // What makes the contents, as Queue::wait_for_stream has it.
};
// `wants_stream`: not for those who look at addresses alone.
HandedOut hand_out(PyObject* value, bool wants_stream = true);

// Its values are not those in its memory, until PyTorch's resolve_conj() and resolve_neg() have written them.
bool is_lazy(PyObject* value);

// Gives `tensor_type`, which is baton.Tensor, its table.
void bind_exchange(nb::handle tensor_type);

}  // namespace baton::python
