/** Where the key and the token are. No message of this worker has the key, but for one that the person asks for, sealed. */

import { Client, HescError, LocalClient, Plan, ShapeError, started } from "../index.js";
import { world } from "../exchange.js";
import { columns } from "./columns.js";
import { forget, keep, opened, stored } from "./keys.js";
import { readings } from "./reading.js";

/** What is asked about. */
let plan = null;
/** The client with the key, once it is wanted. */
let keying = null;
/** Whether the browser keeps the key: "new", "damaged" where this one is in the place of such, "kept", or "session". */
let state = "new";
/** Queries that a service did not answer, all of them: the same rows are asked by the same bytes again. */
let unanswered = null;
/** Plans whose server is given public keys. */
const hasKeys = () => plan.needsKeys;

function tell(news) {
  state = news;
  postMessage({ key: news });
}

/** The key that is kept, or a new one. */
async function key() {
  let found;
  try {
    found = await stored(plan.digest);
  } catch {
    // No database, as in some private windows.
    tell("session");
  }
  if (found === undefined) return LocalClient.generate(plan);
  try {
    const local = await LocalClient.open(plan, await opened(found, plan.digest));
    tell("kept");
    return local;
  } catch (error) {
    // The module stopped, which says nothing of what is kept.
    if (error.constructor === HescError) throw error;
    await forget(plan.digest).catch(() => undefined);
    tell("damaged");
    return LocalClient.generate(plan);
  }
}

/** Keeps the key once it has been used, whatever came of it. Sealing takes a moment, for which nobody should wait. */
async function keepLater(local) {
  if (state === "kept" || state === "session" || local !== (await keying)) return;
  try {
    const publicKeys = hasKeys() ? local.publicKeys() : new Uint8Array();
    const other = await keep(plan.digest, local, publicKeys);
    if (other !== null) {
      keying = LocalClient.open(plan, other);
      await keying;
      local.close();
    } else tabs.postMessage(plan.digest);
    tell("kept");
  } catch {
    tell("session");
  }
}

/** The last of what is under way: nothing takes the key from what is done with it. */
let last = Promise.resolve();

function inTurn(work) {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}

/** Tabs have one key: each says where it kept or forgot one, and of which plan. */
const tabs = new BroadcastChannel("hesc");
tabs.onmessage = ({ data }) =>
  inTurn(async () => {
    if (data !== plan?.digest || state === "session") return;
    (await keying)?.close();
    tell("new");
    keying = key();
    await keying;
  });

function about() {
  return {
    digest: plan.digest,
    inputs: plan.inputs,
    names: plan.names,
    // Spreadsheets take such a class's name for a formula, and run it.
    formula: plan.classes?.some((each) => typeof each === "string" && /^\s*[=+@-]/.test(each)) ?? false,
    columns: columns(plan),
    disclosure: plan.disclosure(),
    keys: hasKeys(),
    rows: plan.rows,
    one: plan.sizes(1),
  };
}

/** An error as a message has it. */
const said = ({ name, message, problem, status }) => ({ name, message: String(message), problem, status });

function encrypted(local, rows, clip) {
  const queries = [];
  for (let at = 0; at < rows.length; at += plan.rows)
    queries.push(local.encrypt(rows.slice(at, at + plan.rows), { clip }));
  return queries;
}

/** Answers to queries; where the service refuses one, those before it and what it said. */
async function answersOf(client, queries) {
  try {
    return { answers: await client.answers(queries.map(({ data }) => data)), refusal: null };
  } catch (error) {
    if (!(error.answered?.length > 0)) throw error;
    return { answers: error.answered, refusal: said(error) };
  }
}

const calls = {
  start: async (bytes) => void (await started(bytes)),

  /** Digests of a token's models. */
  models: ({ service, token }) => new Client(service, { token, show: null }).models(),

  /** A plan from its bytes, or by its digest from the service; what the form is made from. */
  async open({ bytes, digest, service, token }) {
    const read =
      bytes === undefined
        ? await new Client(service, { token, model: digest, show: null }).plan()
        : await Plan.read(bytes, { digest });
    (await keying)?.close();
    [plan, state, unanswered] = [read, "new", null];
    // Begins when this was answered: opening a kept key takes a moment.
    keying = new Promise((done) => setTimeout(done)).then(key);
    keying.catch(() => undefined);
    return about();
  },

  sizes: (samples) => plan.sizes(samples),

  /**
   * Encrypts, asks, and reads; how long each took, in milliseconds. Where the service answers some rows alone, these,
   * and what it said then.
   */
  async ask({ service, token, rows, clip }) {
    const local = await keying;
    const start = performance.now();
    const asked = JSON.stringify([rows, clip]);
    if (unanswered?.asked !== asked || unanswered.local !== local)
      unanswered = { asked, local, queries: encrypted(local, rows, clip) };
    const { queries } = unanswered;
    const sent = performance.now();
    let up = 0;
    const fetch = (place, how) => {
      up += how.body?.length ?? 0;
      return world.fetch(place, how);
    };
    const client = new Client(service, { token, local, show: null, patience: 20, around: { ...world, fetch } });
    try {
      const { answers, refusal } = await answersOf(client, queries);
      const answered = performance.now();
      if (refusal === null) unanswered = null;
      const found = answers.map((answer, at) => local.decrypt(answer, queries[at].data));
      const decrypted = performance.now();
      const read = found.flatMap((each) => readings(plan, each, rows.length === 1));
      const done = performance.now();
      return {
        readings: read,
        refusal,
        clipped: queries.slice(0, answers.length).reduce((total, each) => total + each.clipped, 0),
        up,
        down: answers.reduce((total, each) => total + each.length, 0),
        times: { encrypt: sent - start, wait: answered - sent, decrypt: decrypted - answered, read: done - decrypted },
      };
    } catch (error) {
      // An answer that cannot be read is not asked for again by the same query, which would say so.
      if (!error.again) unanswered = null;
      throw error;
    } finally {
      setTimeout(() => inTurn(() => keepLater(local)));
    }
  },

  /** The key for a file, sealed, and the public one where the plan has such. */
  async seal(passphrase) {
    const local = await keying;
    const publicKeys = hasKeys() ? local.publicKeys() : null;
    return { sealed: local.seal(passphrase), publicKeys };
  },

  /** A key of a file in place of the one that is here. */
  async take(given) {
    const former = await keying;
    if (hasKeys() && given.publicKeys.length !== former.publicKeys().length)
      throw new ShapeError("the file of public keys is none of this model’s: choose the one that was saved with the key");
    const local = await LocalClient.open(plan, given);
    former.close();
    unanswered = null;
    keying = Promise.resolve(local);
    await forget(plan.digest).catch(() => undefined);
    state = "new";
    await keepLater(local);
  },

  /** Wipes the key, here, where it is kept, and in other tabs. */
  async forget() {
    (await keying)?.close();
    unanswered = null;
    await forget(plan.digest).catch(() => undefined);
    keying = LocalClient.generate(plan);
    tell("new");
    tabs.postMessage(plan.digest);
  },
};

onmessage = async ({ data: { id, call, given } }) => {
  try {
    postMessage({ id, found: await inTurn(() => calls[call](given)) });
  } catch (error) {
    postMessage({ id, error: said(error) });
  }
};
