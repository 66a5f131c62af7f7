/** A form with a field for each column of a plan. */

import { either, number } from "./csv.js";
import { element, within } from "./elements.js";

/** Columns of a form, at most: more of them come as a table. */
export const MOST_FIELDS = 128;
/** What a range computed backwards may be off by, as a part of it. */
const SLACK = 1e-9;
/** Words that a hint names, at most. */
const NAMED = 8;

/** The ends of a column's range in few digits, none of them beyond it. */
function ends({ low, high }) {
  const [least, most] = [low ?? -Infinity, high ?? Infinity];
  return [low, high].map((end) => (end === null ? null : within(end, least, most)));
}

/** What a column takes, in words. */
export function hint(column) {
  const { kind, words, open, optional, unit } = column;
  const [low, high] = ends(column);
  const parts = [];
  if (low !== null && high !== null) parts.push(`${low} to ${high}${unit && ` ${unit}`}`);
  else if (low !== null) parts.push(`from ${low}${unit && ` ${unit}`} on`);
  else if (high !== null) parts.push(`up to ${high}${unit && ` ${unit}`}`);
  else if (unit) parts.push(unit);
  if (kind === "word" && words === null) parts.push("text");
  if (words !== null && open) {
    const more = words.length > NAMED ? ` and ${words.length - NAMED} more` : "";
    parts.push(`the model knows ${words.slice(0, NAMED).join(", ")}${more}; others are taken, as none of these`);
  }
  if (optional) parts.push("may be left empty");
  return parts.join("; ");
}

function control({ kind, words, open, optional }, id) {
  const about = { id, name: id, "aria-describedby": `${id}-hint ${id}-wrong` };
  if (words !== null && !open) {
    const empty = element("option", { value: "" }, optional ? "(missing)" : "choose");
    return element("select", about, empty, ...words.map((word) => element("option", { value: word }, word)));
  }
  const typed = { ...about, autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  if (kind === "number") typed.inputmode = "decimal";
  return element("input", words === null ? typed : { ...typed, list: `${id}-words` });
}

const same = (text) => text.trim().normalize("NFC");

/** What a field holds: a word that the model knows also where it was typed with spaces or by other marks. */
function typed({ kind, words }, text) {
  if (kind === "number") return text.trim();
  return words?.find((word) => same(word) === same(text)) ?? text;
}

/** A number of a single field, in which a comma is a decimal one. */
const decimal = (text) => number(text, { comma: true });

/** What is said of a text that is none of a column's words, and is taken all the same. */
function note({ kind, words }, text) {
  const known = (word) => (kind === "number" ? Number(word) === decimal(text) : word === text);
  if (words === null || text === "" || words.some(known)) return "";
  return "The model does not know this: it counts as none of those that it knows.";
}

/** What is wrong with a cell of a form; empty where nothing is. */
function wrong({ kind, low, high, optional, words }, text, clip) {
  if (text === "") return optional ? "" : "Fill this in.";
  if (kind !== "number") return "";
  if (either(text)) return "Write a point for a decimal comma, and nothing between thousands.";
  const found = decimal(text);
  if (found === null) return "This is no number.";
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
      const made = { column, input, said, field };
      input.addEventListener("input", () => this.#say(made, note(column, typed(column, input.value)), false));
      return made;
    });
    place.replaceChildren(...this.#fields.map(({ field }) => field));
  }

  #say({ input, said }, text, invalid = true) {
    said.textContent = text;
    if (invalid) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
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
      const text = typed(column, input.value);
      const said = wrong(column, text, clip);
      this.#say(each, said || note(column, text), said !== "");
      if (said !== "") first ??= input;
      if (text === "") return null;
      return column.kind === "number" ? decimal(text) : text;
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
    for (const { column, input } of this.#fields) {
      const { kind, low, high, words } = column;
      if (words !== null) input.value = words[0];
      else if (kind === "number") {
        const middle = ((low ?? high ?? 0) + (high ?? low ?? 0)) / 2;
        input.value = within(middle, low ?? -Infinity, high ?? Infinity, 4);
      }
      input.dispatchEvent(new Event("input"));
    }
  }
}
