"""AES-128 as FIPS 197 writes it down: tables of bytes, one byte after the other."""

from __future__ import annotations


def _times(a: int, b: int) -> int:
    product = 0
    for i in range(8):
        product ^= (b >> i & 1) * a << i
    for i in range(14, 7, -1):
        product ^= (product >> i & 1) * (0x11B << (i - 8))
    return product


def _substitution() -> list[int]:
    table = []
    for byte in range(256):
        inverse = next((x for x in range(256) if _times(x, byte) == 1), 0)
        rotated = [inverse << k | inverse >> (8 - k) for k in range(5)]
        table.append((rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ rotated[4] ^ 0x63) & 0xFF)
    return table


S = _substitution()


def _round_keys(key: bytes, rounds: int) -> list[list[int]]:
    words = [list(key[i : i + 4]) for i in range(0, 16, 4)]
    constant = 1
    for i in range(4, 4 * (rounds + 1)):
        word = list(words[-1])
        if i % 4 == 0:
            word = [S[x] for x in word[1:] + word[:1]]
            word[0] ^= constant
            constant = _times(constant, 2)
        words.append([a ^ b for a, b in zip(words[i - 4], word, strict=True)])
    return [[x for word in words[i : i + 4] for x in word] for i in range(0, len(words), 4)]


def encrypted(key: bytes, block: bytes, rounds: int = 10) -> bytes:
    """A block under a key; fewer rounds are none of the standard's."""
    first, *others = _round_keys(key, rounds)
    state = [a ^ b for a, b in zip(block, first, strict=True)]
    for number, own in enumerate(others, 1):
        state = [S[x] for x in state]
        state = [state[(i + 4 * (i % 4)) % 16] for i in range(16)]
        if number < rounds:
            mixed = []
            for at in range(0, 16, 4):
                column = state[at : at + 4]
                for i in range(4):
                    a, b, c, d = column[i:] + column[:i]
                    mixed.append(_times(a, 2) ^ _times(b, 3) ^ c ^ d)
            state = mixed
        state = [a ^ b for a, b in zip(state, own, strict=True)]
    return bytes(state)
