#include "base/call_place.hpp"

#include "base/work_limits.hpp"

namespace baton {

CallPlace CallPlace::current() {
  const WorkLimits* const limits = WorkLimits::current();
  return limits && limits->caller.place ? limits->caller.place(limits->caller.self) : CallPlace{};
}

}  // namespace baton
