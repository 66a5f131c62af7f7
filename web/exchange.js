/** One request and its answer, with what is done where there is none, as Python's client of a service does. */

import { ParameterError, ServiceError, WireError } from "./errors.js";

const FIRST_WAIT = 0.25;
const LONGEST_WAIT = 30;
/** Bytes in a second that an answer keeps up, after a time that is given to all. */
const SLOWEST = 1 << 14;
/** Statuses after which the same request may do better: nothing is charged twice by it. */
const BUSY = [408, 429, 502, 503, 504];
const PROBLEM = "urn:hesc:problem:";
const PROBLEM_BYTES = 1 << 16;
const RAN_BY = "ask whoever runs the service";
/** What is said of problems, by their names: a peer's own words are not repeated. */
const TEXTS = {
  "no-token": `this token is in force no more, or never was: ${RAN_BY} for another`,
  "not-found":
    `the service has no such model for this token: look at GET /v1/models, or ${RAN_BY} for its digest`,
  budget:
    `a budget is used up, or has no room for as many samples at once: ${RAN_BY}, or ask for fewer. What was ` +
    "answered before is not lost: the same query again costs nothing while its answer is kept",
  "too-long": "what was sent is longer than the service takes: send fewer samples at once",
  "bad-query":
    "the service cannot read the query: it serves another plan under this digest, or another version of hesc",
  "other-keys": "the query is under another key than the public keys that it names",
  "bad-keys": "the service cannot read the public keys: make a new key",
  "records-changed": "the service's records were replaced while the query waited: ask again",
};
/** Names of problems of which no more is said. */
const OTHERS =
  "busy cut-off failed keys-missing name-keys no-keys no-length no-range not-kept not-ready other-hash " +
  "slow-body too-many too-often wrong-method";
/** All names that a service has for problems, as Python's client knows them. */
export const KNOWN = new Set([...Object.keys(TEXTS), ...OTHERS.split(" ")]);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const TOKEN = /^[\x21-\x7e]{1,505}$/;

/** What came back. */
export class Got {
  constructor(status, headers, body) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /** The name of the problem that it states; empty where it states none that is known. */
  get problem() {
    try {
      const { type } = JSON.parse(new TextDecoder().decode(this.body.subarray(0, PROBLEM_BYTES)));
      const name = type.startsWith(PROBLEM) ? type.slice(PROBLEM.length) : type;
      return KNOWN.has(name) ? name : "";
    } catch {
      return "";
    }
  }
}

/** What came instead of an answer. */
export class Failed {
  constructor(said, again = true) {
    this.said = said;
    this.again = again;
  }
}

/** An address without its last slash. A token does not leave this machine unencrypted. */
export function address(url, insecureHttp) {
  let parts;
  try {
    parts = new URL(url);
  } catch {
    parts = null;
  }
  if (parts === null || !["https:", "http:"].includes(parts.protocol) || parts.hostname === "")
    throw new ParameterError("url is the address of a service, as https://example.org");
  if (parts.username || parts.password || parts.search || parts.hash)
    throw new ParameterError("url has a host and a path, and the token is given as token");
  const found = parts.href.replace(/\/+$/, "");
  if (parts.protocol === "http:" && !LOOPBACK.test(parts.hostname) && insecureHttp !== true)
    throw new ParameterError(
      `${found} is not encrypted, and whoever is between reads the token: give https://, or ` +
        "insecureHttp: true where a proxy or a tunnel encrypts",
    );
  return found;
}

/** A token as services give them. */
export function tokenOf(token) {
  if (typeof token !== "string" || !TOKEN.test(token))
    throw new ParameterError(
      "token is the text that the service's owner gave: letters without spaces, up to 505 of them",
    );
  return token;
}

/** What is said of an answer that is none. */
export function refused(got) {
  const named = got.problem === "" ? "" : `, '${got.problem}'`;
  const said =
    TEXTS[got.problem] ??
    `the service refuses this request: status ${got.status}${named}; ${RAN_BY}`;
  return new ServiceError(said, got.problem, got.status);
}

/** Seconds of a head; 0 of what is no number of them. */
export function secondsOf(text) {
  return /^\d{1,6}$/.test(text ?? "") ? Number(text) : 0;
}

/** The object of an answer in JSON, which has these fields and may have others. */
export function documentOf(got, ...fields) {
  if (got.status !== 200) throw refused(got);
  let found;
  try {
    found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(got.body));
  } catch {
    throw new WireError("the service's answer is no document; is this a hesc service?");
  }
  const whole = found !== null && typeof found === "object" && fields.every((name) => Object.hasOwn(found, name));
  if (!whole) throw new WireError("the service's answer lacks what it should have; is this a hesc service?");
  return found;
}

/** Time, and what sends requests: tests have others. */
export const world = {
  now: () => performance.now() / 1000,
  sleep: (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds)),
  random: () => Math.random(),
  fetch: (...how) => fetch(...how),
};

/** A body that comes in pieces: no longer than is wanted, and no slower than is usual. */
async function bodyOf(response, longest, seconds, around, alive) {
  const pieces = [];
  let held = 0;
  const start = around.now();
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) break;
    alive();
    held += value.length;
    pieces.push(value);
    if (held > longest) return new Failed("its answer is longer than any of this plan", false);
    if (around.now() - start > seconds + held / SLOWEST) return new Failed("its answer came too slowly");
  }
  const body = new Uint8Array(held);
  let end = 0;
  for (const piece of pieces) {
    body.set(piece, end);
    end += piece.length;
  }
  return body;
}

/** What is said of a request that came to nothing. No word of a peer is in it. */
function failed(error) {
  if (error?.name === "AbortError") return new Failed("no byte came in time");
  const code = String(error?.cause?.code ?? "");
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code))
    return new Failed("its certificate is refused", false);
  if (code === "ECONNREFUSED") return new Failed("nobody takes connections there");
  return new Failed("the connection broke, or the browser does not allow it");
}

/** Sends a request once. */
async function sent({ url, method, headers, body, longest }, seconds, around) {
  const ending = new AbortController();
  let timer;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => ending.abort(), 1000 * seconds);
  };
  alive();
  try {
    const response = await around.fetch(url, {
      method,
      headers,
      body,
      signal: ending.signal,
      // A token goes to no other address than the one given.
      redirect: "manual",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
    const found = await bodyOf(response, longest, seconds, around, alive);
    if (found instanceof Failed) return found;
    return new Got(response.status, response.headers, found);
  } catch (error) {
    return failed(error);
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

/**
 * A request until it is answered; what may do better is asked again, by the same bytes, after growing waits.
 *
 * @param {{url: string, method: string, headers: object, body?: Uint8Array, longest: number}} asked
 * @param {{patience: number, timeout: number}} limits in seconds
 */
export async function exchange(asked, { patience, timeout }, around = world) {
  const start = around.now();
  let wait = FIRST_WAIT;
  for (;;) {
    const found = await sent(asked, timeout, around);
    if (found instanceof Got && !BUSY.includes(found.status)) return found;
    const passed = around.now() - start;
    // Several clients that were refused at once do not come back at once.
    const told = found instanceof Got ? secondsOf(found.headers.get("retry-after")) : 0;
    const pause = Math.max(wait * (0.5 + around.random() / 2), told);
    if (patience - passed < pause || (found instanceof Failed && !found.again)) throw givenUp(found, passed);
    await around.sleep(pause);
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }
}

function givenUp(found, seconds) {
  if (found instanceof Failed)
    return Object.assign(new ServiceError(`the service does not answer: ${found.said}`), { again: found.again });
  const problem = found.problem || "nothing said";
  return new ServiceError(
    `the service was busy, or failed, for ${seconds.toFixed(0)} seconds (status ${found.status}, ${problem}): ` +
      "come again later; the same query is not counted twice",
    found.problem,
    found.status,
  );
}
