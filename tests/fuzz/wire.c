/* Requests of the wire: what is read is written as the same request. */
#include "experiments/subjects/wire.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char line[WIRE_LINE], written[WIRE_LINE];
    struct wire_request r, again;
    struct problem p = {0};
    if (size >= sizeof line)
        return 0;
    memcpy(line, data, size);
    line[size] = 0;
    enum status status = wire_parse(&r, line, &p);
    fuzz_problem(status, &p);
    if (status != STATUS_OK)
        return 0;
    wire_write(written, &r);
    fuzz_hold(*written && written[strlen(written) - 1] == '\n', "'%s'", written);
    written[strlen(written) - 1] = 0;
    fuzz_hold(wire_parse(&again, written, &p) == STATUS_OK, "'%s': %s", written, p.text);
    fuzz_hold(again.operation == r.operation && again.n == r.n && again.storage == r.storage &&
                  again.accumulator == r.accumulator && again.output == r.output &&
                  again.exclusive == r.exclusive && again.bins == r.bins &&
                  again.stride == r.stride,
              "'%s' became '%s'", line, written);
    return 0;
}
