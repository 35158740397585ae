#include <stdio.h>

#include "experiments/conformance/judge.h"
#include "reference/format/number.h"

static void add_word(char text[POSSIBLE_TEXT], const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, POSSIBLE_TEXT - used, "%s%s", used ? " or " : "", word);
}

static void add_number(char text[POSSIBLE_TEXT], double x)
{
    char number[NUMBER_TEXT];
    number_hex(number, x);
    add_word(text, number);
}

static void add_interval(char text[POSSIBLE_TEXT], const struct possible *p)
{
    char least[NUMBER_TEXT], most[NUMBER_TEXT], words[2 * NUMBER_TEXT + 16];
    number_hex(least, p->least);
    number_hex(most, p->most);
    snprintf(words, sizeof words, "from %s to %s", least, most);
    add_word(text, words);
}

void special_due_words(char text[POSSIBLE_TEXT], const struct judgement *j)
{
    enum { FEW = 4 };
    const struct possible *p = &j->due;
    *text = 0;
    if (j->open)
        add_word(text, "a number within its bound");
    else if (p->listed && p->count <= FEW)
        for (size_t i = 0; i < p->count; i++)
            add_number(text, p->value[i]);
    else if (p->least < p->most)
        add_interval(text, p);
    else if (p->least == p->most && p->least != 0)
        add_number(text, p->least);
    bool within =
        j->open || (!p->listed && p->least < 0 && p->most > 0); /* it goes without saying */
    if (p->zero[0] && !within)
        add_word(text, "0x0p+0");
    if (p->zero[1])
        add_word(text, "-0x0p+0");
    if (p->inf[0])
        add_word(text, "inf");
    if (p->inf[1])
        add_word(text, "-inf");
    if (p->nan)
        add_word(text, "nan");
}

/* Boyer and Moore's vote: right where more than half are alike. */
uint64_t special_common(const struct array *in, size_t *others)
{
    uint64_t common = array_bits(in, 0);
    size_t ahead = 0;
    for (size_t i = 0; i < in->n; i++) {
        uint64_t bits = array_bits(in, i);
        common = ahead == 0 ? bits : common;
        ahead = bits == common ? ahead + 1 : ahead - 1;
    }
    *others = 0;
    for (size_t i = 0; i < in->n; i++)
        *others += array_bits(in, i) != common;
    return common;
}

static void add_text(char text[INPUT_WORDS], const char *before, const char *what)
{
    size_t used = strlen(text);
    snprintf(text + used, INPUT_WORDS - used, "%s%s", before, what);
}

static void add_array(char text[INPUT_WORDS], const struct array *in)
{
    enum { ALL = 8, SHOWN = 8 };
    size_t others = in->n, shown = 0;
    uint64_t common = 0;
    char number[NUMBER_TEXT], place[32];
    if (in->n > ALL)
        common = special_common(in, &others);
    for (size_t i = 0; i < in->n && shown < SHOWN; i++) {
        if (in->n > ALL && others < in->n / 2 && array_bits(in, i) == common)
            continue;
        number_hex(number, array_get(in, i));
        snprintf(place, sizeof place, "%sx[%zu] = ", shown == 0 ? ": " : ", ", i);
        add_text(text, in->n > ALL ? place : shown == 0 ? ": " : ", ", number);
        shown++;
    }
    if (in->n <= ALL)
        return;
    number_hex(number, format_decode(in->format, common));
    if (others >= in->n / 2 || shown < others)
        add_text(text, ", ", "...");
    if (others < in->n / 2)
        add_text(text, shown == 0 ? ": all " : ", all others ", number);
}

/* Few products. */
static void add_products(char text[INPUT_WORDS], const struct special_input *in)
{
    char x[NUMBER_TEXT], y[NUMBER_TEXT], words[2 * NUMBER_TEXT + 4];
    for (size_t i = 0; i < in->x.n; i++) {
        number_hex(x, array_get(&in->x, i));
        number_hex(y, array_get(&in->y, i));
        snprintf(words, sizeof words, "%s * %s", x, y);
        add_text(text, i == 0 ? ": " : ", ", words);
    }
}

void special_input_words(char text[INPUT_WORDS], const struct special_input *in)
{
    enum { FEW = 4 };
    snprintf(text, INPUT_WORDS, "n = %zu", in->x.n);
    if (!in->y.data) {
        add_array(text, &in->x);
    } else if (in->x.n <= FEW) {
        add_products(text, in);
    } else {
        add_array(text, &in->x);
        add_text(text, "; ", "times");
        add_array(text, &in->y);
    }
}
