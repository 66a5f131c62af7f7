/** Predictions as a person reads them: classes with their shares, numbers on a line with the error around them, records. */

import { element, short } from "./elements.js";

/** Rows of a table that are shown. */
const SHOWN = 200;
/** Classes whose shares are shown. */
const CLASSES = 12;

const percent = (share) => `${(100 * share).toFixed(share > 0.0005 && share < 0.9995 ? 1 : 0)} %`;

/** A number and how far its interval goes to its longer side, in as many digits as that leaves. */
export function rounded({ value, low, high }) {
  const half = Math.max(high - value, value - low);
  if (!(high > low && Number.isFinite(half))) return { value: short(value), half: null };
  const places = Math.max(0, 1 - Math.floor(Math.log10(half)));
  if (places > 15) return { value: short(value, 15), half: short(half, 2) };
  return { value: value.toFixed(Math.max(0, places)), half: half.toFixed(places) };
}

/** Ends of an axis that is wide enough for its marks, and marks at round numbers. */
export function axis(low, high) {
  const width = high - low || Math.abs(low) || 1;
  const rough = width / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const from = Math.floor(low / step);
  const to = Math.max(from + 1, Math.ceil(high / step));
  const marks = Array.from({ length: to - from + 1 }, (_, at) => Number(((from + at) * step).toPrecision(12)));
  return { low: from * step, high: to * step, marks };
}

/** A name, which may be long. */
const named = (text) => element("span", { class: "name" }, text);

function placed(node, start, end) {
  node.style.insetInlineStart = `${100 * start}%`;
  if (end !== undefined) node.style.inlineSize = `${100 * Math.max(0, end - start)}%`;
  return node;
}

/** A number on an axis, with the interval that it lies in. What it shows is said in text beside it. */
function dotted({ value, low, high }, ends) {
  const at = (x) => Math.min(1, Math.max(0, (x - ends.low) / (ends.high - ends.low)));
  return element(
    "span",
    { class: "line", "aria-hidden": "true" },
    placed(element("span", { class: "interval" }), at(low), at(high)),
    placed(element("span", { class: "dot" }), at(value)),
  );
}

function marked(ends) {
  const at = (x) => (x - ends.low) / (ends.high - ends.low);
  const marks = ends.marks.map((mark) => placed(element("span", { class: "mark" }, short(mark)), at(mark)));
  return element("span", { class: "marks", "aria-hidden": "true" }, ...marks);
}

function numberLine(number) {
  const { value, half } = rounded(number);
  const room = Math.max(6 * (number.high - number.low), Math.abs(number.value) / 20) || 1;
  const ends = axis(number.value - room, number.value + room);
  const said = half === null ? "" : ` ± ${half}`;
  return element(
    "div",
    { class: "number" },
    element("p", { class: "found" }, value, element("span", { class: "around" }, said)),
    dotted(number, ends),
    marked(ends),
    element(
      "p",
      { class: "note" },
      "The dot is the prediction. The bar around it is what encryption adds: the model’s own number lies in it " +
        "at least 19 times of 20. How well the model itself predicts is another question, which its owner answers.",
    ),
  );
}

function bar(share, { low, high } = {}) {
  const made = element("span", { class: "bar", "aria-hidden": "true" });
  made.append(placed(element("span", { class: "share" }), 0, share));
  if (low !== undefined && high - low > 0.004) made.append(placed(element("span", { class: "interval" }), low, high));
  return made;
}

const NEAR = "near the border";

function border(sure) {
  return sure
    ? "What encryption adds to the scores does not change this class."
    : "This sample is so near the border between classes that what encryption adds may have decided. Take it as open.";
}

function sharesTable(shares, label) {
  const ordered = [...shares].sort((a, b) => b.share - a.share);
  const rows = ordered.slice(0, CLASSES).map((each) =>
    element(
      "tr",
      each.label === label ? { class: "chosen" } : {},
      element("th", { scope: "row" }, named(each.label)),
      element("td", { class: "drawn" }, bar(each.share, each)),
      element("td", { class: "digits" }, percent(each.share)),
    ),
  );
  const rest = ordered.slice(CLASSES).reduce((sum, { share }) => sum + share, 0);
  const more = ordered.length > CLASSES ? [element("p", { class: "note" }, `All others: ${percent(rest)}.`)] : [];
  const heads = ["class", "", "probability"].map((head) => element("th", { scope: "col" }, head));
  const table = element(
    "table",
    { class: "shares" },
    element("caption", { class: "unseen" }, "Probabilities by the model"),
    element("thead", { class: "unseen" }, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows),
  );
  return [table, ...more];
}

const recordNames = (record) => `record ${record}`;
/** Whether records were found in which nobody votes. */
const foundAlone = ({ nearest, label }) => nearest !== undefined && label === null;

function nearestTable({ nearest, measure, bound }) {
  const rows = nearest.map(({ record, value }, at) =>
    element(
      "tr",
      at === 0 ? { class: "chosen" } : {},
      element("th", { scope: "row" }, recordNames(record)),
      element("td", { class: "digits" }, short(value)),
    ),
  );
  const heads = [
    element("th", { scope: "col" }, "record"),
    element("th", { scope: "col", class: "digits" }, measure),
  ];
  const table = element(
    "table",
    { class: "nearest" },
    element("caption", {}, "The nearest records, by their places in the index"),
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows),
  );
  const errs = bound > 0
    ? `Vectors are rounded before they are compared: what is compared is never off by more than ${short(bound, 2)}.`
    : "Codes are compared exactly.";
  return [table, element("p", { class: "note" }, errs)];
}

/** Votes where records have classes, and the records. */
function drawnNearest(reading) {
  const { label, shares, nearest } = reading;
  const found = element("p", { class: "found" }, label ?? recordNames(nearest[0].record));
  return [found, ...(shares === null ? [] : sharesTable(shares, label)), ...nearestTable(reading)];
}

/** One prediction, large. */
export function drawn(reading) {
  if (reading.numbers !== undefined) return reading.numbers.map(numberLine);
  if (reading.nearest !== undefined) return drawnNearest(reading);
  const { label, sure, shares } = reading;
  const note = element("p", { class: sure ? "note" : "note open" }, border(sure));
  const found = element("p", { class: "found" }, label);
  return shares === null ? [found, note] : [found, ...sharesTable(shares, label), note];
}

/** A prediction in a sentence, for who does not see it. */
export function said(reading) {
  if (reading.numbers !== undefined) {
    const all = reading.numbers.map((number) => {
      const { value, half } = rounded(number);
      return half === null ? value : `${value}, give or take ${half}`;
    });
    return `Prediction: ${all.join("; ")}.`;
  }
  if (foundAlone(reading)) {
    const [{ record, value }] = reading.nearest;
    return `Nearest: ${recordNames(record)}, ${reading.measure} ${short(value)}.`;
  }
  const { label, sure, shares } = reading;
  const own = shares?.find((each) => each.label === label);
  const how = own === undefined ? "" : `, with a probability of ${percent(own.share)}`;
  return `Prediction: ${label}${how}.${sure === false ? " It is near the border: take it as open." : ""}`;
}

function numberCells(reading, ends) {
  return reading.numbers.flatMap((number, place) => {
    const { value, half } = rounded(number);
    return [
      element("td", { class: "digits" }, value, element("span", { class: "around" }, half === null ? "" : ` ± ${half}`)),
      element("td", { class: "drawn axis" }, dotted(number, ends[place])),
    ];
  });
}

function recordCells({ nearest: [{ record, value }] }) {
  return [element("td", {}, recordNames(record)), element("td", { class: "digits" }, short(value))];
}

function classCells({ label, sure, shares }) {
  const own = shares?.find((each) => each.label === label);
  const open = sure === false ? [element("span", { class: "open" }, NEAR)] : [];
  const found = [element("td", {}, named(label), ...open)];
  if (own === undefined) return found;
  return [
    ...found,
    element("td", { class: "digits" }, percent(own.share)),
    element("td", { class: "drawn" }, bar(own.share, own)),
  ];
}

/** Predictions of a table. */
export function drawnTable(readings) {
  const numbers = readings[0].numbers !== undefined;
  const records = foundAlone(readings[0]);
  const width = numbers ? readings[0].numbers.length : 0;
  const ends = Array.from({ length: width }, (_, place) =>
    axis(
      Math.min(...readings.map((each) => each.numbers[place].low)),
      Math.max(...readings.map((each) => each.numbers[place].high)),
    ),
  );
  const heads = ["row"];
  if (numbers) for (const place of ends.keys()) heads.push(width === 1 ? "prediction" : `prediction ${place + 1}`, ends[place]);
  else if (records) heads.push("nearest", readings[0].measure);
  else heads.push("prediction", ...(readings[0].shares === null ? [] : ["probability", ""]));
  const head = heads.map((each) => {
    if (typeof each === "string" && each !== "") return element("th", { scope: "col" }, each);
    return each === "" ? element("td", { class: "drawn" }) : element("td", { class: "drawn axis" }, marked(each));
  });
  const rows = readings.slice(0, SHOWN).map((reading, at) => {
    const cells = numbers ? numberCells(reading, ends) : records ? recordCells(reading) : classCells(reading);
    return element("tr", {}, element("th", { scope: "row" }, String(at + 1)), ...cells);
  });
  const caption = `Predictions of ${readings.length} rows${readings.length > SHOWN ? `; the first ${SHOWN}` : ""}`;
  return element(
    "table",
    { class: "rows" },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows),
  );
}

/** Cells of the predictions, with a line of names, for a file. */
export function listed(readings) {
  if (readings[0].numbers !== undefined) {
    const width = readings[0].numbers.length;
    const names = Array.from({ length: width }, (_, place) => (width === 1 ? "prediction" : `prediction_${place}`));
    return [names, ...readings.map((each) => each.numbers.map(({ value }) => value))];
  }
  if (foundAlone(readings[0])) {
    const names = readings[0].nearest.flatMap((_, place) => [`nearest_${place + 1}`, `${readings[0].measure.replaceAll(" ", "_")}_${place + 1}`]);
    return [names, ...readings.map(({ nearest }) => nearest.flatMap(({ record, value }) => [record, value]))];
  }
  const names = readings[0].shares?.map(({ label }) => `probability_${label}`) ?? [];
  const rows = readings.map(({ label, shares }) => [label, ...(shares?.map(({ share }) => share) ?? [])]);
  return [["prediction", ...names], ...rows];
}
