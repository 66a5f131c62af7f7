/** Who holds and learns what under a plan, line by line as Python's `print(plan)` says it. */

const CENTRES = "centres and scales of the training data";
const GIVEN = {
  affine: CENTRES,
  standard: CENTRES,
  stretch: "least and greatest values of the training data",
  clip: "limits that features are brought within",
  projection: "means and axes of projections, as of principal components",
  monomials: "which products of features there are",
  kernel: "ROWS OF THE TRAINING DATA, which are the components of its kernel",
  bins: "edges of the bins of features, which are taken from the data unless they were given",
  exceeds:
    "the edges that features are compared with, which are thresholds of the model unless they were given",
  inside:
    "the model's trees but for what their leaves say: which features they compare where, and their shapes",
  branches: "which columns are read, and how",
  codes: "THE CATEGORIES OF THE TRAINING DATA, by column",
  one_hot: "how many categories columns have",
  lookup: "MEAN TARGETS OF THE TRAINING DATA BY CATEGORY, and the mean target of all rows",
  fill: "what stands for missing cells: means, medians or most frequent values of the training data, or constants",
  is_missing: "in which columns missing cells count",
  function: "which functions are applied",
  power: "exponents that were fitted to the training data",
  quantiles: "QUANTILES OF THE TRAINING DATA: of few rows they are all its values, column by column",
  normalise: "that rows are brought to one length",
};
const INVERSES = ["exp", "expm1", "exp2", "square", "sqrt", "sinh", "expit"];
const WAYS = {
  bins: "thresholds moved to the nearest public edges",
  additive: "AN ADDITIVE RE-FIT, NOT THE MODEL THAT WAS TRAINED",
};

/** A number of three digits, as `%.3g` writes it. */
export function three(number) {
  if (number === 0) return "0";
  const [digits, exponent] = number.toExponential(2).split("e");
  const power = Number(exponent);
  const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power >= -4 && power < 3) return short(number.toFixed(2 - power));
  const sign = power < 0 ? "-" : "+";
  return `${short(digits)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}

function* every(steps) {
  for (const step of steps) {
    yield step;
    if (step.step === "branches") for (const branch of step.branches) yield* every(branch.steps);
  }
}

function discloses(step) {
  if (step.step !== "tokens") return GIVEN[step.step];
  return step.vocabulary === null
    ? "how words of texts are hashed"
    : "THE VOCABULARY OF THE TRAINING DATA: words of its texts";
}

function seen(plan, each) {
  let text = `sees its samples, ${each} for each`;
  if (plan.classes !== null)
    text += `, and its class${plan.probabilities ? " and probabilities" : ""}`;
  else if (INVERSES.includes(plan.link)) text += `, and its prediction, which is ${plan.link} of that`;
  if (plan.link.startsWith("mean_"))
    text += ", which are those of several models: their probabilities are averaged";
  return text;
}

function given(plan, steps) {
  const found = [`ranges of ${plan.features} features`];
  if (plan.calibrated)
    found.push("scores of training rows at which the share of their class changes, which calibrate");
  return also(plan, steps, found);
}

/** These, names, and what steps tell, each once. */
function also(plan, steps, found, names = "their names") {
  if (plan.names.length > 0) found.push(names);
  if (plan.classes !== null && plan.protocol !== "search") found.push("names of classes");
  return [...found, ...new Set(Array.from(every(steps), discloses))].join("; ");
}

function weights(plan) {
  if (plan.hidden === null)
    return (
      "THE CLIENT CAN COMPUTE ALL OF THEM from the first answer (hidden=True hides them by noise, " +
      "for a few answers)"
    );
  return (
    "hidden from an honest client, but for bounds (powers of two) and what scores say: " +
    `${plan.hidden} numbers in all, ${plan.outputs} a sample, then the server refuses, under ` +
    "whichever plan of this model"
  );
}

function units(plan) {
  if (INVERSES.includes(plan.link)) return `the scores (predictions are ${plan.link} of them)`;
  return plan.classes === null ? "the target" : "scores (decision_function)";
}

function nearness(own) {
  const same = [];
  if (own.agreement !== null) same.push(`${(100 * own.agreement).toFixed(2)} % have the same class`);
  if (own.explained !== null) same.push(`R^2 of scores ${own.explained.toFixed(4)}`);
  same.push(`scores ${three(own.apart)} apart (root mean square)`);
  const which = own.unseen ? "rows that it was not made from" : "rows planned with";
  return `${WAYS[own.way]}; of ${own.rows} ${which} ${same.join(", ")}`;
}

function bytes(plan, sizes) {
  const most = plan.hidden === null ? 100 : Math.floor(plan.hidden / plan.outputs);
  const counts = new Set([1, Math.min(100, Math.max(1, most))]);
  const each = Array.from(counts, (samples) => {
    const { up, down } = sizes(samples);
    return `${up} up, ${down} down for ${samples} sample${samples > 1 ? "s" : ""}`;
  });
  return each.join("; ");
}

function secure({ assurance }) {
  return assurance === "guidelines2024" ? "128-bit security by guidelines2024" : assurance;
}

function ofScores(plan, steps, sizes) {
  const each = plan.outputs === 1 ? "a score" : `${plan.outputs} scores`;
  const rows = {
    setting: "client_server: the server holds the weights, the client samples and key",
    server: "sees how many samples there are, the plan, the key's name; no sample, no score",
    client: seen(plan, each),
    "client is given": given(plan, steps),
    weights: weights(plan),
    queries: `${plan.features + 1} samples with their scores give a linear model away, even one with hidden weights`,
    error:
      `${three(plan.error)}, the root mean square of a score's error, at most, in units of ${units(plan)}: ` +
      "over servers, which round their weights once; of one of them " +
      `${three(plan.deploymentError)} at most, with 99 % probability`,
  };
  if (plan.fidelity !== null) rows.fidelity = nearness(plan.fidelity);
  rows.bytes = bytes(plan, sizes);
  rows.ring =
    `N = ${plan.ringDegree}, ${secure(plan)}; a score decrypts wrongly with a probability below 2^-128`;
  if (plan.parts > 1)
    rows.parts =
      `features go in ${plan.parts} ring products, one in ${plan.parts} in each: the client sees the ` +
      `${plan.parts} sums that each score is made of, and 2^-128 is of each sum`;
  return { title: `Private ${kind(plan)}: ${plan.features} encrypted features, ${each} a sample`, rows };
}

function kind({ classes }) {
  return classes === null ? "regressor" : `classifier of ${classes.length} classes`;
}

/** Some columns in words, the first few of many. */
function listed(columns) {
  const shown = columns.slice(0, 8).join(", ");
  return columns.length <= 8 ? shown : `${shown} and ${columns.length - 8} more`;
}

/** What a client learns of trees that are hidden. */
function ofStructure({ trees, leaves, conditions }) {
  const counts = trees.slice(0, 4).map((count, at) => `${count} trees of ${leaves[at]} leaves`);
  if (trees.length > 4) counts.push("...");
  return {
    trees:
      `of each score the client is told trees and leaves, ${counts.join("; ")}, conditions of ` +
      `a leaf (${conditions} at most) and what sums stay within; which feature is compared where, with ` +
      "which edge, shapes and values are hidden from a client that follows the protocol, however many " +
      "samples it asks for",
    strangers:
      "A CLIENT THAT DOES NOT FOLLOW THE PROTOCOL CAN LEARN STRUCTURE, by bits that no sample has: give " +
      "accounts to those who may know it",
    queries:
      "scores of chosen samples give trees away, whatever encrypts them; whoever runs the server has to " +
      "limit queries",
  };
}

/** What a client learns of trees whose structure it is told. */
function ofLeaves({ features }, count) {
  return {
    trees:
      `THE CLIENT IS TOLD THE TREES, ${count} in all: which feature each node compares with what, and ` +
      "their shapes; what leaves say is hidden, but for scores and what sums stay within",
    strangers:
      "A CLIENT THAT DOES NOT FOLLOW THE PROTOCOL CAN LEARN SUMS OF VALUES OF ITS CHOICE, by leaves that " +
      "no sample reaches together",
    queries:
      `scores are linear in ${features} leaves: ${features + 1} samples that reach them in enough ways ` +
      "give all values, by linear algebra; whoever runs the server has to limit queries",
  };
}

/** What follows from the scores of trees. */
function follows({ classes, link, probabilities }) {
  if (classes !== null) return `, its class${probabilities ? " and probabilities" : ""}`;
  return INVERSES.includes(link) ? `, and its prediction, which is ${link} of that` : "";
}

function ofTrees(plan, steps, sizes) {
  const told = plan.structure === "public";
  const { up, down } = sizes(1);
  const count = plan.trees.reduce((sum, each) => sum + each, 0);
  const most = Math.max(...plan.trees);
  const outliers = plan.classes !== null && plan.classes[0] === 1 && plan.classes[1] === -1;
  const each = plan.outputs === 1 ? "a score" : `${plan.outputs} scores`;
  const unit = outliers ? "doublings of the anomaly score from the threshold on (above zero: an outlier)" : units(plan);
  const rows = {
    setting: "client_server: the server holds the trees, the client samples and key",
    server: "sees how many samples there are, the plan, the key's name; no sample, no score",
    client: `sees its samples, ${each} for each${follows(plan)}`,
    "client is given": also(plan, steps, [
      `${plan.features} bits, of ${told ? "leaves that samples reach" : "features that are compared"}`,
    ]),
    ...(told ? ofLeaves(plan, count) : ofStructure(plan)),
    error:
      `${three(plan.error)} at most, in units of ${unit}: leaves are rounded to multiples of ` +
      `2^${-plan.finer}, of which ${most} are added up, exactly` +
      (steps.length > 1 + told
        ? "; behind transforms a feature may fall on the other side of an edge that it is within a " +
          "rounding of, which no row planned with does"
        : ""),
  };
  if (plan.fidelity !== null) rows.fidelity = nearness(plan.fidelity);
  rows.bytes = `${up} up, ${down} down for 1 sample`;
  const [later, answer] = plan.prepared;
  rows.prepared =
    `${later} up, ${answer} down for 1 sample that was prepared before its features are ` +
    "known, with as many bytes as above; each preparation is used once";
  rows.ring =
    `N = ${plan.ringDegree}, ${secure(plan)}; a score decrypts wrongly with a probability below 2^-128 ` +
    "for each leaf";
  const [categories, missing] = plan.told;
  if (categories.length > 0)
    rows.categories =
      `the client is told which categories trees name, in ${listed(categories)}; a bit says of each ` +
      "whether a sample has it";
  if (missing.length > 0)
    rows.missing =
      "the client is told in which columns cells may be missing, as they are in the rows planned with: " +
      `${listed(missing)}; the server sees of no sample whether they are, and where one is missing ` +
      "elsewhere the client refuses it";
  const what = outliers ? "outlier detector" : kind(plan);
  return { title: `Private ${what}: ${count} trees, exactly, of ${plan.inputs} features`, rows };
}

const TELLS = {
  inner: "the inner product",
  cosine: "the cosine of the angle",
  euclidean: "the Euclidean distance",
  hamming: "the Hamming distance",
};
const VOTES = {
  uniform: "each with one vote",
  distance: "each with the inverse of its distance as its vote",
};

function searchError({ metric, neighbours, scoreError }) {
  if (metric === "hamming") return "none: distances of codes are exact";
  const { rms, bound, dependence } = scoreError;
  const how =
    dependence > 1
      ? "as measured among vectors planned with, whose roundings depend on each other"
      : "where roundings are spread evenly";
  const what = neighbours === null ? "scores" : "distances";
  return (
    `none beside rounding: ${what} of rounded vectors are exact, and err by ${three(rms)} (root mean ` +
    `square, ${how}), never by more than ${three(bound)}`
  );
}

function ofSearch(plan, steps, sizes) {
  const { records, features, neighbours } = plan;
  const { up, down } = sizes(1);
  const vote = neighbours !== null;
  const concludes = vote ? "which are nearest, shares of their votes and a class" : "which are nearest";
  const about = ["lengths of vectors", "how many records there are"];
  if (vote) about.unshift(`the class of each of ${records} records`, "names of classes");
  const fewer = plan.metric === "hamming" ? ", and of bits far fewer do (159 of 512)" : "";
  const rows = {
    setting: "client_server: the server holds the records, the client samples and key",
    server:
      "sees how many samples there are, the plan, the key's name; no sample, no score. IT LEARNS FROM WHAT " +
      "IS FETCHED AFTERWARDS: who asks it for a record that was found shows what was looked for",
    client: `sees its samples, ${TELLS[plan.metric]} of each to EVERY record, and so ${concludes}`,
    "client is given": also(plan, steps, about, "names of features"),
    records: "PUBLIC, as whoever planned it said: every client can compute all of them",
    queries:
      `${features} samples with their scores give EVERY record away, whatever encrypts them${fewer}; no ` +
      "count of answers hides anything, since clients put theirs together",
  };
  if (vote)
    rows.votes =
      `the ${neighbours} nearest of ${records}, ${VOTES[plan.weights]}; of equally near ones the earlier ` +
      "record counts as nearer";
  rows.error = searchError(plan);
  rows.bytes = `${up} up, ${down} down for a sample, of a full index`;
  rows.memory =
    `${plan.memory} bytes at the server for a full index, and ${plan.constants} for each query while it is ` +
    "answered";
  rows.ring =
    `N = ${plan.ringDegree}, ${secure(plan)}; a score decrypts wrongly with a probability below 2^-128`;
  const what = vote ? `classifier of ${plan.classes.length} classes` : "search";
  const title =
    `Private nearest neighbours, ${what}: up to ${records} records of ${features} features`;
  return { title, rows };
}

const KINDS = { linear: ofScores, trees: ofTrees, search: ofSearch };

/**
 * Title, and what each line is about with what it says.
 *
 * @returns {{title: string, rows: Record<string, string>}}
 */
export function disclosure(plan, steps, sizes) {
  return KINDS[plan.protocol](plan, steps, sizes);
}

/** The same as text. */
export function printed({ title, rows }) {
  const width = Math.max(...Object.keys(rows).map((name) => name.length));
  const lines = Object.entries(rows).map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
  return [title, ...lines].join("\n");
}
