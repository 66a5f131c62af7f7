/** For `scripts.web_times`: milliseconds of what a client does, the least of twelve groups. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";

const folder = process.argv[2];
const read = async (name) => new Uint8Array(await readFile(join(folder, name)));
const start = performance.now();
const { LocalClient, Plan, started } = await import("../web/index.js");
await started();
const first = performance.now();
const bytes = await read("plan.json");
const plan = await Plan.read(bytes);
const passphrase = "of a measurement";
const local = await LocalClient.open(plan, { sealed: await read("secret.key"), passphrase });
const { rows } = JSON.parse(new TextDecoder().decode(await read("rows.json")));
const [query, answer] = [await read("query"), await read("answer")];

async function least(call, rounds) {
  let found = Infinity;
  for (let group = 0; group < 12; group++) {
    const begin = performance.now();
    for (let round = 0; round < rounds; round++) await call();
    found = Math.min(found, (performance.now() - begin) / rounds);
  }
  return found;
}

const times = {
  start: first - start,
  plan: await least(() => Plan.read(bytes), 3),
  key: await least(async () => (await LocalClient.generate(plan)).close(), 10),
  encrypt: await least(() => local.encrypt(rows), 20),
  decrypt: await least(() => local.decrypt(answer, query), 20),
  seal: await least(() => local.seal(passphrase), 1),
};
console.log(JSON.stringify(times));
