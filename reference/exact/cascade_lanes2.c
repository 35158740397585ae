#define LANES         2
#define CASCADE_LANES cascade_lanes2
#include "reference/exact/cascade_lanes.h"
