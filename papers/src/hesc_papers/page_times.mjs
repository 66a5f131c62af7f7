/** For `hesc:page`: milliseconds of what a client does, in Node and in a browser; the least of some groups. */

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

async function least(groups, rounds, call) {
  let found = Infinity;
  for (let group = 0; group < groups; group++) {
    const begin = performance.now();
    for (let round = 0; round < rounds; round++) await call();
    found = Math.min(found, (performance.now() - begin) / rounds);
  }
  return found;
}

/**
 * @param {object} client the package
 * @param {{plan: string, sealed: string, passphrase: string, rows: Array, query: string, answer: string}} given
 */
export async function times({ LocalClient, Plan, started }, given, groups) {
  const begin = performance.now();
  await started();
  const start = performance.now() - begin;
  const data = bytes(given.plan);
  const plan = await Plan.read(data);
  const local = await LocalClient.open(plan, { sealed: bytes(given.sealed), passphrase: given.passphrase });
  const [query, answer] = [bytes(given.query), bytes(given.answer)];
  return {
    start,
    plan: await least(groups, 3, () => Plan.read(data)),
    key: await least(groups, 10, async () => (await LocalClient.generate(plan)).close()),
    encrypt: await least(groups, 20, () => local.encrypt(given.rows)),
    decrypt: await least(groups, 20, () => local.decrypt(answer, query)),
    seal: await least(Math.min(groups, 3), 1, () => local.seal(given.passphrase)),
  };
}
