#define RADIUS 1
