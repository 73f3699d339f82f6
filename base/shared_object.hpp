// A shared library on its way to the system's loader.
//
// The loader believes what a file says of its segments. Of one that was cut off (a copy that did not end, a full disk) it maps pages behind
// the end, and the process dies at the first that is touched, with SIGBUS, inside of dlopen().
#pragma once

#include <string>

#include "base/status.hpp"

namespace baton {

// That what the loader maps of the file lies inside of it. What cannot be read or is no such file passes: dlopen() has a sentence
// for it.
Status check_shared_object(const char* path);

// dlopen() of the file that is at `path` now, with its symbols for itself and all bound; null, and dlerror() says why. The loader itself
// goes by names: under one that it knows it gives the library of before, though another file is there by now, as where a plugin was
// built again, or where the path is that of a descriptor.
void* open_shared_object(const std::string& path);

}  // namespace baton
