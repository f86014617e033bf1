// A small specification that the tests of events share: every type, and every meaning.
#pragma once

#include <string>

#include "events/spec/read_specification.h"

namespace jprof::events {

inline constexpr char kSmall[] = R"(<?xml version="1.0"?>
<events name="shop" layer="shop">
  <documentation>A shop.</documentation>
  <class name="orders">
    <documentation>What customers order.</documentation>
    <event name="order_begin" version="1" level="log">
      <documentation>An order arrives.</documentation>
      <context written="processor" restored="calling_context"/>
      <begin pair="order" on="number"/>
      <link on="number"/>
      <marker field="customer"/>
      <field name="number" type="uint64"><meaning>Its number.</meaning></field>
      <field name="customer" type="string"><meaning>Who &lt;orders&gt; "it".</meaning></field>
      <field name="kind" type="uint8"><meaning>How it is paid.</meaning>
        <value name="cash" number="1">Coins.</value><value name="card" number="7"/>
      </field>
    </event>
    <event name="order_end" version="2" level="statistics">
      <documentation>An order is done.</documentation>
      <end pair="order" on="number"/>
      <counter field="stock"/>
      <statistics field="duration"/>
      <field name="number" type="uint64"><meaning>Its number.</meaning></field>
      <field name="duration" type="int32" unit="ms"><meaning>How long it took.</meaning></field>
      <field name="stock" type="float64" unit="kg"><meaning>What is left.</meaning></field>
    </event>
    <event name="everything" version="1">
      <documentation>Has a field of each type.</documentation>
      <field name="a" type="uint8"><meaning>a</meaning></field>
      <field name="b" type="uint16"><meaning>b</meaning></field>
      <field name="c" type="uint32"><meaning>c</meaning></field>
      <field name="d" type="uint64"><meaning>d</meaning></field>
      <field name="e" type="int8"><meaning>e</meaning></field>
      <field name="f" type="int16"><meaning>f</meaning></field>
      <field name="g" type="int32"><meaning>g</meaning></field>
      <field name="h" type="int64"><meaning>h</meaning></field>
      <field name="i" type="float64"><meaning>i</meaning></field>
      <field name="j" type="address"><meaning>j</meaning></field>
      <field name="k" type="string"><meaning>k</meaning></field>
      <field name="l" type="string"><meaning>l</meaning></field>
    </event>
    <event name="nothing" version="1">
      <documentation>Has no fields.</documentation>
    </event>
  </class>
</events>
)";

// Returns kSmall with the first `from` replaced by `to`.
inline std::string SmallWith(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const size_t at = text.find(from);
  return at == text.npos ? "the test is wrong: no " + from : text.replace(at, from.size(), to);
}

}  // namespace jprof::events
