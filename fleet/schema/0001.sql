-- Version 1 of the tables of a fleet (docs/FLEET.md). Statements end with a semicolon at the end of
-- a line. {local} is "_local" on servers of a cluster and empty on a single server. Syntax: what
-- ClickHouse 18.16 and later releases have in common.

-- A method, or the name of a thread. The number is made of its names. Runs may know it by different
-- flags: all of them apply.
CREATE TABLE IF NOT EXISTS frames{local} (
  frame UInt64,
  kind UInt8,
  flags UInt16,
  class String,
  name String,
  signature String
) ENGINE = ReplacingMergeTree() ORDER BY (frame, flags);

-- A calling context: a method below another context. The fingerprint is made of the path from the
-- thread. `folded` is that of the context without call sites.
CREATE TABLE IF NOT EXISTS contexts{local} (
  context FixedString(16),
  parent FixedString(16),
  folded FixedString(16),
  frame UInt64,
  type UInt8,
  depth UInt32
) ENGINE = ReplacingMergeTree() ORDER BY context;

-- What a run counted in a context while its method was of one type. Rows count only if `runs` has
-- their push.
CREATE TABLE IF NOT EXISTS counts{local} (
  day Date,
  service String,
  folded FixedString(16),
  context FixedString(16),
  frame UInt64,
  push UInt64,
  type UInt8,
  live UInt8,
  entries_0 UInt64,
  entries_1 UInt64,
  exits_0 UInt64,
  exits_1 UInt64,
  dispatches UInt64,
  value_1 Int64,
  value_2 Int64,
  value_3 Int64,
  value_4 Int64,
  value_5 Int64,
  value_6 Int64,
  value_7 Int64,
  value_8 Int64
) ENGINE = MergeTree() PARTITION BY toYYYYMMDD(day)
  ORDER BY (service, folded, context, type, push);

CREATE TABLE IF NOT EXISTS threads{local} (
  day Date,
  push UInt64,
  name String,
  state UInt32,
  flags UInt32,
  start_ticks UInt64,
  end_ticks UInt64,
  cpu_ns UInt64,
  own_ticks Int64,
  dispatches UInt64,
  healed UInt64,
  unmatched UInt64,
  overflow UInt64,
  dropped UInt64,
  samples UInt64,
  samples_unknown UInt64,
  samples_truncated UInt64,
  samples_own UInt64,
  samples_lost UInt64,
  sampling_ticks UInt64
) ENGINE = MergeTree() PARTITION BY toYYYYMMDD(day) ORDER BY (push, name);

-- A run that was pushed completely. Of several rows with the same `run` the one that was pushed
-- last counts.
CREATE TABLE IF NOT EXISTS runs{local} (
  day Date,
  run FixedString(16),
  content FixedString(16),
  push UInt64,
  pushed UInt64,
  rows UInt64,
  contexts UInt64,
  start UInt64,
  duration UInt64,
  service String,
  version String,
  host String,
  label_names Array(String),
  label_values Array(String),
  mode String,
  shape String,
  metrics String,
  sites UInt8,
  ticks_per_second Float64,
  calls UInt64,
  cpu_seconds Float64,
  finished UInt8,
  pid UInt64,
  path String,
  command Array(String),
  damages Array(String),
  meta String,
  calibration String,
  control String
) ENGINE = MergeTree() PARTITION BY toYYYYMMDD(day) ORDER BY (run, push);
