/* What the program draws on a terminal. */
#pragma once

#include <fcntl.h>

#include "tests/support/program.h"

/* Runs it in the folder with a terminal as its standard error, of which the first bytes are in
 * drawn[] then; returns its exit status. */
static inline int run_on_terminal(const char *verb, const char *arguments, char *drawn, size_t size)
{
    char command[2000];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    cr_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    snprintf(command, sizeof command, "cd '%s' && '%s' %s %s >out 2>'%s'", folder, ULPSCOPE_PROGRAM,
             verb, arguments, ptsname(terminal));
    int status = system(command);
    cr_assert(WIFEXITED(status), "%s", command);
    ssize_t length = read(terminal, drawn, size - 1);
    drawn[length > 0 ? length : 0] = 0;
    close(terminal);
    return WEXITSTATUS(status);
}
