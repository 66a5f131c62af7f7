/** Tables that are pasted or dropped: CSV as the commands of hesc read it, and what spreadsheets copy. */

/** Cells that `pandas.read_csv` takes for missing. */
const MISSING = new Set(
  ("|#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null").split("|"),
);
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** Thousands in English, and a decimal comma elsewhere. */
const EITHER = /^[+-]?[1-9]\d{0,2},\d{3}$/;
const TRUTHS = new Map([["true", 1], ["false", 0]]);
/** Samples of a table, at most. */
export const MOST = 10000;

/** A table that is none. It says where, and repeats no cell. */
export class TableError extends Error {}

/** Cells of a line; quotes are doubled inside quotes. */
function cells(line, apart, at) {
  const found = [];
  let place = 0;
  for (;;) {
    let cell = "";
    if (line[place] === '"') {
      for (;;) {
        const end = line.indexOf('"', place + 1);
        if (end < 0) throw new TableError(`line ${at}: its quotes do not match; a row is one line`);
        cell += line.slice(place + 1, end);
        place = end + 1;
        if (line[place] !== '"') break;
        cell += '"';
      }
      if (place < line.length && line[place] !== apart)
        throw new TableError(`line ${at}: its quotes do not match; a row is one line`);
    } else {
      const end = line.indexOf(apart, place);
      cell = line.slice(place, end < 0 ? line.length : end);
      place += cell.length;
    }
    found.push(cell);
    if (place >= line.length) return found;
    place += 1;
    if (place === line.length) return [...found, ""];
  }
}

/** The sign between columns: that of the header. */
function between(header) {
  return ["\t", ";"].find((sign) => header.includes(sign) && !header.includes(",")) ?? ",";
}

/** A cell's number, or nothing where it is none; a comma for the point where cells are not apart by commas. */
export function number(text, { comma = false } = {}) {
  const bare = comma ? text.trim().replace(",", ".") : text.trim();
  if (!NUMBER.test(bare)) return null;
  const found = Number(bare);
  return Number.isFinite(found) ? found : null;
}

/** Whether a number's comma may be one of thousands. */
export const either = (text) => EITHER.test(text.trim());

/** Which signs stand in numbers of a table: where each was found first. */
class Signs {
  #found = new Map();

  note(text, where) {
    const sign = either(text) ? "either" : [",", "."].find((each) => text.includes(each));
    if (!this.#found.has(sign)) this.#found.set(sign, where);
  }

  /** Refuses commas beside points, and such as may all be of thousands. */
  check() {
    const [comma, point, either] = [",", ".", "either"].map((sign) => this.#found.get(sign));
    const remedy = "write points for decimal commas, and nothing between thousands";
    if (point !== undefined && (comma ?? either) !== undefined)
      throw new TableError(`${comma ?? either} has a comma, and ${point} a point: ${remedy}`);
    if (either !== undefined && comma === undefined)
      throw new TableError(`${either} has a comma that may be one of thousands: ${remedy}`);
  }
}

function cell(text, column, where, signs) {
  if (column.kind === "number") {
    const bare = text.trim();
    if (MISSING.has(bare)) return null;
    const found = TRUTHS.get(bare.toLowerCase()) ?? number(bare, { comma: signs !== null });
    if (found === null) throw new TableError(`${where} holds no number`);
    signs?.note(bare, where);
    return found;
  }
  return MISSING.has(text) && !column.words?.includes(text) ? null : text;
}

/**
 * Rows of a table in the order of the plan's columns, and names of columns that the plan does not know.
 *
 * @param {string} text
 * @param {{columns: object[], names: string[], inputs: number}} about
 */
export function table(text, { columns, names, inputs }) {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  let first = 0;
  while (first < lines.length && lines[first].trim() === "") first++;
  if (first === lines.length) throw new TableError("a table has a line of names, and a row at least");
  const apart = between(lines[first]);
  const header = cells(lines[first], apart, first + 1).map((name) => name.trim());
  if (new Set(header).size < header.length) throw new TableError("a column's name is there twice");
  // A line of tabs alone is a row of missing cells where tabs are between cells.
  const empty = (line) => line.trim() === "" && !(apart === "\t" && line.includes(apart));
  if (header.length > 1) while (empty(lines.at(-1))) lines.pop();
  if (lines.length - first < 2) throw new TableError("a table has a line of names, and a row at least");
  if (lines.length - first - 1 > MOST) throw new TableError(`a page takes ${MOST} rows at most: use hesc score`);
  const signs = apart === "," ? null : new Signs();
  const places = placesOf(header, names, inputs, signs !== null);
  const known = new Set(names.map((name) => name.trim()));
  const extra = names.length === 0 ? [] : header.filter((name) => !known.has(name));
  const rows = lines.slice(first + 1).map((line, at) => {
    const where = first + 2 + at;
    if (empty(line)) throw new TableError(`line ${where}: it is empty: remove it, or fill in the row that is missing`);
    const found = cells(line, apart, where);
    if (found.length !== header.length)
      throw new TableError(`line ${where}: it has ${found.length} cells, the header ${header.length}`);
    return places.map((place, column) =>
      cell(found[place], columns[column], `line ${where}: column ${place + 1}`, signs),
    );
  });
  signs?.check();
  return { rows, extra };
}

function placesOf(header, names, inputs, comma) {
  if (names.length === 0) {
    if (header.every((name) => number(name, { comma }) !== null))
      throw new TableError("the first line is a row of numbers; it has to name the columns");
    if (header.length !== inputs)
      throw new TableError(`the table has ${header.length} columns, of ${inputs} that are expected`);
    return header.map((_, place) => place);
  }
  if (new Set(names.map((name) => name.trim())).size < names.length)
    throw new TableError("the plan has one name for several features; ask who made it");
  const places = names.map((name) => header.indexOf(name.trim()));
  const missing = names.filter((_, at) => places[at] < 0);
  if (missing.length > 0) {
    const more = missing.length > 3 ? ` and ${missing.length - 3} more` : "";
    const shown = missing.slice(0, 3).map((name) => `“${name}”`);
    throw new TableError(`there is no column ${shown.join(", ")}${more}; columns are found by their names`);
  }
  return places;
}

/** A cell as CSV has it. */
const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Rows of cells as CSV. */
export function written(rows) {
  return rows.map((row) => `${row.map((each) => quoted(String(each))).join(",")}\r\n`).join("");
}
