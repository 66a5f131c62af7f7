/** What a client does here, without any service: a plan is read, samples are encrypted, answers read. */

import { called } from "./calls.js";
import { disclosure, printed } from "./disclosure.js";
import { ParameterError, ShapeError, WireError } from "./errors.js";
import { digest, started } from "./module.js";
import { table } from "./tables.js";

const HEADS = 1 << 16;
const DIGEST = /^[0-9a-f]{64}$/;

/** Whole numbers as numbers, but for those that a number does not hold. */
function classesOf(found) {
  if (found === null) return null;
  if (found.type !== "int") return found.values;
  const small = (text) => Number.isSafeInteger(Number(text));
  return found.values.map((text) => (small(text) ? Number(text) : BigInt(text)));
}

function bytesOf(data, what) {
  if (!(data instanceof Uint8Array)) throw new ParameterError(`${what} is a Uint8Array`);
  return data;
}

function passphraseOf(passphrase) {
  if (typeof passphrase !== "string" || passphrase === "")
    throw new ParameterError("a key is sealed under a passphrase, which is a text");
  return passphrase;
}

/** The least and the greatest value of each number that is encrypted: what the compiled part says, or what follows. */
function rangesOf({ protocol, features, low, high, metric, queryNorm }) {
  if (protocol === "linear") return { low, high };
  const bits = protocol === "trees" || metric === "hamming";
  const most = bits ? 1 : metric === "cosine" ? Infinity : queryNorm;
  const each = (value) => new Array(features).fill(value);
  return { low: each(bits ? 0 : -most), high: each(most) };
}

/** What client and server of a model agree upon: scores, trees or a search, as `protocol` says. Public. */
export class Plan {
  #read;
  #steps;

  constructor(compiled, bytes, hash) {
    this.#read = called(() => new compiled.Plan(bytes));
    this.#steps = JSON.parse(new TextDecoder().decode(bytes)).steps;
    const said = this.#read.said();
    const told = { classes: classesOf(said.classes), digest: hash, bytes: bytes.slice() };
    // What only plans of scores have.
    const others = { deploymentError: null, hidden: null, parts: 1 };
    Object.assign(this, others, said, rangesOf(said), told);
    Object.freeze(this);
  }

  /**
   * Reads `client/plan.json`, strictly.
   *
   * @param {Uint8Array} bytes
   * @param {{digest?: string}} [options] the SHA-256 that it has to have, as the model's owner tells it
   */
  static async read(bytes, options) {
    const { digest: wanted } = options ?? {};
    bytesOf(bytes, "a plan");
    if (wanted !== undefined && !DIGEST.test(wanted))
      throw new ParameterError("digest is SHA-256 of a plan, 64 digits 0-9 and a-f");
    const found = await digest(bytes);
    if (wanted !== undefined && found !== wanted)
      throw new WireError("this plan is not the one that its digest names; do not use it");
    return new Plan(await started(), bytes, found);
  }

  /** Bytes up and down for so many samples, over as many queries as they take. */
  sizes(samples = 1) {
    const total = { up: 0, down: 0 };
    for (let left = samples; left > 0; left -= this.rows) {
      const [up, down] = this.#read.sizes(Math.min(left, this.rows));
      total.up += up;
      total.down += down;
    }
    return total;
  }

  /** Bytes of an answer, at most. */
  get longest() {
    return HEADS + 2 * this.sizes(this.rows).down;
  }

  /** Who holds and learns what, with errors and bytes. */
  disclosure() {
    return disclosure(this, this.#steps, (samples) => this.sizes(samples));
  }

  toString() {
    return printed(this.disclosure());
  }

  /** For `LocalClient`. */
  get compiled() {
    return this.#read;
  }
}

/** A plan and a secret key. The key stays in the module's memory, and leaves it by `seal` alone. */
export class LocalClient {
  #plan;
  #key;

  constructor(plan, key) {
    this.#plan = plan;
    this.#key = key;
  }

  /** A client with a new key. */
  static async generate(plan) {
    const { Key } = await started();
    return new LocalClient(plan, called(() => Key.generate(plan.compiled)));
  }

  /**
   * A client with a key that was sealed, here or by Python's `client.secret.save(path, passphrase=)`.
   *
   * @param {Plan} plan
   * @param {{sealed: Uint8Array, passphrase: string, publicKeys?: Uint8Array}} kept
   */
  static async open(plan, kept) {
    const { sealed, passphrase, publicKeys = new Uint8Array() } = kept ?? {};
    const { Key } = await started();
    const [own, words] = [bytesOf(sealed, "a sealed key"), passphraseOf(passphrase)];
    const given = bytesOf(publicKeys, "what public keys are read from");
    return new LocalClient(plan, called(() => Key.open(plan.compiled, own, words, given)));
  }

  get plan() {
    return this.#plan;
  }

  /** The key under a passphrase (Argon2id, 64 MiB), to be kept. Python reads it as a key file. */
  seal(passphrase) {
    const words = passphraseOf(passphrase);
    return called(() => this.#held.seal(this.#plan.compiled, words));
  }

  /** What a server of hidden weights is given. */
  publicKeys() {
    const found = this.#held.public();
    if (found.length > 0) return found;
    throw new ParameterError("a kept key comes without its public ones: keep publicKeys() beside it");
  }

  get #held() {
    if (this.#key === null) throw new ParameterError("this client is closed");
    return this.#key;
  }

  /**
   * Transforms and encrypts rows, `plan.rows` of them at most.
   *
   * @param {Array<Array<number|string|boolean|null>>|Array<object>} samples cells in the plan's order, or by its names
   * @param {{clip?: boolean}} [options] clip: bring values beyond the plan's ranges within them, and count them
   */
  encrypt(samples, options) {
    const { clip = false } = options ?? {};
    const { rows, numbers, text, lengths } = table(samples, this.#plan);
    if (rows > this.#plan.rows)
      throw new ShapeError(
        `${rows} samples in a query of ${this.#plan.rows} at most; send them as several`,
      );
    try {
      const query = called(() =>
        this.#held.encrypt(this.#plan.compiled, rows, numbers, text, lengths, clip),
      );
      const found = { data: query.data, clipped: query.clipped, clippedSamples: query.clippedSamples };
      query.free();
      return found;
    } finally {
      numbers.fill(0);
      text.fill(0);
      lengths.fill(0);
    }
  }

  /**
   * What the answer to a query says. Errors of it go to nobody who made the answer.
   *
   * @param {Uint8Array} answer
   * @param {Uint8Array} query what was asked: an answer to another one is refused
   */
  decrypt(answer, query) {
    const plan = this.#plan;
    bytesOf(query, "a query");
    if (bytesOf(answer, "an answer").length > plan.longest)
      throw new WireError(
        `an answer of this plan has ${plan.longest} bytes at most; this one has ${answer.length}`,
      );
    const found = called(() => this.#held.decrypt(plan.compiled, answer, query));
    const { numbers, width } = found;
    found.free();
    return plan.protocol === "search" ? searched(plan, numbers, width) : concluded(plan, numbers);
  }

  /** Wipes the key. */
  close() {
    this.#key?.free();
    this.#key = null;
  }
}

function rowsOf(flat, width) {
  const count = flat.length / width;
  return Array.from({ length: count }, (_, at) => Array.from(flat.subarray(at * width, (at + 1) * width)));
}

function concluded(plan, flat) {
  const { compiled, classes } = plan;
  const predictions =
    classes === null
      ? numbersOf(plan, called(() => compiled.numbers(flat)))
      : Array.from(called(() => compiled.places(flat)), (place) => classes[place]);
  const probabilities =
    classes !== null && plan.probabilities
      ? rowsOf(called(() => compiled.probabilities(flat)), classes.length)
      : null;
  return { predictions, scores: rowsOf(flat, plan.outputs), probabilities, error: plan.error };
}

/** What follows from the scores of so many records, as Python's `SearchResult` has it. */
function searched(plan, flat, records) {
  const { compiled, classes, neighbours } = plan;
  const nearest = called(() => compiled.nearest(flat, records));
  const values = rowsOf(flat, records);
  const indices = rowsOf(nearest.indices(), nearest.indices().length / values.length);
  const distances = rowsOf(nearest.distances(), indices[0].length);
  const votes = nearest.scores();
  const places = nearest.places();
  nearest.free();
  const found = { values, indices, distances, error: plan.error };
  /** So many nearest records of each query, or all where there are fewer. */
  const best = (count) => {
    if (!(Number.isInteger(count) && count >= 1)) throw new ParameterError("count is a whole number from 1 on");
    const all = called(() => compiled.best(flat, records, count));
    const own = rowsOf(all, Math.min(count, records));
    return { indices: own, scores: own.map((row, at) => row.map((place) => values[at][place])) };
  };
  if (neighbours === null)
    return { predictions: indices.map(([first]) => first), scores: values, probabilities: null, ...found, best };
  return {
    predictions: Array.from(places, (place) => classes[place]),
    scores: rowsOf(votes, plan.outputs),
    probabilities: rowsOf(called(() => compiled.probabilities(votes)), classes.length),
    ...found,
    best,
  };
}

/** One number for a sample, or a row of them where it has several. */
function numbersOf(plan, flat) {
  return plan.outputs === 1 ? Array.from(flat) : rowsOf(flat, plan.outputs);
}
