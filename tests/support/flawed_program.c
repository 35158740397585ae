/* A subject of tests: answers requests for fp64 in fp64, sums and inclusive scans, added from left
 * to right, and has one flaw, named on its command line. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static size_t n;
static int scan;
static double *x;

static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

static int is(char **argv, const char *flaw)
{
    return argv[1] && strcmp(argv[1], flaw) == 0;
}

/* Scans are answered element by element, while the rest is still to be read. */
static double read_and_add(char **argv)
{
    double sum = 0, negative = 0;
    for (size_t i = 0; i < n; i++) {
        if (fread(&x[0], sizeof *x, 1, stdin) != 1)
            exit(9);
        if (is(argv, "apart") && x[0] < 0)
            negative += x[0];
        else
            sum = i ? sum + x[0] : x[0];
        if (scan && !is(argv, "mute"))
            fwrite(&sum, sizeof sum, 1, stdout);
    }
    return is(argv, "apart") ? sum + negative : sum;
}

/* Until whoever has our answer opens the named pipe, and, then, until they know. */
static void await(void)
{
    close(open(getenv("FLAWED_PIPE"), O_RDONLY));
}

static void tell(void)
{
    close(open(getenv("FLAWED_PIPE"), O_WRONLY));
}

/* n = 13 is when it comes out. */
static void misbehave(char **argv)
{
    if (is(argv, "crash"))
        raise(SIGKILL);
    if (is(argv, "abort")) {
        fprintf(stderr, "first line\nthe last line\n\n");
        abort();
    }
    if (is(argv, "exit"))
        exit(3);
    if (is(argv, "hang") || is(argv, "mute"))
        sleep(1000);
    if (is(argv, "fork")) { /* and leave a child that holds the pipes */
        if (fork() == 0)
            sleep(1000);
        exit(4);
    }
    if (is(argv, "shut")) {
        fclose(stdout);
        sleep(1000);
    }
}

static void answer(char **argv, double sum)
{
    char bytes[sizeof sum + 3] = "........abc";
    memcpy(bytes, &sum, sizeof sum);
    size_t count = sizeof sum;
    if (n == 13 && is(argv, "short"))
        count = 3;
    if (n == 13 && is(argv, "long"))
        count = sizeof bytes;
    for (size_t i = 0; is(argv, "slow") && i < count; i++) {
        write(STDOUT_FILENO, bytes + i, 1);
        usleep(20000);
    }
    if (!is(argv, "slow"))
        write(STDOUT_FILENO, bytes, count);
    if (n == 13 && is(argv, "short"))
        exit(0);
}

/* Has the process been asked for another number of elements before? Few are what asks which formats
 * it takes. */
static int another_length(void)
{
    static size_t first;
    static int seen;
    first = first || n < 30 ? first : n;
    seen |= n >= 30 && n != first;
    return seen;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* stall RUNS: a run behind so many takes for ever. tire SECONDS: each takes 0.4 s, and one that
 * begins so long after the process for ever. */
static void stall(char **argv, double age_s)
{
    static long runs;
    if (is(argv, "stall") ? runs++ >= atol(argv[2]) : age_s > atof(argv[2]))
        sleep(1000);
    if (is(argv, "tire"))
        usleep(400000);
}

int main(int argc, char **argv)
{
    char operation[8], more[32];
    double begin_s = now_s();
    if (is(argv, "greet")) {
        printf("hello\n");
        fflush(stdout);
    }
    while (scanf("%7s %zu fp64 fp64%31[^\n]", operation, &n, more) >= 2 && getchar() == '\n') {
        scan = strcmp(operation, "scan") == 0;
        x = malloc(sizeof *x);
        if (n == 13 && !is(argv, "mute"))
            misbehave(argv);
        double sum = read_and_add(argv);
        if (argc == 3 && (is(argv, "stall") || is(argv, "tire")))
            stall(argv, now_s() - begin_s);
        if (n == 13)
            misbehave(argv);
        if (is(argv, "process"))
            sum += getpid();
        if (is(argv, "lengths"))
            sum += another_length();
        if (is(argv, "environment") && getenv("OMP_NUM_THREADS"))
            sum += atoi(getenv("OMP_NUM_THREADS"));
        if (is(argv, "processors"))
            sum += processors();
        if (is(argv, "never alone") && processors() == 1)
            exit(5);
        if (is(argv, "noise"))
            for (int i = 0; i < 30000; i++)
                fprintf(stderr, "noise, noise, noise, line %d\n", i);
        fflush(stdout);
        if (!scan)
            answer(argv, sum);
        free(x);
        if (is(argv, "once"))
            return 0;
        if (is(argv, "leave") && n == 12) { /* behind its answer */
            fprintf(stderr, "leaving\n");
            return 5;
        }
        if (is(argv, "chatter") && n == 12) {
            await();
            write(STDOUT_FILENO, "by the way", 10);
            tell();
        }
    }
    return 0;
}
