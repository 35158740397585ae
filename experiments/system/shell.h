/* Words of commands that a person, or a shell of ours, is to run. */
#pragma once

#include "reports/text/text.h"

/* Appends a word that a POSIX shell reads as `word`: in single quotes where it would make something
 * else of it, as it is where it would not. Nothing is put before it. */
void shell_word(struct text *to, const char *word);
