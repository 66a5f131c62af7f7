/** Laws of one exchange: `tests/test_remote.py` has the same of Python's client. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, LocalClient, Plan } from "../../web/index.js";
import { Got, address, exchange, refused, tokenOf } from "../../web/exchange.js";

/** Time that passes where it is waited, and a service that answers so, one after the other. */
function around(...outcomes) {
  const made = { time: 0, waits: [], asked: [] };
  made.now = () => made.time;
  made.random = () => 1;
  made.sleep = async (seconds) => {
    made.waits.push(seconds);
    made.time += seconds;
  };
  made.fetch = async (url, how) => {
    made.asked.push({ url, ...how });
    const next = outcomes.length > 1 ? outcomes.shift() : outcomes[0];
    if (next instanceof Error) throw next;
    return next();
  };
  return made;
}

const says = (status, headers = {}, body = "") => () => new Response(body || null, { status, headers });
const problem = (name) => JSON.stringify({ type: `urn:hesc:problem:${name}` });
const asked = { url: "http://localhost/x", method: "POST", headers: {}, body: new Uint8Array([7]), longest: 100 };
const limits = { patience: 300, timeout: 60 };

test("waits grow, and the same bytes are sent again", async () => {
  const there = around(says(503), says(429), new TypeError("broken"), says(200, {}, "ok"));
  const got = await exchange(asked, limits, there);
  assert.equal(got.status, 200);
  assert.deepEqual(there.waits, [0.25, 0.5, 1]);
  assert.ok(there.asked.every(({ body }) => body === asked.body));
});

test("a service says how long, and is not waited for beyond patience", async () => {
  const told = around(says(429, { "retry-after": "7" }), says(200, {}, "ok"));
  await exchange(asked, limits, told);
  assert.deepEqual(told.waits, [7]);
  for (const lie of ["-1", "1e9", "soon", "99999999"]) {
    const lying = around(says(429, { "retry-after": lie }), says(200, {}, "ok"));
    await exchange(asked, limits, lying);
    assert.deepEqual(lying.waits, [0.25]);
  }
  const busy = around(says(503, {}, problem("busy")));
  await assert.rejects(exchange(asked, { ...limits, patience: 100 }, busy), {
    name: "ServiceError",
    problem: "busy",
    status: 503,
  });
  assert.ok(busy.time <= 100);
  assert.ok(Math.max(...busy.waits) <= 30);
});

test("what cannot do better is not asked again", async () => {
  const longer = around(says(200, {}, "x".repeat(101)));
  await assert.rejects(exchange(asked, limits, longer), /longer than any/);
  const certificate = Object.assign(new TypeError("fetch failed"), { cause: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" } });
  const untrusted = around(certificate);
  await assert.rejects(exchange(asked, limits, untrusted), /certificate is refused/);
  for (const there of [longer, untrusted]) assert.deepEqual(there.waits, []);
});

test("a service that says nothing, or almost nothing, is not waited for", async () => {
  const silent = around();
  silent.fetch = (_, { signal }) =>
    new Promise((_done, refuse) => signal.addEventListener("abort", () => refuse(signal.reason)));
  await assert.rejects(exchange(asked, { patience: 0.1, timeout: 0.02 }, silent), /no byte came in time/);
  const dripping = around(() => new Response(new ReadableStream({ pull: (drops) => drops.enqueue(new Uint8Array(1)) })));
  // A minute for each drop.
  dripping.now = () => (dripping.time += 60);
  await assert.rejects(exchange(asked, { patience: 0, timeout: 60 }, dripping), /too slowly/);
});

test("redirections are not followed, and nothing of a browser goes along", async () => {
  const there = around(says(302, { location: "http://elsewhere" }));
  const got = await exchange(asked, limits, there);
  assert.equal(got.status, 302);
  const { redirect, credentials, referrerPolicy } = there.asked[0];
  assert.deepEqual([redirect, credentials, referrerPolicy], ["manual", "omit", "no-referrer"]);
});

test("problems are names or nothing: a peer's words are not repeated", () => {
  const cases = [
    [problem("budget"), "budget"],
    [problem("<script>"), ""],
    [problem("é"), ""],
    [problem("constructor"), ""],
    [problem("Your-computer-is-infected"), ""],
    [problem("slow-body"), "slow-body"],
    ['{"type":3}', ""],
    ["[".repeat(100000), ""],
    ["\xff", ""],
    ["[]", ""],
    ["null", ""],
    ["", ""],
  ];
  for (const [body, name] of cases) {
    const got = new Got(403, new Headers(), new TextEncoder().encode(body));
    assert.equal(got.problem, name);
    assert.equal(refused(got).problem, name);
    assert.doesNotMatch(refused(got).message, /script|infected/);
  }
});

test("what is no address or token is refused", () => {
  for (const url of ["", "example.org", "ftp://x", "https://", "https://a:b@x", "https://x?y", "https://x#y", 3])
    assert.throws(() => address(url), /url/);
  for (const url of ["http://example.org", "http://10.0.0.1", "http://localhost.example.org"]) {
    assert.throws(() => address(url), /not encrypted/);
    assert.equal(address(url, true), url);
  }
  for (const url of ["http://localhost:1", "http://127.0.0.1", "http://[::1]:8080/x/"])
    assert.equal(address(url), url.replace(/\/$/, ""));
  for (const token of ["", "a b", "a\n", "é", "x".repeat(506), null, undefined])
    assert.throws(() => tokenOf(token), /token/);
});

const client = (there, options = {}) =>
  new Client("https://service", { token: "token", show: null, patience: 1, around: there, ...options });

test("hostile answers are refused where they come in", async () => {
  const digest = "0".repeat(64);
  const listed = says(200, {}, JSON.stringify({ models: [{ digest }] }));
  for (const body of ["", "<html>", "[]", "{}", '{"models":3}', '{"models":[]}', '{"models":[{}]}', '{"models":[{"digest":"../x"}]}', "null"])
    await assert.rejects(client(around(says(200, {}, body))).plan(), /hesc service|models|no digest/);
  // Another plan than the digest names.
  const other = client(around(listed, says(200, {}, "{}")));
  await assert.rejects(other.plan(), { name: "WireError", message: /not the one that its digest names/ });
  const named = client(around(says(200, {}, "{}")), { model: digest });
  await assert.rejects(named.plan(), { name: "WireError" });
  await assert.rejects(client(around(says(401, {}, problem("no-token")))).plan(), { problem: "no-token" });
  for (const model of ["../x", 3, "A".repeat(64)]) assert.throws(() => client(around(), { model }), /digest/);
});

test("one refusal ends what is asked for, and what came before it is given", async () => {
  let asked = 0;
  const refusing = around(() => (++asked < 3 ? says(200, {}, `answer ${asked}`)() : says(403, {}, problem("budget"))()));
  const plan = { digest: "0".repeat(64), needsKeys: false, longest: 100 };
  const made = client(refusing, { local: { plan }, atOnce: 1 });
  const queries = Array.from({ length: 9 }, (_, at) => new Uint8Array([at]));
  await assert.rejects(made.answers(queries), ({ problem: name, answered }) => {
    assert.equal(name, "budget");
    assert.deepEqual(answered.map((each) => new TextDecoder().decode(each)), ["answer 1", "answer 2"]);
    return true;
  });
  assert.equal(asked, 3);
});

test("what is null or missing is refused by an error of the package", async () => {
  assert.throws(() => new Client("https://service", null), { name: "ParameterError", message: /token/ });
  await assert.rejects(client(around()).answers(), { name: "ParameterError", message: /queries are messages/ });
  await assert.rejects(Plan.read(new Uint8Array(3), null), { name: "WireError" });
  await assert.rejects(LocalClient.open(null, null), { name: "ParameterError", message: /a sealed key is/ });
});

test("a client is not printed with its token", async () => {
  const { inspect } = await import("node:util");
  const made = new Client("https://service", { token: "much-too-secret", show: null });
  for (const text of [inspect(made, { depth: 9, showHidden: true }), JSON.stringify(made), String(made)])
    assert.doesNotMatch(text, /much-too-secret/);
});
