/* Commands that show a finding again. */
#include "experiments/system/shell.h"
#include "experiments/conformance/report.h"
#include "reference/format/number.h"

const char *conformance_report_class(const struct conformance_report *r, size_t class)
{
    return r->request.data ? "data" : special_class[class]->name;
}

void conformance_file(struct text *to, const struct conformance_report *r, size_t class,
                      const char *folder)
{
    const struct conformance_subject *s = &r->all[class].first->subject;
    text_format(to, "%s/%s%s-%s-%s", folder, r->request.prefix, conformance_report_class(r, class),
                format_facts[s->storage].name, format_facts[s->accumulator].name);
    if (s->device.kind == DEVICE_CUDA)
        text_format(to, "-cuda%d", s->device.index);
    text_add(to, ".npy");
}

enum { LISTED = 16, OTHERS = 8 };

/* Few elements, each in its place; of two arrays, x first, then y. */
static void add_list(struct text *to, const struct special_input *in)
{
    char number[NUMBER_TEXT];
    text_add(to, "printf '%s\\n'");
    for (size_t i = 0; i < in->x.n; i++) {
        number_hex(number, array_get(&in->x, i));
        text_format(to, " %s", number);
    }
    for (size_t i = 0; in->y.data && i < in->y.n; i++) {
        number_hex(number, array_get(&in->y, i));
        text_format(to, " %s", number);
    }
}

/* Many, most of which are alike. */
static void add_loop(struct text *to, const struct array *in)
{
    char number[NUMBER_TEXT], other[NUMBER_TEXT];
    size_t others;
    uint64_t common = special_common(in, &others);
    number_hex(number, format_decode(in->format, common));
    text_format(to, "awk 'BEGIN { for (i = 0; i < %zu; i++) print ", in->n);
    for (size_t i = 0; i < in->n; i++) {
        if (array_bits(in, i) == common)
            continue;
        number_hex(other, array_get(in, i));
        text_format(to, "i == %zu ? \"%s\" : ", i, other);
    }
    text_format(to, "\"%s\" }'", number);
}

static bool is_long(const struct array *in)
{
    size_t others = 0;
    if (in->data && in->n > LISTED)
        special_common(in, &others);
    return others > OTHERS;
}

/* The elements as lines of text. */
static bool add_pipe(struct text *to, const struct special_input *in)
{
    if (in->x.n == 0 || is_long(&in->x) || is_long(&in->y))
        return false;
    if (in->x.n <= LISTED) {
        add_list(to, in);
    } else if (!in->y.data) {
        add_loop(to, &in->x);
    } else {
        text_add(to, "{ ");
        add_loop(to, &in->x);
        text_add(to, "; ");
        add_loop(to, &in->y);
        text_add(to, "; }");
    }
    text_add(to, " | ");
    return true;
}

void conformance_command(struct text *to, const struct conformance_report *r, size_t class,
                         const char *folder)
{
    const struct conformance_finding *f = r->all[class].first;
    const struct conformance_subject *s = &f->subject;
    char device[DEVICE_TEXT];
    device_name(s->device, device);
    bool pipe = !folder && add_pipe(to, &f->in);
    shell_word(to, r->request.program ? r->request.program : "ulpscope");
    text_add(to, " check ");
    shell_word(to, s->method->name);
    text_add(to, " --special");
    if (folder) {
        struct text file = {0};
        conformance_file(&file, r, class, folder);
        const char *path = text_string(&file);
        text_add(to, " --data ");
        shell_word(to, path ? path : folder);
        text_free(&file);
    } else if (pipe) {
        text_add(to, " --data /dev/stdin"); /* `-` with a storage would be raw numbers */
    }
    text_format(to, " --device %s --storage %s --accumulator %s", device,
                format_facts[s->storage].name, format_facts[s->accumulator].name);
    if (s->shape.threads)
        text_format(to, " --threads %u", s->shape.threads);
    if (s->shape.blocks)
        text_format(to, " --blocks %u", s->shape.blocks);
    if (s->method->operation->array)
        text_format(to, " --scan %s", s->exclusive ? "exclusive" : "inclusive");
    if (s->product && s->product != PRODUCT_UNKNOWN)
        text_format(to, " --product %s", product_name[s->product]);
    if (s->segment)
        text_format(to, " --segment %zu", s->segment);
    if (!folder && !pipe)
        text_format(to, " --seed %ju", (uintmax_t)r->request.seed);
}
