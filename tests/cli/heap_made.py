"""Writes heap dumps in HPROF for tests, record by record."""
import struct

OBJECT, CHAR, BYTE, INT, LONG = 2, 5, 8, 10, 11


class Dump:
    def __init__(self):
        self.bytes = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1700000000000)
        self.heap = b""
        self.texts = 5000

    def record(self, tag, body):
        self.bytes += struct.pack(">BII", tag, 0, len(body)) + body

    def text(self, text):
        self.texts += 1
        data = text if isinstance(text, bytes) else text.encode()
        self.record(1, struct.pack(">Q", self.texts) + data)
        return self.texts

    def a_class(self, number, name, parent=0, fields=(), statics=(), loader=0):
        """`fields`: (name, type); `statics`: (name, id of an object)."""
        self.record(2, struct.pack(">IQIQ", 1, number, 0, self.text(name)))
        body = struct.pack(">BQIQQQQQQIH", 0x20, number, 0, parent, loader, 0, 0, 0, 0, 0, 0)
        body += struct.pack(">H", len(statics))
        for field, value in statics:
            body += struct.pack(">QBQ", self.text(field), OBJECT, value)
        body += struct.pack(">H", len(fields))
        for field, kind in fields:
            body += struct.pack(">QB", self.text(field), kind)
        self.heap += body

    def instance(self, number, of, values):
        self.heap += struct.pack(">BQIQI", 0x21, number, 0, of, len(values)) + values

    def bytes_array(self, number, values):
        self.heap += struct.pack(">BQIIB", 0x23, number, 0, len(values), BYTE) + values

    def objects_array(self, number, of, numbers):
        self.heap += struct.pack(">BQIIQ", 0x22, number, 0, len(numbers), of)
        self.heap += b"".join(struct.pack(">Q", one) for one in numbers)

    def root(self, number):
        self.heap += struct.pack(">BQ", 0xff, number)

    def finish(self):
        self.record(0x1c, self.heap)
        self.heap = b""
        self.record(0x2c, b"")
        return self.bytes


def small(entries=100):
    """A map of an app's cache, with as many entries, their strings, and an unused list."""
    dump = Dump()
    dump.a_class(0x100, "java/lang/Object")
    dump.a_class(0x108, "java/lang/String", 0x100, [("value", OBJECT), ("coder", BYTE)])
    dump.a_class(0x110, "java/util/ArrayList", 0x100, [("elementData", OBJECT), ("size", INT)])
    dump.a_class(0x118, "[Ljava/lang/Object;", 0x100)
    dump.a_class(0x120, "app/Cache", 0x100, [("all", OBJECT)], [("instance", 0x1000)])
    dump.a_class(0x128, "[B", 0x100)
    dump.instance(0x1000, 0x120, struct.pack(">Q", 0x1010))
    dump.instance(0x1010, 0x110, struct.pack(">QI", 0x2000, entries))
    strings = [0x100000 + i * 48 for i in range(entries)]
    dump.objects_array(0x2000, 0x118, strings + [0] * entries)
    for number in strings:
        dump.instance(number, 0x108, struct.pack(">QB", number + 24, 0))
        dump.bytes_array(number + 24, b"a text")
    for number in (0x100, 0x108, 0x110, 0x118, 0x120, 0x128):
        dump.root(number)
    return dump.finish()


def loaded(loader):
    """An object of a class that this loader has defined."""
    dump = Dump()
    dump.a_class(0x100, "java/lang/Object")
    dump.a_class(0x108, "app/Loader", 0x100)
    dump.a_class(0x110, "app/Plugin", 0x100, loader=loader)
    dump.instance(loader, 0x108, b"")
    dump.instance(0x8000, 0x110, b"")
    dump.root(0x8000)
    return dump.finish()


def arrays(sizes):
    """Arrays of bytes that no object holds."""
    dump = Dump()
    dump.a_class(0x100, "java/lang/Object")
    dump.a_class(0x108, "[B", 0x100)
    for i, size in enumerate(sizes):
        dump.bytes_array(0x1000 + 1024 * i, bytes(size))
        dump.root(0x1000 + 1024 * i)
    return dump.finish()


def shapes(chance, count):
    """Nodes that refer to any others, so that some hold many and some lists are long."""
    dump = Dump()
    dump.a_class(0x100, "java/lang/Object")
    dump.a_class(0x108, "app/Node", 0x100, [("next", OBJECT), ("other", OBJECT)])
    dump.a_class(0x110, "app/part/Leaf", 0x100, [("size", INT)])
    numbers = [0x1000 + 48 * i for i in range(count)]
    for i, number in enumerate(numbers):
        if chance.randrange(3) == 0:
            dump.instance(number, 0x110, struct.pack(">I", i))
            continue
        after = numbers[min(i + 1, count - 1)] if chance.randrange(4) else 0
        dump.instance(number, 0x108, struct.pack(">QQ", after, chance.choice(numbers)))
    for number in (0x100, 0x108, 0x110, *numbers[::count // 4 + 1]):
        dump.root(number)
    return dump.finish()
