#pragma once

/* What the outputs of a scan cover, and the format that they are rounded to. */
enum scan_kind { SCAN_INCLUSIVE, SCAN_EXCLUSIVE, SCAN_KINDS };
enum output_kind { OUTPUT_ACCUMULATOR, OUTPUT_STORAGE, OUTPUT_KINDS };
extern const char *const scan_name[SCAN_KINDS], *const output_name[OUTPUT_KINDS];
