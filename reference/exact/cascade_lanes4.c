#define LANES         4
#define CASCADE_LANES cascade_lanes4
#include "reference/exact/cascade_lanes.h"
