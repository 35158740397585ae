#include "reports/results/case_id.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "kernels/method/method.h"
#include "reference/base/visible.h"

void case_id_text(char text[CASE_ID_TEXT], uint64_t id)
{
    snprintf(text, CASE_ID_TEXT, "%016" PRIx64, id);
}

static const char *number_of(const char *column)
{
    return *column ? column : "0";
}

/* As the program writes them (--layout). No family of keys is called so. */
static bool is_layout(const char *name)
{
    return strcmp(name, "row") == 0 || strcmp(name, "column") == 0 ||
           strncmp(name, "batch:", strlen("batch:")) == 0;
}

/* What the column `keys` tells of: keys, how rows lie, a mask, matrices, or ranks. */
static void write_keys(struct text *text, const char *const column[CASE_ALL],
                       const struct case_rest *rest)
{
    const char *name = column[CASE_KEYS];
    if (isdigit((unsigned char)*name)) { /* the shape of a matrix product */
        text_format(text, "shape=%s\noutput=%s\n", name, column[CASE_RESULT_FORMAT]);
        return;
    }
    bool transposed = strcmp(name, "transposed") == 0;
    if (strncmp(name, "keep:", 5) == 0) {
        text_format(text, "keep=%s\n", name + 5);
        if (!*column[CASE_SEED] && strcmp(rest->key_seed, "1") != 0) /* drawn for data */
            text_format(text, "key_seed=%s\n", rest->key_seed);
    } else if (transposed || is_layout(name)) {
        text_format(text, "rows=%s\nlayout=%s\n", number_of(column[CASE_BINS]),
                    transposed ? "" : name);
    } else if (*name) {
        char *keys = visible_unescape(name);
        bool ranks = strncmp(name, "ranks:", strlen("ranks:")) == 0; /* without a seed */
        text_format(text, "keys=%s %s\nbins=%s\nkey_seed=%s\n", keys ? keys : name, rest->keys_hash,
                    number_of(column[CASE_BINS]), ranks ? "0" : rest->key_seed);
        free(keys);
    }
}

uint64_t case_id_columns(const char *const column[CASE_ALL], const struct case_rest *rest)
{
    struct text text = {0};
    char *input = visible_named(column[CASE_INPUT]);
    text_format(&text, "method=%s\ndevice=%s\nstorage=%s\naccumulator=%s\ninput=%s\nn=%s\n",
                method_first_name(column[CASE_METHOD]), column[CASE_DEVICE], column[CASE_STORAGE],
                column[CASE_ACCUMULATOR], input ? input : "", column[CASE_N]);
    free(input);
    if (*column[CASE_SEED])
        text_format(&text, "seed=%s\n", column[CASE_SEED]);
    else
        text_format(&text, "hash=%s\n", rest->hash);
    text_format(&text, "threads=%s\nblocks=%s\n", number_of(column[CASE_THREADS]),
                number_of(column[CASE_BLOCKS]));
    if (*column[CASE_SCAN])
        text_format(&text, "scan=%s\noutput=%s\nsegment=%s\n", column[CASE_SCAN],
                    column[CASE_OUTPUT], number_of(column[CASE_SEGMENT]));
    if (*column[CASE_PRODUCT])
        text_format(&text, "product=%s\n", column[CASE_PRODUCT]);
    write_keys(&text, column, rest);
    if (*column[CASE_CHIP])
        text_format(&text, "chip=%s\npromote=%s\n", column[CASE_CHIP],
                    number_of(column[CASE_PROMOTE]));
    if (*column[CASE_WORKSPACE])
        text_format(&text, "workspace=%s\n", column[CASE_WORKSPACE]);
    if (*column[CASE_ALGORITHM])
        text_format(&text, "algorithm=%s\n", column[CASE_ALGORITHM]);
    if (*rest->load)
        text_format(&text, "load=%s\n", rest->load);
    uint64_t id = XXH64(text.data, text.length, 0);
    text_free(&text);
    return id;
}
