#define LANES         8
#define CASCADE_LANES cascade_lanes8
#include "reference/exact/cascade_lanes.h"
