/* The members of a manifest and of its entries: what the reader, the schema and the document say.
 */
#pragma once

#include "experiments/cases/axes.h"

struct gate_member {
    const char *name;
    bool whole, own; /* is it one of the manifest; of an entry */
    enum axis axis;  /* whose words it has; AXIS_METHOD: none */
    bool flag;       /* true or false */
};
extern const struct gate_member gate_members[]; /* ends with a NULL name */
enum { GATE_MEMBERS_MOST = 48 };
