/** What the page reads and shows, without a browser: tables, ranges, digits, and what an error may change. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { columns } from "../../web/page/columns.js";
import { number, table, TableError, written } from "../../web/page/csv.js";
import { axis, listed, rounded, said } from "../../web/page/drawing.js";
import { readings } from "../../web/page/reading.js";

const named = (...names) => ({
  names,
  inputs: names.length,
  columns: names.map((name) => ({ name, kind: name.startsWith("word") ? "word" : "number", words: null })),
});
const matrix = (rows) => ({
  shape: [rows.length],
  f8: Buffer.from(Float64Array.from(rows).buffer).toString("base64"),
});
const planOf = (steps, low, high, names, kinds) => ({
  bytes: new TextEncoder().encode(JSON.stringify({ steps })),
  ...{ low, high, names, kinds, inputs: kinds.length },
});

test("cells are read as the commands read them", () => {
  const about = named("a", "word");
  const read = (text) => table(text, about).rows;
  assert.deepEqual(read('a,word\n1,"x, ""y"""\n'), [[1, 'x, "y"']]);
  assert.deepEqual(read("\ufeffword\ta\r\nx\t 1e3 \r\nNA\t\r\n"), [[1000, "x"], [null, null]]);
  assert.deepEqual(read("a;word\n1,5;NA\ntrue; x "), [[1.5, null], [1, " x "]]);
  assert.deepEqual(read("\n\na,word\n.5,\n"), [[0.5, null]]);
  assert.deepEqual(table("a,word,b\n1,x,2", about).extra, ["b"]);
  assert.deepEqual(table("p,q\n1,2", { ...named("word 1", "word 2"), names: [] }).rows, [["1", "2"]]);
  for (const text of ["0x10", "1_0", "Infinity", "1,5", "٣", "--1", "1e", "."]) assert.equal(number(text), null, text);
  for (const text of ["1,2\n3,4", "a\n1", "a,word\n1e999,x", 'a,word\n"1"2,x', 'a,word\n"1,x', "a,word"])
    assert.throws(() => table(text, text === "1,2\n3,4" ? { ...about, names: [] } : about), TableError, text);
});

test("a table that is written is read again", () => {
  const rows = [["a", "word"], ["1", 'x"y'], ["2", "p,q"], ["3", " z"]];
  assert.deepEqual(table(written(rows), named("a", "word")).rows, [[1, 'x"y'], [2, "p,q"], [3, " z"]]);
});

test("ranges are those of cells, before the steps", () => {
  const standard = { step: "standard", centre: matrix([10, 20]), scale: matrix([2, -4]) };
  const [a, b] = columns(planOf([standard], [-1, -1], [1, 3], ["a (cm)", "b"], ["number", "number"]));
  assert.deepEqual([a.bare, a.unit, a.low, a.high], ["a", "cm", 8, 12]);
  assert.deepEqual([b.bare, b.unit, b.low, b.high], ["b", "", 8, 24]);
  const branches = {
    step: "branches",
    inputs: 3,
    branches: [
      {
        columns: [2],
        steps: [
          { step: "codes", columns: [{ categories: ["x", "y"], codes: matrix([0, 1]), unknown: null, missing: 1 }] },
          { step: "one_hot", sizes: [2] },
        ],
      },
      { columns: [0], steps: [{ step: "function", inputs: 1, function: "log10" }] },
      { columns: [0], steps: [{ step: "fill", values: [5], missing: null }] },
    ],
  };
  const kinds = ["number", "any", "word"];
  const found = columns(planOf([branches], [0, 0, 1, 1], [1, 1, 3, 500], [], kinds));
  assert.deepEqual([found[0].name, found[0].low, found[0].high], ["feature 1", 10, 500]);
  assert.equal(found[0].optional, false, "one of its branches takes no missing cells");
  assert.deepEqual([found[1].low, found[1].optional], [null, true]);
  assert.deepEqual([found[2].words, found[2].open, found[2].optional], [["x", "y"], false, true]);
  const mixed = [{ step: "projection", centre: matrix([0, 0]), matrix: { shape: [1, 2] } }];
  for (const cell of columns(planOf(mixed, [0], [1], ["a", "b"], ["number", "number"])))
    assert.deepEqual([cell.low, cell.high], [null, null]);
  const odd = [{ step: "a step of later versions" }];
  assert.equal(columns(planOf(odd, [0, 0], [1, 1], ["a", "b"], ["number", "number"])).length, 2);
});

test("digits are as many as the interval leaves", () => {
  const shown = (value, half) => rounded({ value, low: value - half, high: value + half });
  assert.deepEqual(shown(182.5432, 0.33), { value: "182.54", half: "0.33" });
  assert.deepEqual(shown(182.5432, 33), { value: "183", half: "33" });
  assert.deepEqual(rounded({ value: 0.1 + 0.2, low: 0.3, high: 0.3 }), { value: "0.3", half: null });
  assert.equal(rounded({ value: 1e20, low: 1e20, high: Infinity }).half, null);
  for (const [low, high] of [[0, 1], [-3.7, 12.1], [1e-9, 2e-9], [5, 5], [0, 0], [-1e12, 1e12]]) {
    const found = axis(low, high);
    assert.ok(found.low <= low && found.high >= high && found.low < found.high, `${low} ${high}`);
    assert.ok(found.marks.length >= 2 && found.marks.length <= 8, `${low} ${high}`);
  }
});

test("what encryption adds may decide a class near the border alone", () => {
  const compiled = {
    places: (flat) => Array.from({ length: flat.length / 2 }, (_, at) => Number(flat[2 * at + 1] > flat[2 * at])),
    probabilities: (flat) => Float64Array.from(flat, (score, at) => (at % 2 ? score : 1 - score)),
  };
  const plan = { protocol: "linear", compiled, classes: ["no", "yes"], outputs: 2, error: 0.1, deploymentError: 0.1 };
  const found = { predictions: ["yes", "no"], scores: [[0, 0.9], [0.5, 0.1]], probabilities: [[0.1, 0.9], [0.9, 0.1]] };
  const [sure, open] = readings(plan, found);
  assert.deepEqual([sure.sure, open.sure], [true, false]);
  const yes = sure.shares[1];
  assert.ok(yes.low < yes.share && yes.share < yes.high);
  assert.match(said(sure), /^Prediction: yes, with a probability of 90.0 %\.$/);
  assert.match(said(open), /near the border/);
  assert.deepEqual(listed([sure, open]).map(([first]) => first), ["prediction", "yes", "no"]);
});

test("a number lies within twice the error of its scores", () => {
  const compiled = { numbers: (flat) => flat.map(Math.exp) };
  const plan = { protocol: "linear", compiled, classes: null, outputs: 1, error: 0.5 };
  const [{ numbers }] = readings(plan, { predictions: [Math.E], scores: [[1]], probabilities: null });
  assert.deepEqual(numbers, [{ value: Math.E, low: 1, high: Math.exp(2) }]);
  assert.deepEqual(listed([{ numbers }]), [["prediction"], [Math.E]]);
});
