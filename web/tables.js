/** Rows as people have them, as the compiled part takes them. */

import { OutOfRangeError, ShapeError } from "./errors.js";

const UTF8 = new TextEncoder();

/** Whether a cell has no value. */
const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell);

function rowOf(row, at, plan) {
  if (Array.isArray(row) || ArrayBuffer.isView(row)) {
    if (row.length !== plan.inputs)
      throw new ShapeError(`samples are rows of ${plan.inputs} features; got ${row.length} in row ${at}`);
    return row;
  }
  const names = row !== null && typeof row === "object" ? Object.keys(row) : [];
  const known = plan.names.length === names.length && plan.names.every((name) => Object.hasOwn(row, name));
  if (!known || names.length === 0)
    throw new ShapeError(`row ${at} is no list of ${plan.inputs} cells, and no object with the plan's names`);
  return plan.names.map((name) => row[name]);
}

function number(cell, at, column) {
  if (isMissing(cell)) return NaN;
  if (typeof cell === "number") return cell;
  if (typeof cell === "boolean") return Number(cell);
  throw new ShapeError(`sample ${at} has no number in column ${column}, where the plan wants one`);
}

function word(cell, at, column) {
  if (isMissing(cell)) return null;
  if (typeof cell !== "string")
    throw new ShapeError(`sample ${at} has no text in column ${column}, where the plan wants one`);
  // Half a pair of surrogates would become another letter.
  if (/\p{Surrogate}/u.test(cell))
    throw new OutOfRangeError(`the text of sample ${at} in column ${column} has surrogates, which are no letters`);
  return UTF8.encode(cell);
}

/**
 * Numbers row after row, and words column by column in UTF-8 with their lengths, -1 where one is missing.
 *
 * @param {{inputs: number, names: string[], kinds: string[]}} plan
 */
export function table(samples, plan) {
  if (!Array.isArray(samples) || samples.length === 0)
    throw new ShapeError("samples are a list of rows, one at least");
  // Holes are rows that are missing.
  const rows = Array.from(samples, (row, at) => rowOf(row, at, plan));
  const numbers = new Float64Array(rows.length * plan.inputs).fill(NaN);
  const words = [];
  for (const [column, kind] of plan.kinds.entries()) {
    for (const [at, row] of rows.entries()) {
      const place = at * plan.inputs + column;
      if (kind === "word") words.push(word(row[column], at, column));
      else if (kind === "number") numbers[place] = number(row[column], at, column);
      else numbers[place] = isMissing(row[column]) ? NaN : 0;
    }
  }
  const lengths = Int32Array.from(words, (each) => (each === null ? -1 : each.length));
  const text = new Uint8Array(words.reduce((sum, each) => sum + (each?.length ?? 0), 0));
  let end = 0;
  for (const each of words) {
    if (each === null) continue;
    text.set(each, end);
    end += each.length;
    each.fill(0);
  }
  return { rows: rows.length, numbers, text, lengths };
}
