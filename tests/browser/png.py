"""Reads PNG files with 8 bits a channel, RGB or RGBA, as browsers write them. Standard library only."""
import struct
import zlib


def paeth(left, up, corner):
    estimate = left + up - corner
    distances = (abs(estimate - left), abs(estimate - up), abs(estimate - corner))
    return (left, up, corner)[distances.index(min(distances))]


def unfilter(kind, line, above, size):
    """One line of pixels from its filtered bytes; `size` is that of a pixel."""
    for i in range(len(line)):
        left = line[i - size] if i >= size else 0
        corner = above[i - size] if i >= size else 0
        line[i] = (line[i] + (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]) & 255


def read(data, most_rows):
    """(width, height, rows, size): the first rows of the picture, each a bytearray of `size` bytes a pixel."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + chunk) == struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunk)
            assert depth == 8 and colour in (2, 6) and not interlaced, "unexpected kind of PNG"
            size = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            packed += chunk
        at += 12 + length
    raw = zlib.decompress(packed)
    rows, above = [], bytearray(width * size)
    for y in range(min(height, most_rows)):
        start = y * (width * size + 1)
        line = bytearray(raw[start + 1 : start + 1 + width * size])
        if raw[start]:
            unfilter(raw[start], line, above, size)
        rows.append(line)
        above = line
    return width, height, rows, size
