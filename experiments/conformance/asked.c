#include "experiments/conformance/asked.h"
#include "experiments/conformance/product.h"
#include "experiments/operations/shape.h"
#include "reports/text/near.h"

static enum status read_formats(struct conformance_asked *s, struct problem *p)
{
    struct list names = {0};
    struct formats storage = {0}, accumulator = {0};
    enum status status = argument_list(s->a, "storage", &names, p);
    if (status == STATUS_OK)
        status = formats_parse(&storage, "storage", &names, p);
    list_free(&names);
    names = (struct list){0};
    if (status == STATUS_OK)
        status = argument_list(s->a, "accumulator", &names, p);
    if (status == STATUS_OK)
        status = formats_parse(&accumulator, "accumulator", &names, p);
    list_free(&names);
    if (status == STATUS_OK)
        status = pairs_parse(&s->request.pairs, "all", p);
    if (status == STATUS_OK)
        pairs_narrow(&s->request.pairs, &storage, &accumulator);
    return status;
}

static enum status read_scans(struct conformance_asked *s, struct problem *p)
{
    struct list names = {0};
    uint64_t segment = 0;
    enum status status = argument_list(s->a, "scan", &names, p);
    for (size_t i = 0; i < names.count && status == STATUS_OK; i++) {
        bool inclusive = strcmp(names.item[i], "inclusive") == 0;
        if (!inclusive && strcmp(names.item[i], "exclusive") != 0)
            status = near_unknown_option(p, "scan", names.item[i], "inclusive or exclusive");
        s->request.scan[!inclusive] = true;
    }
    list_free(&names);
    if (status == STATUS_OK)
        status = argument_number(s->a, "segment", 0, 0, SIZE_MAX, &segment, p);
    s->request.segment = segment;
    return status;
}

static enum status read_shape(struct conformance_asked *s, struct problem *p)
{
    uint64_t threads = 0, blocks = 0, seed = 1;
    enum status status = argument_number(s->a, "threads", 0, 1, THREADS_MAX, &threads, p);
    if (status == STATUS_OK)
        status = argument_number(s->a, "blocks", 0, 1, BLOCKS_MAX, &blocks, p);
    if (status == STATUS_OK)
        status = argument_number(s->a, "seed", 1, 0, UINT64_MAX, &seed, p);
    s->request.shape = (struct shape){(unsigned)threads, (unsigned)blocks};
    s->request.seed = seed;
    return status;
}

static enum status one_file(const struct arguments *a, struct problem *p)
{
    size_t files;
    enum status status = argument_items(a, "data", &files, p);
    if (status == STATUS_OK && files > 1)
        status = problem(p, STATUS_USAGE,
                         "option --data: found %zu files, expected one for check --special", files);
    return status;
}

/* The user's own input, as it is; where a storage is named, the file is read as that. */
static enum status read_data(struct conformance_asked *s, struct problem *p)
{
    struct data_options options = {.storage = FORMATS,
                                   .convert = true,
                                   .saturate = argument_flag(s->a, "saturate"),
                                   .raw = argument_flag(s->a, "raw")};
    const char *path = argument_value(s->a, "data"), *storage = argument_value(s->a, "storage");
    if (!path)
        return STATUS_OK;
    enum status status = one_file(s->a, p);
    if (status == STATUS_OK && storage)
        status = format_parse(&options.storage, "storage", storage, p);
    if (status == STATUS_OK)
        status = data_read(&s->data, path, &options, p);
    if (status == STATUS_OK && s->data.count != 1)
        return problem(p, STATUS_USAGE, "%s: found %zu tensors, expected one: PATH#TENSOR", path,
                       s->data.count);
    if (status != STATUS_OK || !s->data.item[0].converted)
        return status;
    return problem(p, STATUS_USAGE,
                   "%s: holds %s, expected %s: check --special rounds no data, ask for --storage "
                   "%s",
                   path, format_facts[s->data.item[0].file_format].name, storage,
                   format_facts[s->data.item[0].file_format].name);
}

/* A dot product's is one file, too: x first, then y. */
enum status conformance_asked_of(struct conformance_asked *s, const struct method *m,
                                 struct problem *p)
{
    if (!argument_value(s->a, "data"))
        return STATUS_OK;
    struct array all = s->data.item[0].array;
    s->input = (struct special_input){all, {all.format, all.n, NULL}};
    s->request.data = &s->input;
    s->request.rows = special_reads_rows(m) && s->data.item[0].rows ? s->data.item[0].rows : 1;
    if (!special_reads_two(m))
        return STATUS_OK;
    if (all.n % 2)
        return problem(p, STATUS_DATA,
                       "%s: found %zu elements, expected an even number for %s: x first, then y",
                       argument_value(s->a, "data"), all.n, m->name);
    size_t half = array_bytes(all.format, all.n / 2);
    s->input.x.n = s->input.y.n = all.n / 2;
    s->input.y.data = (char *)all.data + half;
    return STATUS_OK;
}

static enum status read_products(struct conformance_asked *s, struct problem *p)
{
    struct list names = {0};
    enum status status = argument_list(s->a, "product", &names, p);
    for (size_t i = 0; i < names.count && status == STATUS_OK; i++) {
        enum product_kind how = PRODUCT_ROUNDED;
        while (how < PRODUCT_UNKNOWN && strcmp(names.item[i], product_name[how]) != 0)
            how++;
        s->request.products |= 1u << how;
        if (how == PRODUCT_UNKNOWN)
            status = near_unknown_option(p, "product", names.item[i], "rounded, fused or exact");
    }
    list_free(&names);
    return status;
}

static enum status read_seconds(struct conformance_asked *s, struct problem *p)
{
    const char *text = argument_value(s->a, "seconds");
    return text ? real_parse(&s->request.seconds, "seconds", text, p) : STATUS_OK;
}

static enum status read_chip(struct conformance_asked *s, struct problem *p)
{
    const char *text = argument_value(s->a, "chip");
    return text ? chip_parse(&s->request.chip, text, p) : STATUS_OK;
}

enum status conformance_asked_read(struct conformance_asked *s, const struct arguments *a,
                                   struct problem *p)
{
    s->a = a;
    s->request.program = s->a->argc > 0 ? s->a->argv[0] : NULL;
    enum status status = argument_list(s->a, "device", &s->devices, p);
    if (status == STATUS_OK && s->devices.count == 0)
        status = list_split(&s->devices, "auto", p);
    if (status == STATUS_OK)
        status = read_formats(s, p);
    if (status == STATUS_OK)
        status = read_scans(s, p);
    if (status == STATUS_OK)
        status = read_shape(s, p);
    if (status == STATUS_OK)
        status = read_products(s, p);
    if (status == STATUS_OK)
        status = read_seconds(s, p);
    if (status == STATUS_OK)
        status = read_chip(s, p);
    return status == STATUS_OK ? read_data(s, p) : status;
}

void conformance_asked_free(struct conformance_asked *s)
{
    data_free(&s->data);
    list_free(&s->devices);
}
