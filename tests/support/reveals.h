/* Orders that methods reveal, held to those that they declare. */
#pragma once

#include "experiments/reveal/method.h"
#include "tests/support/holds.h"

/* Reveals a case of a method that declares an order. True if it is that one, or, where no element
 * can make an order show in these formats, if that is what is found out. */
bool reveals_declared(const struct reveal_case *c, char why[WHY]);

/* Of a method without an order whose bits do not depend on one: what is found must not be an
 * order, nor that there is none. */
bool reveals_nothing(const struct reveal_case *c, char why[WHY]);

/* Reveals and judges by the above, whichever applies; nothing is asked of a method that promises
 * nothing. */
bool reveals_right(const struct reveal_case *c, char why[WHY]);
