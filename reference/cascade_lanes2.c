#define LANES         2
#define CASCADE_LANES cascade_lanes2
#include "reference/cascade_lanes.h"
