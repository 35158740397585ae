#include "experiments/operations/scan.h"

#include <assert.h>

const char *const scan_name[SCAN_KINDS] = {
    [SCAN_INCLUSIVE] = "inclusive",
    [SCAN_EXCLUSIVE] = "exclusive",
};
const char *const output_name[OUTPUT_KINDS] = {
    [OUTPUT_ACCUMULATOR] = "accumulator",
    [OUTPUT_STORAGE] = "storage",
};
