/* The orders of all outputs, as text and as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reveal/outputs.h"
#include "experiments/reveal/report.h"
#include "reports/text/table.h"
#include "reports/text/text.h"

enum { ORDERS_SHOWN = 16, STRETCHES_SHOWN = 4 };

static const char *found(char text[REVEAL_OBSTACLE], const struct reveal_outputs *r,
                         const struct reveal_order_of *o)
{
    return o->verdict == REVEAL_EXACT
               ? "no order shows: every answer holds all other ranks: exact, or in more digits"
               : reveal_obstacle(text, o->verdict, r->of.accumulator);
}

/* --- which outputs --- */

struct stretch {
    size_t first, last;
};

/* The next run of outputs of an order from *at on; false: there is none. */
static bool next_stretch(const struct reveal_outputs *r, size_t order, size_t *at,
                         struct stretch *to)
{
    while (*at < r->outputs && r->of_output[*at] != order)
        ++*at;
    to->first = *at;
    while (*at < r->outputs && r->of_output[*at] == order)
        ++*at;
    to->last = *at - 1;
    return to->first < r->outputs;
}

static void print_elements(const struct reveal_outputs *r, size_t order)
{
    struct stretch stretch;
    size_t at = 0, stretches = 0;
    printf("element%s ", text_s(r->order[order].outputs));
    for (; next_stretch(r, order, &at, &stretch); stretches++)
        if (stretches < STRETCHES_SHOWN) {
            printf("%s%zu", stretches > 0 ? ", " : "", stretch.first);
            if (stretch.last > stretch.first)
                printf("..%zu", stretch.last);
        }
    if (stretches > STRETCHES_SHOWN)
        printf(", ... (%zu, in %zu places)", r->order[order].outputs, stretches);
    printf(":\n");
}

/* --- text --- */

static void print_title(const struct reveal_outputs *r)
{
    const struct probe_spec *s = &r->of;
    char device[DEVICE_TEXT];
    device_name(s->device, device);
    printf("%s on %s, %s/%s, %zu ranks, %zu element%s each", s->method->name, device,
           format_facts[s->storage].name, format_facts[s->accumulator].name, r->terms, r->outputs,
           text_s(r->outputs));
}

static bool all_exact(const struct reveal_outputs *r)
{
    return r->orders == 1 && r->order[0].verdict == REVEAL_EXACT;
}

static void print_headline(const struct reveal_outputs *r)
{
    print_title(r);
    if (r->verdict == REVEAL_NO_SUM)
        printf(": not a sum of the ranks' elements: %s\n", r->words);
    else if (r->verdict == REVEAL_OUT_OF_REACH)
        printf(": no order shows: %s loses nothing of elements of %s\n",
               format_facts[r->of.accumulator].name, format_facts[r->of.storage].name);
    else if (all_exact(r))
        printf(": no order shows\n");
    else if (r->orders == 1)
        printf(": one order for all elements\n");
    else
        printf(": %zu orders, by the element\n", r->orders);
}

static void print_held(const struct reveal_outputs *r)
{
    const struct reveal_held *h = &r->held;
    struct text line = {0}, out = {0};
    size_t at_once = 0;
    for (size_t k = 0; k < r->orders; k++)
        if (r->order[k].verdict == REVEAL_TREE && !r->order[k].held)
            at_once += r->order[k].outputs;
    if (h->arrays > 0) {
        text_format(&line, "each tree held to %llu arrays of other data",
                    (unsigned long long)h->arrays);
        if (h->loaded > 0)
            text_format(&line, ", and to %llu while the device had other work",
                        (unsigned long long)h->loaded);
        text_add(&line, ": ");
        if (h->differing == 0)
            text_add(&line, "every element gave its bits");
        else
            text_format(&line, "elements of %llu of %zu orders gave other bits",
                        (unsigned long long)h->differing, r->orders);
        text_wrapped(&out, &line, TABLE_COLUMNS, 0);
    }
    text_free(&line);
    if (at_once > 0) {
        text_format(&line,
                    "%zu element%s: ranks in brackets are added at once, or what is small beside "
                    "the largest is lost wherever it stands; not held to other data",
                    at_once, text_s(at_once));
        text_wrapped(&out, &line, TABLE_COLUMNS, 0);
    }
    fputs(text_string(&out) ? text_string(&out) : "", stdout);
    text_free(&line);
    text_free(&out);
}

enum status reveal_outputs_print(const struct reveal_outputs *r, struct problem *p)
{
    char text[REVEAL_OBSTACLE];
    enum status status = STATUS_OK;
    print_headline(r);
    for (size_t k = 0; k < r->orders && k < ORDERS_SHOWN && status == STATUS_OK; k++) {
        printf("\n");
        print_elements(r, k);
        if (r->order[k].verdict == REVEAL_TREE)
            status = sum_tree_text(stdout, &r->order[k].tree, 0, p);
        else
            printf("%s\n", found(text, r, &r->order[k]));
    }
    if (r->orders > ORDERS_SHOWN)
        printf("\n... and %zu more orders (--json has all)\n", r->orders - ORDERS_SHOWN);
    printf("\n");
    reveal_print_calls(r->calls, &r->window);
    printf("; each pair of ranks was asked twice\n");
    print_held(r);
    return status;
}

enum status reveal_outputs_status(const struct reveal_outputs *r, struct problem *p)
{
    char text[REVEAL_OBSTACLE];
    const char *what = r->verdict == REVEAL_NO_SUM ? "not a sum of the ranks' elements" : NULL;
    for (size_t k = 0; k < r->orders && !what; k++)
        if (r->order[k].verdict >= REVEAL_CONTRADICTION)
            what = found(text, r, &r->order[k]);
    return what
               ? problem(p, STATUS_FAILED, "reveal: %s: %s: %s", r->of.method->name, what, r->words)
               : STATUS_OK;
}

/* --- JSON --- */

static json_t *order_json(const struct reveal_outputs *r, size_t k)
{
    const struct reveal_order_of *o = &r->order[k];
    json_t *elements = json_array();
    struct stretch stretch;
    for (size_t at = 0; next_stretch(r, k, &at, &stretch);)
        json_array_append_new(
            elements, json_pack("[II]", (json_int_t)stretch.first, (json_int_t)stretch.last));
    return json_pack("{so ss sb so}", "elements", elements, "verdict",
                     reveal_verdict_name[o->verdict], "held", (int)o->held, "tree",
                     o->verdict == REVEAL_TREE ? reveal_tree_json(&o->tree) : json_null());
}

json_t *reveal_outputs_json(const struct reveal_outputs *r)
{
    const struct probe_spec *s = &r->of;
    char device[DEVICE_TEXT];
    device_name(s->device, device);
    json_t *orders = json_array();
    for (size_t k = 0; k < r->orders; k++)
        json_array_append_new(orders, order_json(r, k));
    return json_pack(
        "{ss ss ss ss sI sI sI ss so sI ss? so so}", "method", s->method->name, "device", device,
        "storage", format_facts[s->storage].name, "accumulator", format_facts[s->accumulator].name,
        "n", (json_int_t)s->n, "ranks", (json_int_t)r->terms, "elements", (json_int_t)r->outputs,
        "verdict", reveal_verdict_name[r->verdict], "asked", reveal_window_json(&r->window),
        "calls", (json_int_t)r->calls, "words", *r->words ? r->words : NULL, "held",
        json_pack("{sI sI sI}", "arrays", (json_int_t)r->held.arrays, "differing",
                  (json_int_t)r->held.differing, "under_load", (json_int_t)r->held.loaded),
        "orders", orders);
}
