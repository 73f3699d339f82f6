// Tensors between programs and functions of TVM-FFI: the same memory, nothing copied.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <utility>

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"
#include "modules/tvm_ffi/runtime.hpp"

namespace baton::modules::tvm_ffi {

// Room for numbers of a tensor: here for the ranks that most have.
template <size_t kInPlace>
class Extents {
 public:
  int64_t* room(size_t count) {
    if (count <= kInPlace) return in_place_;
    more_.reset(new int64_t[count]);
    return more_.get();
  }

 private:
  int64_t in_place_[kInPlace];
  std::unique_ptr<int64_t[]> more_;
};

// A dense tensor of the host, as most are, for as long as its view lives. False: TensorView says what is wrong with it, or
// takes it.
bool describe_on_host(const hal::BufferView& view, baton_dl_tensor& out);

// Any tensor for the time of a call.
class TensorView {
 public:
  TensorView() = default;
  TensorView(const TensorView&) = delete;
  TensorView& operator=(const TensorView&) = delete;

  Status set(const hal::BufferView& view);
  // Memory of a command. `shape` outlives the view.
  Status set(void* data, baton_dl_device place, hal::ElementType element, std::span<const int64_t> shape);

  baton_dl_tensor& tensor() { return tensor_; }

 private:
  baton_dl_tensor tensor_{};
  Extents<6> strides_;
};

// A TVM-FFI Tensor over Baton's memory, which a function may keep. It begins with TVM-FFI's header, so that TVM-FFI
// counts its owners; the last owner calls back here to destroy it.
class TensorObject : private TensorCell {
 public:
  // Owned references. The view lives as long.
  static Result<AnyObject*> make(Ref<hal::BufferView> view);
  // Keeps its own copy of the extents; the caller keeps the memory.
  static AnyObject* copy(const baton_dl_tensor& from);
  // What a tensor of ours is a tensor of; null for those of others.
  static hal::BufferView* view_of(AnyObject* object);

  TensorObject(const TensorObject&) = delete;
  TensorObject& operator=(const TensorObject&) = delete;

  AnyObject* object() { return &head; }
  const baton_dl_tensor& get() const { return tensor; }

 private:
  friend class SpareTensors;
  friend class LentTensors;

  TensorObject() : TensorCell{{kOneOwner, kTensor, 0, destroy}, {}} {}
  ~TensorObject() = default;
  static TensorObject* of(void* object) { return static_cast<TensorObject*>(static_cast<TensorCell*>(object)); }
  static void destroy(void* self, int flags);
  Status set(hal::BufferView& view);
  void keep(Ref<hal::BufferView> view);

  hal::BufferView* view_ = nullptr;
  bool keeps_view_ = false;  // Else the view lives for as long as this is lent.
  Extents<12> extents_;
  TensorObject* next_ = nullptr;
};

// Objects of tensors that were lent and came back.
// Threads: one call at a time has them; who finds them taken does without.
class SpareTensors {
 public:
  SpareTensors() = default;
  ~SpareTensors();
  SpareTensors(const SpareTensors&) = delete;
  SpareTensors& operator=(const SpareTensors&) = delete;

  bool enter() {
    if (taken_.load(std::memory_order_relaxed)) return false;
    if (!is_single_threaded()) return !taken_.exchange(true, std::memory_order_acquire);
    taken_.store(true, std::memory_order_relaxed);
    return true;
  }
  void leave() { taken_.store(false, std::memory_order_release); }

 private:
  friend class LentTensors;

  TensorObject* first_ = nullptr;  // Each has the next.
  std::atomic<bool> taken_{false};
};

// Tensors that a call lends to a function which may keep them. Few do, so their objects go around and a call makes none;
// what was kept keeps its view from then on.
// Threads: a local variable.
class LentTensors {
 public:
  LentTensors(const Runtime& runtime, SpareTensors& spares) : runtime_(runtime), spares_(spares) {}
  ~LentTensors() {
    if (lent_) take_back();
  }
  LentTensors(const LentTensors&) = delete;
  LentTensors& operator=(const LentTensors&) = delete;

  // `view` outlives this.
  Result<TensorObject*> lend(hal::BufferView& view);

 private:
  TensorObject* take_spare();
  void take_back();

  const Runtime& runtime_;
  SpareTensors& spares_;
  TensorObject* lent_ = nullptr;
  bool has_spares_ = false;
};

// A tensor that a function gave, owned by the caller, as programs take it. What is on `stream` makes its contents.
Result<Ref<hal::BufferView>> take_tensor(const Runtime& runtime, hal::Device& device, AnyObject* tensor,
                                         int64_t stream);

// The stream that the callers of functions work on now, as DLPack says it: what was set for the device on this thread,
// else the legacy default stream.
int64_t current_stream(const Runtime& runtime, int32_t ordinal);

}  // namespace baton::modules::tvm_ffi
