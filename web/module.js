/** The compiled part: fetched once, compared with the digest that stands in this package, and started. */

import initialise, * as compiled from "./built/hesc_wasm.js";
import expected from "./built/digest.js";
import { HescError } from "./errors.js";

const NAME = "./built/hesc_wasm_bg.wasm";

async function fetched(place) {
  if (place.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return readFile(place);
  }
  const answer = await fetch(place, { credentials: "omit" });
  if (!answer.ok) throw new HescError(`the module was not given: status ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function load(given) {
  const bytes = given ?? (await fetched(new URL(NAME, import.meta.url)));
  if ((await digest(bytes)) !== expected)
    throw new HescError("hesc_wasm_bg.wasm is not the module of this package; install it again");
  await initialise({ module_or_path: await WebAssembly.compile(bytes) });
  return compiled;
}

let loading;

/**
 * The module's functions. A page may call it early.
 *
 * @param {Uint8Array} [given] the module's bytes, from who fetched them already; they are compared all the same
 */
export function started(given) {
  loading ??= load(given).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** SHA-256 in hexadecimal digits. */
export async function digest(bytes) {
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
