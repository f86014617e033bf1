# Reads what Known printed untraced ("known KIND CALLS HALF FULL"), then `jprof report log-rt --raw --format csv` of its run
# under the profiler, and prints a line for each kind: what is below full() less what is below half(), so that what
# surrounds the turns cancels out, against the same difference of the counts. Fails what is off by more than 2 %: the
# calibrated total of a kind, and BASE of the straight-line methods, line0's taken off on both sides (what of a call is the
# caller's and what the callee's is a matter of definition, and the same for all of them). Printed only: line0, with BASE in
# full; and what tells how far a model that knows arguments by their number goes: values, recursion, and in C2 objects and line16.
# Variable: mode.
BEGIN { FS = "," }
FNR == NR {
  if (split($0, word, " ") == 5 && word[1] == "known") {
    kinds[++count] = word[2]; calls[word[2]] = word[3]; truth[word[2]] = word[5] - word[4]
  }
  next
}
$3 + 0 <= level { scope = 0 }
$0 ~ /Known\.(half|full)\(/ { scope = $0 ~ /\.full\(/ ? 1 : -1; level = $3 + 0; next }
scope && match($NF, /Known\.[a-z0-9]+Turns/) { kind = substr($NF, RSTART + 6, RLENGTH - 11) }
scope { base[kind] += scope * $8; raw[kind] += scope * $9; events[kind] += scope * 2 * $6 }
scope && $0 ~ /Known\.line[0-9]+\(/ { own[kind] += scope * $8 }
function percent(part, whole, limit,  off) {
  off = 100 * (part / whole - 1)
  if (off > limit || off < -limit) { failed = 1; return sprintf("%+7.2f %%!", off) }
  return sprintf("%+7.2f %% ", off)
}
END {
  for (i = 1; i <= count; ++i) {
    kind = kinds[i]
    if (truth[kind] <= 0 || events[kind] <= 0) { print "FAILED: no figures of " kind; exit 1 }
    line = sprintf("lab: %-9s %-4s %9d %10.1f %10.1f %10.1f %s", kind, mode, events[kind], truth[kind] / events[kind], \
      raw[kind] / events[kind], base[kind] / events[kind], percent(base[kind], truth[kind], kind ~ /^(line0|values|recursion)$/ || kind mode == "objectsC2" ? 1000 : 2))
    size = substr(kind, 5) + 0
    if (kind ~ /^line/ && size > 0) {
      true = (truth[kind] - truth["line0"]) / calls[kind]
      mine = (own[kind] - own["line0"]) / calls[kind]
      line = line sprintf(" %10.1f %10.1f %s", true, mine, percent(mine, true, size == 16 && mode == "C2" ? 100 : 2))
    }
    if (kind == "line0") line = line sprintf(" %21.1f", own[kind] / calls[kind])
    print line
  }
  exit count == 0 || failed
}
