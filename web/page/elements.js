/** Elements are made here, of texts alone: nothing that a plan or a service says becomes markup. */

/**
 * An element.
 *
 * @param {string} name
 * @param {Record<string, string|number|boolean|null>} [attributes] `true` sets one without a value, null and false none
 * @param {...(Node|string)} inside
 */
export function element(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : String(value));
  made.append(...inside);
  return made;
}

/** The element of this id. */
export const byId = (id) => document.getElementById(id);

const GROUPED = new Intl.NumberFormat("en");

/** Bytes as a person reads them. */
export function bytes(count) {
  return count < 10000 ? `${GROUPED.format(count)} bytes` : `${GROUPED.format(Math.round(count / 1000))} kB`;
}

/** Milliseconds, in two digits below a hundred. */
export function milliseconds(time) {
  if (time >= 100) return `${GROUPED.format(Math.round(time))} ms`;
  return `${Number(time.toPrecision(2))} ms`;
}

/** A number in so many digits, without what a double adds behind them. */
export function short(number, digits = 6) {
  return String(Number(number.toPrecision(digits)));
}

/** A number in so many digits, or more where it would be rounded beyond its limits. */
export function within(number, low, high, digits = 6) {
  for (let more = digits; more < 17; more++) {
    const near = Number(number.toPrecision(more));
    const unit = 10 ** (Math.floor(Math.log10(Math.abs(near || 1))) + 1 - more);
    // Rounded, and the next to it on the side that is within.
    for (const found of [near, near + unit, near - unit].map((each) => Number(each.toPrecision(more))))
      if (found >= low && found <= high) return String(found);
  }
  return String(number);
}
