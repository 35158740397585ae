/* Words of commands: a shell reads each as it was, alone and as a part of a line. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "experiments/system/shell.h"

Test(shell, reads_each_word_as_it_was)
{
    static const char *const words[] = {
        "",      "'",   "''",    "a'b",  "it's a liar", "#none",     "-n",
        "~",     "*",   "$HOME", "`id`", "\\",          "\\n",       "\"",
        "a b",   " ",   "\n",    "\t",   "a=b",         "1e3,1e6",   "!x",
        "{a,b}", "a;b", "a&b",   "(a)",  "<",           ">",         "|",
        "[a-z]", "?",   "%s",    "\x7f", "\xc3\xa4",    "sum/tiled", "./mine.so:lanes"};
    enum { WORDS = sizeof words / sizeof *words };
    struct text command = {0}, due = {0};
    char said[1000];
    text_add(&command, "printf '<%s>\\n'");
    for (size_t i = 0; i < WORDS; i++) {
        text_add(&command, " ");
        shell_word(&command, words[i]);
        text_format(&due, "<%s>\n", words[i]);
    }
    cr_assert(text_string(&command));
    FILE *pipe = popen(text_string(&command), "r");
    cr_assert(pipe);
    said[fread(said, 1, sizeof said - 1, pipe)] = 0;
    cr_expect(pclose(pipe) == 0);
    cr_expect(strcmp(said, text_string(&due)) == 0, "'%s': found '%s', expected '%s'",
              text_string(&command), said, text_string(&due));
    text_free(&command);
    text_free(&due);
}

Test(shell, leaves_plain_words_as_they_are)
{
    static const char plain[] = "cond:log2=20,n=+1e-3_x.so:f@rows";
    struct text to = {0};
    shell_word(&to, plain);
    cr_expect(strcmp(text_string(&to), plain) == 0, "found '%s'", text_string(&to));
    text_free(&to);
}
