# SPDX-License-Identifier: Apache-2.0
"""Seeded damage to the bytes of a scope_stats.jsonl."""
TOKENS = (b"null", b"true", b"-1", b"-0", b"1.5", b"1e400", b"1e3", b"NaN", b"Infinity", b"\"\"",
          b"\"12\"", b"[]", b"{}", b"[[[[[[", b"18446744073709551615", b"18446744073709551616",
          b"9223372036854775808", b"99999999999999999999999999", b"0012", b"+5", b"0x10", b"",
          b"\"\\ud800\"", b"\"\\u0000\"", b"\"\xff\"", b"\"\xc0\x80\"", b"\"\xed\xa0\x80\"", b"\\")


def _span(rng, data, longest=200):
    at = rng.randrange(len(data) + 1)
    return at, min(len(data), at + rng.randrange(1, longest))


def flip_bit(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << rng.randrange(8),)) + data[at + 1:]


def set_byte(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + bytes((rng.choice((0, 10, 34, 44, 58, 92, 123, 125, 128, 255)),)) + data[at + 1:]


def cut(rng, data):
    return data[:rng.randrange(len(data))]


def remove(rng, data):
    a, b = _span(rng, data)
    return data[:a] + data[b:]


def hole(rng, data):
    a, b = _span(rng, data, 5000)
    return data[:a] + bytes(b - a) + data[b:]


def page_hole(rng, data):
    size = rng.choice((512, 4096))
    a = rng.randrange(len(data)) // size * size
    b = min(len(data), a + size)
    return data[:a] + bytes(b - a) + data[b:]


def insert(rng, data):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.randrange(1, 30)) + data[at:]


def repeat(rng, data):
    a, b = _span(rng, data, 2000)
    return data[:b] + data[a:b] + data[b:]


def _lines(data):
    return data.split(b"\n")


def drop_line(rng, data):
    rows = _lines(data)
    del rows[rng.randrange(len(rows))]
    return b"\n".join(rows)


def repeat_line(rng, data):
    rows = _lines(data)
    at = rng.randrange(len(rows))
    rows.insert(rng.randrange(len(rows) + 1), rows[at])
    return b"\n".join(rows)


def swap_lines(rng, data):
    rows = _lines(data)
    a, b = rng.randrange(len(rows)), rng.randrange(len(rows))
    rows[a], rows[b] = rows[b], rows[a]
    return b"\n".join(rows)


def join_lines(rng, data):
    rows = _lines(data)
    at = rng.randrange(len(rows))
    rows[at:at + 2] = [b"".join(rows[at:at + 2])]
    return b"\n".join(rows)


def value(rng, data):
    """Another token in the place of one value."""
    starts = [i for i in range(len(data) - 1) if data[i:i + 2] == b": "]
    if not starts:
        return data
    a = rng.choice(starts) + 2
    ends = [e for e in (data.find(b", ", a), data.find(b"}", a)) if e > 0]
    b = min(ends) if ends else len(data)
    return data[:a] + rng.choice(TOKENS) + data[b:]


def key(rng, data):
    """A key is renamed, twice there, or unknown."""
    names = [i for i in range(len(data)) if data[i:i + 3] == b", \""]
    if not names:
        return data
    a = rng.choice(names) + 2
    other = rng.choice((b"\"x\": 1, ", b"\"total\": 0, ", b"\"ring\": 1, ", b"\"phase\": \"end\", "))
    return data[:a] + (other + data[a:] if rng.random() < 0.5 else b"\"x" + data[a + 1:])


def digits(rng, data):
    spots = [i for i in range(len(data)) if 48 <= data[i] <= 57]
    if not spots:
        return data
    at = rng.choice(spots)
    return data[:at] + str(rng.randrange(10 ** rng.randrange(1, 6))).encode() + data[at + 1:]


def wrap(rng, data):
    return rng.choice((b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data.upper(),
                       data.decode("utf-8", "replace").encode("utf-16"), data + data,
                       b"\n" + data, data + b"\n", data + b"\0", data * 3, data[::-1]))


KINDS = (flip_bit, set_byte, cut, remove, hole, page_hole, insert, repeat, drop_line, repeat_line,
         swap_lines, join_lines, value, value, value, key, digits, wrap)


def damage(rng, data):
    for _ in range(rng.choice((1, 1, 1, 1, 2, 5))):
        if data:
            data = rng.choice(KINDS)(rng, data)
    return data
