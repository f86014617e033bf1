// Lists the tabs, and which pages have them.

import type { Model } from "../model/model.js";
import { CLASS } from "../model/names.js";
import type { ViewName } from "../model/state.js";
import type { Context, View } from "../view.js";
import { ClassesView } from "./view_classes.js";
import { ContextsView } from "./view_contexts.js";
import { DirectivesView } from "./view_directives.js";
import { FlameView } from "./view_flame.js";
import { GrowthView } from "./view_growth.js";
import { GroupsView } from "./view_groups.js";
import { HeatView } from "./view_heat.js";
import { LocksView } from "./view_locks.js";
import { MethodsView } from "./view_methods.js";
import { PlotView } from "./view_plot.js";
import { SuspectsView } from "./view_suspects.js";
import { TimeView } from "./view_time.js";
import { TimelineView } from "./view_timeline.js";
import { TreeView } from "./view_tree.js";
import { TreemapView } from "./view_treemap.js";

interface Tab {
  make: new (context: Context, host: HTMLElement) => View;
  isIn(model: Model): boolean;
}

const isHeap = ({ header }: Model) => header.heap !== undefined;
const hasTree = ({ header: { kind } }: Model) => !["timeline", "optimize", "scale"].includes(kind);
const hasCalls = (model: Model) => hasTree(model) && !isHeap(model);
const hasObjects = ({ locks, base }: Model) => locks === null && base.type.includes(CLASS);

export const TABS: Record<ViewName, Tab> = {
  treemap: { make: TreemapView, isIn: isHeap },
  locks: { make: LocksView, isIn: ({ locks }) => locks !== null },
  flame: { make: FlameView, isIn: hasCalls },
  tree: { make: TreeView, isIn: hasTree },
  classes: { make: ClassesView, isIn: hasObjects },
  groups: { make: GroupsView, isIn: isHeap },
  suspects: { make: SuspectsView, isIn: isHeap },
  methods: { make: MethodsView, isIn: hasCalls },
  contexts: { make: ContextsView, isIn: hasCalls },
  plot: { make: PlotView, isIn: hasCalls },
  heat: { make: HeatView, isIn: ({ intervals }) => intervals !== null },
  time: { make: TimeView, isIn: ({ header }) => header.timeline !== undefined },
  timeline: { make: TimelineView, isIn: ({ header }) => header.stretches !== undefined },
  growth: { make: GrowthView, isIn: ({ scaled }) => scaled !== null },
  directives: { make: DirectivesView, isIn: ({ programs }) => programs !== null },
};
