#include "experiments/reveal/product.h"

#include "experiments/reveal/report.h"
#include "reports/text/table.h"

/* Names the rows of the table of instructions whose rule was found; returns how many. */
static size_t rows_of(struct text *to, const struct reveal_product *r)
{
    size_t count = 0;
    char name[MMA_NAME];
    for (size_t i = 0; i < mma_instruction_count; i++)
        if (reveal_matrix_agrees(&r->found, &r->asked, &mma_instructions[i].rule)) {
            mma_name(name, &mma_instructions[i]);
            text_format(to, "%s%s", count++ ? ", " : "", name);
        }
    return count;
}

/* Is there something in the table to agree with? */
static bool is_comparable(const struct reveal_product *r)
{
    return r->found.verdict == REVEAL_MATRIX_RULE ||
           (r->found.verdict == REVEAL_MATRIX_ADDS && !r->found.plain);
}

static void print_wrapped(FILE *to, struct text *line)
{
    struct text out = {0};
    text_wrapped(&out, line, TABLE_COLUMNS, 2);
    fputs(text_string(&out) ? text_string(&out) : "", to);
    text_free(&out);
    text_free(line);
}

static void print_rows(FILE *to, const struct reveal_product *r)
{
    struct text line = {0}, rows = {0};
    if (!is_comparable(r))
        return;
    size_t count = rows_of(&rows, r);
    if (count > 0)
        text_format(&line, "agrees with %s%s", text_string(&rows),
                    r->found.plain || reveal_matrix_one_chain(&r->found) ? "" : ", chain by chain");
    else
        text_add(&line, "agrees with no instruction of ulpscope list chips");
    if (count > 0 && r->found.plain)
        text_add(&line, ", as does any loop of fused multiply-adds onto C");
    print_wrapped(to, &line);
    text_free(&rows);
}

/* Several chains: as many of another k, or as long ones? */
static void print_slices(FILE *to, const struct reveal_product *r)
{
    struct text line = {0};
    const struct matrix_chains *c = &r->chains, *other = &r->other;
    if (c->count < 2 || reveal_matrix_one_chain(&r->found) ||
        r->found.verdict == REVEAL_MATRIX_NOT_TOLD)
        return;
    text_format(&line, "slices: ");
    if (!r->other_k)
        text_add(&line, "whether their number or their length is fixed was not told");
    else if (other->count == c->count && c->stride != 1)
        text_format(&line, "with k = %zu also %zu chains: lanes, or split-K", r->other_k,
                    other->count);
    else if (other->count == c->count)
        text_format(&line, "with k = %zu also %zu chains: split-K", r->other_k, other->count);
    else if (c->length && other->length == c->length)
        text_format(
            &line,
            "with k = %zu %zu chain%s of %zu products too: slices of one length, as of tiles "
            "or promotion",
            r->other_k, other->count, other->count == 1 ? "" : "s", other->length);
    else
        text_format(&line, "with k = %zu %zu chain%s", r->other_k, other->count,
                    other->count == 1 ? "" : "s");
    print_wrapped(to, &line);
}

void reveal_product_print(FILE *to, const struct reveal_product *r)
{
    char title[REVEAL_PRODUCT_TITLE];
    reveal_product_title(title, &r->of);
    struct text line = {0};
    text_format(&line, "%s: %s", title, reveal_matrix_verdict(&r->found));
    print_wrapped(to, &line);
    print_rows(to, r);
    reveal_matrix_details(to, &r->found, &r->asked);
    print_slices(to, r);
    if (r->model)
        fprintf(to, "as listed (ulpscope list %s): %s\n", r->model->chip, r->listed ? "yes" : "no");
}

static const char *const verdict_names[] = {
    [REVEAL_MATRIX_RULE] = "rule",
    [REVEAL_MATRIX_TREE] = "tree",
    [REVEAL_MATRIX_OTHERWISE] = "otherwise",
    [REVEAL_MATRIX_EXACT] = "exact",
    [REVEAL_MATRIX_NO_TREE] = "no_tree",
    [REVEAL_MATRIX_CHANGES] = "changes",
    [REVEAL_MATRIX_PLACES] = "places",
    [REVEAL_MATRIX_ADDS] = "additions",
    [REVEAL_MATRIX_NO_PRODUCT] = "no_product",
    [REVEAL_MATRIX_IRREGULAR] = "irregular",
    [REVEAL_MATRIX_NOT_TOLD] = "not_told",
    [REVEAL_MATRIX_DATA] = "depends_on_data",
};

static const char *products_name(const struct reveal_matrix *f)
{
    return !f->plain || !f->held                ? NULL
           : f->products == REVEAL_PRODUCTS_ALL ? "exact"
           : f->products & REVEAL_ROUNDED       ? "rounded"
           : f->products                        ? "fused"
                                                : NULL;
}

static json_t *known(bool is, int value)
{
    return is ? json_integer(value) : json_null();
}

static json_t *rows_json(const struct reveal_product *r)
{
    json_t *rows = json_array();
    char name[MMA_NAME];
    for (size_t i = 0; i < mma_instruction_count; i++)
        if (reveal_matrix_agrees(&r->found, &r->asked, &mma_instructions[i].rule)) {
            mma_name(name, &mma_instructions[i]);
            json_array_append_new(rows, json_string(name));
        }
    return rows;
}

json_t *reveal_product_json(const struct reveal_product *r)
{
    const struct probe_spec *s = &r->of;
    const struct reveal_matrix *f = &r->found;
    const struct matrix_chains *c = &r->chains;
    const bool tree = f->tree.additions > 0, told = tree && f->verdict != REVEAL_MATRIX_NOT_TOLD,
               fused = told && !f->plain;
    char device[DEVICE_TEXT];
    device_name(s->device, device);
    return json_pack(
        "{ss ss ss ss ss sI sI sI sb ss ss? so so so ss? ss? ss? so so ss? so sI sI sI sb so so sI "
        "sI}",
        "method", s->method->name, "device", device, "storage", format_facts[s->storage].name,
        "accumulator", format_facts[s->accumulator].name, "output", format_facts[s->output].name,
        "m", (json_int_t)s->gemm.m, "n", (json_int_t)s->gemm.n, "k", (json_int_t)s->gemm.k,
        "takes_c", !s->gemm.no_c, "verdict", verdict_names[f->verdict], "words",
        *f->words ? f->words : NULL, "block", known(fused && f->block, f->rule.block),
        "fraction_bits", known(fused && f->fraction, f->rule.fraction), "kept_bits",
        known(told && f->kept, f->rule.kept), "rounding",
        !f->rounding || !told             ? NULL
        : f->rule.rounding == MMA_NEAREST ? "nearest"
                                          : "zero",
        "added_in",
        told && (int)f->adds < ACCUMULATORS && f->plain ? format_facts[f->adds].name : NULL,
        "products", products_name(f), "chains",
        tree ? json_integer((json_int_t)c->count) : json_null(), "chain_length",
        c->length ? json_integer((json_int_t)c->length) : json_null(), "c",
        tree ? matrix_c_words(c->c, r->asked.c_left_out) : NULL, "other_chains",
        r->other_k ? json_pack("{sI sI}", "k", (json_int_t)r->other_k, "chains",
                               (json_int_t)r->other.count)
                   : json_null(),
        "questions", (json_int_t)f->calls, "products_held", (json_int_t)f->held,
        "products_differing", (json_int_t)f->differing, "narrowed", (int)f->narrowed, "agrees_with",
        rows_json(r), "tree", tree ? reveal_tree_json(&f->tree) : json_null(), "told_apart",
        (json_int_t)(f->first ? f->first : s->gemm.k), "sampled", (json_int_t)f->sampled);
}
