/* A function that programs link into kernels; memset would be one of a C library. */
#include "radius.h"

float scaled(float x) {
  float all[64];
  for (int i = 0; i < 64; ++i) all[i] = 0;
  all[(int)x & 63] = x;
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += all[i] * RADIUS;
  return sum;
}
