// Writes the view of a recording of events without a counted program: when threads ran.
#include <algorithm>
#include <map>
#include <numeric>

#include "model/events/stretch_sums.h"
#include "reports/print/units.h"
#include "reports/quality/quality_of.h"
#include "reports/view/head.h"
#include "reports/view/stretch_columns.h"
#include "reports/view/views.h"

namespace jprof::reports {
namespace {

// Adds each process with its threads, and the time that these were on a processor.
void AddThreadRows(const model::RecordedEvents& events, ViewNames& names, ViewTree& tree) {
  std::map<uint32_t, uint32_t> rows;  // by process
  const std::vector<model::StretchThread>& threads = events.stretches.threads;
  for (uint32_t i = 0; i < threads.size(); ++i) {
    const model::StretchThread& thread = threads[i];
    if (thread.count == 0) continue;
    const auto [process, is_new] = rows.try_emplace(thread.process, 0);
    const auto add = [&](uint32_t parent, const std::string& name, char type, double time) {
      tree.self[0].push_back(time);
      return tree.AddRow(parent, names.Of(name), type);
    };
    if (is_new) {
      process->second = add(
          model::kNoNode, fmt::format("{} (pid {})", thread.process_name, thread.process), 'P', 0);
    }
    uint64_t time = 0;
    for (size_t k = thread.first; k < thread.first + thread.count; ++k)
      time += events.stretches.stretches[k].duration();
    add(process->second, fmt::format("{} (tid {})", events.ThreadName(i), thread.thread), 'T',
        static_cast<double>(time));
  }
}

}  // namespace

Result<ViewData> ViewOf(model::EventRecording& recording) {
  auto events = model::LoadEvents(recording);
  if (!events) return std::unexpected(events.error());
  const model::Stretches& stretches = events->stretches;
  if (stretches.stretches.empty())
    return WrongUse("{}: no thread ran: nothing to show", recording.directory);
  ViewData data("timeline", recording.directory);
  data.Fact("command", events->meta.command);
  data.Fact("time", fmt::format("{} on {}", Duration(static_cast<double>(stretches.duration)),
                                Counted(stretches.processors, "processor", "processors")));
  data.Fact("platform", events->meta.platform);
  for (const std::string& note : events->meta.notes) data.Note(note);
  if (stretches.lost > 0)
    data.Loss(fmt::format("{} events of the kernel were lost", stretches.lost));
  for (const std::string& damage : stretches.damages) data.Loss("damaged: " + damage);
  DescribeQuality(QualityOf(*events), data);
  ViewNames names;
  names.Of("(no method)");
  ViewTree tree(1);
  AddThreadRows(*events, names, tree);
  data["metrics"].push_back({{"name", "time"}, {"unit", "ns"}, {"kind", "time"}, {"exact", true}});
  data["trees"].push_back(Describe(tree, "", data));
  AddStretches(*events, names, data);
  data["methods"] = data.AddNames(names.all());
  return data;
}

}  // namespace jprof::reports
