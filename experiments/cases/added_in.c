#include "experiments/cases/added_in.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100 };

void added_in_words(struct text *to, const struct method *m, enum format accumulator,
                    enum format result)
{
    char in[ADDED_IN_TEXT];
    const char *name = format_facts[result].name;
    method_added_in(in, m, accumulator);
    if (m->addition == ADDITION_UNKNOWN || m->addition == ADDITION_UNDOCUMENTED) {
        text_format(to, "result in %s, accumulator %s", name, in);
        return;
    }
    if (m->addition == ADDITION_EXACT)
        text_add(to, "added exactly");
    else if (m->addition == ADDITION_NONE)
        text_add(to, "nothing added");
    else
        text_format(to, "added in %s", in);
    if (strcmp(in, name) != 0)
        text_format(to, ", result in %s", name);
}

/* Is there something to say of it? */
static bool noted(const struct method *m, enum format accumulator)
{
    bool plain = m->addition == ADDITION_PLAIN && method_adds_in(m, accumulator) == accumulator;
    return !plain && m->addition != ADDITION_NONE;
}

struct used {
    const struct method *method;
    unsigned accumulators; /* 1 << format */
};

static size_t list(struct used *used, const struct plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        size_t at = 0;
        if (!t->supported || !noted(t->method, t->accumulator))
            continue;
        while (at < count && used[at].method != t->method)
            at++;
        count += at == count;
        used[at].method = t->method;
        used[at].accumulators |= 1u << t->accumulator;
    }
    return count;
}

/* "sum/widened fp32 (result fp16), fp64 (result fp32)"; what is the same for all is said once. */
static void add_method(struct text *to, const struct used *used)
{
    const struct method *m = used->method;
    char in[ADDED_IN_TEXT], before[ADDED_IN_TEXT] = "";
    text_add(to, m->name);
    for (enum format f = 0; f < FORMATS; f++) {
        if (!(used->accumulators & 1u << f))
            continue;
        method_added_in(in, m, f);
        if (strcmp(in, before) != 0 || m->addition == ADDITION_PLAIN)
            text_format(to, "%s %s", *before ? "," : "", in);
        if (m->addition == ADDITION_PLAIN)
            text_format(to, " (result %s)", format_facts[f].name);
        strcpy(before, in);
    }
}

void added_in_note(struct text *to, const struct plan *plan)
{
    size_t column = 0;
    struct used *used = calloc(plan->case_count + 1, sizeof *used);
    size_t count = used ? list(used, plan) : 0;
    to->failed |= !used;
    for (size_t i = 0; i < count; i++) {
        struct text one = {0};
        add_method(&one, &used[i]);
        bool fits = column > 0 && column + 2 + one.length <= WIDTH;
        text_add(to, column == 0 ? "added in: " : fits ? "; " : ";\n  ");
        column = (fits ? column + 2 : column == 0 ? 10 : 2) + one.length;
        text_join(to, &one);
        text_free(&one);
    }
    if (column > 0)
        text_add(to, "\n");
    free(used);
}
