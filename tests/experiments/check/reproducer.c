/* check --reproducer: programs that show a break without ulpscope, run on the subject and on one
 * that is repaired. */
#include <criterion/criterion.h>

#include "experiments/check/reproducer/reproducer.h"
#include "kernels/method/method.h"
#include "reports/text/text.h"
#include "tests/support/program.h"

static int shell(const char *command)
{
    char line[2000];
    snprintf(line, sizeof line, "cd '%s' && { %s; } >shown 2>&1", folder, command);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Asks for a reproducer; the exit status. */
static int ask(const char *subject, const char *file, const char *options)
{
    char arguments[1200];
    snprintf(arguments, sizeof arguments, "'%s' --device cpu --seconds 0.2 --reproducer %s %s %s",
             subject, file, options,
             strstr(options, "--n ") || strstr(options, "--special") ? "" : "--n 33,300");
    return run_program("check", arguments);
}

static void put_text(const char *name, const char *text)
{
    struct bytes b = {0};
    add_string(&b, text);
    put_file(name, &b);
    clear_bytes(&b);
}

/* Two results in hexadecimal, or one and what is expected. */
static void expect_shown(const char *who)
{
    char *shown = content("shown"), *first = strstr(shown, "0x"), *bits = strstr(shown, "(bits 0x");
    cr_expect(first && bits && strchr(shown, '\n') != strrchr(shown, '\n'), "%s: %s", who, shown);
    free(shown);
}

/* --- shared objects, in C --- */

static const char *const compile =
    "cc -std=gnu17 -O1 -Wall -Wextra -Werror r.c -o r -ldl -lpthread -lm";

static void object_breaks(const char *name, const char *options, int status, const char *in_file)
{
    char subject[400], again[400];
    snprintf(subject, sizeof subject, FLAWED_OBJECT ":%s", name);
    snprintf(again, sizeof again, "./r '%s'", REPAIRED_OBJECT);
    int found = ask(subject, "r.c", options);
    cr_assert(found == status, "%s %s: exit status %d: %s", name, options, found, content("err"));
    expect_said("out",
                "reproducer: r.c\n  It was run here when it was written: the break was seen.\n");
    expect_said("r.c", "\n// It was run here when it was written: the break was seen.\n");
    expect_said("r.c", in_file);
    /* Whoever keeps it shall not be watched for long. */
    shell("sed -i 's/SECONDS = 10/SECONDS = 1/' r.c");
    cr_assert(shell(compile) == 0, "%s: %s", name, content("shown"));
    found = shell("./r");
    cr_expect(found == 1, "%s %s: exit status %d: %s", name, options, found, content("shown"));
    expect_shown(name);
    found = shell(again);
    cr_expect(found == 0, "%s %s, repaired: exit status %d: %s", name, options, found,
              content("shown"));
    expect_said("shown", "not seen in ");
    found = shell("./r /nowhere.so");
    cr_expect(found == 2, "%s, of no object: exit status %d", name, found);
}

Test(reproducer, objects_from_run_to_run, .init = make_folder, .fini = remove_folder)
{
    object_breaks("fickle", "", 1, "promises run_to_run");
    object_breaks("fickle", "--only process", 1, "run_fresh");
    object_breaks("placed", "--only process --seconds 3", 1, "run_fresh");
    object_breaks("fickle_dot", "", 1, ": x, then y");
    object_breaks("fickle_scan", "--only load --load busy", 1, "begin_load");
}

Test(reproducer, objects_by_shape_and_neighbours, .init = make_folder, .fini = remove_folder)
{
    object_breaks("shares", "--seconds 3", 1, "promises gpu_to_gpu");
    object_breaks("greedy", "--seconds 3", 1, "what lies around the input");
}

Test(reproducer, objects_by_order_and_rounding, .init = make_folder, .fini = remove_folder)
{
    object_breaks("any_order", "", 1, "input_1");
    object_breaks("rounded", "--only exact", 1, "is not the exact result rounded once");
    object_breaks("rounded", "--only exact --input wide --n 2000", 1, "possible");
}

Test(reproducer, objects_on_special_inputs, .init = make_folder, .fini = remove_folder)
{
    object_breaks("zeros", "--special --seconds 5", 1, "gives ");
}

/* --- programs and functions, in Python --- */

/* The subject's file is replaced by one that is repaired. */
static void script_breaks(const char *subject, const char *options, int status, const char *name,
                          const char *flawed, const char *repaired)
{
    put_text(name, flawed);
    int found = ask(subject, "r.py", options);
    cr_assert(found == status, "%s %s: exit status %d: %s", subject, options, found,
              content("err"));
    expect_said("out",
                "reproducer: r.py\n  It was run here when it was written: the break was seen.\n");
    expect_said("r.py", "\n# It was run here when it was written: the break was seen.\n");
    found = shell("python3 r.py");
    cr_expect(found == 1, "%s %s: exit status %d: %s", subject, options, found, content("shown"));
    expect_shown(subject);
    put_text(name, repaired);
    shell("sed -i '/^RUNS, SECONDS/s/ 10/ 1/' r.py");
    found = shell("python3 r.py");
    cr_expect(found == 0, "%s %s, repaired: exit status %d: %s", subject, options, found,
              content("shown"));
    shell("mv subject* away");
    found = shell("python3 r.py");
    cr_expect(found == 2, "%s, none: exit status %d: %s", subject, found, content("shown"));
}

static void program_breaks(const char *flawed, const char *repaired, const char *options)
{
    char first[400], second[400];
    snprintf(first, sizeof first, "exec '%s' serve %s\n", ULPSCOPE_PROGRAM, flawed);
    snprintf(second, sizeof second, "exec '%s' serve %s\n", ULPSCOPE_PROGRAM, repaired);
    script_breaks("exec:sh subject", options, 0, "subject", first, second);
}

Test(reproducer, programs, .init = make_folder, .fini = remove_folder)
{
    program_breaks("sum/atomic --threads 4", "sum/exact", "--storage fp32 --accumulator fp32");
    program_breaks("sum/serial", "sum/exact", "--storage fp16 --accumulator fp16");
    program_breaks("sum/serial", "sum/exact",
                   "--storage e5m2 --accumulator fp16 --only exact --input uniform --n 9000");
    program_breaks("sum/serial", "sum/exact",
                   "--storage e4m3 --accumulator bf16 --only exact --input uniform --n 5000");
}

/* Every encoding of formats of up to 16 bits that Python's struct has no letter for, both ways; and
 * NaNs whatever their bits. */
Test(reproducer, packs_every_encoding, .init = make_folder, .fini = remove_folder)
{
    size_t formats = 0;
    for (enum format f = 0; (int)f < FORMATS; f++) {
        struct text to = {0};
        struct bytes file = {0};
        struct method m = *method_named("sum/serial");
        if (reproducer_letter(f) || format_facts[f].bytes > 2)
            continue;
        formats++;
        m.name = "exec:subject";
        text_add(&to, "import math\n");
        reproducer_packing(&to, &(struct reproducer){.method = &m, .storage = f, .output = f});
        text_add(&to, "\n\nassert STORED == RESULTS\nfor line in open('values'):\n"
                      "    bits, x = line.split()\n    x = float.fromhex(x)\n"
                      "    raw = int(bits, 16).to_bytes(RESULTS[0], 'little')\n"
                      "    back = unpack(raw, *RESULTS)\n"
                      "    if math.isnan(x):\n        assert math.isnan(back), bits\n"
                      "        assert pack(x, *STORED) == RESULTS[4].to_bytes(RESULTS[0], "
                      "'little')\n        continue\n"
                      "    assert x.hex() == back.hex(), (bits, x, back)\n"
                      "    assert pack(x, *STORED) == raw, (bits, x)\n");
        put_text("p.py", text_string(&to));
        text_free(&to);
        for (uint64_t bits = 0; bits < UINT64_C(1) << 8 * format_facts[f].bytes; bits++) {
            char line[64];
            snprintf(line, sizeof line, "%#llx %a\n", (unsigned long long)bits,
                     format_decode(f, bits));
            add_string(&file, line);
        }
        put_file("values", &file);
        clear_bytes(&file);
        cr_expect(shell("python3 p.py") == 0, "%s: %s", format_facts[f].name, content("shown"));
    }
    cr_assert(formats > 0);
}

Test(reproducer, programs_of_other_operations, .init = make_folder, .fini = remove_folder)
{
    program_breaks("scatter/sort", "scatter/exact", "--bins 5 --storage fp32 --accumulator fp32");
    program_breaks("scan/serial", "scan/exact",
                   "--scan exclusive --storage fp64 --accumulator fp64");
    program_breaks("rows/serial", "rows/exact",
                   "--rows 4 --layout column --only permutation "
                   "--storage fp32 --accumulator fp32");
}

Test(reproducer, programs_on_special_inputs, .init = make_folder, .fini = remove_folder)
{
    char repaired[400];
    snprintf(repaired, sizeof repaired, "exec '%s' serve sum/exact\n", ULPSCOPE_PROGRAM);
    script_breaks(
        "exec:sh subject", "--special --storage fp32 --accumulator fp32", 1, "subject",
        "while read -r sum n rest; do head -c $((4 * n)) >/dev/null; printf '\\0\\0\\0\\0'; done\n",
        repaired);
}

static const char *const exact = "import math\ndef f(x):\n    return math.fsum(x)\n";

Test(reproducer, functions, .init = make_folder, .fini = remove_folder)
{
    script_breaks(
        "python:subject.py:f",
        "--array array --storage fp64 --accumulator fp64 --only permutation,exact", 0, "subject.py",
        "def f(x):\n    total = 0.0\n    for e in x:\n        total += e\n    return total\n",
        exact);
    /* each process begins with another number */
    script_breaks("python:subject.py:f",
                  "--array array --storage fp64 --accumulator fp64 --only process", 0, "subject.py",
                  "import math, os\ndef f(x):\n    return math.fsum(x) + os.getpid()\n", exact);
    script_breaks("python:subject.py:f",
                  "--array array --storage fp64 --accumulator fp64 --only process --seconds 3", 0,
                  "subject.py",
                  "import math\nruns = 0\ndef f(x):\n    global runs\n    runs += 1\n"
                  "    return math.fsum(x) + (runs >= 5)\n",
                  exact);
    script_breaks("python:subject.py:f",
                  "--array array --storage fp64 --accumulator fp64 --special", 1, "subject.py",
                  "import math\ndef f(x):\n    return math.fsum(x) + 0.0 if len(x) != 2 else 1.0\n",
                  exact);
    script_breaks(
        "python:subject.py:f",
        "--array array --storage fp64 --accumulator fp64 --operation dot --only permutation,exact",
        0, "subject.py",
        "def f(x, y):\n    total = 0.0\n    for a, b in zip(x, y):\n        total += a * b\n"
        "    return total\n",
        "from fractions import Fraction as F\ndef f(x, y):\n"
        "    return float(sum(F(a) * F(b) for a, b in zip(x, y)))\n");
}

/* --- none --- */

static void expect_none(const char *subject, const char *options, int status, const char *said)
{
    char arguments[600];
    snprintf(arguments, sizeof arguments, "%s --device cpu --seconds 0.1 --reproducer r.c %s",
             subject, options);
    int found = run_program("check", arguments);
    cr_expect(found == status, "%s: exit status %d", arguments, found);
    expect_said(status ? "err" : "out", said);
    cr_expect(access(in_folder("r.c"), F_OK) != 0, "%s: a file was written", arguments);
}

/* Of what a process ran before it are the lengths, and the elements, that showed another result. */
Test(reproducer, of_what_ran_before, .init = make_folder, .fini = remove_folder)
{
    static const char options[] = "--array array --storage fp64 --accumulator fp64 --n 100 --only "
                                  "after --seconds 4";
    script_breaks("python:subject.py:f", options, 0, "subject.py",
                  "import math\nseen = [0]\ndef f(x):\n    print('called', end=' ')\n"
                  "    seen.append(len(x))\n    return math.fsum(x) + (max(seen) > 1000)\n",
                  exact);
    script_breaks("python:subject.py:f", options, 0, "subject.py",
                  "import math\nlast = {}\ndef f(x):\n"
                  "    return last.setdefault(len(x), math.fsum(x))\n",
                  exact);
}

/* A program that shows nothing says so: a subject that is another one under ulpscope; and one that
 * is not there when it is run. */
Test(reproducer, that_shows_nothing, .init = make_folder, .fini = remove_folder)
{
    static const char options[] =
        "--array array --storage fp64 --accumulator fp64 --n 100 --only repeat";
    put_text("subject.py", "import os, random\ndef f(x):\n    return random.random() if "
                           "'ULPSCOPE_DEVICE' in os.environ else 1.0\n");
    cr_expect_eq(ask("python:subject.py:f", "r.py", options), 0);
    expect_said("out", "the break was NOT seen: not seen in");
    expect_said("r.py", "\n# It was run here when it was written, and the break was NOT seen: ");
    cr_expect_eq(shell("tail -n 1 r.py | grep -q 'NOT seen'"), 0);
    put_text("subject.py", "import os, random\nif 'ULPSCOPE_DEVICE' not in os.environ:\n    raise "
                           "ImportError('not here')\ndef f(x):\n    return random.random()\n");
    cr_expect_eq(ask("python:subject.py:f", "r.py", options), 0);
    expect_said("out", "It could not be run here when it was written: ");
    expect_said("r.py", "ImportError: not here");
}

Test(reproducer, of_what_breaks_nothing_and_of_others, .init = make_folder, .fini = remove_folder)
{
    expect_none("'" REPAIRED_OBJECT ":rounded'", "--n 33", 0,
                "reproducer: r.c is not written, nothing was found");
    expect_none("'" REPAIRED_OBJECT ":rounded'", "--special", 0,
                "reproducer: r.c is not written, nothing was found");
    expect_none("sum/serial", "", 2, "found sum/serial, expected PATH.so:NAME");
    expect_none("'" REPAIRED_OBJECT ":rounded' '" REPAIRED_OBJECT ":shares'", "", 2,
                "found several subjects or devices, expected one");
    expect_none("--all", "", 2, "found several subjects or devices");
    expect_none("--all", "--special", 2, "found several subjects or devices");
}

/* What was there stays where the file cannot be written. */
Test(reproducer, that_cannot_be_written, .init = make_folder, .fini = remove_folder)
{
    int found = ask(FLAWED_OBJECT ":fickle", "no/such/r.c", "");
    cr_expect(found == 3, "exit status %d", found);
    expect_said("err", "no/such/r.c");
}
