// Lists the selected stretches by thread, context, reason, processor or what woke them. A click on a
// row selects its stretches.

import { sortAfterClick, sortIds, widthOf, type Sort, type ValueColumn } from "../columns.js";
import { formatValue } from "../model/format.js";
import type { Names } from "../model/names.js";
import type { StretchSelection } from "../model/stretch_selection.js";
import { groupBy } from "../model/stretch_sums.js";
import { FIRST_THREAD, INTERRUPT, NOBODY } from "../model/stretches.js";
import { Table } from "../table.js";

export const GROUPINGS = ["threads", "contexts", "waits", "processors", "wakers"] as const;
export type Grouping = typeof GROUPINGS[number];

const FRAMES = 6;

/** How rows are grouped: by a column, whose values have names and terms that select them. */
interface Key {
  column: ArrayLike<number>;
  groups: number;
  name(group: number): string;
  term(group: number): string;
}

export class GroupsPanel {
  readonly table: Table;
  private columns: ValueColumn[] = [];
  private ids = new Uint32Array(0);
  private key!: Key;
  private sort: Sort = { key: "", down: true };
  private grouping: Grouping = "threads";

  constructor(private readonly selection: StretchSelection, private readonly names: Names,
              chosen: (term: string) => void) {
    this.table = new Table("grid", "Groups of stretches", {
      select: (group) => chosen(this.key.term(group)),
      sort: (key) => {
        this.sort = sortAfterClick(this.sort, key, key === "name");
        this.list();
      },
    });
  }

  update(grouping: Grouping): void {
    const { selection, selection: { stretches } } = this;
    if (grouping !== this.grouping || this.sort.key === "") {
      this.sort = { key: grouping === "contexts" || grouping === "waits" || grouping === "wakers"
        ? "waited" : "ran", down: true };
      this.table.select(-1);
    }
    this.grouping = grouping;
    this.key = this.keyOf(grouping);
    const { column, groups } = this.key;
    const sums = groupBy(stretches, column, groups, selection.rows);
    this.ids = Uint32Array.from(sums.count.keys()).filter((group) => sums.count[group]! > 0);
    const time = (key: string, help: string, value: Float64Array): ValueColumn =>
      ({ key, title: key, help, width: widthOf(key, 6), value,
         text: (i) => (value[i]! > 0 ? formatValue(value[i]!, "ns") : "") });
    const count = Float64Array.from(sums.count);
    const most = this.ids.reduce((all, i) => all + sums.duration[i]!, 0);
    this.columns = [
      { ...time("ran", "Time on a processor", sums.duration),
        bar: (i) => (most > 0 ? sums.duration[i]! / most : 0) },
      time("waited", "Time until they were ready to run again", sums.waited),
      time("ready", "Time in which they were ready and did not run", sums.ready),
      time("longest", "The longest wait", sums.longest),
      { key: "count", title: "count", help: "Stretches", width: widthOf("count", 6), value: count,
        text: (i) => formatValue(count[i]!, "", true) },
      { key: "name", title: grouping.slice(0, -1), help: HELP[grouping], name: true, value: null,
        width: "minmax(14em, 1fr)", text: (i) => this.key.name(i) },
    ];
    this.table.setColumns(this.columns);
    this.list();
  }

  private list(): void {
    const column = this.columns.find((one) => one.key === this.sort.key)!;
    this.table.setSorted(column.key, this.sort.down);
    this.table.setRows(sortIds(this.ids, column, this.sort.down));
  }

  private keyOf(grouping: Grouping): Key {
    const { stretches } = this.selection;
    const { info: { threads, reasons } } = stretches;
    const threadName = (i: number) => `${threads[i]!.name} (tid ${threads[i]!.tid})`;
    switch (grouping) {
      case "threads":
        return { column: stretches.thread, groups: threads.length, name: threadName,
                 term: (i) => `tid=${threads[i]!.tid}` };
      case "contexts":
        return { column: stretches.context, groups: stretches.contextParent.length,
                 name: (i) => this.contextText(i, FRAMES),
                 term: (i) => (i === 0 ? "method=\"\"" : `method=#${i}`) };
      case "waits":
        return { column: stretches.reason, groups: reasons.length,
                 name: (i) => `${reasons[i]![0]}: ${reasons[i]![1]}`,
                 term: (i) => `wait=${reasons[i]![0]}` };
      case "processors":
        return { column: stretches.processor, groups: stretches.byProcessor.processors,
                 name: (i) => `processor ${i}`, term: (i) => `cpu=${i}` };
      case "wakers":
        return { column: stretches.waker, groups: threads.length + FIRST_THREAD,
                 name: (i) => this.wakerText(i),
                 term: (i) => `waker="${i === NOBODY ? "" : i === INTERRUPT ? "interrupt"
                                         : threads[i - FIRST_THREAD]!.name}"` };
    }
  }

  /** Returns the methods of a context, the innermost first. */
  contextText(context: number, frames: number): string {
    if (context === 0) return "(no context: not counted, or in native code)";
    const path = this.selection.stretches.pathOf(context);
    const text = path.slice(0, frames).map((method) => this.names.short(method)).join(" < ");
    return path.length > frames ? `${text} < ...` : text;
  }
  wakerText(waker: number): string {
    if (waker === NOBODY) return "(not known)";
    const { threads } = this.selection.stretches.info;
    return waker === INTERRUPT ? "an interrupt" : threads[waker - FIRST_THREAD]!.name;
  }
}

const HELP: Record<Grouping, string> = {
  threads: "The thread that ran", contexts: "The calling context in which it stopped",
  waits: "Why it stopped", processors: "On which it ran", wakers: "What made it ready to run again",
};
