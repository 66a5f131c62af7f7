"""The laws of the Python interface: what holds for every program, not for one example.

- `programs.py`: how random programs are written down once and driven twice, by hypothesis, which
  shrinks what fails (`make test`), and by a plain generator, which is a hundred times faster
  (`make test-long`, a million operations).
- `test_*_programs.py`: one machine each for encrypted arrays, vectors, gate circuits,
  streams in the clear, polynomials and networks. The law of all: a value is right within its stated
  error, or the call was refused by the error that its documentation names; shapes are numpy's; what
  was refused, and every operand of what was not, decrypts afterwards as it did before.
- `test_wire*.py`: what travels depends on what is encrypted by the words of ciphertexts alone.

An operation counts if its value was decrypted and compared, or its refusal was the one expected.
The counts are printed at the end of a run; `HESC_LAWS_JSON=file` writes them too, and
`HESC_LAWS_OPERATIONS=n` is the number of operations of each long run (by default a million in all).
"""
