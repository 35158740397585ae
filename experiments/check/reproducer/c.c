/* Reproducers of shared objects in C, and what they share with those in CUDA. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/check/reproducer/reproducer.h"
#include "reference/format/number.h"

static const char *element_type(enum format f)
{
    return f == FP32                    ? "float"
           : f == FP64                  ? "double"
           : format_facts[f].bytes == 1 ? "uint8_t"
                                        : "uint16_t";
}

static void add_arrays(struct text *to, const struct reproducer *r)
{
    for (size_t k = 0; k < reproducer_arrays(r); k++) {
        const struct array *in = r->run[k].in;
        text_format(to, "/* %s%s */\nstatic const element input_%zu[] = {",
                    format_facts[r->storage].name, in->n > r->n ? ": x, then y" : "", k);
        if (in->n == 0)
            text_add(to, "0"); /* of no elements */
        reproducer_elements(to, in, false);
        text_add(to, "\n};\n\n");
    }
}

/* The value of a result's encoding. */
static void add_value(struct text *to, enum format f)
{
    text_add(to, "static double value(result bits)\n{\n");
    if (f == FP64)
        text_add(to, "    double x;\n    memcpy(&x, &bits, sizeof x);\n    return x;\n}\n\n");
    else if (f == FP32)
        text_add(to, "    float x;\n    memcpy(&x, &bits, sizeof x);\n    return x;\n}\n\n");
    else if (f == BF16)
        text_add(to, "    uint32_t wide = (uint32_t)bits << 16;\n    float x;\n"
                     "    memcpy(&x, &wide, sizeof x);\n    return x;\n}\n\n");
    else
        text_add(to, "    int exponent = bits >> 10 & 31, fraction = bits & 1023;\n"
                     "    double x = exponent == 31 ? (fraction ? NAN : INFINITY)\n"
                     "               : exponent     ? ldexp(1024 + fraction, exponent - 25)\n"
                     "                              : ldexp(fraction, -24);\n"
                     "    return bits >> 15 ? -x : x;\n}\n\n");
}

static void add_possible(struct text *to, const struct possible *due)
{
    char least[NUMBER_TEXT], most[NUMBER_TEXT], grid[NUMBER_TEXT];
    number_hex(least, due->least);
    number_hex(most, due->most);
    number_hex(grid, due->grid);
    text_add(
        to,
        "/* Is this among the results that are possible? */\nstatic int possible(double x)\n{\n");
    text_format(to,
                "    if (isnan(x))\n        return %d;\n    if (isinf(x))\n        return x > 0 ? "
                "%d : %d;\n"
                "    if (x == 0)\n        return signbit(x) ? %d : %d;\n",
                due->nan, due->inf[0], due->inf[1], due->zero[1], due->zero[0]);
    if (due->listed)
        for (size_t i = 0; i < due->count; i++) {
            number_hex(least, due->value[i]);
            text_format(to, "    if (x == %s)\n        return 1;\n", least);
        }
    if (due->listed || !(due->least <= due->most))
        text_add(to, "    return 0;\n}\n\n");
    else
        text_format(to, "    return %s <= x && x <= %s && fmod(x, %s) == 0;\n}\n\n", least, most,
                    grid);
}

void reproducer_c_data(struct text *to, const struct reproducer *r)
{
    int bytes = (int)format_facts[r->output].bytes;
    text_format(to, "typedef %s element;\ntypedef uint%d_t result; /* the encoding of %s */\n\n",
                element_type(r->storage), 8 * bytes, format_facts[r->output].name);
    text_format(to,
                "enum { N = %zu, OUTPUTS = %zu, FROM = %zu, END = %zu };\n"
                "enum { RUNS = %llu, SECONDS = 10 }; /* at most; whichever is first */\n\n",
                r->n, r->outputs, r->from, r->end, (unsigned long long)r->runs);
    add_arrays(to, r);
    text_add(
        to,
        "/* How the first result is had, and the others. */\nstatic const struct {\n"
        "    const element *in;\n    size_t offset;        /* elements off an aligned address */\n"
        "    unsigned char around; /* all bytes around the input */\n"
        "    unsigned threads, blocks;\n} setting[2] = {\n");
    for (size_t k = 0; k < 2; k++)
        text_format(to, "    {input_%zu, %zu, 0x%02x, %u, %u},\n",
                    reproducer_arrays(r) == 2 ? k : 0, r->run[k].offset, r->run[k].byte,
                    r->run[k].shape.threads, r->run[k].shape.blocks);
    text_add(to, "};\n\n");
    add_value(to, r->output);
    if (r->possible)
        add_possible(to, r->possible);
}

static const char *const load = "/* Other work for every processor. */\n"
                                "static void *work(void *unused)\n{\n"
                                "    for (volatile unsigned i = 0;; i++)\n        (void)unused;\n"
                                "    return NULL;\n}\n\n"
                                "static void begin_load(void)\n{\n    pthread_t thread;\n"
                                "    for (long i = sysconf(_SC_NPROCESSORS_ONLN); i > 0; i--)\n"
                                "        pthread_create(&thread, NULL, work, NULL);\n}\n\n";

static const char *const fresh =
    "/* In a process of its own, begun anew: where things lie differs, too. Later runs there as "
    "well. */\n"
    "static int run_fresh(int k, result *out)\n"
    "{\n"
    "    static const char *const times[] = {\"1\", \"2\", \"3\", \"10\"};\n"
    "    static unsigned processes;\n"
    "    int ends[2], status = 1;\n"
    "    char end[16];\n"
    "    if (pipe(ends) != 0)\n"
    "        return 1;\n"
    "    fflush(NULL);\n"
    "    pid_t child = fork();\n"
    "    if (child == 0) {\n"
    "        snprintf(end, sizeof end, \"%d\", ends[1]);\n"
    "        execl(\"/proc/self/exe\", \"reproducer\", \"--run\", k ? \"1\" : \"0\", "
    "times[processes % 4], end,\n"
    "              path, (char *)NULL);\n"
    "        _exit(2);\n"
    "    }\n"
    "    processes++;\n"
    "    close(ends[1]);\n"
    "    for (size_t done = 0; done < OUTPUTS * sizeof *out;) {\n"
    "        ssize_t got = read(ends[0], (char *)out + done, OUTPUTS * sizeof *out - done);\n"
    "        if (got <= 0)\n"
    "            break;\n"
    "        done += (size_t)got;\n"
    "    }\n"
    "    close(ends[0]);\n"
    "    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;\n"
    "}\n"
    "\n"
    "/* That process: --run WHICH TIMES DESCRIPTOR OBJECT. */\n"
    "static int answer(char **argv)\n"
    "{\n"
    "    static result own[OUTPUTS];\n"
    "    path = argv[5];\n"
    "    if (begin(path) != 0)\n"
    "        return 2;\n"
    "    for (int i = atoi(argv[3]); i > 0; i--)\n"
    "        if (run(atoi(argv[2]), own) != 0)\n"
    "            return 2;\n"
    "    for (size_t done = 0; done < sizeof own;) {\n"
    "        ssize_t got = write(atoi(argv[4]), (char *)own + done, sizeof own - done);\n"
    "        if (got <= 0)\n"
    "            return 2;\n"
    "        done += (size_t)got;\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "\n";

static const char *const show =
    "static void show(const char *is, long i, result bits)\n{\n"
    "    printf(\"%s: output %ld is %a (bits 0x%0*llx)\\n\", is, i, value(bits),\n"
    "           2 * (int)sizeof bits, (unsigned long long)bits);\n}\n\n";

static const char *const same = "static int same(result a, result b)\n{\n"
                                "    return a == b || (isnan(value(a)) && isnan(value(b)));\n}\n\n";

void reproducer_c_main(struct text *to, const struct reproducer *r)
{
    const char *run = r->fresh ? "run_fresh" : "run";
    text_add(to, show);
    if (!r->possible)
        text_add(to, same);
    if (r->fresh)
        text_add(to, fresh);
    if (r->load)
        text_add(to, load);
    text_format(to,
                "int main(int argc, char **argv)\n{\n    static result %sother[OUTPUTS];\n%s"
                "    if (argc > 1)\n        path = argv[1];\n",
                r->possible ? "" : "first[OUTPUTS], ",
                r->fresh ? "    if (argc > 5 && strcmp(argv[1], \"--run\") == 0)\n"
                           "        return answer(argv);\n"
                         : "");
    if (!r->fresh)
        text_add(to, "    if (begin(path) != 0)\n        return 2;\n");
    if (r->load)
        text_add(to, "    begin_load();\n");
    if (!r->possible)
        text_format(to, "    if (%s(0, first) != 0)\n        return 2;\n", run);
    text_format(to,
                "    long done = 0;\n    time_t begun = time(NULL);\n"
                "    for (; done < RUNS && time(NULL) - begun <= SECONDS; done++) {\n"
                "        if (%s(1, other) != 0)\n            return 2;\n"
                "        for (long i = FROM; i < END; i++)\n",
                run);
    if (r->possible) {
        text_add(to, "            if (!possible(value(other[i]))) {\n"
                     "                show(\"found\", i, other[i]);\n                "
                     "printf(\"expected: %s\\n\", ");
        reproducer_quoted(to, r->words[0]);
        text_add(to, ");\n");
    } else {
        text_add(to, "            if (!same(first[i], other[i])) {\n                show(");
        reproducer_quoted(to, r->words[0]);
        text_add(to, ", i, first[i]);\n                show(");
        reproducer_quoted(to, r->words[1]);
        text_add(to, ", i, other[i]);\n");
    }
    text_add(to, "                return 1;\n            }\n    }\n    printf(\"not seen in %ld "
                 "runs\\n\", done);\n"
                 "    return 0;\n}\n");
}

const char *const reproducer_interface =
    "/* What the object exports, as version 2 of ulpscope_subject.h has it. */\n"
    "struct task {\n    size_t n;\n    const void *in, *in2;\n    void *out;\n"
    "    int storage, accumulator, output, exclusive;\n    unsigned threads, blocks;\n    int "
    "device;\n"
    "    void *stream;\n};\n"
    "struct subject {\n    const char *name, *summary;\n    int operation, memory, promise;\n"
    "    uint64_t pairs;\n    uint32_t reads;\n    int (*run)(const struct task *t);\n};\n"
    "struct subjects {\n    uint32_t version, count;\n    const struct subject *subject;\n};\n\n";

const char *const reproducer_begin =
    "static const struct subject *subject;\n\n"
    "static int begin(const char *file)\n{\n    void *object = dlopen(file, RTLD_NOW | "
    "RTLD_LOCAL);\n"
    "    const struct subjects *all =\n"
    "        object ? (const struct subjects *)dlsym(object, \"ulpscope_subjects\") : NULL;\n"
    "    if (!all || all->version != 2) {\n"
    "        fprintf(stderr, \"%s: %s\\n\", file, object ? \"no subjects of version 2\" : "
    "dlerror());\n"
    "        return 1;\n    }\n"
    "    for (uint32_t i = 0; i < all->count; i++)\n"
    "        if (strcmp(all->subject[i].name, name) == 0)\n            subject = "
    "&all->subject[i];\n"
    "    if (!subject)\n        fprintf(stderr, \"%s: no subject %s\\n\", file, name);\n"
    "    return subject ? 0 : 1;\n}\n\n";

/* Host memory. */
static void add_run(struct text *to, const struct reproducer *r)
{
    bool two = operation_has(r->method->operation, OPERAND_IN2);
    text_add(
        to,
        "/* Copies N elements to where they shall lie. */\n"
        "static element *place(int k, const element *from)\n{\n"
        "    enum { MARGIN = 4096 };\n"
        "    size_t bytes = N * sizeof(element), room = (2 * MARGIN + bytes + 255) / 64 * 64;\n"
        "    unsigned char *memory = aligned_alloc(64, room);\n    if (!memory)\n        exit(2);\n"
        "    memset(memory, setting[k].around, room);\n"
        "    element *to = (element *)(memory + MARGIN) + setting[k].offset;\n"
        "    memcpy(to, from, bytes);\n    return to;\n}\n\n");
    text_add(to, "static int run(int k, result *out)\n{\n    static element *x[2]");
    text_add(to, two ? ", *y[2];\n" : ";\n");
    text_add(to, "    static _Alignas(64) result results[OUTPUTS];\n");
    text_add(to, "    if (!x[k])\n        x[k] = place(k, setting[k].in);\n");
    if (two)
        text_add(to, "    if (!y[k])\n        y[k] = place(k, setting[k].in + N);\n");
    text_format(
        to,
        "    struct task t = {.n = N,\n                     .in = x[k],\n                     .in2 "
        "= %s,\n"
        "                     .out = results,\n                     .storage = %d,     /* %s */\n"
        "                     .accumulator = %d, /* %s */\n                     .output = %d,      "
        "/* %s */\n"
        "                     .exclusive = %d,\n                     .threads = "
        "setting[k].threads,\n"
        "                     .blocks = setting[k].blocks,\n                     .device = -1};\n",
        two ? "y[k]" : "NULL", (int)r->storage, format_facts[r->storage].name, (int)r->accumulator,
        format_facts[r->accumulator].name, (int)r->output, format_facts[r->output].name,
        r->exclusive);
    text_add(
        to,
        "    memset(results, 0xff, sizeof results);\n    int returned = subject->run(&t);\n"
        "    if (returned != 0)\n        fprintf(stderr, \"%s returned %d\\n\", name, returned);\n"
        "    memcpy(out, results, sizeof results);\n    return returned;\n}\n\n");
}

void reproducer_compile(struct text *to, const char *compiler, const char *file, const char *rest)
{
    struct text line = {0};
    text_format(&line, "    %s %s -o reproducer %s", compiler, file, rest);
    text_add(to, " *\n");
    reproducer_comment(to, " * ", text_string(&line) ? text_string(&line) : "");
    text_add(to, " */\n");
    text_free(&line);
}

bool reproducer_path(struct text *to, const char *subject)
{
    char *path = NULL, *end;
    if (asprintf(&path, "%s%s", strchr(subject, '/') ? "" : "./", subject) < 0)
        return false;
    end = strstr(path, ".so:");
    if (end)
        end[3] = 0;
    text_add(to, "static const char *path = ");
    reproducer_quoted(to, path);
    text_add(to, ", *const name = ");
    reproducer_quoted(to, end ? end + 4 : "");
    text_add(to, ";\n\n");
    free(path);
    return true;
}

enum status reproducer_c(struct text *to, const struct reproducer *r, struct problem *p)
{
    reproducer_comment(to, "/* ", r->file);
    text_add(to, " *\n");
    reproducer_head(to, r, " * ");
    reproducer_compile(to, "cc -O1", r->file, "-ldl -lpthread -lm && ./reproducer [OBJECT]");
    text_add(to,
             "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <math.h>\n#include <pthread.h>\n"
             "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
             "#include <sys/wait.h>\n#include <time.h>\n#include <unistd.h>\n\n");
    if (!reproducer_path(to, r->method->name))
        return problem(p, STATUS_MEMORY, "check --reproducer: out of memory");
    text_add(to, reproducer_interface);
    reproducer_c_data(to, r);
    text_add(to, reproducer_begin);
    add_run(to, r);
    reproducer_c_main(to, r);
    return STATUS_OK;
}
