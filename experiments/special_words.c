#include <stdio.h>

#include "experiments/special_judge.h"
#include "reference/number.h"

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

void special_words(char text[POSSIBLE_TEXT], const struct possible *p)
{
    enum { FEW = 4 };
    *text = 0;
    if (p->listed && p->count <= FEW)
        for (size_t i = 0; i < p->count; i++)
            add_number(text, p->value[i]);
    else if (p->least < p->most)
        add_interval(text, p);
    else if (p->least == p->most && p->least != 0)
        add_number(text, p->least);
    bool within = !p->listed && p->least < 0 && p->most > 0; /* it is in the interval */
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
