/* Counterexamples in words. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/report.h"
#include "reference/format/number.h"

static void case_text(struct text *to, const struct check_report *r, const struct check_break *b)
{
    struct text says = {0};
    char input[INPUT_TEXT];
    check_input_text(&b->at, input);
    text_format(to, "%s, %s/%s, n = %zu", input, format_facts[b->at.pair.storage].name,
                format_facts[b->at.pair.accumulator].name, b->at.n);
    setting_says(&says, r->request.method->operation, &b->at.setting);
    if (says.length > 0)
        text_format(to, ", %s", text_string(&says));
    text_free(&says);
    if (operation_makes_array(r->request.method->operation) && !b->hash) {
        size_t owner = setting_owner(r->request.method->operation, &b->at.setting, b->index);
        text_format(to, ", %s %zu", b->at.setting.keys ? "bin" : "output", b->index);
        if (owner != OWNED_BY_NONE)
            text_format(to, " of rank %zu", owner);
    }
}

void check_bits_text(char bits[NUMBER_TEXT], const struct check_break *b, size_t which)
{
    if (b->hash)
        snprintf(bits, NUMBER_TEXT, "%016llx", (unsigned long long)b->bits[which]);
    else
        number_bits(bits, b->at.setting.output,
                    format_decode(b->at.setting.output, b->bits[which]));
}

/* Of a number, its decimal too. */
static void add_result(struct text *to, const struct check_break *b, size_t which)
{
    char bits[NUMBER_TEXT], decimal[NUMBER_TEXT];
    check_bits_text(bits, b, which);
    number_decimal(decimal, format_decode(b->at.setting.output, b->bits[which]));
    text_format(to, "\n  %s  %s  %s", bits, b->hash ? "(hash of all outputs)" : decimal,
                b->is[which]);
}

static void add_witness(struct text *to, const struct check_report *r, enum check_kind kind,
                        const char *program)
{
    const struct check_break *b = &r->tried[kind].witness;
    char *command = check_command(r, kind, program);
    if (b->exceeds)
        text_add(to, "\ncounterexample to its error bound: ");
    else
        text_format(to, "\ncounterexample to %s (%s): ", promise_name[check_meant(r, kind)],
                    check_kinds[kind].summary);
    case_text(to, r, b);
    add_result(to, b, 0);
    add_result(to, b, 1);
    text_format(to, "\n  reproduce: %s\n", command ? command : "");
    free(command);
}

void check_witnesses_text(struct text *to, const struct check_report *r, const char *program,
                          bool all)
{
    size_t broken = 0, shown = 0;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        const struct check_tried *t = &r->tried[kind], *least = &r->tried[shown];
        if (!t->broken)
            continue;
        if (all)
            add_witness(to, r, kind, program);
        else if (broken == 0 || (check_kinds[kind].rung == check_kinds[shown].rung &&
                                 t->witness.at.n < least->witness.at.n))
            shown = kind;
        broken++;
    }
    if (all || broken == 0)
        return;
    add_witness(to, r, shown, program);
    broken--;
    if (check_exceeded(r) && shown != CHECK_EXACT) {
        add_witness(to, r, CHECK_EXACT, program);
        broken--;
    }
    if (broken > 0)
        text_format(to, "%zu more counterexample%s with --wide\n", broken, text_s(broken));
}
