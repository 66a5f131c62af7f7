/** A model of a service: the plan is fetched and pinned, a key made, samples encrypted, sent, and answers read. */

import { ParameterError, ServiceError, ShapeError, WireError } from "./errors.js";
import { address, documentOf, exchange, refused, tokenOf, world } from "./exchange.js";
import { LocalClient, Plan } from "./local.js";
import { digest } from "./module.js";

const DIGEST = /^[0-9a-f]{64}$/;
/** Bytes of an answer that is a document or a problem, at most. */
const SMALL = 1 << 20;
/** Bytes of a plan, at most. */
const FILE = 1 << 26;
const NO_KEYS = "keys-missing";

function seconds(value, name) {
  if (typeof value !== "number" || !(value > 0 && value <= 1e6))
    throw new ParameterError(`${name} is a number of seconds up to a million`);
  return value;
}

/** What several answers say, as one: rows are put behind each other, and what is null stays so. */
function together(read) {
  const [first] = read;
  const parts = Object.keys(first).filter((part) => part !== "error" && part !== "best");
  const all = (part) => (first[part] === null ? null : read.flatMap((each) => each[part]));
  const found = Object.fromEntries(parts.map((part) => [part, all(part)]));
  if (first.best === undefined) return found;
  const best = (count) => {
    const own = read.map((each) => each.best(count));
    return { indices: own.flatMap((each) => each.indices), scores: own.flatMap((each) => each.scores) };
  };
  return { ...found, best };
}

/** A client of one model. Not printed with its token or key. */
export class Client {
  #url;
  #token;
  #model;
  #limits;
  #atOnce;
  #show;
  #kept;
  #here;
  #around;
  #readying;

  /**
   * @param {string} url of the service
   * @param {object} options `index.d.ts` says what they are
   */
  constructor(url, options) {
    const { token, model, kept, local, show = (text) => console.error(text), around = world } = options ?? {};
    const { patience = 300, timeout = 60, atOnce = 4, insecureHttp = false } = options ?? {};
    this.#url = address(url, insecureHttp);
    this.#token = tokenOf(token);
    if (model !== undefined && !DIGEST.test(model))
      throw new ParameterError("model is a plan's digest, 64 digits 0-9 and a-f");
    if (show !== null && typeof show !== "function")
      throw new ParameterError("show is called with the plan in words, or null");
    if (!(Number.isInteger(atOnce) && atOnce >= 1 && atOnce <= 64))
      throw new ParameterError("atOnce is a whole number from 1 to 64");
    this.#model = model;
    this.#limits = { patience: seconds(patience, "patience"), timeout: seconds(timeout, "timeout") };
    this.#atOnce = atOnce;
    this.#show = show;
    this.#kept = kept;
    this.#here = local;
    this.#around = around;
  }

  #exchange(method, path, longest, body, headers = {}) {
    const own = { authorization: `Bearer ${this.#token}`, ...headers };
    const asked = { url: `${this.#url}${path}`, method, headers: own, body, longest };
    return exchange(asked, this.#limits, this.#around);
  }

  /** The client that encrypts and decrypts here, with its plan; fetched where it is not here yet. */
  local() {
    this.#readying ??= this.#ready().catch((error) => {
      this.#readying = undefined;
      throw error;
    });
    return this.#readying;
  }

  async #ready() {
    if (this.#here !== undefined) return this.#here;
    const wanted = this.#model ?? (await this.#onlyModel());
    const got = await this.#exchange("GET", `/v1/models/${wanted}/client/plan.json`, FILE);
    if (got.status !== 200) throw refused(got);
    const plan = await Plan.read(got.body, { digest: wanted });
    this.#show?.(String(plan));
    return this.#kept === undefined ? LocalClient.generate(plan) : LocalClient.open(plan, this.#kept);
  }

  async #onlyModel() {
    const models = await this.models();
    if (models.length !== 1)
      throw new ParameterError(`this token has ${models.length} models: give model, the digest of one`);
    return models[0];
  }

  /** Digests of the models that the token is for, as the service says. */
  async models() {
    const { models } = documentOf(await this.#exchange("GET", "/v1/models", FILE), "models");
    if (!Array.isArray(models)) throw new WireError("the service lists no models");
    const found = models.map((each) => each?.digest);
    if (!found.every((each) => typeof each === "string" && DIGEST.test(each)))
      throw new WireError("the service names a model by what is no digest");
    return found;
  }

  /** What client and server agreed upon, once it was fetched. */
  async plan() {
    return (await this.local()).plan;
  }

  /** What was given of each budget so far, and what may be in all, as the service says. */
  async budgets() {
    const { digest: own } = await this.plan();
    const { budgets } = documentOf(await this.#exchange("GET", `/v1/models/${own}`, SMALL), "budgets");
    return budgets;
  }

  /** Answers to queries, in their order, some of them asked for at once. */
  async answers(queries) {
    if (!Array.isArray(queries)) throw new ParameterError("queries are messages, in a list");
    const local = await this.local();
    const found = new Array(queries.length);
    let [next, failed] = [0, null];
    const work = async () => {
      while (next < queries.length && failed === null) {
        const at = next++;
        try {
          found[at] = await this.#answer(local, queries[at]);
        } catch (error) {
          failed ??= error;
        }
      }
    };
    // All that are under way are waited for, also where one fails, and no more are asked.
    await Promise.all(Array.from({ length: this.#atOnce }, work));
    if (failed instanceof ServiceError) failed.answered = found.slice(0, found.findIndex((each) => each === undefined));
    if (failed !== null) throw failed;
    return found;
  }

  async #answer(local, query) {
    const { plan } = local;
    const path = `/v1/models/${plan.digest}`;
    const keys = plan.needsKeys ? local.publicKeys() : null;
    const named = keys === null ? {} : { "hesc-keys": await digest(keys) };
    const ask = () => this.#exchange("POST", `${path}/answers`, plan.longest, query, named);
    let got = await ask();
    if (keys !== null && got.problem === NO_KEYS) {
      const given = await this.#exchange("PUT", `${path}/keys/${named["hesc-keys"]}`, SMALL, keys);
      if (given.status !== 204) throw refused(given);
      got = await ask();
    }
    if (got.status !== 200) throw refused(got);
    return got.body;
  }

  /**
   * Predictions, scores and probabilities of samples of any number.
   *
   * @param {Array} samples rows of cells, or objects with the plan's names
   * @param {{clip?: boolean}} [options]
   */
  async results(samples, options) {
    if (!Array.isArray(samples) || samples.length === 0)
      throw new ShapeError("samples are a list of rows, one at least");
    const local = await this.local();
    const { rows, error } = local.plan;
    // All are checked before the first is sent.
    const queries = [];
    for (let at = 0; at < samples.length; at += rows)
      queries.push(local.encrypt(samples.slice(at, at + rows), options));
    const answers = await this.answers(queries.map((query) => query.data));
    const read = answers.map((answer, at) => local.decrypt(answer, queries[at].data));
    const clipped = queries.reduce((sum, query) => sum + query.clipped, 0);
    return { ...together(read), error, clipped };
  }

  /** Classes or numbers of samples. */
  async predict(samples, options) {
    return (await this.results(samples, options)).predictions;
  }

  /** Forgets the key, which is wiped in the module's memory. */
  async close() {
    const readying = this.#readying;
    this.#readying = undefined;
    (await readying?.catch(() => undefined))?.close();
  }
}
