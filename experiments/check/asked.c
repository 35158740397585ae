/* From words, as options and study.json have them, to what is to be checked. */
#include <stdlib.h>

#include "experiments/cases/axes.h"
#include "experiments/check/batches.h"
#include "experiments/check/data.h"
#include "experiments/inputs/cache.h"
#include "reference/base/grow.h"
#include "reports/text/near.h"

enum { DEFAULT_SECONDS = 10 };

static enum status read_pairs(struct check_request *r, const struct request *q, struct problem *p)
{
    /* The most usual first: time may end the list. */
    static const char *const all[] = {"fp32/fp32", "fp64/fp64", "fp16/fp32", "bf16/fp32", "all"};
    const struct list *named = &q->axis[AXIS_FORMATS];
    struct formats storage = {0}, accumulator = {0};
    size_t count = named->count ? named->count : sizeof all / sizeof *all;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = pairs_parse(&r->pairs, named->count ? named->item[i] : all[i], p);
    if (status == STATUS_OK)
        status = formats_parse(&storage, "storage", &q->axis[AXIS_STORAGE], p);
    if (status == STATUS_OK)
        status = formats_parse(&accumulator, "accumulator", &q->axis[AXIS_ACCUMULATOR], p);
    if (status == STATUS_OK)
        pairs_narrow(&r->pairs, &storage, &accumulator);
    return status;
}

static enum status read_inputs(struct check_request *r, const struct list *names, struct problem *p)
{
    if (names->count == 0)
        return STATUS_OK;
    struct input *input = calloc(names->count, sizeof *input);
    enum status status = input ? STATUS_OK : problem(p, STATUS_MEMORY, "check: out of memory");
    r->input = input;
    for (size_t i = 0; i < names->count && status == STATUS_OK; i++)
        status = input_parse(&input[i], names->item[i], p);
    r->inputs = names->count;
    return status;
}

static enum status read_scans(struct check_request *r, const struct list *names, struct problem *p)
{
    for (size_t i = 0; i < names->count; i++) {
        size_t which = 0;
        while (which < SCAN_KINDS && strcmp(names->item[i], scan_name[which]) != 0)
            which++;
        if (which == SCAN_KINDS)
            return near_unknown_option(p, "scan", names->item[i], "inclusive or exclusive");
        r->scan[which] = true;
    }
    return STATUS_OK;
}

static enum status read_load(struct check_request *r, const struct list *names, struct problem *p)
{
    for (size_t i = 0; i < names->count; i++) {
        size_t which = 0;
        while (which < LOAD_KINDS && strcmp(names->item[i], load_name[which]) != 0)
            which++;
        if (which == LOAD_KINDS)
            return near_unknown_option(p, "load", names->item[i], "idle or busy");
        r->load[which] = true;
    }
    return STATUS_OK;
}

static enum status read_keys(struct check_request *r, const struct list *names, struct problem *p)
{
    if (names->count == 0)
        return STATUS_OK;
    r->setting.key = calloc(names->count, sizeof *r->setting.key);
    enum status status =
        r->setting.key ? STATUS_OK : problem(p, STATUS_MEMORY, "check: out of memory");
    for (size_t i = 0; i < names->count && status == STATUS_OK; i++) {
        status = keys_parse(&r->setting.key[i], names->item[i], p);
        r->setting.keys += status == STATUS_OK;
    }
    return status;
}

static enum status read_range(struct numbers *numbers, const struct request *q, enum axis axis,
                              enum range range, uint64_t least, uint64_t most, struct problem *p)
{
    const struct list *words = &q->axis[axis];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < words->count && status == STATUS_OK; i++)
        status = numbers_parse(numbers, axis_name[axis], words->item[i], range, least, most, p);
    return status;
}

static enum status read_list(struct numbers *numbers, const struct request *q, enum axis axis,
                             uint64_t least, uint64_t most, struct problem *p)
{
    return read_range(numbers, q, axis, RANGE_DOUBLING, least, most, p);
}

/* One number, or `otherwise`. */
static enum status read_one(uint64_t *value, const struct request *q, enum axis axis,
                            uint64_t least, uint64_t most, uint64_t otherwise, struct problem *p)
{
    struct numbers numbers = {0};
    enum status status = read_range(&numbers, q, axis, RANGE_EVERY, least, most, p);
    if (status == STATUS_OK && numbers.count > 1)
        status = problem(p, STATUS_USAGE, "option --%s: found %zu numbers, expected one",
                         axis_name[axis], numbers.count);
    *value = numbers.count ? numbers.item[0] : otherwise;
    numbers_free(&numbers);
    return status;
}

static enum status read_seconds(double *seconds, const struct list *words, struct problem *p)
{
    *seconds = DEFAULT_SECONDS;
    return words->count ? real_parse(seconds, "seconds", words->item[words->count - 1], p)
                        : STATUS_OK;
}

static enum status read_layouts(struct check_request *r, const struct list *names,
                                struct problem *p)
{
    if (names->count == 0)
        return STATUS_OK;
    r->setting.layout = calloc(names->count, sizeof *r->setting.layout);
    enum status status =
        r->setting.layout ? STATUS_OK : problem(p, STATUS_MEMORY, "check: out of memory");
    for (size_t i = 0; i < names->count && status == STATUS_OK; i++)
        status = layout_parse(&r->setting.layout[r->setting.layouts++], names->item[i], p);
    return status;
}

static enum status read_chips(struct check_request *r, const struct list *names, struct problem *p)
{
    if (names->count == 0)
        return STATUS_OK;
    r->setting.chip = calloc(names->count, sizeof *r->setting.chip);
    enum status status =
        r->setting.chip ? STATUS_OK : problem(p, STATUS_MEMORY, "check: out of memory");
    for (size_t i = 0; i < names->count && status == STATUS_OK; i++)
        status = chip_parse(&r->setting.chip[r->setting.chips++], names->item[i], p);
    return status;
}

/* Where nothing says how long inputs are, they are as long as the shapes take. */
static enum status read_shapes(struct check_request *r, const struct list *names, struct problem *p)
{
    if (names->count == 0)
        return STATUS_OK;
    r->setting.shape = calloc(names->count, sizeof *r->setting.shape);
    enum status status =
        r->setting.shape ? STATUS_OK : problem(p, STATUS_MEMORY, "check: out of memory");
    bool open = r->n.count == 0 && r->datas == 0;
    for (size_t i = 0; i < names->count && status == STATUS_OK; i++) {
        struct gemm_shape *s = &r->setting.shape[r->setting.shapes++];
        status = shape_parse(s, names->item[i], p);
        if (status != STATUS_OK || !open)
            continue;
        if (!grow(&r->n.item, r->n.count, sizeof *r->n.item))
            return problem(p, STATUS_MEMORY, "check: out of memory");
        r->n.item[r->n.count++] = gemm_elements(s);
    }
    return status;
}

enum status check_asked(struct check_request *r, const struct request *q, struct problem *p)
{
    r->cache = input_cache_new(CHECK_CACHE_BYTES);
    enum status status = read_pairs(r, q, p);
    if (status == STATUS_OK)
        status = check_read_data(r, q, p);
    if (status == STATUS_OK)
        status = read_inputs(r, &q->axis[AXIS_INPUT], p);
    if (status == STATUS_OK)
        status = read_load(r, &q->axis[AXIS_LOAD], p);
    if (status == STATUS_OK)
        status = read_scans(r, &q->axis[AXIS_SCAN], p);
    if (status == STATUS_OK)
        status = read_keys(r, &q->axis[AXIS_KEYS], p);
    if (status == STATUS_OK)
        status = read_list(&r->setting.bins, q, AXIS_BINS, 1, KEYS_BINS_MAX, p);
    if (status == STATUS_OK)
        status = read_layouts(r, &q->axis[AXIS_LAYOUT], p);
    if (status == STATUS_OK)
        status = read_list(&r->setting.rows, q, AXIS_ROWS, 0, LAYOUT_ROWS_MAX, p);
    if (status == STATUS_OK)
        status = read_list(&r->setting.keep, q, AXIS_KEEP, 0, 100, p);
    if (status == STATUS_OK)
        status = read_list(&r->setting.ranks, q, AXIS_RANKS, 1, RANKS_MOST, p);
    if (status == STATUS_OK)
        status = read_list(&r->setting.promote, q, AXIS_PROMOTE, 1, SHAPE_MOST, p);
    if (status == STATUS_OK)
        status = read_chips(r, &q->axis[AXIS_CHIP], p);
    if (status == STATUS_OK)
        status = read_list(&r->n, q, AXIS_N, 1, UINT64_C(1) << 40, p);
    if (status == STATUS_OK)
        status = check_data_lengths(r, p);
    if (status == STATUS_OK)
        status = read_shapes(r, &q->axis[AXIS_SHAPE], p);
    if (status == STATUS_OK)
        status = check_read_batches(r, q, p);
    if (status == STATUS_OK)
        status = read_list(&r->threads, q, AXIS_THREADS, 0, THREADS_MAX, p);
    if (status == STATUS_OK)
        status = read_list(&r->blocks, q, AXIS_BLOCKS, 0, BLOCKS_MAX, p);
    if (status == STATUS_OK)
        status = read_one(&r->seed, q, AXIS_SEED, 0, UINT64_MAX >> 1, 1, p);
    if (status == STATUS_OK)
        status = read_one(&r->runs, q, AXIS_RUNS, 2, 1000000, CHECK_RUNS, p);
    if (status == STATUS_OK)
        status = read_seconds(&r->seconds, &q->axis[AXIS_SECONDS], p);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r->tried[kind] = true;
    r->shrink = true;
    return status;
}

enum status check_devices(struct device devices[CHECK_DEVICES], size_t *count,
                          const struct request *q, struct problem *p)
{
    const struct list *names = &q->axis[AXIS_DEVICE];
    *count = 0;
    for (size_t i = 0; i < (names->count ? names->count : 1); i++) {
        struct device d;
        bool known = false;
        enum status status = device_parse(&d, names->count ? names->item[i] : "auto", p);
        if (status != STATUS_OK)
            return status;
        for (size_t k = 0; k < *count; k++)
            known |= devices[k].kind == d.kind && devices[k].index == d.index;
        if (!known && *count == CHECK_DEVICES)
            return problem(p, STATUS_USAGE, "option --device: found more than %d", CHECK_DEVICES);
        if (!known)
            devices[(*count)++] = d;
    }
    return STATUS_OK;
}

void check_request_free(struct check_request *r)
{
    input_cache_free(r->cache);
    r->cache = NULL;
    numbers_free(&r->n);
    numbers_free(&r->threads);
    numbers_free(&r->blocks);
    numbers_free(&r->setting.bins);
    numbers_free(&r->setting.rows);
    numbers_free(&r->setting.ranks);
    numbers_free(&r->setting.promote);
    free(r->setting.chip);
    r->setting.chip = NULL;
    r->setting.chips = 0;
    numbers_free(&r->setting.keep);
    free(r->setting.layout);
    r->setting.layout = NULL;
    r->setting.layouts = 0;
    free(r->setting.shape);
    r->setting.shape = NULL;
    r->setting.shapes = 0;
    for (size_t i = 0; i < r->setting.keys; i++)
        keys_free(&r->setting.key[i]);
    free(r->setting.key);
    r->setting.key = NULL;
    r->setting.keys = 0;
    check_batches_free(r);
    check_data_free(r);
    free((void *)r->input);
    r->input = NULL;
}
