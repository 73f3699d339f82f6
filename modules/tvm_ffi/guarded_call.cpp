#include "modules/tvm_ffi/guarded_call.hpp"

#include <string>

namespace baton::modules::tvm_ffi {

int raise_thrown(const Runtime& runtime) {
  const auto raise = [&](std::string_view what) {
    return runtime.raise(failure(StatusCode::kInternal, "It threw: ", what));
  };
  try {
    throw;
  } catch (const char* text) {
    return raise(text ? text : "a null pointer");
  } catch (const std::string& text) {
    return raise(text);
  } catch (...) {
    return raise("something that is no std::exception");
  }
}

}  // namespace baton::modules::tvm_ffi
