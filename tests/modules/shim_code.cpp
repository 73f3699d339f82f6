// Goal: a call with numbers costs next to nothing. Method: shim_code.cmake counts the instructions of this shim.
#include "modules/sdk/module.hpp"

struct Adder {
  int32_t add(int32_t a, int32_t b) {
    total += a;
    return total + b;
  }
  int32_t total = 0;
};

// Makes the compiler emit it.
baton_body shim_of_add() { return baton::sdk::function<&Adder::add>("add").body; }
