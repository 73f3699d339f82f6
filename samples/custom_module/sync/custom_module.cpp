// The module "custom": call.sync doubles a tensor. It gets tensors that are ready, works at once, and gives a tensor
// that is.
#include "modules/sdk/module.hpp"

namespace {

using namespace baton::sdk;

class Custom final : public Module<Custom> {
 public:
  Result<Ref<BufferView>> call_sync(const BufferView& source) {
    BATON_ASSIGN_OR_RETURN(const Mapping<const int32_t> from, source.map<const int32_t>());
    // A new tensor of the same shape, on the same device.
    BATON_ASSIGN_OR_RETURN(const Ref<Device> device, source.buffer()->device());
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> buffer, device->allocate({.length = from.size() * sizeof(int32_t)}));
    BATON_ASSIGN_OR_RETURN(const Ref<BufferView> target,
                           BufferView::make(*buffer, source.element_type(), source.shape()));
    BATON_ASSIGN_OR_RETURN(const Mapping<int32_t> to, target->map<int32_t>());
    for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] * 2;
    return target;
  }
};

}  // namespace

BATON_MODULE_QUERY(create_custom_module, Custom, "custom", BATON_FUNCTION("call.sync", &Custom::call_sync));
