#include "experiments/system/shell.h"

#include <ctype.h>

#include "reference/base/visible.h"

/* What a terminal would not show is printed by the shell. It drops line breaks at the end, which
 * are left as they are. */
static void add_invisible(struct text *to, const char *word)
{
    size_t end = strlen(word);
    while (end > 0 && word[end - 1] == '\n')
        end--;
    text_add(to, "\"$(printf '");
    for (size_t i = 0; i < end; i++)
        if (isalnum((unsigned char)word[i]) || strchr("/._-:=+, ", word[i]))
            text_append(to, word + i, 1);
        else
            text_format(to, "\\%03o", (unsigned)(unsigned char)word[i]);
    text_add(to, "')\"");
    if (word[end])
        text_format(to, "'%s'", word + end);
}

void shell_word(struct text *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-:=+,@";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(to, word);
        return;
    }
    if (!visible_all(word)) {
        add_invisible(to, word);
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
