#include "hal/drivers/cuda/builtins.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// Each thread writes every element that is a whole grid further on.
constexpr char kPtx[] = R"(
.version 7.0
.target sm_52
.address_size 64
.visible .entry baton_nothing()
{
  ret;
}
.visible .entry baton_wide_fill(.param .u64 target, .param .u64 count, .param .u64 pattern)
{
  .reg .pred %p<3>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [target];
  ld.param.u64 %rd2, [count];
  ld.param.u64 %rd3, [pattern];
  cvta.to.global.u64 %rd4, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd5, %r1, %r2;
  cvt.u64.u32 %rd6, %r3;
  add.u64 %rd5, %rd5, %rd6;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd7, %r4, %r2;
  setp.ge.u64 %p1, %rd5, %rd2;
  @%p1 bra done;
again:
  shl.b64 %rd8, %rd5, 3;
  add.u64 %rd8, %rd8, %rd4;
  st.global.u64 [%rd8], %rd3;
  add.u64 %rd5, %rd5, %rd7;
  setp.lt.u64 %p2, %rd5, %rd2;
  @%p2 bra again;
done:
  ret;
}
)";

}  // namespace

Builtins::~Builtins() {
  if (!library_) return;
  const ContextScope scope = context_->enter();
  context_->symbols().cuLibraryUnload(library_);
}

Result<CUkernel> Builtins::find(CUkernel& kernel, const char* name) {
  std::lock_guard lock(mutex_);
  if (kernel) return kernel;
  const ContextScope scope = context_->enter();
  const Symbols& symbols = context_->symbols();
  if (!library_) BATON_CUDA_TRY(symbols, cuLibraryLoadData, &library_, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0);
  BATON_CUDA_TRY(symbols, cuLibraryGetKernel, &kernel, library_, name);
  return kernel;
}

Result<CUkernel> Builtins::nothing() { return find(nothing_, "baton_nothing"); }

Result<CUkernel> Builtins::wide_fill() { return find(wide_fill_, "baton_wide_fill"); }

}  // namespace baton::hal::drivers::cuda
