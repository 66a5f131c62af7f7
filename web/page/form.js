/** A form with a field for each column of a plan. */

import { number } from "./csv.js";
import { element, short } from "./elements.js";

/** Columns of a form, at most: more of them come as a table. */
export const MOST_FIELDS = 128;
/** What a range computed backwards may be off by, as a part of it. */
const SLACK = 1e-9;

/** What a column takes, in words. */
export function hint({ kind, low, high, words, open, optional, unit }) {
  const parts = [];
  if (low !== null && high !== null) parts.push(`${short(low)} to ${short(high)}${unit && ` ${unit}`}`);
  else if (low !== null) parts.push(`from ${short(low)}${unit && ` ${unit}`} on`);
  else if (high !== null) parts.push(`up to ${short(high)}${unit && ` ${unit}`}`);
  else if (unit) parts.push(unit);
  if (kind === "word" && words === null) parts.push("text");
  if (words !== null && open) parts.push("other words are taken too");
  if (optional) parts.push("may be left empty");
  return parts.join("; ");
}

function control(column, id) {
  const { kind, words, open, optional } = column;
  const about = { id, name: id, "aria-describedby": `${id}-hint ${id}-wrong` };
  if (kind === "word" && words !== null && !open) {
    const empty = element("option", { value: "" }, optional ? "(missing)" : "choose");
    return element("select", about, empty, ...words.map((word) => element("option", { value: word }, word)));
  }
  const typed = { ...about, autocomplete: "off", spellcheck: "false" };
  if (kind === "number") return element("input", { ...typed, inputmode: "decimal" });
  return element("input", words === null ? typed : { ...typed, list: `${id}-words` });
}

/** What is wrong with a cell of a form; empty where nothing is. */
function wrong({ kind, low, high, optional, words }, text, clip) {
  if (text === "") return optional ? "" : "Fill this in.";
  if (kind !== "number") return "";
  const found = number(text);
  if (found === null) return text.includes(",") ? "Write a point for the decimal comma." : "This is no number.";
  if (words !== null || clip) return "";
  const room = SLACK * Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0));
  if ((low !== null && found < low - room) || (high !== null && found > high + room))
    return "This is beyond the range, and would be refused.";
  return "";
}

/** A sample as a form. */
export class SampleForm {
  #fields;

  /**
   * @param {HTMLElement} place what the fields are put into
   * @param {object[]} columns as `columns.js` has them
   */
  constructor(place, columns) {
    this.#fields = columns.map((column, at) => {
      const id = `feature-${at}`;
      const input = control(column, id);
      const said = element("p", { class: "wrong", id: `${id}-wrong` });
      const field = element(
        "div",
        { class: "field" },
        element("label", { for: id }, column.bare),
        input,
        element("p", { class: "hint", id: `${id}-hint` }, hint(column)),
        said,
      );
      if (input.hasAttribute("list")) {
        const listed = column.words.map((word) => element("option", { value: word }));
        field.append(element("datalist", { id: `${id}-words` }, ...listed));
      }
      input.addEventListener("input", () => this.#say({ input, said }, ""));
      return { column, input, said, field };
    });
    place.replaceChildren(...this.#fields.map(({ field }) => field));
  }

  #say({ input, said }, text) {
    said.textContent = text;
    if (text === "") input.removeAttribute("aria-invalid");
    else input.setAttribute("aria-invalid", "true");
  }

  /**
   * The sample, or nothing where something is wrong: then that is said beside its field, which is given the focus.
   *
   * @returns {Array<number|string|null>|null}
   */
  sample(clip) {
    let first = null;
    const cells = this.#fields.map((each) => {
      const { column, input } = each;
      const text = column.kind === "number" ? input.value.trim() : input.value;
      const said = wrong(column, text, clip);
      this.#say(each, said);
      if (said !== "") first ??= input;
      if (text === "") return null;
      return column.kind === "number" ? number(text) : text;
    });
    first?.focus();
    return first === null ? cells : null;
  }

  /** Says what the module found wrong beside the field of that column; whether there is one. */
  refuse(text) {
    const found = this.#fields.find(
      ({ column }, at) => text.includes(`'${column.name}'`) || text.includes(`column ${at} `),
    );
    if (found === undefined) return false;
    this.#say(found, text.replace(/^sample 0 in column '[^']*' is /, "This is "));
    found.input.focus();
    return true;
  }

  /** Fills in the middle of each range, and the first of each list of words. */
  fill() {
    for (const each of this.#fields) {
      const { kind, low, high, words } = each.column;
      this.#say(each, "");
      if (words !== null) each.input.value = words[0];
      else if (kind === "number") each.input.value = short(((low ?? high ?? 0) + (high ?? low ?? 0)) / 2, 4);
    }
  }
}
