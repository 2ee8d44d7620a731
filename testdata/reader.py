# Reads filters of this library, as docs/spec.md describes them.
import struct, zlib

def read_filter(f):
    """Read one filter from a binary file; bits[i // 8] >> i % 8 & 1 is bit i."""
    head = f.read(64)
    if head[:8] != b"\x89bloom\n\x02" or len(head) < 64:
        raise ValueError("no filter of version 2")
    check, k, s, h, _zero, m, n, p, seed = struct.unpack_from("<I4BQQdQ", head, 8)
    head += f.read((48 + s + h + 63) // 64 * 64 - 64)
    bits = f.read((m + 63) // 64 * 8)
    crc32, _crc32c = struct.unpack("<II", f.read(8))
    if zlib.crc32(head[12:], zlib.crc32(head[:8])) != check or zlib.crc32(head + bits) != crc32:
        raise ValueError("damaged filter")
    strategy, hash_ = head[48:48 + s].decode(), head[48 + s:48 + s + h].decode()
    return dict(m=m, k=k, n=n, p=p, strategy=strategy, hash=hash_, seed=seed), bits
