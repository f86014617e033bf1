// Shows the sums of the selected stretches, and how they differ from the rest.

import { el } from "../dom.js";
import { formatValue, signed } from "../model/format.js";
import type { StretchSelection } from "../model/stretch_selection.js";
import { deviationOf, meanOf } from "../model/stretch_sums.js";
import type { StretchMetric } from "../model/stretches.js";

export const STATISTICS: [title: string, meaning: string][] = [
  ["sum", "Of the metric over the selected stretches"],
  ["min", "The smallest value"], ["max", "The largest value"], ["mean", "Per stretch"],
  ["deviation", "Standard deviation of one value"],
  ["to the rest", "Mean of the selected stretches less that of all others"],
  ["+-", "Half of the 95 % interval of this difference; pale where it contains 0"],
];

export class StatisticsPanel {
  readonly element = el("div", { class: "statistics", role: "status" });

  constructor(private readonly selection: StretchSelection) {}

  update(): void {
    const { selection } = this;
    const { metrics, count, stretches } = selection;
    const percent = 100 * count / Math.max(1, stretches.length);
    const titles = STATISTICS.map(([title, help]) => el("th", { scope: "col", title: help }, title));
    this.element.replaceChildren(el("table", { class: "edges" },
      el("caption", {}, `${formatValue(count, "", true)} stretches ` +
        `${!selection.isEmpty ? "selected" : selection.scope ? "of the program" : "in all"}, ${percent.toFixed(1)} % of those recorded`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "name" }, "metric"), ...titles)),
      el("tbody", {}, ...metrics.map((metric) => this.row(metric)))));
  }

  private row(metric: StretchMetric): HTMLElement {
    const { part, difference: { value, arm } } = this.selection.statisticsOf(metric);
    const text = (one: number) => (part.count > 0 ? formatValue(one, metric.unit) : "");
    const isWithin = !(Math.abs(value) > arm);
    const cells = [part.sum, part.min, part.max, meanOf(part), deviationOf(part)].map((one) =>
      el("td", {}, text(one)));
    return el("tr", { "data-metric": metric.name },
      el("th", { scope: "row", class: "name", title: metric.help }, metric.name), ...cells,
      el("td", { class: isWithin ? "pale" : value > 0 ? "more" : "less" },
         Number.isFinite(value) ? signed(text(value), value) : ""),
      el("td", {}, text(arm)));
  }
}
