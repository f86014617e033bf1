// Provides the locks of a profile of `jprof locks`, as model/locks/lock_table.h has them.

import type { DataFile } from "./data.js";

export interface LockCounts {
  gets: number;      // times that it was taken
  nonrec: number;    // of these, times that the thread did not have it already
  rec: number;
  slow: number;      // times that a thread had to wait for it
  wait_ns: number;
  hold_ns: number;   // 0 if it was not measured
}

/** A calling context in which locks of a class are taken. */
export interface LockContext extends LockCounts {
  lock: number;
  path: number[];    // names: the method that takes it, then its callers
}

/** Waiting in one context for locks that were taken in another one. */
export interface LockWait {
  waiter: number;
  owner: number | null;
  count: number;
  time_ns: number;
}

/** All locks of a class and kind. Of each list it has the first ones; `..._all` is the number of all. */
export interface Lock extends LockCounts {
  name: number;
  type: string;      // what it is: monitor, read lock, ...
  held: boolean;     // whether a thread has such a lock until it releases it
  contexts: number[];
  contexts_all: number;
  waits: LockWait[];
  waits_all: number;
}

/** A lock was asked for in the context `asks_for` by a thread that had one from the context `has`. */
export interface LockOrder {
  has: number;
  has_object: number;
  asks_for: number;
  asks_for_object: number;
}

/** Orders that contradict each other. */
export interface LockCycle {
  same_objects: boolean;
  orders: LockOrder[];
  orders_all: number;
}

export interface Locks {
  timed: boolean;
  elapsed_ns: number;
  locks: Lock[];
  contexts: LockContext[];
  cycles: LockCycle[];
  cycles_all: number;
}

export function readLocks(file: DataFile): Locks | null {
  const { locks } = file.header;
  return locks ? JSON.parse(file.text(locks)) as Locks : null;
}

/** Returns the columns of JLM that are computed. They are NaN where nothing was counted. */
export function missPercent({ slow, nonrec }: LockCounts): number {
  return nonrec > 0 ? (100 * slow) / nonrec : NaN;
}
export function utilisation({ hold_ns: hold }: LockCounts, { elapsed_ns: elapsed }: Locks): number {
  return elapsed > 0 ? (100 * hold) / elapsed : NaN;
}
export function meanHold({ hold_ns: hold, nonrec }: LockCounts): number {
  return nonrec > 0 ? hold / nonrec : NaN;
}

/** Who waits for whom, and for which lock. */
export interface Pair extends LockWait {
  lock: number;
}

/** Returns the pairs of a lock or, for -1, of all, the longest wait first. */
export function pairsOf({ locks }: Locks, lock = -1): Pair[] {
  return locks.flatMap(({ waits }, i) => (lock < 0 || i === lock
    ? waits.map((wait) => ({ ...wait, lock: i })) : []))
    .sort((a, b) => b.time_ns - a.time_ns || b.count - a.count);
}
