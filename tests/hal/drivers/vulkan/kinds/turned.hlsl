// What HLSL makes of buffers, shared memory and thread numbers.
StructuredBuffer<uint> given : register(t0);
RWStructuredBuffer<uint> made : register(u1);
groupshared uint tile[64];
groupshared bool flag;

[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID, uint local : SV_GroupIndex) {
  tile[local] = given[id.x];
  if (local == 0) flag = true;
  GroupMemoryBarrierWithGroupSync();
  made[id.x] = flag ? tile[63 - local] : 0;
}
