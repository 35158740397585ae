# Draws a study of `ulpscope run atomics`: above, how often each result came, in ulps of the exact sum
# about its place, with the normal distribution of the same mean and deviation; below, how the largest
# spread over the sum's size, max |V_s|, grows with n, with the power law fitted to it. A column for
# each format pair, a colour and a mark for each method whose results vary. Needs gnuplot 5.4 or later.
#
#   gnuplot -c reports/page/atomics.gp RESULTS OUT.svg [INPUT [idle|busy [N]]]
#
# RESULTS: the directory. INPUT as in the column `input`; N that of the histograms. What is not given
# is that of the first row of atomics.csv, of N the largest. Of several devices the first row's is
# drawn; of launch shapes and seeds the first, the figures below being the largest of any.
if (ARGC < 2) {
    print "usage: gnuplot -c reports/page/atomics.gp RESULTS OUT.svg [INPUT [idle|busy [N]]]"
    exit status 2
}
set datafile separator comma
set datafile columnheaders
set datafile missing NaN
results = ARG1 . "/results.csv"
atomics = ARG1 . "/atomics.csv"
growth = ARG1 . "/growth.csv"

# Passes over the files gather, in functions called for their side effects, words of lists, none
# twice.
input = ARG3
load = ARG4
n = strlen(ARG5) ? real(ARG5) : 0
device = pairs = methods = cases = ""
has(list, word) = strstrt(" " . list, " " . word . " ") > 0
default(given, found) = strlen(given) ? given : found
pair_of(dummy) = strcol("storage") . "/" . strcol("accumulator")
is_asked(dummy) = ( \
    input = default(input, strcol("input")), load = default(load, strcol("load")), \
    device = default(device, strcol("device")), \
    input eq strcol("input") && load eq strcol("load") && device eq strcol("device"))
note_word(list, word) = has(list, word) ? list : list . word . " "
note_case(key, id) = (has(cases, key) ? 0 : (cases = cases . key . " " . id . " ", 0))
note_n(k) = (n = strlen(ARG5) || k <= n ? n : k, 0)
note(dummy) = is_asked(0) ? (note_n(column("n")), pairs = note_word(pairs, pair_of(0)), \
    column("distinct") > 1 ? (methods = note_word(methods, strcol("method")), 0) : 0) : 0
stats atomics using (note(0)) nooutput
note_at_n(dummy) = is_asked(0) && column("n") == n && column("distinct") > 1 ? \
    note_case(pair_of(0) . "|" . strcol("method"), strcol("case_id")) : 0
stats atomics using (note_at_n(0)) nooutput
if (words(methods) == 0) {
    print "reports/page/atomics.gp: ", ARG1, ": found no results that vary, input '", input, "', ", load
    exit status 3
}
case_of(pair, method) = (at = pair . "|" . method, found = "none", \
    sum [i = 1 : words(cases) / 2] \
        (word(cases, 2 * i - 1) eq at ? (found = word(cases, 2 * i), 0) : 0), found)

# Of a case: where its results lie, in ulps of the exact sum (2^e <= |exact| < 2^(e+1)).
precision(accumulator) = accumulator eq "fp16" ? 11 : accumulator eq "bf16" ? 8 : \
    accumulator eq "fp32" ? 24 : 53
place(dummy) = (column("result") - column("exact")) / \
    2.0 ** (floor(log(abs(column("exact"))) / log(2)) - precision(strcol("accumulator")) + 1)
in_case(id) = strcol("case_id") eq id ? place(0) : NaN
# Bars as wide as it takes to show a shape, whole ulps: 0 .. 40 of them.
width_of(spread) = spread < 40 ? 1 : ceil(spread / 40)
bar(x, width) = width * floor(x / width + 0.5)
bell(x, mean, deviation, width, runs) = \
    runs * width / deviation / sqrt(2 * pi) * exp(-0.5 * ((x - mean) / deviation) ** 2)

# Colours of Okabe and Ito, which the colour-blind tell apart too, without the yellow; then grey.
# Marks differ as well.
array colour[8] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xe69f00, 0x000000, 0x888888]
array mark[8] = [7, 5, 9, 13, 6, 4, 8, 12]
do for [m = 1 : words(methods)] {
    set linetype m linecolor rgb colour[(m - 1) % 8 + 1] linewidth 1.5 \
        pointtype mark[(m - 1) % 8 + 1] pointsize 0.7
}
columns = words(pairs)
panel = 150.0
below = 330.0
height = 40 + panel * words(methods) + below
set terminal svg size 460 * columns, height enhanced \
    background rgb "white" font "sans,12"
set output ARG2
set multiplot title \
    sprintf("Results of %s, %s, %s: how often each came at n = %.0f, and how far apart they lie", \
            input, device, load, n) noenhanced
set grid linecolor rgb 0xdddddd
do for [c = 1 : columns] {
    pair = word(pairs, c)
    left = (c - 1.0) / columns
    # A panel for each method.
    do for [m = 1 : words(methods)] {
        id = case_of(pair, word(methods, m))
        set size 1.0 / columns, panel / height
        set origin left, (below + panel * (words(methods) - m)) / height
        set title sprintf("%s, %s", word(methods, m), pair) noenhanced offset 0, -0.7
        set xlabel m == words(methods) ? "result - exact sum, ulps" : "" offset 0, 0.5
        set ylabel "runs"
        set tmargin 1.5
        set bmargin 3
        set tics font ",9"
        unset key
        if (id ne "none") {
            set xrange [* : *]
            set yrange [* : *]
            stats results using (in_case(id)) name "at" nooutput
            width = width_of(at_max - at_min)
            set boxwidth width
            set style fill solid 0.5 noborder
            set yrange [0 : *]
            set xrange [at_min - 3 * width : at_max + 3 * width]
            set samples 200
            if (at_stddev > 0) {
                plot results using (bar(in_case(id), width)):(1) smooth frequency with boxes \
                         linetype m, \
                     bell(x, at_mean, at_stddev, width, at_records) with lines \
                         linecolor rgb "black" linewidth 1 dashtype 2
            } else {
                plot results using (bar(in_case(id), width)):(1) smooth frequency with boxes \
                         linetype m
            }
        }
    }
    # How they grow.
    set size 1.0 / columns, (below - 10) / height
    set bmargin 3.5
    set tmargin 2
    set origin left, 0
    set title sprintf("max |V_s|, %s", pair) noenhanced
    set xrange [* : *]
    set yrange [* : *]
    set format xy "10^{%T}"
    set xlabel "n" offset 0, 0.5
    set ylabel "max |1 - |result / that of sum/tiled||" noenhanced
    set key top left Left reverse samplen 2 spacing 1.0 noenhanced font "sans,9"
    array exponent[words(methods)]
    array factor[words(methods)]
    array label[words(methods)]
    take(m) = is_asked(0) && strcol("figure") eq "vs_max" && pair_of(0) eq pair && \
        strcol("method") eq word(methods, m) && strlen(strcol("exponent")) ? \
        (exponent[m] = column("exponent"), factor[m] = column("factor"), 0) : 0
    do for [m = 1 : words(methods)] {
        exponent[m] = NaN
        factor[m] = NaN
        set xrange [* : *]
        stats growth using (take(m)) nooutput
        label[m] = exponent[m] == exponent[m] ? \
            sprintf("%s: exponent %.2f", word(methods, m), exponent[m]) : word(methods, m)
    }
    grown(m) = is_asked(0) && pair_of(0) eq pair && strcol("method") eq word(methods, m) && \
        column("vs_max") > 0 ? column("vs_max") : NaN
    # Logarithmic axes want numbers, where there may be none.
    low = 1e300
    high = n_least = n_most = 0
    meet(m) = (y = grown(m), y == y ? \
        (low = y < low ? y : low, high = y > high ? y : high, k = column("n"), \
         n_least = n_least == 0 || k < n_least ? k : n_least, \
         n_most = k > n_most ? k : n_most, 0) : 0)
    do for [m = 1 : words(methods)] {
        stats atomics using (meet(m)) nooutput
    }
    if (high > 0) {
        set xrange [n_least / 1.5 : n_most * 1.5]
        set yrange [low / 2 : high * 2 ** (words(methods) + 1)]
    } else {
        set xrange [1 : n]
        set yrange [1e-17 : 1]
    }
    set logscale xy
    plot for [m = 1 : words(methods)] atomics using (column("n")):(grown(m)) with points \
             linetype m title label[m], \
         for [m = 1 : words(methods)] factor[m] * x ** exponent[m] with lines linetype m \
             linewidth 1 notitle
    unset logscale
    set format xy "%g"
}
unset multiplot
