/** What the page reads and shows, without a browser: tables, ranges, digits, and what an error may change. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { columns } from "../../web/page/columns.js";
import { number, table, TableError, written } from "../../web/page/csv.js";
import { axis, listed, rounded, said } from "../../web/page/drawing.js";
import { within } from "../../web/page/elements.js";
import { hint } from "../../web/page/form.js";
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

test("thousands never become decimals", () => {
  const about = named("a", "b");
  const read = (text, own = about) => table(text, own).rows;
  for (const text of ["a\tb\n1,234\t12,345", "a;b\n12,345;7", "a;b\n1.234;3,5", "a\tb\n1.5\t3,5", "a;b\n1,234;0.5", "a\tb\n1.234,5\t1", "a\tb\n1,234,567\t1"])
    assert.throws(() => read(text), { message: /write points for decimal commas|holds no number/ }, text);
  assert.deepEqual(read("a;b\n3,5;12,345"), [[3.5, 12.345]], "the other comma is of decimals");
  assert.deepEqual(read("a;b\n3,5;0,25\n-1,5e3;7"), [[3.5, 0.25], [-1500, 7]]);
  assert.deepEqual(read("a\tb\n0,125\t1"), [[0.125, 1]]);
  assert.deepEqual(read("a\tb\n1.234\t5"), [[1.234, 5]]);
  assert.deepEqual(read("a\tword\n1.5\t1,234", named("a", "word")), [[1.5, "1,234"]], "words are no numbers");
});

test("odd names and cells, and empty lines, are as the commands have them", () => {
  const about = named("a", "b");
  const read = (text, own = about) => table(text, own).rows;
  for (const text of ["a,b\nconstructor,1", "a,b\n__proto__,1"]) assert.throws(() => read(text), /holds no number/);
  assert.throws(() => read("a,b\n1,2", named("a", " a")), /one name for several features/);
  assert.deepEqual(read("a,b\n1,2\n\t\n\n"), [[1, 2]]);
  assert.deepEqual(read("a\tb\n1\t2\n\t\n"), [[1, 2], [null, null]]);
  assert.throws(() => read("a\n1\n\n", named("a")), /line 3: it is empty/);
  assert.throws(() => read("a\n1\n\n2", named("a")), /line 3: it is empty/);
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
    places: (flat) => Array.from(flat, (score) => Number(score > 0)),
    probabilities: (flat) => Float64Array.from(Array.from(flat, (score) => [0.5 - score, 0.5 + score]).flat()),
  };
  const plan = { protocol: "linear", compiled, link: "shares", classes: ["no", "yes"], outputs: 1, error: 0.1, deploymentError: 0.1 };
  const found = { predictions: ["yes", "no"], scores: [[0.5], [-0.3]], probabilities: [[0, 1], [0.8, 0.2]] };
  const [sure, open] = readings(plan, found);
  assert.deepEqual([sure.sure, open.sure], [true, false]);
  const [no, yes] = open.shares;
  assert.ok(no.low < no.share && no.share < no.high);
  assert.equal(yes.low, undefined, "of several samples the class of each is drawn");
  assert.match(said(sure), /^Prediction: yes, with a probability of 100 %\.$/);
  assert.match(said(open), /near the border/);
  assert.deepEqual(listed([sure, open]).map(([first]) => first), ["prediction", "yes", "no"]);
});

test("as many scores are looked at as a table has classes", () => {
  let seen = 0;
  const count = (found) => (flat) => {
    seen += flat.length;
    return found(flat);
  };
  const classes = Array.from({ length: 150 }, (_, at) => at);
  const compiled = { places: count(() => [0]), probabilities: count((flat) => flat) };
  const plan = { protocol: "linear", compiled, link: "softmax", classes, outputs: 150, error: 0.1, deploymentError: 0.1 };
  const row = Array(150).fill(0);
  readings(plan, { predictions: Array(20).fill(0), scores: Array(20).fill(row), probabilities: Array(20).fill(row) });
  assert.equal(seen, 20 * 3 * 150);
});

test("a number lies within twice the error of its scores", () => {
  const compiled = { numbers: (flat) => flat.map(Math.exp) };
  const plan = { protocol: "linear", compiled, classes: null, outputs: 1, error: 0.5 };
  const [{ numbers }] = readings(plan, { predictions: [Math.E], scores: [[1]], probabilities: null });
  assert.deepEqual(numbers, [{ value: Math.E, low: 1, high: Math.exp(2) }]);
  assert.deepEqual(listed([{ numbers }]), [["prediction"], [Math.E]]);
  // A square turns at zero, and a root ends there.
  for (const [link, score, low, high] of [[(x) => x * x, 0.5, 0, 2.25], [Math.sqrt, 0.5, 0, Math.sqrt(1.5)], [Math.sqrt, -0.5, 0, Math.sqrt(0.5)]]) {
    const bent = { ...plan, compiled: { numbers: (flat) => flat.map(link) } };
    const [found] = readings(bent, { predictions: [link(score)], scores: [[score]], probabilities: null })[0].numbers;
    assert.deepEqual([found.low, found.high], [low, high]);
  }
});

test("ends of ranges and examples are within them", () => {
  for (const [low, high] of [[101320.4, 101329.6], [20191.21, 20191.29], [0.123454321, 0.2], [-3e-9, -1e-9], [1.0000001, 1.0000002], [0, 0]]) {
    const said = hint({ kind: "number", low, high, words: null, open: true, optional: false, unit: "" });
    const [from, to] = said.split(" to ").map(Number);
    assert.ok(low <= from && from <= to && to <= high, `${said} of ${low} to ${high}`);
    assert.ok(said.length < 40, said);
    const middle = Number(within((low + high) / 2, low, high, 4));
    assert.ok(low <= middle && middle <= high);
  }
  const known = { kind: "number", low: null, high: null, words: ["1", "2"], open: true, optional: false, unit: "" };
  assert.match(hint(known), /knows 1, 2; others are taken, as none of these/);
});
