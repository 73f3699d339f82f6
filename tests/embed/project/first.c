#include "filters_kernels.h"

const baton_embedded_kernels* first(void) { return &BATON_EMBEDDED_LIBRARY(filters); }
