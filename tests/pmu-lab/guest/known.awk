# Reads `jprof report log-rt --raw --format csv` of a run of Known: what is below full() less what is below half(), so that
# what surrounds the turns cancels out, against the same difference of the untraced run. Variables: kind, mode, truth.
BEGIN { FS = "," }
$3 + 0 <= level { scope = 0 }
$0 ~ /Known\.(half|full)\(/ { scope = $0 ~ /\.full\(/ ? 1 : -1; level = $3 + 0; next }
scope { base += scope * $8; raw += scope * $9; events += scope * 2 * $6 }
scope && $NF ~ /\.line[0-9]+\(/ { line += scope * $8; calls += scope * $6 }
END {
  if (truth <= 0 || events <= 0) { print "FAILED: no figures of " kind; exit 1 }
  own = calls ? sprintf("%8.1f", line / calls) : ""
  printf "lab: %-8s %-5s %9d %11.1f %11.2f %11.4f %9.2f %s\n", kind, mode, events, truth / events, raw / truth, \
    base / truth, (base - truth) / events, own
}
