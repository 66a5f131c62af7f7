/** Does what `tests/test_web.py` asks for, a line of JSON for each call: [id, call, arguments]. Bytes are base64. */

import { createInterface } from "node:readline";

const place = new URL(process.argv[2] ?? "../../web/index.js", import.meta.url);
const { Client, LocalClient, Plan, started } = await import(place);
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
const text = (data) => Buffer.from(data).toString("base64");
const doubles = (coded) => new Float64Array(bytes(coded).buffer);
const { readings } = await import(new URL("page/reading.js", place));
const { KNOWN } = await import(new URL("exchange.js", place));
let plan, local, remote;

const calls = {
  async read(data, digest) {
    plan = await Plan.read(bytes(data), { digest: digest ?? undefined });
    const { bytes: _, ...said } = plan;
    return { ...said, text: String(plan), longest: plan.longest };
  },
  async generate() {
    local = await LocalClient.generate(plan);
    return text(local.publicKeys());
  },
  seal: (passphrase) => text(local.seal(passphrase)),
  async open(sealed, passphrase) {
    local = await LocalClient.open(plan, { sealed: bytes(sealed), passphrase });
  },
  encrypt(rows, clip) {
    const query = local.encrypt(rows, clip === null ? null : { clip });
    return { ...query, data: text(query.data) };
  },
  decrypt: (answer, query) => local.decrypt(bytes(answer), bytes(query)),
  best: (answer, query, count) => local.decrypt(bytes(answer), bytes(query)).best(count),
  /** Readings of rows, each as of one sample. */
  readings(scores, predictions, probabilities) {
    const one = (row, at) => readings(plan, { scores: [row], predictions: [predictions[at]], probabilities: [probabilities[at]] });
    return scores.flatMap(one);
  },
  problems: () => [...KNOWN],
  sparse: (count) => local.encrypt(new Array(count)),
  close: () => local.close(),
  shown: () => JSON.stringify([local, plan.compiled, remote]) + String(local) + String(remote),
  async transformed(steps, inputs, numbers, columns) {
    const { transformed } = await started();
    const words = columns.flat().map((word) => (word === null ? null : Buffer.from(word)));
    const lengths = Int32Array.from(words, (word) => word?.length ?? -1);
    const joined = new Uint8Array(Buffer.concat(words.filter((word) => word !== null)));
    const given = doubles(numbers);
    const found = transformed(bytes(steps), inputs, given.length / inputs, given, joined, lengths);
    return text(new Uint8Array(found.buffer));
  },
  async connect(url, options) {
    const kept = options.kept && { ...options.kept, sealed: bytes(options.kept.sealed) };
    remote = new Client(url, { show: null, ...options, ...(kept && { kept }) });
  },
  results: (rows, options) => remote.results(rows, options),
  async answers(queries) {
    return (await remote.answers(queries.map(bytes))).map(text);
  },
  budgets: () => remote.budgets(),
  async adopt() {
    local = await remote.local();
    plan = local.plan;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [id, call, given] = JSON.parse(line);
  let said;
  try {
    said = { found: (await calls[call](...given)) ?? null };
  } catch (error) {
    const { name, message, problem, status } = error;
    said = { error: { name, message: String(message ?? error), problem, status } };
  }
  process.stdout.write(`${JSON.stringify([id, said])}\n`);
}
