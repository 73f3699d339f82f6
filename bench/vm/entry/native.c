#include "bench/vm/native.h"

void entry(void) {}
