"""Reads the data of a page of `jprof view`, after docs/VIEW.md."""
import base64
import json
import re
import struct
import zlib

DATA = re.compile(r'<script type="application/octet-stream" id="jprof-data">([^<]*)</script>')


class Page:
    """The data of a page, decoded after docs/VIEW.md."""

    def __init__(self, html):
        found = DATA.findall(html)
        assert len(found) == 1, "one data element"
        data = zlib.decompress(base64.b64decode(found[0], validate=True))
        magic, length = struct.unpack_from("<4sI", data)
        assert magic == b"JPV1" and length % 8 == 0
        self.header = json.loads(data[8:8 + length])
        self.sections = data[8 + length:]

    def column(self, section):
        assert section["offset"] % 8 == 0
        if section["type"] == "text":
            return self.sections[section["offset"]:][:section["length"]].decode()
        code = {"u8": "B", "u32": "I", "f32": "f", "f64": "d"}[section["type"]]
        return struct.unpack_from(f"<{section['length']}{code}", self.sections, section["offset"])

    def tree(self, number=0):
        columns = self.header["trees"][number]["columns"]
        values = {name: self.column(columns[name])
                  for name in ("parent", "method", "type", "calls") if name in columns}
        values["self"] = [self.column(section) for section in columns["self"]]
        return values

    @property
    def names(self):
        return self.column(self.header["methods"]).split("\n")
