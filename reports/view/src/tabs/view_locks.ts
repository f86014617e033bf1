// Shows the locks of a program: the table of JLM, who waits for whom, and contradicting orders.

import type { ValueColumn } from "../columns.js";
import { button, el } from "../dom.js";
import { ItemTable, number, words } from "../item_table.js";
import { formatPercent, formatValue } from "../model/format.js";
import {
  meanHold, missPercent, pairsOf, utilisation,
  type Lock, type LockCycle, type LockOrder, type Locks, type Pair,
} from "../model/locks.js";
import type { Changed } from "../model/state.js";
import { hasAny, type Context, type Legend, type View } from "../view.js";

const FRAMES = 12;          // of a context in a table
const CONTEXTS_SHOWN = 30;
const UNKNOWN = "an unknown owner";

const whole = (value: number) => formatValue(value, "", true);
const percent = (value: number) => (Number.isFinite(value) ? value.toFixed(1) : "");
const time = (value: number) => (value > 0 ? formatValue(value, "ns") : "");

export class LocksView implements View {
  private readonly locks: Locks;
  private readonly table: ItemTable<Lock>;
  private readonly pairs: ItemTable<Pair>;
  private readonly side = el("div", { class: "side", "aria-live": "polite" });
  private readonly title = el("span", {});
  private readonly everything = button("All locks", "Who waits for any lock", () =>
    this.context.store.set({ method: -1, row: -1 }));
  private shownPairs: Pair[] = [];
  private pair = -1;
  private chosen = -1;   // there may be locks of several kinds with the same class

  constructor(private readonly context: Context, host: HTMLElement) {
    this.locks = context.model.locks!;
    this.table = new ItemTable("Locks", { select: (i) => this.choose(i) },
                               (items) => this.lockColumns(items), { key: "SLOW", down: true });
    this.pairs = new ItemTable("Who waits for whom", { select: (i) => this.choosePair(i) },
                               (items) => this.pairColumns(items), { key: "wait", down: true });
    const lists = el("div", { class: "lists" }, this.table.table.element,
                     el("div", { class: "tools" }, this.title, this.everything),
                     this.pairs.table.element);
    host.append(el("div", { class: "split" }, lists, this.side));
  }

  focus(): void {
    this.table.table.element.focus();
  }

  legend(): Legend {
    return {
      about: ["Above, a row is all locks of a class, with the columns of JLM. Below is who waits " +
        "for whom: a thread waited in the context of the waiter for a lock that its owner had " +
        "taken in the context of the owner. Select a lock to see only its waits, and where it is " +
        "taken. On the right are orders of taking locks that contradict each other: threads that " +
        "do this at the same time wait for each other forever."],
      columns: [...this.table.table.meanings, ...this.pairs.table.meanings], colours: [],
    };
  }

  update(changed: Changed | null): void {
    if (hasAny(changed, ["names"])) this.table.show(this.locks.locks);
    if (hasAny(changed, ["names", "method"])) {
      this.pair = -1;
      this.showPairs();
    }
    this.table.table.select(this.selected);
    this.drawSide();
  }

  /** Returns the number of the lock whose class is selected, or -1. */
  private get selected(): number {
    const { method } = this.context.store.state;
    const { locks } = this.locks;
    if (this.chosen >= 0 && locks[this.chosen]!.name === method) return this.chosen;
    return method < 0 ? -1 : locks.findIndex(({ name }) => name === method);
  }
  private choose(i: number): void {
    this.chosen = i;
    this.context.store.set({ method: this.locks.locks[i]!.name, row: -1 });
    this.showPairs();
    this.drawSide();
  }
  private choosePair(i: number): void {
    this.pair = i;
    this.drawSide();
  }

  private lockColumns(items: Lock[]): ValueColumn[] {
    const { names } = this.context.model;
    const { timed } = this.locks;
    const held = timed ? [
      number(items, "%UTIL", "Time held in percent of the recorded time, of all its locks together",
             (one) => (one.held ? utilisation(one, this.locks) : NaN), percent),
      number(items, "AVER_HTM", "Mean time held", (one) => (one.held ? meanHold(one) : NaN), time,
             6.5),
    ] : [];
    return [
      number(items, "%MISS", "100 SLOW / NONREC", missPercent, percent),
      number(items, "GETS", "Times that a lock of this class was taken: NONREC + REC",
             (one) => one.gets, whole, 8),
      number(items, "NONREC", "Times that the thread did not have it already",
             (one) => one.nonrec, whole, 8),
      number(items, "SLOW", "Times that a thread had to wait because another one had it",
             (one) => one.slow, whole, 7),
      number(items, "REC", "Times that the thread had it already", (one) => one.rec, whole, 7),
      ...held,
      number(items, "WAIT", "Time that threads waited for it", (one) => one.wait_ns, time, 6.5),
      words(items, "type", "What the locks are", (one) => one.type, "7em"),
      { ...words(items, "lock", "Class of the locks", (one) => names.shown(one.name)),
        parts: (i) => names.parts(items[i]!.name) },
    ];
  }

  private pairColumns(items: Pair[]): ValueColumn[] {
    const { names } = this.context.model;
    const all = items.reduce((sum, one) => sum + one.time_ns, 0);
    const share: ValueColumn = {
      ...number(items, "%", "Wait in percent of all waits of this list", (one) => one.time_ns,
                (value) => formatPercent(value, all)),
      bar: (i) => items[i]!.time_ns / all,
    };
    return [
      number(items, "wait", "Time that threads waited", (one) => one.time_ns, time, 6.5), share,
      number(items, "times", "How often they waited", (one) => one.count, whole),
      words(items, "waiter", "Where threads waited, the nearest method first",
            (one) => this.pathText(one.waiter)),
      words(items, "owner", "Where the thread that had the lock had taken it",
            (one) => this.pathText(one.owner)),
      words(items, "lock", "Class of the lock",
            (one) => names.short(this.locks.locks[one.lock]!.name), "minmax(10em, .5fr)"),
    ];
  }

  private pathText(context: number | null): string {
    if (context === null) return UNKNOWN;
    const { path } = this.locks.contexts[context]!;
    return path.slice(0, FRAMES).map((name) => this.context.model.names.short(name)).join(" < ")
      || "(outside any method)";
  }

  private showPairs(): void {
    const { names } = this.context.model;
    const { selected, locks: { locks } } = this;
    this.shownPairs = pairsOf(this.locks, selected);
    this.pairs.show(this.shownPairs);
    this.pairs.table.select(-1);
    const of = selected < 0 ? locks : [locks[selected]!];
    const left = of.reduce((sum, one) => sum + one.waits_all - one.waits.length, 0);
    const what = selected < 0 ? "any lock" : names.short(locks[selected]!.name);
    const count = this.shownPairs.length;
    this.title.replaceChildren(el("b", {}, `Who waits for whom, for ${what}`), " ",
      el("span", { class: "soft" }, count === 0 ? "nobody waited"
        : `${whole(count)} pairs of contexts${left > 0 ? `; ${whole(left)} more waited less` : ""}`));
    this.everything.hidden = selected < 0;
  }

  private drawSide(): void {
    const { selected } = this;
    const pair = this.shownPairs[this.pair];
    this.side.replaceChildren(...pair ? this.describePair(pair) : [],
      ...selected >= 0 ? [this.contextsOf(this.locks.locks[selected]!)] : [], ...this.describeCycles());
  }

  private describePair({ waiter, owner, count, time_ns: waited, lock }: Pair): HTMLElement[] {
    const name = this.context.model.names.shown(this.locks.locks[lock]!.name);
    return [el("h2", {}, `Waits ${whole(count)} times, ${formatValue(waited, "ns")}, for ${name}`),
            el("h3", {}, "Waiter"), this.stack(waiter), el("h3", {}, "Owner"), this.stack(owner)];
  }

  /** Lists the methods of a context, the nearest first. */
  private stack(context: number | null): HTMLElement {
    if (context === null) return el("p", { class: "soft" }, `${UNKNOWN}: it took the lock before the ` +
      "recording began, or in native code");
    const { names } = this.context.model;
    return el("ol", { class: "stack" }, ...this.locks.contexts[context]!.path.map((name) =>
      el("li", {}, button(names.short(name), names.shown(name), () =>
        this.context.store.set({ method: name, row: -1, view: "contexts" })))));
  }

  private contextsOf(lock: Lock): HTMLElement {
    const shown = lock.contexts.slice(0, CONTEXTS_SHOWN);
    const left = lock.contexts_all - shown.length;
    const rows = shown.map((context) => {
      const { gets, slow, wait_ns: waited } = this.locks.contexts[context]!;
      const text = this.pathText(context);
      return el("tr", {}, el("td", {}, whole(gets)), el("td", {}, whole(slow)),
                el("td", {}, time(waited)), el("td", { class: "name", title: text }, text));
    });
    const head = ["GETS", "SLOW", "WAIT"].map((text) => el("th", { scope: "col" }, text));
    return el("table", { class: "edges" },
      el("caption", {}, `Where ${this.context.model.names.short(lock.name)} is taken ` +
        `(${whole(lock.contexts_all)}${left > 0 ? `, first ${shown.length}` : ""})`),
      el("thead", {}, el("tr", {}, ...head, el("th", { scope: "col", class: "name" }, "context"))),
      el("tbody", {}, ...rows));
  }

  private describeCycles(): HTMLElement[] {
    const { cycles, cycles_all: all } = this.locks;
    if (all === 0) return [el("h2", {}, "Contradicting orders: none"), el("p", { class: "soft" },
      "No locks were taken in orders in which threads could wait for each other forever.")];
    return [el("h2", { class: "problem" }, `Contradicting orders (${whole(all)})`),
            ...cycles.map((cycle) => this.describeCycle(cycle)),
            ...all > cycles.length ? [el("p", { class: "soft" }, `and ${all - cycles.length} more`)]
                                   : []];
  }
  private describeCycle({ same_objects: same, orders, orders_all: all }: LockCycle): HTMLElement {
    return el("section", { class: "cycle" }, el("p", {}, same
      ? "The same objects: a deadlock if it happens at the same time."
      : "The same classes, maybe of other objects."),
      el("dl", {}, ...orders.flatMap((order) => this.describeOrder(order, same))),
      ...all > orders.length ? [el("p", { class: "soft" }, `and ${all - orders.length} more`)] : []);
  }
  private describeOrder(order: LockOrder, same: boolean): HTMLElement[] {
    const side = (title: string, context: number, object: number) => {
      const { lock } = this.locks.contexts[context]!;
      const name = this.context.model.names.short(this.locks.locks[lock]!.name);
      const text = this.pathText(context);
      return [el("dt", {}, title), el("dd", {}, el("b", {}, same ? `${name}@${object.toString(16)}` : name),
              el("div", { class: "name", title: text }, `in ${text}`))];
    };
    return [...side("has", order.has, order.has_object),
            ...side("asks for", order.asks_for, order.asks_for_object)];
  }
}
