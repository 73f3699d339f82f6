// Compiled with exceptions, of which the rooms have none: here they end.
#include <string>

#include "modules/tvm_ffi/runtime.hpp"

namespace baton::modules::tvm_ffi {
namespace {

[[gnu::cold]] int raise_thrown(const Runtime& runtime, std::string_view what) {
  return runtime.raise(failure(StatusCode::kInternal, "It threw: ", what));
}

}  // namespace

int Runtime::call(SafeCall function, const Any* arguments, int32_t count, Any* result) const {
  try {
    return function(nullptr, arguments, count, result);
  } catch (const char* text) {
    return raise_thrown(*this, text ? text : "a null pointer");
  } catch (const std::string& text) {
    return raise_thrown(*this, text);
  } catch (...) {
    return raise_thrown(*this, "something that is no std::exception");
  }
}

}  // namespace baton::modules::tvm_ffi
