/** What a person reads of an answer: classes, numbers or records, each with what the error of its scores makes of it. */

/** Errors of a score beyond which one in some twenty lies, of errors that are normal. */
const WIDE = 2;
/** Errors of a score beyond which one in some 16,000 lies. */
const SURE = 4;
/** Nearest records that are shown where none vote. */
const NEAREST = 10;
/** What is said of a record, by the metric: with votes less is nearer, cosines among them. */
const MEASURES = { inner: "product", cosine: "cosine", euclidean: "distance", hamming: "bits that differ" };


/**
 * Scores of a row, those of one class moved one way and all others the other way, of every model at once.
 *
 * A model's probability of a class rises with the class's own score and falls with every other, whatever the link: of
 * all rows whose scores are moved by as much, this one gives the class the least share, or the largest.
 */
function moved({ classes }, row, place, by) {
  const own = (at) => (classes.length === 2 ? place === 1 : at % classes.length === place);
  return row.map((score, at) => score + (own(at) ? by : -by));
}

const flat = (rows) => Float64Array.from(rows.flat());

function rowsOf(numbers, width) {
  const count = numbers.length / width;
  return Array.from({ length: count }, (_, at) => Array.from(numbers.subarray(at * width, (at + 1) * width)));
}

/** Whether every row whose scores are moved by no more has this class. */
function isSure(plan, row, chosen, by) {
  const { classes, compiled, link } = plan;
  const least = moved(plan, row, chosen, -by);
  if (!link.startsWith("mean_")) return compiled.places(flat([least]))[0] === chosen;
  // Of an average no row is the worst for all: the class at its least share is held against each other at its largest.
  const rows = classes.map((_, place) => (place === chosen ? least : moved(plan, row, place, by)));
  const shares = rowsOf(compiled.probabilities(flat(rows)), classes.length).map((each, place) => each[place]);
  // The classes of two share one score: the share of the one is what the other leaves.
  if (classes.length === 2) return shares[chosen] > 0.5;
  return shares.every((share, place) => place === chosen || share < shares[chosen]);
}

function classesOf(plan, { predictions, scores, probabilities }, alone) {
  const { compiled, classes } = plan;
  const labels = classes.map(String);
  // None errs where all is whole numbers, as of trees.
  const error = plan.deploymentError ?? plan.error ?? 0;
  return scores.map((row, at) => {
    const label = String(predictions[at]);
    const chosen = labels.indexOf(label);
    const sure = isSure(plan, row, chosen, SURE * error);
    if (probabilities === null) return { label, sure, shares: null };
    const shares = labels.map((each, place) => ({ label: each, share: probabilities[at][place] }));
    for (const place of alone ? shares.keys() : [chosen]) {
      const ends = [-WIDE * error, WIDE * error].map((by) => moved(plan, row, place, by));
      const [low, high] = rowsOf(compiled.probabilities(flat(ends)), classes.length);
      Object.assign(shares[place], { low: low[place], high: high[place] });
    }
    return { label, sure, shares };
  });
}

function numbersOf(plan, { predictions, scores }) {
  const width = WIDE * (plan.error ?? 0);
  // A square turns at zero, and a root has nothing below.
  const turn = (x) => Math.min(Math.max(0, x - width), x + width);
  const ends = [(x) => x - width, (x) => x + width, turn].map((end) =>
    rowsOf(plan.compiled.numbers(flat(scores.map((row) => row.map(end)))), plan.outputs),
  );
  return predictions.map((found, at) => ({
    numbers: [found].flat().map((value, place) => {
      const all = ends.map((rows) => rows[at][place]).filter((end) => !Number.isNaN(end));
      return { value, low: Math.min(...all), high: Math.max(...all) };
    }),
  }));
}

function scored(plan, found, alone) {
  return plan.classes === null ? numbersOf(plan, found) : classesOf(plan, found, alone);
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
 * @param {boolean} [alone] whether it is of one sample, of which every class is drawn: of several each its own
 */
export function readings(plan, found, alone = found.scores.length === 1) {
  return READERS[plan.protocol](plan, found, alone);
}
