/* The readers of users' files. FUZZ_NAME says which: the name of the file. The first byte of the
 * input says what is asked for. */
#include "experiments/data/data.h"
#include "tests/fuzz/fuzz.h"

/* How many elements a byte may become: of deflate 1032. */
#ifndef FUZZ_MEMBER
#define FUZZ_MEMBER ""
#endif
#ifndef FUZZ_MOST
#define FUZZ_MOST 1
#endif

static volatile double sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct data_options options = {.storage = data[0] % (FORMATS + 1),
                                   .convert = data[0] / (FORMATS + 1) % 2};
    struct problem p = {0};
    struct data_set set;
    char path[340];
    snprintf(path, sizeof path, "%s" FUZZ_MEMBER, fuzz_file(FUZZ_NAME, data + 1, size - 1));
    enum status status = data_read(&set, path, &options, &p);
    fuzz_problem(status, &p);
    fuzz_hold(status == STATUS_OK || set.count == 0, "%zu arrays remain", set.count);
    for (size_t i = 0; i < set.count; i++) {
        const struct array *a = &set.item[i].array;
        fuzz_hold(a->n <= size * FUZZ_MOST, "%zu elements out of %zu bytes", a->n, size - 1);
        for (size_t k = 0; k < a->n; k++)
            sink += array_get(a, k);
    }
    if (status == STATUS_OK)
        data_free(&set);
    return 0;
}
