// The instruction table as text: what baton-isa prints. bytecode/ISA.md is isa_markdown(); a test fails when it is
// stale.
#pragma once

#include <string>

namespace baton::bytecode {

std::string isa_markdown();
std::string isa_json();
// "code mnemonic operands", a line each: the wire encoding, frozen in tests/abi/opcodes_v1.txt.
std::string isa_encoding();

}  // namespace baton::bytecode
