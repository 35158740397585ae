/* Reproducers in Python: of functions of Python, and of programs, which are asked as
 * experiments/subjects/wire.h says. */
#include <stdio.h>
#include <string.h>

#include "experiments/check/reproducer/reproducer.h"
#include "experiments/options/subject_name.h"
#include "experiments/subjects/foreign.h"
#include "experiments/subjects/wire.h"
#include "kernels/method/matrix.h"
#include "reference/format/number.h"

static const char *fact(const struct reproducer *r, const char *name)
{
    const char *word = json_string_value(json_object_get(foreign_facts(r->method), name));
    return word ? word : "";
}

/* --- data --- */

static void add_arrays(struct text *to, const struct reproducer *r)
{
    text_add(
        to, "def floats(words):\n    return [float.fromhex(word) for word in words.split()]\n\n\n");
    for (size_t k = 0; k < reproducer_arrays(r); k++) {
        text_format(to, "INPUT_%zu = floats(\"\"\"", k);
        reproducer_elements(to, r->run[k].in, true);
        text_format(to, "\n\"\"\")  # %s%s\n", format_facts[r->storage].name,
                    r->run[k].in->n > r->n ? ": x, then y" : "");
        if (!r->run[k].keys)
            continue;
        text_format(to, "KEYS_%zu = [", k);
        for (size_t i = 0; i < r->n; i++)
            text_format(to, "%s%u", !i ? "" : i % 20 ? ", " : ",\n          ", r->run[k].keys[i]);
        text_add(to, "]\n");
    }
    if (r->befores)
        text_add(to, "BEFORE = [\n");
    for (size_t i = 0; i < r->befores; i++) {
        text_add(to, "    floats(\"\"\"");
        reproducer_elements(to, &r->before[i], true);
        text_add(to, "\n\"\"\"),\n");
    }
    if (r->befores)
        text_add(to, "]\n");
    size_t second = reproducer_arrays(r) - 1;
    text_format(to, "INPUT = [INPUT_0, INPUT_%zu]\n", second);
    if (r->run[0].keys)
        text_format(to, "KEYS = [KEYS_0, KEYS_%zu]\n", second);
    text_format(
        to,
        "N, FROM, END = %zu, %zu, %zu\nRUNS, SECONDS = %llu, 10  # at most; whichever is first\n",
        r->n, r->from, r->end, (unsigned long long)r->runs);
}

static void add_possible(struct text *to, const struct possible *due)
{
    char number[NUMBER_TEXT], most[NUMBER_TEXT], grid[NUMBER_TEXT];
    static const char *const word[] = {"False", "True"};
    text_format(
        to,
        "\n\ndef possible(x):\n    \"\"\"Is this among the results that are possible?\"\"\"\n"
        "    if math.isnan(x):\n        return %s\n"
        "    if math.isinf(x):\n        return %s if x > 0 else %s\n"
        "    if x == 0:\n        return %s if math.copysign(1, x) > 0 else %s\n",
        word[due->nan], word[due->inf[0]], word[due->inf[1]], word[due->zero[0]],
        word[due->zero[1]]);
    if (due->listed) {
        text_add(to, "    return x in floats(\"");
        for (size_t i = 0; i < due->count; i++) {
            number_hex(number, due->value[i]);
            text_format(to, "%s%s", i ? " " : "", number);
        }
        text_add(to, "\")\n");
        return;
    }
    number_hex(number, due->least);
    number_hex(most, due->most);
    number_hex(grid, due->grid);
    if (due->least <= due->most)
        text_format(to,
                    "    least, most, grid = floats(\"%s %s %s\")\n"
                    "    return least <= x <= most and math.fmod(x, grid) == 0\n",
                    number, most, grid);
    else
        text_add(to, "    return False\n");
}

/* --- what is run --- */

static void add_program(struct text *to, const struct reproducer *r)
{
    struct wire_request request = {.operation = r->method->operation,
                                   .n = r->n,
                                   .storage = r->storage,
                                   .accumulator = r->accumulator,
                                   .output = r->output,
                                   .exclusive = r->exclusive,
                                   .bins = r->bins,
                                   .stride = r->stride};
    char line[WIRE_LINE], device[DEVICE_TEXT];
    wire_write(line, &request);
    device_name(r->device, device);
    text_add(to, "COMMAND = ");
    reproducer_quoted(to, r->method->name + sizeof "exec:" - 1);
    text_add(to, "\nREQUEST = b");
    reproducer_quoted(to, line);
    text_format(to, "\nOUTPUTS, BYTES = %zu, %d\nprogram, asked = None, 0\n\n\n", r->outputs,
                (int)format_facts[r->output].bytes);
    text_add(to, "def encoded(x):\n");
    if (reproducer_letter(r->storage))
        text_format(to, "    return struct.pack(\"<%s\", x)\n", reproducer_letter(r->storage));
    else
        text_add(to, "    return pack(x, *STORED)\n");
    text_add(to, "\n\ndef run(k):\n    global program, asked\n    if program is None:\n"
                 "        program = subprocess.Popen(COMMAND, shell=True, stdin=subprocess.PIPE,\n"
                 "                                   stdout=subprocess.PIPE,\n");
    text_format(
        to, "                                   env={**os.environ, \"ULPSCOPE_DEVICE\": \"%s\"})\n",
        device);
    text_add(to, "    program.stdin.write(REQUEST + b\"\".join(map(encoded, INPUT[k])))\n");
    if (r->run[0].keys && operation_has(r->method->operation, OPERAND_KEYS))
        text_add(to, "    program.stdin.write(struct.pack(f\"<{N}I\", *KEYS[k]))\n");
    text_add(to, "    program.stdin.flush()\n    raw = program.stdout.read(OUTPUTS * BYTES)\n"
                 "    if len(raw) != OUTPUTS * BYTES:\n"
                 "        raise RuntimeError(f\"the program answered {len(raw)} bytes\")\n");
    if (r->fresh)
        text_add(to,
                 "    asked += 1\n    if asked % 3 != 2:  # the next run has a process of its own\n"
                 "        program.stdin.close()\n        program.stdout.close()\n"
                 "        program.wait()\n        program = None\n");
    if (!reproducer_letter(r->output))
        text_add(to, "    return [unpack(raw[i:i + BYTES], *RESULTS) for i in range(0, len(raw), "
                     "BYTES)]\n");
    else
        text_format(to, "    return list(struct.unpack(f\"<{OUTPUTS}%s\", raw))\n",
                    reproducer_letter(r->output));
}

/* How each library of arrays is called: `base` makes an array of numbers, `put` a copy of it for
 * one run, `host` a list of the results. */
static const struct library {
    const char *name, *types[FORMATS], *code;
} libraries[] = {
    {"numpy",
     {"np.float16", "ml_dtypes.bfloat16", "np.float32", "np.float64", "ml_dtypes.float8_e4m3fn",
      "ml_dtypes.float8_e5m2"},
     "import numpy as np\n%s\n\n"
     "def base(values):\n    return np.array(values, np.float64).astype(%s)\n\n\n"
     "def put(x, offset, device):\n"
     "    room = np.empty(len(x) + 512, x.dtype)\n"
     "    begin = -room.ctypes.data %% 256 // x.itemsize + offset\n"
     "    room[begin:begin + len(x)] = x\n    return room[begin:begin + len(x)]\n\n\n"
     "def keys(values, device):\n    return np.array(values, np.int64)\n\n\n"
     "def zeros(count, device):\n    return np.zeros(count, %s)\n\n\n"
     "def host(result):\n    return np.asarray(result).astype(np.float64).reshape(-1).tolist()\n"},
    {"torch",
     {"torch.float16", "torch.bfloat16", "torch.float32", "torch.float64", "torch.float8_e4m3fn",
      "torch.float8_e5m2"},
     "import torch\n%s\n\n"
     "def base(values):\n    return torch.tensor(values, dtype=torch.float64).to(%s)\n\n\n"
     "def put(x, offset, device):\n"
     "    room = torch.empty(len(x) + 512, dtype=x.dtype, device=device)\n"
     "    begin = -room.data_ptr() %% 256 // room.element_size() + offset\n"
     "    room[begin:begin + len(x)].copy_(x)\n    return room[begin:begin + len(x)]\n\n\n"
     "def keys(values, device):\n    return torch.tensor(values, dtype=torch.int64, "
     "device=device)\n\n\n"
     "def zeros(count, device):\n    return torch.zeros(count, dtype=%s, device=device)\n\n\n"
     "def host(result):\n    result = result if isinstance(result, torch.Tensor) else "
     "torch.tensor(result)\n"
     "    return result.detach().cpu().to(torch.float64).reshape(-1).tolist()\n"},
    {"cupy",
     {"cp.float16", "", "cp.float32", "cp.float64", "", ""},
     "import cupy as cp\n%s\n\n"
     "def base(values):\n    return cp.array(values, cp.float64).astype(%s)\n\n\n"
     "def put(x, offset, device):\n"
     "    room = cp.empty(len(x) + 512, x.dtype)\n"
     "    begin = -room.data.ptr %% 256 // x.itemsize + offset\n"
     "    room[begin:begin + len(x)] = x\n    return room[begin:begin + len(x)]\n\n\n"
     "def keys(values, device):\n    return cp.array(values, cp.int64)\n\n\n"
     "def zeros(count, device):\n    return cp.zeros(count, %s)\n\n\n"
     "def host(result):\n    return cp.asnumpy(result).astype(\"float64\").reshape(-1).tolist()\n"},
    {"jax",
     {"jnp.float16", "jnp.bfloat16", "jnp.float32", "jnp.float64", "jnp.float8_e4m3fn",
      "jnp.float8_e5m2"},
     "import jax\njax.config.update(\"jax_enable_x64\", True)\nimport jax.numpy as jnp\n%s\n\n"
     "def on(device):\n    return jax.devices(\"cpu\")[0] if device == \"cpu\" else "
     "jax.devices(\"gpu\")[int(device[5:])]\n\n\n"
     "def base(values):\n    return jnp.array(values, jnp.float64).astype(%s)\n\n\n"
     "def put(x, offset, device):\n    return jax.device_put(x, on(device))\n\n\n"
     "def keys(values, device):\n    return jax.device_put(jnp.array(values, jnp.int64), "
     "on(device))\n\n\n"
     "def zeros(count, device):\n    return jax.device_put(jnp.zeros(count, %s), on(device))\n\n\n"
     "def host(result):\n    return "
     "jnp.asarray(result).astype(jnp.float64).reshape(-1).tolist()\n"},
    {"array",
     {"", "", "\"f\"", "\"d\"", "", ""},
     "import array\n%s\n\n"
     "def base(values):\n    return array.array(%s, values)\n\n\n"
     "def put(x, offset, device):\n    return array.array(x.typecode, x)\n\n\n"
     "def keys(values, device):\n    return array.array(\"I\", values)\n\n\n"
     "def zeros(count, device):\n    return array.array(%s, [0.0] * count)\n\n\n"
     "def host(result):\n    return [float(x) for x in result] if hasattr(result, \"__len__\") "
     "else [float(result)]\n"},
};

/* The call for this pair of formats: of those that the worker names, by whether it asks for a type.
 */
static const char *call_of(const struct reproducer *r)
{
    size_t i;
    json_t *call;
    const json_t *calls = json_object_get(foreign_facts(r->method), "calls");
    const char *found = NULL;
    bool wide = r->storage != r->accumulator;
    json_array_foreach (calls, i, call) {
        const char *word = json_string_value(call);
        if (!found || (strstr(word, "dtype=") != NULL) == wide)
            found = word;
    }
    return found ? found : "f(x)";
}

/* As Python has it: types and axes in place of what stands for them. */
static void add_call(struct text *to, const struct reproducer *r, const char *type)
{
    for (const char *at = call_of(r); *at;) {
        if (strncmp(at, "dtype=", 6) == 0) {
            text_format(to, "dtype=%s", type);
            at += strcspn(at, ",)");
        } else if (strncmp(at, "=..", 3) == 0) {
            bool columns = r->stride == r->bins && r->stride != 1;
            text_format(to, "=%d", columns ? 0 : 1);
            at += 3;
        } else
            text_append(to, at++, 1);
    }
}

static void add_shape(struct text *to, const struct reproducer *r)
{
    size_t length = matrix_length(r->n, r->bins);
    if (r->stride == 1)
        text_format(to, "    X = x.reshape((%zu, %zu))\n", r->bins, length);
    else if (r->stride == r->bins)
        text_format(to, "    X = x.reshape((%zu, %zu))\n", length, r->bins);
    else
        text_format(to, "    X = x.reshape((%zu, %zu, %zu))\n", r->bins / r->stride, length,
                    r->stride);
}

/* How the library runs it, as the worker has it (experiments/python/ulpscope/worker.py). */
static void add_mode(struct text *to, const char *mode)
{
    if (strstr(mode, "deterministic"))
        text_add(to, "os.environ.setdefault(\"CUBLAS_WORKSPACE_CONFIG\", \":4096:8\")\n"
                     "torch.use_deterministic_algorithms(True)\n");
    bool fixed = strstr(mode, "static") != NULL;
    if (strstr(mode, "compiled") || fixed)
        text_format(to,
                    "torch._dynamo.config.recompile_limit = 1 << 20\n"
                    "f = torch.compile(f, fullgraph=True%s)\n",
                    fixed ? ", dynamic=False" : "");
}

static enum status add_function(struct text *to, const struct reproducer *r, struct problem *p)
{
    const char *array = fact(r, "array"), *name = fact(r, "function"), *call = call_of(r);
    const struct library *library = NULL;
    char device[2][DEVICE_TEXT];
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strcmp(array, libraries[i].name) == 0)
            library = &libraries[i];
    if (!library)
        return problem(p, STATUS_USAGE, "check --reproducer: no reproducers on arrays of %s",
                       array);
    if (strncmp(name, "ulpscope.", 9) == 0)
        return problem(p, STATUS_USAGE,
                       "check --reproducer: no reproducers of %s, which ulpscope brings", name);
    if (strcmp(array, "jax") == 0 && *fact(r, "mode"))
        return problem(p, STATUS_USAGE, "check --reproducer: no reproducers of what jax compiles");
    const char *storage = library->types[r->storage], *accumulator = library->types[r->accumulator];
    /* A format added to the table has no type until one is named above. */
    if (!storage || !accumulator)
        return problem(p, STATUS_USAGE, "check --reproducer: arrays of %s have no type for %s",
                       array, format_facts[storage ? r->accumulator : r->storage].name);
    bool narrow = strstr(storage, "ml_dtypes") || strstr(accumulator, "ml_dtypes");
    text_format(to, library->code, narrow ? "import ml_dtypes\n" : "", storage, accumulator);
    text_add(to, "\n\ndef load(name):\n");
    const char *file = strstr(name, ".py:");
    if (file)
        text_add(to, "    path, _, function = name.rpartition(\":\")\n"
                     "    spec = importlib.util.spec_from_file_location(\"subject\", path)\n"
                     "    module = importlib.util.module_from_spec(spec)\n"
                     "    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))\n"
                     "    spec.loader.exec_module(module)\n    return getattr(module, function)\n");
    else
        text_add(
            to,
            "    words = name.split(\".\")\n    for end in range(len(words) - 1, 0, -1):\n"
            "        try:\n            found = importlib.import_module(\".\".join(words[:end]))\n"
            "        except ImportError:\n            continue\n"
            "        for word in words[end:]:\n            found = getattr(found, word)\n"
            "        return found\n    raise ImportError(name)\n");
    text_add(to, "\n\nf = load(");
    reproducer_quoted(to, name);
    text_add(to, ")\n");
    add_mode(to, fact(r, "mode"));
    text_add(to, "BASE = [base(values) for values in INPUT]\n");
    for (int k = 0; k < 2; k++)
        device_name(r->run[k].device, device[k]);
    text_format(to,
                "OFFSET, DEVICE = [%zu, %zu], [\"%s\", \"%s\"]  # elements off an aligned address; "
                "where they lie\n",
                r->run[0].offset, r->run[1].offset, device[0], device[1]);
    static const char any[] = "(BASE[k] if other is None else base(other))";
    text_format(to, "\n\ndef run(k%s):\n    x = put(%s[:%s], OFFSET[k], DEVICE[k])\n",
                r->befores ? ", n=N, other=None"
                : r->after ? ", n=N"
                           : "",
                r->befores ? any : "BASE[k]", r->befores || r->after ? "n" : "N");
    if (operation_has(r->method->operation, OPERAND_IN2) && r->befores)
        text_format(to, "    y = put(%s[n:], 0, DEVICE[k])\n", any);
    else if (operation_has(r->method->operation, OPERAND_IN2))
        text_format(to, "    y = put(BASE[k][N:%s], 0, DEVICE[k])\n", r->after ? "N + n" : "");
    if (strchr(call, 'X'))
        add_shape(to, r);
    if (strstr(call, "keys"))
        text_format(to, "    k_, bins = keys(KEYS[k], DEVICE[k]), %zu\n", r->bins);
    if (strstr(call, "out"))
        text_format(to, "    out = zeros(%zu, DEVICE[k])\n", r->bins);
    text_add(to, "    result = ");
    struct text written = {0};
    add_call(&written, r, accumulator);
    for (const char *at = text_string(&written); at && *at;) {
        bool key = strncmp(at, "keys", 4) == 0;
        text_append(to, key ? "k_" : at, key ? 2 : 1);
        at += key ? 4 : 1;
    }
    text_free(&written);
    text_add(to, "\n");
    if (strstr(call, "out"))
        text_add(to, "    result = out if result is None else result\n");
    text_add(to, "    if isinstance(result, tuple) and hasattr(result, \"values\"):\n        "
                 "result = result.values\n");
    text_format(to, r->exclusive ? "    return ([0.0] + host(result))[:N]\n"
                                 : "    return host(result)\n");
    return STATUS_OK;
}

/* --- the rest --- */

/* A run in a process of its own. */
static void add_fresh(struct text *to, const struct reproducer *r)
{
    static const char said[] = "    said = subprocess.run([sys.executable, __file__, \"--run\", "
                               "str(k)%s],\n                          check=True, "
                               "capture_output=True)\n"
                               "    return floats(said.stdout.decode().splitlines()[-1])\n";
    if (r->befores) {
        text_add(to, "\n\ndef run_fresh(k):\n    \"\"\"In a process of its own: alone, or behind "
                     "the runs that showed another result.\"\"\"\n");
        text_format(to, said, "");
        return;
    }
    text_format(to,
                "\n\nprocesses = 0\n\n\ndef run_fresh(k):\n"
                "    \"\"\"In a process of its own, the first run there or a later one%s.\"\"\"\n"
                "    global processes\n    times = (0, 1, 2, 9)[processes%s %% 4]\n"
                "    processes += 1\n",
                r->after ? "; in every other one after other lengths" : "",
                r->after ? " // 2" : "");
    text_format(to, said, r->after ? ", str(times), str(processes % 2)" : ", str(times)");
}

/* What that process does. */
static void add_inside(struct text *to, const struct reproducer *r)
{
    text_add(to, "    if len(sys.argv) > 2 and sys.argv[1] == \"--run\":\n");
    bool two = operation_has(r->method->operation, OPERAND_IN2);
    if (r->befores)
        text_format(to,
                    "        for i, other in enumerate(BEFORE if sys.argv[2] == \"1\" else []):\n"
                    "%s            run(0, len(other)%s, other)\n",
                    r->own_first ? "            run(0)\n"
                                 : "            if i > 0:\n                run(0)\n",
                    two ? " // 2" : "");
    if (r->after)
        text_add(to, "        for n in filter(None, [N // 2, N // 4 * 3]) if sys.argv[4] == \"0\" "
                     "else []:\n            run(int(sys.argv[2]), n)\n");
    if (!r->befores)
        text_add(to, "        for _ in range(int(sys.argv[3])):\n            "
                     "run(int(sys.argv[2]))\n");
    text_add(to, "        last = [x.hex() for x in run(int(sys.argv[2]))]\n"
                 "        print(\"\\n\" + \" \".join(last))\n        return 0\n");
}

static void add_main(struct text *to, const struct reproducer *r)
{
    text_add(to, "\n\ndef show(words, i, x):\n");
    if (!reproducer_letter(r->output))
        text_add(to, "    bits = pack(x, *RESULTS)[::-1].hex()\n");
    else
        text_format(to, "    bits = struct.pack(\">%s\", x).hex()\n", reproducer_letter(r->output));
    text_add(to, "    print(f\"{words}: output {i} is {x.hex()} (bits 0x{bits})\")\n");
    bool python = name_is_python(r->method->name), process = r->fresh && python;
    const char *run = process ? "run_fresh" : "run";
    if (process)
        add_fresh(to, r);
    text_add(to, "\n\ndef main():\n");
    if (process)
        add_inside(to, r);
    if (r->load)
        text_add(to, "    load_of = [subprocess.Popen([sys.executable, \"-c\", \"while True: "
                     "pass\"]) for _ in range(os.cpu_count())]\n"
                     "    atexit.register(lambda: [other.kill() for other in load_of])\n");
    if (!r->possible)
        text_format(to, "    first = %s(0)\n", run);
    text_format(
        to,
        "    done, begun = 0, time.monotonic()\n"
        "    while done < RUNS and time.monotonic() - begun <= SECONDS:\n        done += 1\n"
        "        other = %s(1)\n        for i in range(FROM, END):\n",
        run);
    if (r->possible) {
        text_add(
            to,
            "            if not possible(other[i]):\n                show(\"found\", i, other[i])\n"
            "                print(\"expected: \" + ");
        reproducer_quoted(to, r->words[0]);
        text_add(to, ")\n");
    } else {
        text_add(to, "            if first[i].hex() != other[i].hex():\n                show(");
        reproducer_quoted(to, r->words[0]);
        text_add(to, ", i, first[i])\n                show(");
        reproducer_quoted(to, r->words[1]);
        text_add(to, ", i, other[i])\n");
    }
    text_add(to,
             "                return 1\n    print(f\"not seen in {done} runs\")\n    return 0\n\n\n"
             "sys.exit(main())\n");
}

enum status reproducer_python(struct text *to, const struct reproducer *r, struct problem *p)
{
    text_add(to, "#!/usr/bin/env python3\n");
    reproducer_comment(to, "# ", r->file);
    text_add(to, "#\n");
    reproducer_head(to, r, "# ");
    struct text line = {0};
    text_format(&line, "    python3 %s", r->file);
    text_add(to, "#\n");
    reproducer_comment(to, "# ", text_string(&line) ? text_string(&line) : "");
    text_free(&line);
    text_add(to, "import atexit\nimport importlib\nimport importlib.util\nimport math\nimport os\n"
                 "import struct\nimport subprocess\nimport sys\nimport time\nimport traceback\n\n\n"
                 "def failed(*exception):\n    traceback.print_exception(*exception)\n"
                 "    sys.stdout.flush()\n    os._exit(2)\n\n\nsys.excepthook = failed\n\n\n");
    add_arrays(to, r);
    reproducer_packing(to, r);
    enum status status = STATUS_OK;
    if (name_is_python(r->method->name)) {
        text_add(to, "\n\n");
        status = add_function(to, r, p);
    } else
        add_program(to, r);
    if (r->possible)
        add_possible(to, r->possible);
    add_main(to, r);
    return status;
}
