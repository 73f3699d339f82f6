// The demo's native module: "geometry.square_area", called by demo.bvmasm. The signature comes from the member's type.
#include "modules/sdk/module.hpp"

namespace {

class Geometry final : public baton::sdk::Module<Geometry> {
 public:
  int64_t square_area(int32_t side) { return int64_t{side} * side; }
};

}  // namespace

BATON_EXPORT_MODULE(Geometry, "geometry", BATON_FUNCTION("square_area", &Geometry::square_area));
