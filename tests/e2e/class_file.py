"""Writes class files that no compiler makes."""
import os
import struct

NOP, ICONST_0, IFEQ, RETURN, CALL = 0x00, 0x03, 0x99, 0xb1, 0xb8


class ClassFile:
    """A public class with static methods."""

    def __init__(self, name, major=52):
        self.name, self.major = name, major
        self.constants, self.methods = {}, []
        self.this = self.named(7, name)
        self.object = self.named(7, "java/lang/Object")

    def constant(self, contents):
        """The index of a constant with this tag and contents."""
        return self.constants.setdefault(contents, len(self.constants) + 1)

    def utf8(self, text):
        encoded = text.encode()
        return self.constant(struct.pack(">BH", 1, len(encoded)) + encoded)

    def named(self, tag, *texts):
        return self.constant(struct.pack(f">B{len(texts)}H", tag, *map(self.utf8, texts)))

    def call(self, name, descriptor="()V"):
        """The instruction that calls a method of this class."""
        method = struct.pack(">BHH", 10, self.this, self.named(12, name, descriptor))
        return struct.pack(">BH", CALL, self.constant(method))

    def attribute(self, name, contents):
        return struct.pack(">HI", self.utf8(name), len(contents)) + contents

    def method(self, name, code, attributes=(), descriptor="()V", stack=2, local=1):
        """`attributes`: pairs of name and contents, of the code."""
        body = struct.pack(">HHI", stack, local, len(code)) + code
        body += struct.pack(">HH", 0, len(attributes))
        body += b"".join(self.attribute(*attribute) for attribute in attributes)
        self.methods.append(struct.pack(">HHHH", 9, self.utf8(name), self.utf8(descriptor), 1) +
                            self.attribute("Code", body))

    def main(self, *calls):
        code = b"".join(map(self.call, calls)) + bytes([RETURN])
        self.method("main", code, descriptor="([Ljava/lang/String;)V")

    def write(self, folder):
        pool = b"".join(self.constants)
        with open(os.path.join(folder, self.name + ".class"), "wb") as file:
            file.write(struct.pack(">IHHH", 0xcafebabe, 0, self.major, len(self.constants) + 1) +
                       pool + struct.pack(">HHHHHH", 0x21, self.this, self.object, 0, 0,
                                          len(self.methods)) + b"".join(self.methods) + b"\0\0")
