// Shows the objects of a heap summed by class, package or loader.

import { sortAfterClick, sortIds, widthOf, type ValueColumn } from "../columns.js";
import { el, select } from "../dom.js";
import { formatPercent, formatValue } from "../model/format.js";
import { searchOf, type Groups } from "../model/heap.js";
import { search } from "../model/search.js";
import type { Changed } from "../model/state.js";
import { Table } from "../table.js";
import { hasAny, type Context, type Legend, type View } from "../view.js";

export class GroupsView implements View {
  private readonly table: Table;
  private readonly note = el("span", { class: "soft" });
  private groups: Groups;
  private columns: ValueColumn[] = [];
  private sort = { key: "retained", down: true };

  constructor(private readonly context: Context, host: HTMLElement) {
    const { groups } = context.model;
    this.groups = groups[0]!;
    this.table = new Table("grid", "Sums of objects", {
      sort: (key) => this.sortBy(key),
      select: (id) => context.store.set({ method: this.groups.names[id]!, row: -1 }),
      open: (id) => this.find(id),
    });
    const choices = groups.map(({ by }): [string, string] => [by, by]);
    host.append(el("div", { class: "tools" },
      select("by", choices, this.groups.by, (by) => this.choose(by)), this.note),
      this.table.element);
  }

  focus(): void {
    this.table.element.focus();
  }

  legend(): Legend {
    return {
      about: ["Each row is a class, a package or a class loader with all its objects, also those " +
        "that are garbage. Retained bytes of two rows may be the same bytes, so they do not add up. " +
        "Enter or a double click highlights the class, or the classes of the package, in the map. " +
        "It does nothing if the map has no row of these, and for a loader, because names do not " +
        "tell which classes are its own."],
      columns: this.table.meanings, colours: [],
    };
  }

  update(changed: Changed | null): void {
    if (hasAny(changed, ["names", "search"])) this.build();
    const { method } = this.context.store.state;
    this.table.select(method < 0 ? -1 : this.groups.names.indexOf(method));
  }

  private choose(by: string): void {
    this.groups = this.context.model.groups.find((one) => one.by === by)!;
    this.build();
  }

  private build(): void {
    const { names, base, matches } = this.context.model;
    const { groups } = this;
    const live = base.total(0);
    const name = (id: number) => groups.names[id]!;
    const bytes = (key: "shallow" | "retained", help: string): ValueColumn => ({
      key, title: key, help, width: widthOf(key, 7), value: groups[key],
      text: (id) => formatValue(groups[key][id]!, "bytes"),
    });
    this.columns = [
      { key: "objects", title: "objects", help: "Objects, also those that are garbage",
        width: widthOf("objects", 7.5), value: groups.objects,
        text: (id) => formatValue(groups.objects[id]!, "", true) },
      bytes("shallow", "Bytes of these objects themselves"),
      bytes("retained", "Bytes that would be garbage without these objects"),
      { key: "share", title: "%", help: "Retained in percent of all live bytes",
        width: widthOf("%"), value: groups.retained,
        text: (id) => formatPercent(groups.retained[id]!, live),
        bar: (id) => Math.max(0, Math.min(1, groups.retained[id]! / live || 0)) },
      { key: "name", title: groups.by, help: `The ${groups.by}`, width: "minmax(20em, 1fr)",
        name: true, value: null, text: (id) => names.shown(name(id)),
        parts: (id) => names.parts(name(id)),
        mark: (id) => (matches?.methods[name(id)] ? "match" : "") },
    ];
    this.table.setColumns(this.columns);
    this.list();
  }

  private sortBy(key: string): void {
    this.sort = sortAfterClick(this.sort, key, key === "name");
    this.list();
  }

  private list(): void {
    const { names } = this.groups;
    const { matches } = this.context.model;
    const column = this.columns.find((one) => one.key === this.sort.key)!;
    let ids = Uint32Array.from(names.keys());
    if (matches) ids = ids.filter((id) => matches.methods[names[id]!] === 1);
    this.table.setSorted(this.sort.key, this.sort.down);
    this.table.setRows(sortIds(ids, column, this.sort.down));
    this.note.textContent = ids.length === names.length
      ? `${formatValue(names.length, "", true)} rows`
      : `${formatValue(ids.length, "", true)} of ${formatValue(names.length, "", true)} rows`;
  }

  /** Highlights the classes of a group in the map, if it has any. */
  private find(id: number): void {
    const { names, base } = this.context.model;
    const text = searchOf(this.groups.by, names.of(this.groups.names[id]!));
    const found = search(names, text);
    if (found && base.method.some((name) => found.methods[name] === 1))
      this.context.store.set({ search: text, view: "treemap", zoom: -1 });
  }
}
