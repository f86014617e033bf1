// Shows what holds much of a heap, and through which objects.

import { button, el, pair } from "../dom.js";
import { formatPercent, formatValue } from "../model/format.js";
import type { Link, Suspect } from "../model/data.js";
import type { Changed } from "../model/state.js";
import { selectRow, type Context, type Legend, type View } from "../view.js";

export class SuspectsView implements View {
  constructor(private readonly context: Context, private readonly host: HTMLElement) {
    const { suspects, suspect_share: least } = context.model.header.heap!;
    const limit = `${formatPercent(least, 1)} % of the heap`;
    host.append(el("div", { class: "lead" }, el("p", { class: "soft" }, suspects.length === 0
      ? `No object, and no class of objects that nothing else holds, holds ${limit} or more.`
      : `Each of these holds ${limit} or more: an object, or all objects of a class that no object ` +
        "holds. Below it are the objects through which it holds most, down to where that spreads.")),
      el("ol", { class: "suspects", tabindex: 0 }, ...suspects.map((one) => this.describe(one))));
  }

  focus(): void {
    (this.host.querySelector("button") ?? this.host.querySelector("ol"))!.focus();
  }
  legend(): Legend {
    return {
      about: ["An object that holds much of the heap may be a leak, or what the program is for. " +
        "The last object of a chain is often the collection that grows."],
      columns: [], colours: [],
    };
  }
  update(_: Changed | null): void {}

  private describe(suspect: Suspect): HTMLElement {
    const live = this.context.model.base.total(0);
    const left = suspect.chain_left_out;
    return el("li", {}, el("p", {}, suspect.text),
      el("p", {}, pair("retained", formatValue(suspect.retained, "bytes")),
         pair("of the heap", `${formatPercent(suspect.retained, live)} %`),
         ...suspect.row === null ? [] : this.links(suspect.row)),
      ...suspect.chain.length < 2 ? [] : [el("ol", { class: "chain" },
        ...suspect.chain.map((link) => this.chained(link)),
        ...left > 0 ? [el("li", { class: "soft" }, `… and ${left} more`)] : [])]);
  }

  private chained({ text, retained, row }: Link): HTMLElement {
    const name = row === null ? text
      : button(text, "Shows it in the tree of dominators", () => this.show(row, "tree"));
    return el("li", {}, el("span", { class: "number" }, formatValue(retained, "bytes")), name);
  }

  private links(row: number): HTMLElement[] {
    return [button("Map", "Fills the map with it", () => this.show(row, "treemap")),
            button("Dominators", "Shows it in the tree", () => this.show(row, "tree"))];
  }
  private show(row: number, view: "tree" | "treemap"): void {
    selectRow(this.context, row);
    this.context.store.set({ view, ...(view === "treemap" ? { zoom: row } : {}) });
  }
}
