// The index of the first largest element of a row, by one workgroup; an i64 as two words.
#version 460

const uint kThreads = 64;
layout(local_size_x = kThreads) in;
layout(std430, set = 0, binding = 0) readonly buffer Row { float row[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Index { uvec2 index; };
layout(push_constant) uniform Constants { uint count; };

shared float best[kThreads];
shared uint place[kThreads];

void main() {
  const uint thread = gl_LocalInvocationID.x;
  best[thread] = row[min(thread, count - 1)];
  place[thread] = min(thread, count - 1);
  for (uint i = thread; i < count; i += kThreads) {
    if (row[i] > best[thread]) {
      best[thread] = row[i];
      place[thread] = i;
    }
  }
  for (uint reach = kThreads / 2; reach > 0; reach /= 2) {
    barrier();
    if (thread < reach) {
      const uint other = thread + reach;
      const bool first = best[other] == best[thread] && place[other] < place[thread];
      if (best[other] > best[thread] || first) {
        best[thread] = best[other];
        place[thread] = place[other];
      }
    }
  }
  if (thread == 0) index = uvec2(place[0], 0);
}
