/** Who holds and learns what under a plan of scores, line by line as Python's `print(plan)` says it. */

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
  if (plan.names.length > 0) found.push("their names");
  if (plan.classes !== null) found.push("names of classes");
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

/**
 * Title, and what each line is about with what it says.
 *
 * @returns {{title: string, rows: Record<string, string>}}
 */
export function disclosure(plan, steps, sizes) {
  const each = plan.outputs === 1 ? "a score" : `${plan.outputs} scores`;
  const rows = {
    setting: "client_server: the server holds the weights, the client samples and key",
    server: "sees how many samples there are, the plan, the key's name; no sample, no score",
    client: seen(plan, each),
    "is given": given(plan, steps),
    weights: weights(plan),
    queries: `${plan.features + 1} samples with their scores give a linear model away, whatever encrypts them`,
    error:
      `${three(plan.error)}, the root mean square of a score's error, at most, in units of ${units(plan)}: ` +
      "over servers, which round their weights once; of one of them " +
      `${three(plan.deploymentError)} at most, with 99 % probability`,
  };
  if (plan.fidelity !== null) rows.fidelity = nearness(plan.fidelity);
  rows.bytes = bytes(plan, sizes);
  const secure =
    plan.assurance === "guidelines2024" ? "128-bit security by guidelines2024" : plan.assurance;
  rows.ring =
    `N = ${plan.ringDegree}, ${secure}; a score decrypts wrongly with a probability below 2^-128`;
  if (plan.parts > 1)
    rows.parts =
      `features go in ${plan.parts} ring products, one in ${plan.parts} in each: the client sees the ` +
      `${plan.parts} sums that each score is made of, and 2^-128 is of each sum`;
  const kind = plan.classes === null ? "regressor" : `classifier of ${plan.classes.length} classes`;
  return { title: `Private ${kind}: ${plan.features} encrypted features, ${each} a sample`, rows };
}

/** The same as text. */
export function printed({ title, rows }) {
  const width = Math.max(...Object.keys(rows).map((name) => name.length));
  const lines = Object.entries(rows).map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
  return [title, ...lines].join("\n");
}
