/** What a person reads of an answer: classes, numbers or records, each with what the error of its scores makes of it. */

/** Errors of a score beyond which one in some twenty lies, of errors that are normal. */
const WIDE = 2;
/** Errors of a score beyond which one in some 16,000 lies. */
const SURE = 4;
/** Nearest records that are shown where none vote. */
const NEAREST = 10;
/** What is said of a record, by the metric: with votes less is nearer, cosines among them. */
const MEASURES = { inner: "product", cosine: "cosine", euclidean: "distance", hamming: "bits that differ" };

/** Scores of a row, one of them moved one way and the others the other way. */
function moved(row, by) {
  return row.flatMap((_, place) => [
    row.map((score, at) => score + (at === place ? by : -by)),
    row.map((score, at) => score + (at === place ? -by : by)),
  ]);
}

const flat = (rows) => Float64Array.from(rows.flat());

function rowsOf(numbers, width) {
  const count = numbers.length / width;
  return Array.from({ length: count }, (_, at) => Array.from(numbers.subarray(at * width, (at + 1) * width)));
}

function classesOf(plan, { predictions, scores, probabilities }) {
  const { compiled, classes } = plan;
  // None errs where all is whole numbers, as of trees.
  const error = plan.deploymentError ?? plan.error ?? 0;
  return scores.map((row, at) => {
    const label = String(predictions[at]);
    const places = compiled.places(flat(moved(row, SURE * error)));
    const sure = Array.from(places).every((place) => String(classes[place]) === label);
    if (probabilities === null) return { label, sure, shares: null };
    const near = rowsOf(compiled.probabilities(flat(moved(row, WIDE * error))), classes.length);
    const shares = classes.map((each, place) => ({
      label: String(each),
      share: probabilities[at][place],
      low: Math.min(...near.map((other) => other[place])),
      high: Math.max(...near.map((other) => other[place])),
    }));
    return { label, sure, shares };
  });
}

function numbersOf(plan, { predictions, scores }) {
  const error = plan.error ?? 0;
  const all = (by) => rowsOf(plan.compiled.numbers(flat(scores.map((row) => row.map((x) => x + by)))), plan.outputs);
  const [below, above] = [all(-WIDE * error), all(WIDE * error)];
  return predictions.map((found, at) => ({
    numbers: [found].flat().map((value, place) => ({
      value,
      low: Math.min(below[at][place], above[at][place]),
      high: Math.max(below[at][place], above[at][place]),
    })),
  }));
}

function scored(plan, found) {
  return plan.classes === null ? numbersOf(plan, found) : classesOf(plan, found);
}

function searched(plan, found) {
  const { classes, metric, neighbours, scoreError } = plan;
  const votes = neighbours !== null;
  const { indices, scores } = votes ? { indices: found.indices, scores: found.distances } : found.best(NEAREST);
  return indices.map((records, at) => ({
    nearest: records.map((record, place) => ({ record, value: scores[at][place] })),
    measure: votes && metric === "cosine" ? "1 − cosine" : MEASURES[metric],
    bound: metric === "hamming" ? 0 : scoreError.bound,
    label: votes ? String(found.predictions[at]) : null,
    shares: votes ? classes.map((each, place) => ({ label: String(each), share: found.probabilities[at][place] })) : null,
  }));
}

/** What is read of answers, by the protocol of the plan. */
const READERS = { linear: scored, trees: scored, search: searched };

/**
 * One reading for each sample: `label`, `sure` and `shares` of a class, or `numbers`, or `nearest` records and their votes.
 *
 * @param {import("../local.js").Plan} plan
 * @param {object} found what `LocalClient.decrypt` gives
 */
export function readings(plan, found) {
  return READERS[plan.protocol](plan, found);
}
