# Usage: awk -v mode=MODE -f known.awk TRUTH CSV
# TRUTH is what Known printed untraced ("known KIND CALLS HALF FULL"), CSV the output of `jprof
# report log-rt --raw --format csv` for its run under the profiler. Prints a line for each kind: the
# values below full() less those below half(), so that the code around the turns cancels out,
# compared with the same difference of the counts.
# Fails if one of these is off by more than 2 %: the calibrated total of a kind, and BASE of the
# straight-line methods, with line0's subtracted on both sides (how a call is divided between caller
# and callee is a matter of definition, and the same for all of them). Only printed: line0, with BASE
# in full, and kinds that show the limits of a model that knows only the number of arguments: values,
# recursion, and in C2 objects and line16.
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
