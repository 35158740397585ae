#define LANES         4
#define CASCADE_LANES cascade_lanes4
#include "reference/cascade_lanes.h"
