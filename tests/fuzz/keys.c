/* Files of keys. */
#include "experiments/inputs/keys.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[320];
    struct keys k;
    struct problem p = {0};
    snprintf(text, sizeof text, "file:%s", fuzz_file("keys", data, size));
    enum status status = keys_parse(&k, text, &p);
    fuzz_problem(status, &p);
    if (status != STATUS_OK)
        return 0;
    fuzz_hold(k.count <= size, "%zu keys out of %zu bytes", k.count, size);
    for (size_t i = 0; i < k.count; i++)
        fuzz_hold(k.given[i] < KEYS_BINS_MAX, "key %zu is %u", i, k.given[i]);
    keys_free(&k);
    return 0;
}
