// compare, as JSON (docs/REPORTS.md).
#include <algorithm>
#include <cmath>

#include "reports/compare.h"

namespace jprof::reports {
namespace {

// Shares need more digits than Output::Number has. JSON has no word for what is no number.
std::string Digits(double value) {
  return std::isfinite(value) ? fmt::format("{:.8g}", value) : "null";
}

void PrintEstimate(std::string_view name, const Estimate& estimate, Output& out) {
  out.Print("\"{}\":{{\"value\":{},\"low\":{},\"high\":{}}}", name, Digits(estimate.value),
            Digits(estimate.low), Digits(estimate.high));
}

void PrintAmount(std::string_view name, const Side& side, const Amount& amount, Output& out) {
  out.Print("\"{}\":{{\"value\":{}", name, Digits(amount.value));
  if (side.counted) out.Print(",\"samples\":{}", Digits(amount.samples));
  if (!side.sampled) out.Print(",\"error\":{}", Digits(amount.error));
  out.Text("}");
}

void PrintSide(const Side& side, const Amount& folded, Output& out) {
  out.Text("\n{\"directory\":");
  out.JsonString(side.directory);
  out.Text(",\"mode\":");
  out.JsonString(side.mode);
  out.Text(",\"metric\":");
  out.JsonString(side.metric);
  out.Text(",\"how\":");
  out.JsonString(side.how);
  out.Text(",\"unit\":");
  out.JsonString(side.unit);
  out.Print(",\"sampled\":{},", side.sampled);
  PrintAmount("in_methods", side, side.inside, out);
  out.Text(",");
  PrintAmount("outside", side, side.outside, out);
  out.Text(",");
  PrintAmount("folded", side, folded, out);
  out.Text(",\"notes\":[");
  const char* comma = "";
  for (const std::string& note : side.notes) {
    out.Text(std::exchange(comma, ","));
    out.JsonString(note);
  }
  out.Text("]}");
}

void PrintPath(const JointTree& tree, uint32_t context, Output& out) {
  out.Text("\"path\":[");
  const char* comma = "";
  for (const uint32_t at : tree.PathTo(context)) {
    out.Text(std::exchange(comma, ","));
    out.JsonString(tree.names[tree.contexts[at].name]);
  }
  out.Text("]");
}

void PrintMethods(std::string_view list, const FlatAndContext& flat,
                  const std::vector<HotMethod>& methods, Output& out) {
  out.Print(",\n\"{}\":[", list);
  const char* comma = "\n";
  for (const HotMethod& method : methods) {
    out.Print("{}{{\"name\":", std::exchange(comma, ",\n"));
    out.JsonString(flat.tree.names[method.name]);
    out.Text(",");
    PrintEstimate("self", method.self, out);
    out.Text(",");
    PrintEstimate("cumulative", method.all, out);
    out.Text(",\"contexts\":[");
    const char* part_comma = "\n ";
    for (const Part& part : method.parts) {
      out.Print("{}{{", std::exchange(part_comma, ",\n "));
      PrintEstimate("share", part.share, out);
      out.Text(",");
      PrintPath(flat.tree, part.context, out);
      out.Text("}");
    }
    out.Print("],\"other_contexts\":{},\"other_share\":{}}}", method.other_parts,
              Digits(method.other_share));
  }
  out.Text("]");
}

void PrintDifference(const Comparison& comparison, const std::array<Amount, 2>& self,
                     const std::array<Amount, 2>& all, Output& out) {
  const auto part = [&](const Difference& difference) {
    PrintEstimate("a", difference.a, out);
    out.Text(",");
    PrintEstimate("b", difference.b, out);
    out.Text(",");
    PrintEstimate("change", difference.change, out);
    out.Print(",\"within_error\":{}", difference.within);
  };
  part(comparison.Of(self));
  out.Text(",\"cumulative\":{");
  part(comparison.Of(all));
  out.Text("}");
}

void PrintTop(const TopTen& top, Output& out) {
  out.Print(
      ",\n\"top\":{{\"size\":{},\"both\":{},\"either\":{},\"spearman_a\":{},\"spearman_b\":{},"
      "\"spearman_either\":{}}}",
      top.size, top.both, top.either, Digits(top.rank_a), Digits(top.rank_b),
      Digits(top.rank_either));
}

}  // namespace

void PrintJson(const FlatAndContext& flat, const CompareOptions&, Output& out) {
  out.Text("{\"report\":\"compare\",\"profiles\":[");
  PrintSide(flat.side, {}, out);
  out.Text("]");
  PrintMethods("methods", flat, flat.by_self, out);
  PrintMethods("cumulative_methods", flat, flat.by_all, out);
  PrintMethods("small_flat_large_with_callees", flat, flat.hidden, out);
  out.Text("}\n");
}

void PrintJson(const Comparison& comparison, const CompareOptions& options, Output& out) {
  const JointTree& tree = comparison.tree;
  out.Text("{\"report\":\"compare\",\"profiles\":[");
  PrintSide(comparison.sides[0], tree.folded[0], out);
  out.Text(",");
  PrintSide(comparison.sides[1], tree.folded[1], out);
  out.Print(
      "],\n\"absolute\":{},\"contexts_compared\":{},\"contexts_beyond_error\":{},\"methods_"
      "compared\":{},"
      "\"methods_beyond_error\":{}",
      comparison.absolute, comparison.contexts.size(), comparison.contexts_beyond,
      comparison.methods.size(), comparison.methods_beyond);
  PrintTop(comparison.top, out);
  out.Text(",\n\"contexts\":[");
  for (size_t i = 0; i < std::min(options.top, comparison.contexts.size()); ++i) {
    const uint32_t id = comparison.contexts[i].id;
    out.Text(i == 0 ? "\n{" : ",\n{");
    PrintPath(tree, id, out);
    out.Text(",");
    PrintDifference(comparison, tree.contexts[id].self, tree.contexts[id].all, out);
    out.Text("}");
  }
  out.Text("],\n\"methods\":[");
  for (size_t i = 0; i < std::min(options.top, comparison.methods.size()); ++i) {
    const uint32_t id = comparison.methods[i].id;
    out.Text(i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
    out.JsonString(tree.names[id]);
    out.Text(",");
    PrintDifference(comparison, tree.methods[id].self, tree.methods[id].all, out);
    out.Text("}");
  }
  out.Text("]}\n");
}

}  // namespace jprof::reports
