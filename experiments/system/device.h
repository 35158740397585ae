/* What a case runs on. */
#pragma once

#include "kernels/method/method.h"

struct device {
    enum device_kind kind;
    int index; /* of the GPU; 0 for the CPU */
};

enum { DEVICE_TEXT = 16 };

/* "cpu", "cuda:0". */
void device_name(struct device d, char text[DEVICE_TEXT]);

/* Reads cpu, cuda, cuda:1, or auto (the first GPU if there is one, else the CPU). STATUS_USAGE
 * where it is none of them, STATUS_DEVICE where there is no such GPU. */
enum status device_parse(struct device *d, const char *text, struct problem *p);

/* From now on a GPU that is named need not be here: nothing is run, what was run is read. */
void device_names_only(void);
