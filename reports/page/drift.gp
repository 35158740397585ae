# Draws profile.csv of `ulpscope run drift`: the error along a scan, in ulps of the exact prefix,
# against the number of the output. Points: the errors of the outputs in the file. Line: the largest
# of them so far. Dashed: the bound that the method's theorem gives there. A panel for each format
# pair, a colour for each method. Needs gnuplot 5.4 or later.
#
#   gnuplot -c reports/page/drift.gp RESULTS/profile.csv OUT.svg [INPUT [N [inclusive|exclusive]]]
#
# INPUT and N are as in the columns `input` and `n`; what is not given is the file's first row's. Of
# cases that differ in device, seed or launch shape alone, the first is drawn. Logarithmic axes have
# no place for 0: outputs without error have no point, and the dashes go on to the next (gnuplot
# warns of methods that have none). Outputs whose exact value is 0 are left out: in its ulps every
# error is beyond measure.
if (ARGC < 2) {
    print "usage: gnuplot -c reports/page/drift.gp RESULTS/profile.csv OUT.svg ", \
          "[INPUT [N [inclusive|exclusive]]]"
    exit status 2
}
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

# One pass over the file gathers, in functions called for their side effects, words of lists: the
# cases to draw, each with its formats and its method, none twice.
input = ARG3
n = ARG4
scan = ARG5
cases = pairs = methods = ""
has(list, word) = strstrt(" " . list, " " . word . " ") > 0
default(given, found) = strlen(given) ? given : found
label(method, segment) = strlen(segment) ? method . ":" . segment : method
is_asked(i, k, s) = ( \
    input = default(input, i), n = default(n, k), scan = default(scan, s), \
    i eq input && k eq n && s eq scan)
note_pair(pair) = (has(pairs, pair) ? 0 : (pairs = pairs . pair . " ", 0))
note_method(method) = (has(methods, method) ? 0 : (methods = methods . method . " ", 0))
note_case(pair, method, id) = ( \
    has(cases, pair . "|" . method) ? 0 : \
        (cases = cases . pair . "|" . method . " " . id . " ", note_pair(pair), \
         note_method(method)))
note(dummy) = is_asked(strcol("input"), strcol("n"), strcol("scan")) ? \
    note_case(strcol("storage") . "/" . strcol("accumulator") . "/" . strcol("output"), \
              label(strcol("method"), strcol("segment")), strcol("case_id")) : 0
stats ARG1 using (note(0)) nooutput
if (words(cases) == 0) {
    print "reports/page/drift.gp: ", ARG1, ": found no row of input '", input, "', n = ", n, ", ", scan
    exit status 3
}
case_of(pair, method) = (at = pair . "|" . method, found = "", \
    sum [i = 1 : words(cases) / 2] \
        (word(cases, 2 * i - 1) eq at ? (found = word(cases, 2 * i), 0) : 0), found)

# The rows of these cases, in a table as they are written: each line of a panel reads all rows anew.
set table $rows separator comma
plot ARG1 using (strcol("case_id")):(strcol("index")):(strcol("result")):(strcol("err_abs")): \
    (strcol("err_ulp")):(strcol("bound")) with table if (has(cases, strcol("case_id")))
unset table
unset datafile columnheaders
index = 2
result = 3
err_abs = 4
err_ulp = 5
bound = 6

# In ulps; where there is no error, its ulp is not known from the row.
drawn(id) = word(strcol(1), 1) eq id && \
    (column(err_abs) == 0 || column(err_abs) != abs(column(result)))
error_at(id) = drawn(id) && column(err_ulp) > 0 ? column(err_ulp) : NaN
most_at(id) = drawn(id) ? \
    (most = column(index) == 0 ? 0 : most, e = column(err_ulp), most = e > most ? e : most, \
     most > 0 ? most : NaN) : NaN
bound_at(id) = drawn(id) && column(err_abs) > 0 ? \
    column(bound) / column(err_abs) * column(err_ulp) : NaN

# Colours of Okabe and Ito, which the colour-blind tell apart too, without the yellow; then grey.
# Marks differ as well.
array colour[8] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xe69f00, 0x000000, 0x888888]
array mark[8] = [7, 5, 9, 13, 6, 4, 8, 12]
do for [m = 1 : words(methods)] {
    k = (m - 1) % 8 + 1
    set linetype m linecolor rgb colour[k] linewidth 1.5 pointtype mark[k] pointsize 0.35
}
cells = words(pairs) + 1
columns = cells < 3 ? cells : cells == 4 ? 2 : 3
rows = (cells + columns - 1) / columns
set terminal svg size 400 * columns, 60 + 320 * rows enhanced background rgb "white" font "sans,12"
set output ARG2
set multiplot layout rows, columns title \
    sprintf("Error along a scan: %s, n = %s, %s", input, n, scan) noenhanced
set logscale xy
set format xy "10^{%T}"
set xrange [1 : n > 1 ? n + 0 : 10]
set yrange [1e-2 : * < 1e18]
set xlabel "number of the output, from 1"
set ylabel "error (ulp of the exact prefix)"
set grid linecolor rgb 0xdddddd
unset key
array id[words(methods)]
do for [pair in pairs] {
    set title pair . "  (storage/accumulator/output)" noenhanced
    do for [m = 1 : words(methods)] {
        id[m] = case_of(pair, word(methods, m))
    }
    plot 0.5 with lines linecolor rgb 0x888888 dashtype 3, \
         for [m = 1 : words(methods)] $rows \
             using (column(index) + 1):(bound_at(id[m])) \
             with lines linetype m linewidth 1 dashtype 2, \
         for [m = 1 : words(methods)] $rows \
             using (column(index) + 1):(most_at(id[m])) with lines linetype m, \
         for [m = 1 : words(methods)] $rows \
             using (column(index) + 1):(error_at(id[m])) with points linetype m
}
# The legend has a panel to itself.
unset title
unset logscale
unset xlabel
unset ylabel
unset tics
unset border
unset grid
set key center center Left reverse samplen 3 spacing 1.3 noenhanced
plot [0 : 1] [0 : 1] for [m = 1 : words(methods)] NaN with linespoints linetype m \
    title word(methods, m), \
    NaN with lines linecolor rgb "black" dashtype 2 title "dashed: the method's bound", \
    NaN with lines linecolor rgb 0x888888 dashtype 3 title "dotted: 1/2, the error of rounding once", \
    NaN with points pointtype 7 pointsize 0.35 linecolor rgb "black" title "points: single outputs", \
    NaN with lines linecolor rgb "black" title "line: the largest of them so far"
unset multiplot
