"""A writer and a reader of compound files, from the specification, with the standard library only."""
import struct
import sys

END, FREE, TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def entry(name, kind, start, length, child=FREE, right=FREE):
    text = name.encode("utf-16-le") + b"\0\0" if name else b""
    return (text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text), kind, 1, FREE, right, child) + bytes(36)
            + struct.pack("<IQ", start, length))


def padded(data, size):
    return data + bytes(-len(data) % size)


def chain(first, count):
    return [first + i + 1 for i in range(count - 1)] + [END]


def write():
    small, other = b"Anneliese small " * 20, b"other text " * 9
    large = b"Anneliese large " * 400
    mini = padded(small, 64) + padded(other, 64)
    runs = [padded(large, 512), padded(mini, 512)]
    n_small, n_other = -(-len(small) // 64), -(-len(other) // 64)
    minifat = chain(0, n_small) + chain(n_small, n_other)
    runs.append(padded(struct.pack(f"<{len(minifat)}I", *minifat), 512).replace(bytes(0), b""))
    starts, table = [], []
    for run in runs:
        starts.append(len(table))
        table += chain(len(table), len(run) // 512)
    directory = (entry("Root Entry", 5, starts[1], len(mini), child=1) + entry("Small", 2, 0, len(small), right=2)
                 + entry("Large", 2, starts[0], len(large), right=3) + entry("Other", 2, n_small, len(other)))
    starts.append(len(table))
    table += chain(len(table), 1)
    table += [FREE]  # A sector with something that was deleted.
    place = len(table)
    table += [TABLE]
    table += [FREE] * (128 - len(table))
    header = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
              + struct.pack("<IIIIIIIII", 0, 1, starts[3], 0, 4096, starts[2], 1, END, 0)
              + struct.pack("<I", place) + b"\xff" * 4 * 108)
    assert len(header) == 512
    runs[2] = runs[2][:len(minifat) * 4] + b"\xff" * (512 - len(minifat) * 4)
    deleted = padded(b"deleted words", 512)
    sys.stdout.buffer.write(header + b"".join(runs) + directory + deleted + struct.pack("<128I", *table))


def read(data):
    shift, = struct.unpack_from("<H", data, 30)
    size = 1 << shift
    count, first, _, cutoff, mini_first, _, more, _ = struct.unpack_from("<IIIIIIII", data, 44)
    listed = list(struct.unpack_from("<109I", data, 76))

    def sector(n):
        assert 0 <= n and (n + 2) * size <= len(data), n
        return data[(n + 1) * size:(n + 2) * size]

    while more < END:
        words = struct.unpack(f"<{size // 4}I", sector(more))
        listed += words[:-1]
        more = words[-1]
    listed = [n for n in listed if n < END]
    assert len(listed) == count
    table = [w for n in listed for w in struct.unpack(f"<{size // 4}I", sector(n))]
    assert all(table[n] == TABLE for n in listed)
    used = set(listed)

    def numbers(start, links, used):
        found = []
        while start != END:
            assert start not in used, "two chains share a sector"
            used.add(start)
            found.append(start)
            start = links[start]
        return found

    def run(start):
        return b"".join(sector(n) for n in numbers(start, table, used))

    directory = run(first)
    fat = run(mini_first) if mini_first < END else b""
    mini_table = struct.unpack(f"<{len(fat) // 4}I", fat)
    root = directory[:128]
    start, length = struct.unpack_from("<IQ", root, 116)
    mini = run(start)[:length] if start < END else b""
    mini_used = set()
    for at in range(128, len(directory), 128):
        record = directory[at:at + 128]
        if record[66] != 2:
            continue
        name = record[:64].decode("utf-16-le").split("\0")[0]
        start, length = struct.unpack_from("<IQ", record, 116)
        if length == 0:
            text = b""
        elif length < cutoff:
            text = b"".join(mini[n * 64:n * 64 + 64] for n in numbers(start, mini_table, mini_used))
        else:
            text = run(start)
        assert len(text) >= length
        print(name, length, text[:length][:5])


if sys.argv[1] == "write":
    write()
else:
    read(sys.stdin.buffer.read())
