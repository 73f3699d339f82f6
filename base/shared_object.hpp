// A shared library before the system's loader maps it.
//
// The loader believes what a file says of its segments. Of one that was cut off (a copy that did not end, a full disk) it maps pages behind
// the end, and the process dies at the first that is touched, with SIGBUS, inside of dlopen().
#pragma once

#include "base/status.hpp"

namespace baton {

// That what the loader maps of the file lies inside of it. What cannot be read or is no such file passes: dlopen() has a sentence
// for it.
Status check_shared_object(const char* path);

}  // namespace baton
