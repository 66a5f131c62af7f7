/** Where the key and the token are. No message of this worker has the key, but for one that the person asks for, sealed. */

import { Client, LocalClient, Plan, started } from "../index.js";
import { columns } from "./columns.js";
import { forget, keep, kept } from "./keys.js";
import { readings } from "./reading.js";

/** What is asked about. */
let plan = null;
/** The client with the key, once it is wanted. */
let keying = null;
/** Whether the browser keeps the key: "new", "kept", or "session". */
let state = "new";
/** Plans whose server is given public keys. */
const hasKeys = () => plan.needsKeys;

function tell(news) {
  state = news;
  postMessage({ key: news });
}

/** The key that is kept, or a new one. */
async function key() {
  let found = null;
  try {
    found = await kept(plan.digest);
    if (found !== null) {
      const local = await LocalClient.open(plan, found);
      tell("kept");
      return local;
    }
  } catch {
    // No database, as in some private windows, or one whose key is gone.
    tell("session");
  }
  return LocalClient.generate(plan);
}

/** Keeps the key once it has been used. Sealing takes a moment, for which nobody should wait. */
async function keepLater(local) {
  if (state !== "new") return;
  try {
    const publicKeys = hasKeys() ? local.publicKeys() : new Uint8Array();
    const other = await keep(plan.digest, local, publicKeys);
    if (other !== null) {
      keying = LocalClient.open(plan, other);
      await keying;
      local.close();
    }
    tell("kept");
  } catch {
    tell("session");
  }
}

function about() {
  return {
    digest: plan.digest,
    inputs: plan.inputs,
    names: plan.names,
    classes: plan.classes?.map(String) ?? null,
    columns: columns(plan),
    disclosure: plan.disclosure(),
    keys: hasKeys(),
    rows: plan.rows,
    one: plan.sizes(1),
  };
}

const calls = {
  start: async (bytes) => void (await started(bytes)),

  /** Digests of a token's models. */
  models: ({ service, token }) => new Client(service, { token, show: null }).models(),

  /** A plan from its bytes, or by its digest from the service; what the form is made from. */
  async open({ bytes, digest, service, token }) {
    const opened =
      bytes === undefined
        ? await new Client(service, { token, model: digest, show: null }).plan()
        : await Plan.read(bytes, { digest });
    (await keying)?.close();
    [plan, state] = [opened, "new"];
    // Begins when this was answered: opening a kept key takes a moment.
    keying = new Promise((done) => setTimeout(done)).then(key);
    keying.catch(() => undefined);
    return about();
  },

  sizes: (samples) => plan.sizes(samples),

  /** Encrypts, asks, and reads; how long each took, in milliseconds. */
  async ask({ service, token, rows, clip }) {
    const local = await keying;
    const start = performance.now();
    const queries = [];
    for (let at = 0; at < rows.length; at += plan.rows)
      queries.push(local.encrypt(rows.slice(at, at + plan.rows), { clip }));
    const encrypted = performance.now();
    const client = new Client(service, { token, local, show: null, patience: 20 });
    const answers = await client.answers(queries.map(({ data }) => data));
    const answered = performance.now();
    const found = answers.map((answer, at) => local.decrypt(answer, queries[at].data));
    const read = found.flatMap((each) => readings(plan, each));
    const done = performance.now();
    setTimeout(() => keepLater(local));
    const bytes = (all) => all.reduce((total, each) => total + each.length, 0);
    return {
      readings: read,
      clipped: queries.reduce((total, each) => total + each.clipped, 0),
      up: bytes(queries.map(({ data }) => data)),
      down: bytes(answers),
      times: { encrypt: encrypted - start, wait: answered - encrypted, decrypt: done - answered },
    };
  },

  /** The key for a file, sealed, and the public one where the plan has such. */
  async seal(passphrase) {
    const local = await keying;
    const publicKeys = hasKeys() ? local.publicKeys() : null;
    return { sealed: local.seal(passphrase), publicKeys };
  },

  /** A key of a file in place of the one that is here. */
  async take(given) {
    const local = await LocalClient.open(plan, given);
    (await keying)?.close();
    keying = Promise.resolve(local);
    await forget(plan.digest).catch(() => undefined);
    state = "new";
    await keepLater(local);
  },

  /** Wipes the key, here and where it is kept. */
  async forget() {
    (await keying)?.close();
    await forget(plan.digest).catch(() => undefined);
    keying = LocalClient.generate(plan);
    tell("new");
  },
};

onmessage = async ({ data: { id, call, given } }) => {
  try {
    postMessage({ id, found: await calls[call](given) });
  } catch (error) {
    const { name, message, problem, status } = error;
    postMessage({ id, error: { name, message: String(message ?? error), problem, status } });
  }
};
