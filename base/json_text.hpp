// Text in JSON, which is UTF-8. Names in files of strangers are bytes to us: what is no character of it, a reader of JSON
// would refuse with the whole file, so a mark stands in its place (U+FFFD).
#pragma once

#include <string>
#include <string_view>

namespace baton {

bool is_utf8(std::string_view bytes);
std::string as_utf8(std::string_view bytes);

// In quotes, with escapes.
void append_json_string(std::string& target, std::string_view bytes);

}  // namespace baton
