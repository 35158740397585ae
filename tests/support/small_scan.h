/* scan/tiled, scan/compensated and scan/segmented with other constants (see CMakeLists.txt): so
 * small that a thousand elements are several super-groups. */
#pragma once

#include "kernels/method/method.h"

enum {
    SMALL_CHUNK = 3,
    SMALL_CHUNKS = 4,
    SMALL_ROWS = 2,
    SMALL_GROUP = 4,
    SMALL_SUPER = SMALL_CHUNK * SMALL_CHUNKS * SMALL_ROWS * SMALL_GROUP * SMALL_GROUP
};
extern const struct method small_tiled, small_compensated, small_segmented;
