// Shows a list of any items as a table that sorts itself.

import { sortAfterClick, sortIds, widthOf, type Sort, type ValueColumn } from "./columns.js";
import { Table, type TableEvents } from "./table.js";

/** A table whose rows are items of a list, and which sorts itself. */
export class ItemTable<T> {
  readonly table: Table;
  private items: T[] = [];
  private columns: ValueColumn[] = [];
  private sort: Sort;

  constructor(label: string, events: Pick<TableEvents, "select">,
              private readonly made: (items: T[]) => ValueColumn[],
              private readonly first: Sort) {
    this.sort = first;
    this.table = new Table("grid", label, {
      ...events,
      sort: (key) => {
        const isText = this.columns.find((one) => one.key === key)!.value === null;
        this.sort = sortAfterClick(this.sort, key, isText);
        this.list();
      },
    });
  }
  show(items: T[]): void {
    this.items = items;
    this.columns = this.made(items);
    this.table.setColumns(this.columns);
    this.list();
  }
  private list(): void {
    let column = this.columns.find((one) => one.key === this.sort.key);
    if (!column) {  // other items have other columns
      this.sort = this.first;
      column = this.columns.find((one) => one.key === this.sort.key)!;
    }
    this.table.setSorted(column.key, this.sort.down);
    this.table.setRows(sortIds(Uint32Array.from(this.items.keys()), column, this.sort.down));
  }
}

/** Returns a column of numbers. */
export function number<T>(items: T[], title: string, help: string, value: (one: T) => number,
                   text: (value: number) => string, least = 5.5): ValueColumn {
  return { key: title, title, help, width: widthOf(title, least),
           value: Float64Array.from(items, value), text: (i) => text(value(items[i]!)) };
}
/** Returns a column of texts. */
export function words<T>(items: T[], title: string, help: string, text: (one: T) => string,
                  width = "minmax(16em, 1fr)"): ValueColumn {
  return { key: title, title, help, width, name: true, value: null, text: (i) => text(items[i]!) };
}
