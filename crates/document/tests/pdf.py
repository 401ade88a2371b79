"""A writer of small PDF files in the layouts that ordinary writers use, and a reader that finds objects by
the tables alone, as readers do. It needs the standard library only."""
import re
import sys
import zlib

PAGE = b"BT (Anneliese Brandt 1987) Tj ET\n" * 30


def stream(dictionary, data):
    return b"<< %s /Length %d >>\nstream\n" % (dictionary, len(data)) + data + b"\nendstream"


def predicted(rows):
    out, above = b"", bytes(len(rows[0]))
    for row in rows:
        out += b"\x02" + bytes((x - y) & 255 for x, y in zip(row, above))
        above = row
    return out


OBJECTS = {
    1: b"<< /Type /Catalog /Pages 2 0 R >>",
    2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    3: b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /MediaBox [0 0 9 9] >>",
    4: stream(b"/Filter /FlateDecode", zlib.compress(PAGE)),
    5: b"<< /Title (A \\(private\\) title) /Author <416E6E> >>",
    6: stream(b"/Filter [/ASCIIHexDecode /FlateDecode]", zlib.compress(b"notes " * 40).hex().encode() + b">"),
}


def body(out, objects):
    places = {}
    for number, text in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n" % number + text + b"\nendobj\n"
    return places


def table(out, places, size, more=b""):
    start = len(out)
    out += b"xref\n"
    numbers = sorted(places)
    if 0 not in places and not more:
        out += b"0 %d\n0000000000 65535 f \n" % size
        for n in range(1, size):
            out += b"%010d 00000 n \n" % places[n]
    else:
        for n in numbers:
            out += b"%d 1\n%010d 00000 n \n" % (n, places[n])
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R %s>>\nstartxref\n%d\n%%%%EOF\n" % (size, more, start)
    return start


def write(mode):
    out = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
    if mode in ("table", "revision"):
        start = table(out, body(out, OBJECTS), 7)
        if mode == "revision":
            places = body(out, {5: b"<< /Title (Another title) >>"})
            table(out, places, 7, b"/Prev %d " % start)
    elif mode == "indirect":
        data = zlib.compress(PAGE)
        objects = dict(OBJECTS)
        objects[4] = b"<< /Filter /FlateDecode /Length 7 0 R >>\nstream\r\n" + data + b"\nendstream"
        objects[7] = b"%d" % len(data)
        table(out, body(out, objects), 8)
    else:
        inside = {n: OBJECTS[n] for n in (1, 2, 3, 5)}
        pairs, text = [], b""
        for n, value in inside.items():
            pairs.append(b"%d %d" % (n, len(text)))
            text += value + b"\n"
        head = b" ".join(pairs) + b"\n"
        objects = {n: OBJECTS[n] for n in (4, 6)}
        objects[8] = stream(b"/Type /ObjStm /N %d /First %d /Filter /FlateDecode" % (len(inside), len(head)),
                            zlib.compress(head + text))
        places = body(out, objects)
        rows = [b"\0\0\0\xff"]
        for n in range(1, 10):
            if n in inside:
                rows.append(bytes([2, 0, 8, list(inside).index(n)]))
            else:
                at = len(out) if n == 9 else places.get(n)
                rows.append(b"\0\0\0\0" if at is None else bytes([1]) + at.to_bytes(2, "big") + b"\0")
        start = len(out)
        data = zlib.compress(predicted(rows))
        text = stream(b"/Type /XRef /W [1 2 1] /Size 10 /Root 1 0 R /Info 5 0 R /Filter /FlateDecode "
                      b"/DecodeParms << /Columns 4 /Predictor 12 >>", data)
        out += b"9 0 obj\n" + text + b"\nendobj\nstartxref\n%d\n%%%%EOF\n" % start
    sys.stdout.buffer.write(out)


def number(dictionary, key):
    found = re.search(rb"/" + key + rb"\s+(\d+)(\s+\d+\s+R)?", dictionary)
    return found and (int(found[1]), bool(found[2]))


def read(data):
    where, inside = {}, {}

    def value(at, n):
        head = re.compile(rb"(\d+) 0 obj\s").match(data, at)
        assert head and int(head[1]) == n, (at, n)
        begin = re.compile(rb"<<.*?>>\s*stream\r?\n", re.S).match(data, head.end())
        end = data.index(b"endobj", head.end())
        if not begin or b"endobj" in begin[0]:
            return data[head.end():end].strip(), None
        length, indirect = number(begin[0], b"Length")
        if indirect:
            length = int(value(where[length], length)[0])
        packed = data[begin.end():begin.end() + length]
        assert data[begin.end() + length:].lstrip().startswith(b"endstream"), n
        dictionary = begin[0]
        if b"ASCIIHex" in dictionary:
            packed = bytes.fromhex(packed.rstrip(b">").decode())
        return dictionary, zlib.decompress(packed) if b"Flate" in dictionary else packed

    at = int(re.findall(rb"startxref\s+(\d+)", data)[-1])
    while at is not None:
        if data[at:at + 4] == b"xref":
            place = at + 5
            while line := re.compile(rb"(\d+) (\d+)\n").match(data, place):
                place = line.end()
                for n in range(int(line[1]), int(line[1]) + int(line[2])):
                    entry = data[place:place + 20]
                    assert re.fullmatch(rb"\d{10} \d{5} [nf] \n", entry), entry
                    if entry[17:18] == b"n":
                        where.setdefault(n, int(entry[:10]))
                    place += 20
            assert data[place:].startswith(b"trailer")
            dictionary = data[place:data.index(b"startxref", place)]
        else:
            n = int(data[at:].split()[0])
            dictionary, plain = value(at, n)
            widths = [int(w) for w in re.search(rb"/W\s*\[([\d ]+)\]", dictionary)[1].split()]
            columns, rows, above = sum(widths), [], bytes(sum(widths))
            assert number(dictionary, b"Columns")[0] == columns
            for i in range(0, len(plain), columns + 1):
                assert plain[i] in (0, 2)
                row = plain[i + 1:i + 1 + columns]
                above = bytes((x + y) & 255 for x, y in zip(row, above)) if plain[i] == 2 else row
                rows.append(above)
            for n, row in enumerate(rows):
                a, b, c = (int.from_bytes(f, "big") for f in (
                    row[:widths[0]], row[widths[0]:widths[0] + widths[1]], row[widths[0] + widths[1]:]))
                if a == 1:
                    where[n] = b
                elif a == 2:
                    inside[n] = (b, c)
        previous = number(dictionary, b"Prev")
        at = previous and previous[0]
    found = {}
    for n, at in where.items():
        found[n] = value(at, n)
    for n, (holder, index) in inside.items():
        dictionary, plain = found[holder]
        first, count = number(dictionary, b"First")[0], number(dictionary, b"N")[0]
        pairs = [int(x) for x in plain[:first].split()]
        assert len(pairs) == 2 * count and pairs[2 * index] == n, (n, pairs)
        ends = [first + p for p in pairs[3::2]] + [len(plain)]
        found[n] = (plain[first + pairs[2 * index + 1]:ends[index]].strip(), None)
    for n, (text, plain) in sorted(found.items()):
        text = re.sub(rb"/(Length|First|N) \d+", rb"", text) if plain is not None else text
        print(f"{n}: {text!r} {'' if b'ObjStm' in text or b'XRef' in text else plain!r}")


if sys.argv[1] == "write":
    write(sys.argv[2])
else:
    read(sys.stdin.buffer.read())
