/* The mergeable states of libulpscope, exact and binned, from bytes. */
#include "experiments/library/ulpscope.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 4096 };

static void same(const struct ulpscope_state *a, const void *bytes, size_t size, const char *what)
{
    uint8_t written[MOST];
    fuzz_hold(ulpscope_state_bytes(a) == size, "%s: %zu bytes, expected %zu", what,
              ulpscope_state_bytes(a), size);
    ulpscope_state_write(a, written);
    fuzz_hold(memcmp(written, bytes, size) == 0, "%s: other bytes", what);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ulpscope_state *s, *again;
    struct ulpscope_error error = {0};
    if (size == 0 || size > MOST)
        return 0;
    const uint8_t *bytes = data + 1;
    size--;
    enum ulpscope_format accumulator = data[0] % 4;
    enum ulpscope_status status = ulpscope_state_read(&s, bytes, size, accumulator, &error);
    fuzz_hold((status == ULPSCOPE_OK) == !*error.text, "status %d, '%s'", (int)status, error.text);
    if (status != ULPSCOPE_OK)
        return 0;
    /* What is read is written as it was, and twice itself as itself and its copy. */
    same(s, bytes, size, "read and written");
    double sum = ulpscope_state_sum(s);
    fuzz_hold(ulpscope_state_read(&again, bytes, size, accumulator, &error) == ULPSCOPE_OK, "%s",
              error.text);
    if (ulpscope_state_merge(again, s, &error) == ULPSCOPE_OK) {
        uint8_t twice[MOST];
        struct ulpscope_state *third;
        size_t count = ulpscope_state_bytes(again);
        double total = ulpscope_state_sum(again);
        ulpscope_state_write(again, twice);
        status = ulpscope_state_read(&third, twice, count, accumulator, &error);
        fuzz_hold(status == ULPSCOPE_OK, "a merged state is refused: %s", error.text);
        fuzz_hold((ulpscope_state_sum(third) == total) ||
                      (total != total && ulpscope_state_sum(third) != ulpscope_state_sum(third)),
                  "%a, expected %a", ulpscope_state_sum(third), total);
        fuzz_hold((sum != sum) == (total != total) || total != total, "%a twice is %a", sum, total);
        ulpscope_state_free(third);
    }
    ulpscope_state_free(again);
    ulpscope_state_free(s);
    return 0;
}
