#include "experiments/shell.h"

void shell_word(struct text *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-:=+,";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(to, word);
        return;
    }
    text_add(to, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(to, "'\\''");
        else
            text_append(to, word, 1);
    text_add(to, "'");
}
