/** Calls of the compiled part, whose errors become those of the package. */

import {
  DecryptionError,
  HescError,
  KeyMismatchError,
  OutOfRangeError,
  ParameterError,
  ShapeError,
  WireError,
} from "./errors.js";

const NAMED = new Map(
  [WireError, ShapeError, OutOfRangeError, ParameterError, KeyMismatchError, DecryptionError].map(
    (kind) => [kind.name, kind],
  ),
);

/** What a call of the module gives; its errors are those above. */
export function called(call) {
  try {
    return call();
  } catch (error) {
    if (error instanceof HescError) throw error;
    if (error instanceof WebAssembly.RuntimeError)
      throw new HescError("the module stopped; load the page, or start the program, again");
    const kind = NAMED.get(error?.name) ?? HescError;
    throw new kind(error?.message ?? String(error));
  }
}
