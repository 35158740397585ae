/* The program, ULPSCOPE_PROGRAM, run in the folder of a test, and what it printed there. */
#pragma once

#include <sys/wait.h>

#include "tests/support/files.h"

/* Runs it, its standard output into the file `out`, its standard error into `err`; returns its exit
 * status. */
static inline int run_program(const char *verb, const char *arguments)
{
    char command[2000];
    snprintf(command, sizeof command, "cd '%s' && '%s' %s %s >out 2>err", folder, ULPSCOPE_PROGRAM,
             verb, arguments);
    int status = system(command);
    cr_assert(WIFEXITED(status), "%s", command);
    return WEXITSTATUS(status);
}

/* A file of the folder as a string; the caller frees it. */
static inline char *content(const char *name)
{
    struct bytes b = get_file(in_folder(name));
    add_number(&b, 0, 1);
    return (char *)b.data;
}

/* Commands to copy are not broken into lines, nor are words: of paths, which may be of any length.
 */
static inline bool never_broken(const char *line)
{
    size_t indent = strspn(line, " ");
    return strncmp(line + indent, "reproduce: ", 11) == 0 || strncmp(line, "next: ", 6) == 0 ||
           strcspn(line + indent, " \n") == strcspn(line + indent, "\n");
}

/* What is printed fits in 100 columns, where it can be broken. */
static inline void expect_narrow(const char *name)
{
    char *text = content(name);
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        cr_expect(strcspn(at, "\n") <= 100 || never_broken(at), "%.*s", (int)strcspn(at, "\n"), at);
    }
    free(text);
}

/* The same of prose that is broken into lines. */
static inline void expect_told(const char *name, const char *what)
{
    char *text = content(name);
    cr_expect(find_words(text, what), "'%s' is not in: %s", what, text);
    free(text);
}

static inline void expect_said(const char *name, const char *what)
{
    char *text = content(name);
    cr_expect(strstr(text, what), "'%s' is not in: %s", what, text);
    free(text);
}
