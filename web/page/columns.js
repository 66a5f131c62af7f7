/** What a plan lets the cells of each column be: ranges, words, what may be missing. All of it is in the plan's steps. */

const UNIT = /^(.*\S)\s*[([]([^()[\]]{1,16})[)\]]$/;
/** Nothing is known. */
const ANY = { low: -Infinity, high: Infinity, words: null, open: true, optional: false };

function numbers({ f8 }) {
  const bytes = Uint8Array.from(atob(f8), (letter) => letter.charCodeAt(0));
  return new Float64Array(bytes.buffer);
}

/** Numbers that two functions take into one range, the other way round where the function falls. */
function between(cell, inverse) {
  const [a, b] = [inverse(cell.low), inverse(cell.high)];
  return { ...cell, low: Math.min(a, b), high: Math.max(a, b) };
}

function both(a, b) {
  return {
    low: Math.max(a.low, b.low),
    high: Math.min(a.high, b.high),
    words: a.words ?? b.words,
    open: a.open && b.open,
    optional: a.optional && b.optional,
  };
}

const INVERSES = {
  log: Math.exp,
  log10: (x) => 10 ** x,
  log1p: Math.expm1,
  log2: (x) => 2 ** x,
  exp: Math.log,
  expm1: Math.log1p,
  cbrt: (x) => x ** 3,
  sinh: Math.asinh,
  // Roots are never below zero.
  sqrt: (x) => Math.max(x, 0) ** 2,
};

function coded({ categories, unknown, missing }) {
  const rest = { open: unknown !== null, optional: missing !== null };
  return categories.every((each) => typeof each === "string")
    ? { ...ANY, ...rest, words: categories }
    : { ...ANY, ...rest, words: categories.map(String) };
}

/** Cells before a step, given those after it; nothing is known of steps that mix columns. */
const BEFORE = {
  affine(after, step) {
    const [centre, factor] = [numbers(step.centre), numbers(step.factor)];
    return after.map((cell, at) => (factor[at] === 0 ? ANY : between(cell, (x) => x / factor[at] + centre[at])));
  },
  standard(after, step) {
    const [centre, scale] = [numbers(step.centre), numbers(step.scale)];
    return after.map((cell, at) => between(cell, (x) => x * scale[at] + centre[at]));
  },
  stretch(after, step) {
    const [factor, offset] = [numbers(step.factor), numbers(step.offset)];
    return after.map((cell, at) => between(cell, (x) => (x - offset[at]) / factor[at]));
  },
  function(after, step) {
    const inverse = INVERSES[step.function];
    return after.map((cell) => (inverse === undefined ? ANY : between(cell, inverse)));
  },
  fill: (after, step) => after.map((cell) => ({ ...cell, optional: step.missing === null || cell.optional })),
  is_missing: (_, step) => Array(step.inputs).fill({ ...ANY, optional: true }),
  codes: (_, step) => step.columns.map(coded),
  one_hot: (_, step) => step.sizes.map(() => ANY),
  lookup: (_, step) => step.tables.map(() => ANY),
  branches(after, step) {
    const found = Array(step.inputs).fill(null);
    let start = 0;
    for (const branch of step.branches) {
      const width = widthAfter(branch.steps, branch.columns.length);
      const own = before(branch.steps, after.slice(start, start + width), branch.columns.length);
      start += width;
      for (const [at, column] of branch.columns.entries())
        found[column] = found[column] === null ? own[at] : both(found[column], own[at]);
    }
    // What no branch reads may be anything, and may be missing.
    return found.map((cell) => cell ?? { ...ANY, optional: true });
  },
};

const sum = (sizes) => sizes.reduce((total, size) => total + size, 0);
const WIDTHS = {
  one_hot: (step) => sum(step.sizes),
  lookup: (step) => sum(step.tables.map(({ shape }) => shape[1])),
  branches: (step) => sum(step.branches.map(({ steps, columns }) => widthAfter(steps, columns.length))),
  projection: (step) => step.matrix.shape[0],
  monomials: (step) => step.factors.shape[0],
  kernel: (step) => step.matrix.shape[0],
  bins: (step) => sum(Array.from(numbers(step.counts), (count) => count + 1)),
  exceeds: (step) => sum(Array.from(numbers(step.counts))),
};

function widthAfter(steps, inputs) {
  return steps.reduce((width, step) => WIDTHS[step.step]?.(step) ?? width, inputs);
}

function before(steps, after, inputs) {
  let cells = after;
  for (let at = steps.length - 1; at >= 0; at--) {
    const width = widthAfter(steps.slice(0, at), inputs);
    const found = BEFORE[steps[at].step]?.(cells, steps[at]);
    cells = found?.length === width ? found : Array(width).fill(ANY);
  }
  return cells;
}

const limit = (number) => (Number.isFinite(number) ? number : null);

/**
 * One for each column.
 *
 * @param {import("../local.js").Plan} plan
 * @returns {{name: string, unit: string, kind: string, low: number|null, high: number|null, words: string[]|null,
 *   open: boolean, optional: boolean}[]} `open`: other words than those listed are taken too
 */
export function columns(plan) {
  const { steps } = JSON.parse(new TextDecoder().decode(plan.bytes));
  const after = Array.from(plan.low, (low, at) => ({ ...ANY, low, high: plan.high[at] }));
  let cells;
  try {
    cells = before(steps, after, plan.inputs);
  } catch {
    // A form without ranges does as well: the module checks every cell.
    cells = Array(plan.inputs).fill(ANY);
  }
  return plan.kinds.map((kind, at) => {
    const name = plan.names[at] ?? `feature ${at + 1}`;
    const [, bare, unit] = UNIT.exec(name) ?? [null, name, ""];
    const { low, high, words, open, optional } = cells[at];
    return {
      name,
      bare,
      unit,
      kind,
      low: limit(low),
      high: limit(high),
      words,
      open,
      optional: optional || kind === "any",
    };
  });
}
