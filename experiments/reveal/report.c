#include "experiments/reveal/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reveal/ask.h"
#include "experiments/operations/operation.h"
#include "reference/format/number.h"
#include "reports/text/table.h"
#include "reports/text/text.h"

enum status reveal_compare(struct reveal_beside *beside, const struct reveal *a,
                           const struct sum_tree *b, struct problem *p)
{
    beside->asked = true;
    beside->shown =
        a->tree.leaves > 0 && b->leaves > 0 && (a->verdict == REVEAL_TREE || a->held.fits);
    return beside->shown ? reveal_tree_difference(&beside->difference, &a->tree, b, p) : STATUS_OK;
}

enum status reveal_report_make(struct reveal_report *r, const struct reveal_case *c, uint64_t seed,
                               struct problem *p)
{
    bool declared = false;
    *r = (struct reveal_report){.of = *c};
    r->leaves = reveal_elements(c, &r->first);
    if (r->leaves == 0)
        return problem(p, STATUS_USAGE,
                       "option --prefix: found %zu, expected an output that sums an element",
                       c->prefix);
    enum status status = reveal_method(&r->found, c, seed, p);
    if (status == STATUS_OK)
        status = reveal_declared(&r->declared.tree, &declared, c, p);
    if (status == STATUS_OK && declared)
        status = reveal_compare(&r->declared, &r->found, &r->declared.tree, p);
    return status;
}

void reveal_report_free(struct reveal_report *r)
{
    reveal_free(&r->found);
    sum_tree_free(&r->declared.tree);
}

void reveal_title(char text[REVEAL_TITLE], const struct reveal_case *c)
{
    const struct probe_spec *s = &c->spec;
    struct shape shape = method_shape(s->method, s->device.kind, s->n, s->shape);
    char device[DEVICE_TEXT];
    int used;
    device_name(s->device, device);
    used = snprintf(text, REVEAL_TITLE, "%.200s on %s, %s/%s, n = %zu", s->method->name, device,
                    format_facts[s->storage].name, format_facts[s->accumulator].name, s->n);
    if (shape.threads && s->method->shape_order & SHAPE_THREADS)
        used += snprintf(text + used, REVEAL_TITLE - (size_t)used, ", %u thread%s", shape.threads,
                         text_s(shape.threads));
    if (shape.blocks && s->method->shape_order & SHAPE_BLOCKS)
        used += snprintf(text + used, REVEAL_TITLE - (size_t)used, ", %u block%s", shape.blocks,
                         text_s(shape.blocks));
    if (operation_asks(s->method->operation, SETTING_SCAN))
        snprintf(text + used, REVEAL_TITLE - (size_t)used, ", %s, output %zu",
                 s->exclusive ? "exclusive" : "inclusive", c->prefix);
}

enum status reveal_difference_text(char *text, size_t size, const struct reveal_difference *d,
                                   const struct sum_tree *a, const struct sum_tree *b,
                                   const char *a_name, const char *b_name, size_t first,
                                   struct problem *p)
{
    char one[SUM_TREE_SET], other[SUM_TREE_SET];
    const struct sum_tree *x = d->swapped ? b : a, *y = d->swapped ? a : b;
    enum status status = sum_tree_set_text(one, x, d->node, first, p);
    if (status == STATUS_OK)
        status = sum_tree_set_text(other, y, d->other, first, p);
    if (status == STATUS_OK)
        snprintf(text, size, "%s adds up %s before others; where %s has these together it has %s",
                 d->swapped ? b_name : a_name, one, d->swapped ? a_name : b_name, other);
    return status;
}

/* --- verdicts --- */

/* Of a power of two. */
static int exponent(double x)
{
    return ilogb(x);
}

void reveal_print_calls(uint64_t calls, const struct reveal_window *w)
{
    printf("%llu call%s", (unsigned long long)calls, calls == 1 ? "" : "s");
    if (w->bits && w->means == REVEAL_BY_MASKS)
        printf(": M = 2^%d, units from 2^%d on, %u element%s a call", exponent(w->mask),
               exponent(w->unit), w->bits, w->bits == 1 ? "" : "s");
}

static void print_asked(const struct reveal_report *of)
{
    const struct reveal *r = &of->found;
    const struct reveal_window *w = &r->window;
    bool squares = reveal_adds_squares(of->of.spec.method);
    reveal_print_calls(r->calls, w);
    if (w->bits && w->means == REVEAL_BY_TIES)
        printf(": M = %g, units %g: %s one, not %stwo together", w->mask, w->unit,
               squares ? "M^2 loses the square of" : "M loses", squares ? "of " : "");
    else if (w->bits && w->means == REVEAL_BY_OVERFLOW)
        printf(": L = 2^%d, where L + L overflows", exponent(w->mask));
    if (r->verdict == REVEAL_TREE && r->checks > 0)
        printf("; %llu more answers fit this tree", (unsigned long long)r->checks);
    printf("\n");
    if (r->verdict == REVEAL_TREE && w->means == REVEAL_BY_OVERFLOW && r->kept)
        printf("what rounding loses is kept, which hides the order from masks, but not where sums "
               "overflow\n");
    if (r->verdict == REVEAL_TREE && *r->words)
        printf("other answers, of calls before these, are not: %s\n", r->words);
}

static void print_held(const struct reveal *r)
{
    const struct reveal_held *h = &r->held;
    if (h->arrays == 0)
        return;
    printf("held to %llu arrays of other data: ",
           (unsigned long long)(h->arrays + (h->differing > 0 ? h->loaded : 0)));
    if (h->differing > 0)
        printf("%llu gave other bits than %s\n", (unsigned long long)h->differing,
               h->permuted ? "before elements that seem to be added at once were permuted"
                           : "the tree does");
    else if (h->permuted)
        printf("permuting elements added at once changed no bit\n");
    else if (h->loaded == 0)
        printf("all gave the bits of this tree\n");
    else
        printf("all gave the bits of this tree, %llu more while\nthe device had other work too, of "
               "the same and of new arrays\n",
               (unsigned long long)h->loaded);
}

/* Would a sum show, where this mean does not? */
static bool is_too_long(const struct probe_spec *s)
{
    struct reveal_window window[3];
    return reveal_divisor(s) > 0 &&
           reveal_windows(window, s->storage, s->accumulator, s->output, 0) > 0;
}

/* A paragraph: a line break in it is a blank. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    struct text line = {0}, out = {0};
    char *plain;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&plain, format, arguments);
    va_end(arguments);
    for (int i = 0; i < length; i++)
        text_append(&line, plain[i] == '\n' ? " " : plain + i, 1);
    if (length >= 0)
        free(plain);
    text_wrapped(&out, &line, TABLE_COLUMNS, 0);
    fputs(text_string(&out) ? text_string(&out) : "", stdout);
    text_free(&out);
}

static void print_products(const struct reveal *r, const struct probe_spec *s)
{
    const struct reveal_products *q = &r->products;
    unsigned long long asked = q->asked, rounded = q->rounded, unrounded = q->unrounded;
    if (r->verdict == REVEAL_NO_SUM)
        return;
    if (q->exact)
        say("products of %s are exact in %s: rounded before they are added or not, the bits are "
            "the "
            "same\n",
            format_facts[s->storage].name, format_facts[s->accumulator].name);
    else if (asked > 0 && rounded == asked)
        say("products: all %llu asked for are rounded before they are added\n", asked);
    else if (asked > 0 && unrounded == asked)
        say("products: all %llu asked for are added unrounded, as by fused multiply-adds\n", asked);
    else if (asked > 0)
        say("products: %llu of %llu asked for are added unrounded, as by fused multiply-adds; %llu "
            "%s rounded before, %s of element %zu\n",
            unrounded, asked, rounded, rounded == 1 ? "is" : "are",
            rounded == 1 ? "that" : "the first", q->first_rounded);
}

static void print_out_of_reach(const struct reveal_report *r)
{
    const struct format_facts *storage = &format_facts[r->of.spec.storage];
    const struct format_facts *accumulator = &format_facts[r->of.spec.accumulator];
    if (r->found.window.bits > 0 && r->found.window.means == REVEAL_BY_TIES)
        say("no order shows: what additions in %s would lose of each of two units counts wherever "
            "they stand: it adds exactly, all at once, or in more digits\n",
            accumulator->name);
    else if (r->found.window.bits == 0 && is_too_long(&r->of.spec))
        say("no order shows: a unit that %s loses beside its largest number, divided by %zu, is "
            "below the\nnormal numbers of %s: try fewer elements, or another format\n",
            accumulator->name, r->of.spec.n, format_facts[r->of.spec.output].name);
    else if (r->found.window.bits == 0)
        say("no order shows: elements of %s are below 2^%d and multiples of 2^%d, so %s, with %d "
            "bits,\nloses nothing of one that it adds to another\n",
            storage->name, storage->emax + 1, storage->emin - storage->precision + 1,
            accumulator->name, accumulator->precision);
    else
        say("no order shows: units are left that rounded additions would lose (%s).\nIt adds "
            "exactly, keeps what rounding loses, or in more digits than elements of %s can\n"
            "exhaust. Sums that overflow on the way would tell, but %s cannot overflow %s: "
            "try --storage %s\n",
            r->found.words, storage->name, storage->name, accumulator->name, accumulator->name);
}

const char *reveal_obstacle(char text[REVEAL_OBSTACLE], enum reveal_verdict v,
                            enum format accumulator)
{
    static const char *const what[] = {[REVEAL_CONTRADICTION] = "no tree of rounded additions",
                                       [REVEAL_CHANGES] = "no fixed order",
                                       [REVEAL_DATA] = "the order depends on the data",
                                       [REVEAL_FALSE] = "the order depends on the data, or it is ",
                                       [REVEAL_OTHERWISE] = "",
                                       [REVEAL_NO_SUM] = "not a sum of these elements"};
    bool otherwise = v == REVEAL_FALSE || v == REVEAL_OTHERWISE;
    snprintf(text, REVEAL_OBSTACLE, "%s%s%s%s", what[v], otherwise ? "not by additions in " : "",
             otherwise ? format_facts[accumulator].name : "", otherwise ? " alone" : "");
    return text;
}

static void print_verdict(const struct reveal_report *r)
{
    char text[REVEAL_OBSTACLE];
    if (r->found.verdict >= REVEAL_CONTRADICTION)
        say("%s: %s\n", reveal_obstacle(text, r->found.verdict, r->of.spec.accumulator),
            r->found.words);
    else if (r->found.verdict == REVEAL_EXACT)
        say("no order shows: every answer holds all other elements, and nothing overflows on the "
            "way: it adds\nexactly, or all at once\n");
    else
        print_out_of_reach(r);
}

static enum status print_declared(const struct reveal_report *r, struct problem *p)
{
    const struct reveal_beside *d = &r->declared;
    char text[3 * SUM_TREE_SET] = "";
    enum status status = STATUS_OK;
    if (d->shown && !d->difference.equal)
        status = reveal_difference_text(text, sizeof text, &d->difference, &r->found.tree, &d->tree,
                                        "it", "the declared order", r->first, p);
    printf("declared order: %s%s\n",
           !d->asked             ? "none"
           : !d->shown           ? "does not show"
           : d->difference.equal ? "equal"
                                 : "different: ",
           text);
    return status;
}

/* The answer, on one line behind the title. */
static const char *headline(char text[REVEAL_OBSTACLE], const struct reveal_report *r)
{
    const struct reveal_beside *d = &r->declared;
    if (r->found.verdict >= REVEAL_CONTRADICTION)
        return reveal_obstacle(text, r->found.verdict, r->of.spec.accumulator);
    if (r->found.verdict == REVEAL_EXACT)
        return "no order shows, it adds exactly or all at once";
    if (r->found.verdict == REVEAL_OUT_OF_REACH)
        return "no order shows";
    return !d->asked             ? "this order, none is declared"
           : !d->shown           ? "this order, the declared one does not show"
           : d->difference.equal ? "the declared order"
                                 : "NOT the declared order";
}

enum status reveal_report_print(const struct reveal_report *r, struct problem *p)
{
    char title[REVEAL_TITLE], text[REVEAL_OBSTACLE];
    reveal_title(title, &r->of);
    printf("%s: %s\n\n", title, headline(text, r));
    enum status status = STATUS_OK;
    if (r->found.verdict == REVEAL_TREE || r->found.held.fits) {
        status = sum_tree_text(stdout, &r->found.tree, r->first, p);
        printf("\n");
        if (status == STATUS_OK)
            status = sum_tree_facts(stdout, &r->found.tree, p);
        if (r->found.sampled)
            printf("all at once, or what is small beside the largest is lost wherever it stands "
                   "(asked of "
                   "neighbours and\nsome others; to be sure takes a call for each pair)\n");
    }
    if (r->found.verdict != REVEAL_TREE)
        print_verdict(r);
    print_asked(r);
    print_held(&r->found);
    print_products(&r->found, &r->of.spec);
    return status == STATUS_OK ? print_declared(r, p) : status;
}

enum status reveal_report_status(const struct reveal_report *r, struct problem *p)
{
    char text[REVEAL_OBSTACLE];
    char title[REVEAL_TITLE];
    reveal_title(title, &r->of);
    if (r->found.verdict >= REVEAL_CONTRADICTION)
        return problem(p, STATUS_FAILED, "reveal: %s: %s: %s", title,
                       reveal_obstacle(text, r->found.verdict, r->of.spec.accumulator),
                       r->found.words);
    if (r->declared.shown && !r->declared.difference.equal)
        return problem(p, STATUS_FAILED, "reveal: %s: the order is not the declared one", title);
    return STATUS_OK;
}

const char *const reveal_verdict_name[] = {
    [REVEAL_TREE] = "tree",
    [REVEAL_EXACT] = "exact",
    [REVEAL_OUT_OF_REACH] = "out_of_reach",
    [REVEAL_CONTRADICTION] = "contradiction",
    [REVEAL_CHANGES] = "changes",
    [REVEAL_DATA] = "depends_on_data",
    [REVEAL_FALSE] = "depends_on_data_or_not_in_pairs",
    [REVEAL_OTHERWISE] = "not_in_pairs",
    [REVEAL_NO_SUM] = "no_sum",
};

static json_t *integers(const uint32_t *item, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_integer(item[i]));
    return array;
}

/* Node `elements` + k has the children nodes[k]; nodes below `elements` are elements. */
json_t *reveal_tree_json(const struct sum_tree *t)
{
    struct sum_tree_nodes nodes;
    json_t *additions = json_array();
    if (sum_tree_nodes_make(&nodes, t, NULL) != STATUS_OK)
        return additions;
    for (size_t k = 0; k < t->additions; k++)
        json_array_append_new(additions,
                              integers(t->child + t->begin[k], t->begin[k + 1] - t->begin[k]));
    json_t *tree =
        json_pack("{so so}", "nodes", additions, "depth", integers(nodes.depth, t->leaves));
    free(nodes.parent);
    return tree;
}

static const char *declared_name(const struct reveal_beside *d)
{
    if (!d->asked || !d->shown)
        return d->asked ? "not_shown" : "none";
    return d->difference.equal ? "equal" : "different";
}

json_t *reveal_window_json(const struct reveal_window *w)
{
    char mask[NUMBER_TEXT], unit[NUMBER_TEXT];
    number_hex(mask, w->mask);
    number_hex(unit, w->unit);
    if (w->bits == 0)
        return json_null();
    if (w->means == REVEAL_BY_TIES)
        return json_pack("{ss ss ss}", "by", "ties", "mask", mask, "unit", unit);
    if (w->means == REVEAL_BY_OVERFLOW)
        return json_pack("{ss ss}", "by", "overflow", "large", mask);
    return json_pack("{ss ss ss si}", "by", "masks", "mask", mask, "unit", unit, "elements_a_call",
                     (int)w->bits);
}

/* How many arrays the tree was held to, and of how many the bits were others. */
static json_t *held_json(const struct reveal_held *h)
{
    return json_pack("{sI sI ss sI}", "arrays", (json_int_t)h->arrays, "differing",
                     (json_int_t)h->differing, "by", h->permuted ? "permutations" : "bits",
                     "under_load", (json_int_t)h->loaded);
}

/* null where they are not asked for: of what is no dot product, or where they are exact. */
static json_t *products_json(const struct reveal_products *q)
{
    return q->asked == 0 ? json_null()
                         : json_pack("{sI sI sI}", "asked", (json_int_t)q->asked, "rounded",
                                     (json_int_t)q->rounded, "unrounded", (json_int_t)q->unrounded);
}

json_t *reveal_report_json(const struct reveal_report *r)
{
    const struct probe_spec *s = &r->of.spec;
    const struct reveal *f = &r->found;
    struct shape shape = method_shape(s->method, s->device.kind, s->n, s->shape);
    bool scan = operation_asks(s->method->operation, SETTING_SCAN);
    char device[DEVICE_TEXT];
    device_name(s->device, device);
    return json_pack(
        "{ss ss ss ss ss sI so so so so sI sI ss so sI sI sb sb ss? ss so so so}", "method",
        s->method->name, "device", device, "storage", format_facts[s->storage].name, "accumulator",
        format_facts[s->accumulator].name, "output", format_facts[s->output].name, "n",
        (json_int_t)s->n, "threads", shape.threads ? json_integer(shape.threads) : json_null(),
        "blocks", shape.blocks ? json_integer(shape.blocks) : json_null(), "prefix",
        scan ? json_integer((json_int_t)r->of.prefix) : json_null(), "exclusive",
        scan ? json_boolean(s->exclusive) : json_null(), "first", (json_int_t)r->first, "elements",
        (json_int_t)r->leaves, "verdict", reveal_verdict_name[f->verdict], "asked",
        reveal_window_json(&f->window), "calls", (json_int_t)f->calls, "checks",
        (json_int_t)f->checks, "sampled", (int)f->sampled, "keeps_losses", (int)f->kept, "words",
        *f->words ? f->words : NULL, "declared", declared_name(&r->declared), "tree",
        f->verdict == REVEAL_TREE || f->held.fits ? reveal_tree_json(&f->tree) : json_null(),
        "held", held_json(&f->held), "products", products_json(&f->products));
}
