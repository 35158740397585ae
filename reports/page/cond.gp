# Draws results.csv of `ulpscope run cond`: the relative error of sums against the condition number
# of what was added. Points: errors; exact results stand on the bottom line. Dashed: the bound that
# the method's theorem gives, over the sum's size. A panel for each format pair, a colour and a mark
# for each method; the cliff of a method is where its points cross the line at 1, behind which no
# digit is right. Needs gnuplot 5.4 or later.
#
#   gnuplot -c reports/page/cond.gp RESULTS/results.csv OUT.svg [METHODS [N]]
#
# METHODS: a list with commas, as sum/tiled,sum/sum2; else all. N: as in the column `n`; else the
# first row's. Of several devices, the first row's is drawn.
if (ARGC < 2) {
    print "usage: gnuplot -c reports/page/cond.gp RESULTS/results.csv OUT.svg [METHODS [N]]"
    exit status 2
}
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

# One pass over the file gathers, in functions called for their side effects, words of lists, none
# twice.
asked = ARG3
n = ARG4
device = pairs = methods = ""
has(list, word) = strstrt(" " . list, " " . word . " ") > 0
default(given, found) = strlen(given) ? given : found
is_asked(method, k, d) = ( \
    n = default(n, k), device = default(device, d), n eq k && device eq d && \
    (strlen(asked) == 0 || strstrt("," . asked . ",", "," . method . ",") > 0))
note_pair(pair) = (has(pairs, pair) ? 0 : (pairs = pairs . pair . " ", 0))
note_method(method) = (has(methods, method) ? 0 : (methods = methods . method . " ", 0))
note(dummy) = \
    is_asked(strcol("method"), strcol("n"), strcol("device")) && strcol("err_rel") ne "" ? \
    (note_pair(strcol("storage") . "/" . strcol("accumulator")), note_method(strcol("method"))) : 0
stats ARG1 using (note(0)) nooutput
if (words(methods) == 0) {
    print "reports/page/cond.gp: ", ARG1, ": found no row of method '", asked, "', n = ", n
    exit status 3
}

precision(accumulator) = accumulator eq "fp16" ? 11 : accumulator eq "bf16" ? 8 : \
    accumulator eq "fp32" ? 24 : 53
accumulator_of(pair) = pair[strstrt(pair, "/") + 1 : *]
drawn(pair, method) = strcol("method") eq method && strcol("n") eq n && \
    strcol("device") eq device && \
    strcol("storage") . "/" . strcol("accumulator") eq pair
error_at(pair, method) = drawn(pair, method) ? \
    (column("err_rel") < bottom ? bottom : column("err_rel")) : NaN
bound_at(pair, method) = drawn(pair, method) ? column("bound") / abs(column("exact")) : NaN
place_at(dummy) = column("cond_log2")

# Colours of Okabe and Ito, which the colour-blind tell apart too, without the yellow; then grey.
# Marks differ as well.
array colour[8] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xe69f00, 0x000000, 0x888888]
array mark[13] = [7, 5, 9, 13, 6, 4, 8, 12, 11, 15, 10, 14, 2]
do for [m = 1 : words(methods)] {
    set linetype m linecolor rgb colour[(m - 1) % 8 + 1] linewidth 1.2 \
        pointtype mark[(m - 1) % 13 + 1] pointsize 0.45
}
cells = words(pairs) + 1
columns = cells < 3 ? cells : cells == 4 ? 2 : 3
rows = (cells + columns - 1) / columns
set terminal svg size 440 * columns, 60 + 340 * rows enhanced background rgb "white" font "sans,12"
set output ARG2
set multiplot layout rows, columns title \
    sprintf("Relative error against condition number: n = %s, %s", n, device) noenhanced
set logscale y
set format y "10^{%T}"
set xlabel "log_2 of the condition number"
set ylabel "|error| / |sum|"
set grid linecolor rgb 0xdddddd
unset key
do for [pair in pairs] {
    p = precision(accumulator_of(pair))
    bottom = 2.0 ** (-p - 4)
    set title pair . "  (storage/accumulator)" noenhanced
    set xrange [0 : * < 5.5 * p]
    set xtics p
    set yrange [bottom / 2 : 1e3]
    plot 1 with lines linecolor rgb 0x888888 dashtype 3, \
         for [m = 1 : words(methods)] ARG1 \
             using (place_at(0)):(bound_at(pair, word(methods, m))) \
             with lines linetype m linewidth 1 dashtype 2, \
         for [m = 1 : words(methods)] ARG1 \
             using (place_at(0)):(error_at(pair, word(methods, m))) with points linetype m
}
# The legend has a panel to itself.
unset title
unset logscale
unset xlabel
unset ylabel
unset tics
unset border
unset grid
set key center center Left reverse samplen 3 spacing 1.1 noenhanced maxrows 16
plot [0 : 1] [0 : 1] for [m = 1 : words(methods)] NaN with points linetype m \
    title word(methods, m), \
    NaN with lines linecolor rgb "black" dashtype 2 title "the method's bound", \
    NaN with lines linecolor rgb 0x888888 dashtype 3 title "1: no digit is right"
unset multiplot
