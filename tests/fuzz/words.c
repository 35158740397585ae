/* What options say: lists, numbers, inputs, keys, layouts, formats. The first byte says which. What
 * is read of an input is written as a specification that reads as the same. */
#include <math.h>

#include "experiments/inputs/input.h"
#include "experiments/inputs/keys.h"
#include "experiments/operations/layout.h"
#include "experiments/options/options.h"
#include "experiments/options/pairs.h"
#include "tests/fuzz/fuzz.h"

static enum status read_list(const char *text, struct problem *p)
{
    struct list list = {0};
    enum status status = list_split(&list, text, p);
    for (size_t i = 0; i < list.count; i++)
        fuzz_hold(strlen(list.item[i]) <= strlen(text), "'%s' of '%s'", list.item[i], text);
    list_free(&list);
    return status;
}

static enum status read_numbers(const char *text, struct problem *p)
{
    struct numbers numbers = {0};
    enum status status = numbers_parse(&numbers, "n", text, RANGE_EVERY, 2, 1000, p);
    for (size_t i = 0; i < numbers.count; i++)
        fuzz_hold(numbers.item[i] >= 2 && numbers.item[i] <= 1000, "'%s'", text);
    numbers_free(&numbers);
    return status;
}

static enum status read_real(const char *text, struct problem *p)
{
    double value;
    enum status status = real_parse(&value, "seconds", text, p);
    fuzz_hold(status != STATUS_OK || (value > 0 && value < INFINITY), "'%s' is %g", text, value);
    return status;
}

static enum status read_input(const char *text, struct problem *p)
{
    struct input in, again;
    char name[INPUT_TEXT], twice[INPUT_TEXT];
    enum status status = input_parse(&in, text, p);
    if (status != STATUS_OK)
        return status;
    input_name(&in, name);
    fuzz_hold(input_parse(&again, name, p) == STATUS_OK, "'%s': %s", name, p->text);
    input_name(&again, twice);
    fuzz_hold(strcmp(name, twice) == 0, "'%s' and '%s'", name, twice);
    return status;
}

static enum status read_keys(const char *text, struct problem *p)
{
    struct keys keys;
    if (strncmp(text, "file:", 5) == 0) /* files are another harness' */
        return STATUS_OK;
    enum status status = keys_parse(&keys, text, p);
    if (status == STATUS_OK)
        keys_free(&keys);
    return status;
}

static enum status read_layout(const char *text, struct problem *p)
{
    struct layout layout;
    return layout_parse(&layout, text, p);
}

static enum status read_pairs(const char *text, struct problem *p)
{
    struct pairs pairs = {0};
    return pairs_parse(&pairs, text, p);
}

static enum status (*const readers[])(const char *, struct problem *) = {
    read_list, read_numbers, read_real, read_input, read_keys, read_layout, read_pairs};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct problem p = {0};
    if (size == 0)
        return 0;
    char *text = strndup((const char *)data + 1, size - 1);
    fuzz_problem(readers[data[0] % (sizeof readers / sizeof *readers)](text, &p), &p);
    free(text);
    return 0;
}
