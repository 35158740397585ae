#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#include "experiments/cases/plan.h"
#include "reference/base/visible.h"

/* Nothing of the machine. Changing this text changes the ids of all cases: that is another schema
 * version. */
uint64_t case_id(const struct study_case *t, const struct source *s)
{
    struct text text = {0};
    char *input = visible_named(s->name),
         *keys = t->setting.keys ? visible_unescape(t->setting.keys->name) : NULL;
    char device[DEVICE_TEXT];
    device_name(t->device, device);
    text_format(&text, "method=%s\ndevice=%s\nstorage=%s\naccumulator=%s\ninput=%s\nn=%zu\n",
                t->method->name, device, format_facts[s->array.format].name,
                format_facts[t->accumulator].name, input ? input : s->name, s->array.n);
    if (s->generated)
        text_format(&text, "seed=%" PRIu64 "\n", s->seed);
    else
        text_format(&text, "hash=%s\n", s->hash);
    text_format(&text, "threads=%u\nblocks=%u\n", t->shape.threads, t->shape.blocks);
    if (t->method->operation == &operation_scan)
        text_format(&text, "scan=%s\noutput=%s\nsegment=%zu\n", scan_name[t->setting.exclusive],
                    format_facts[t->setting.output].name, t->setting.segment);
    if (t->setting.product != PRODUCT_NONE)
        text_format(&text, "product=%s\n", product_name[t->setting.product]);
    if (t->setting.keys)
        text_format(&text, "keys=%s %s\nbins=%zu\nkey_seed=%" PRIu64 "\n",
                    keys ? keys : t->setting.keys->name, t->setting.keys->hash, t->setting.bins,
                    t->setting.key_seed);
    if (t->method->operation->matrix)
        text_format(&text, "rows=%zu\nlayout=%s\n", t->setting.bins,
                    t->setting.layout ? t->setting.layout->name : "");
    if (t->method->operation->mask)
        text_format(&text, "keep=%zu\n", t->setting.keep);
    if (t->load != LOAD_IDLE)
        text_format(&text, "load=%s\n", load_name[t->load]);
    uint64_t id = XXH64(text.data, text.length, 0);
    text_free(&text);
    free(input);
    free(keys);
    return id;
}

const char *case_keys(const struct study_case *t, char text[CASE_KEYS_TEXT])
{
    if (t->setting.keys)
        return t->setting.keys->name;
    if (t->setting.layout)
        return t->setting.layout->name;
    snprintf(text, CASE_KEYS_TEXT, "keep:%zu", t->setting.keep);
    return t->method->operation->mask ? text : t->method->operation->matrix ? "transposed" : "";
}
