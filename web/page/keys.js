/**
 * Keys that a browser keeps: sealed under a passphrase of random bytes, and that under a key of the browser which no
 * script can read (AES-GCM, `extractable: false`). Who copies the database without the browser has nothing.
 */

import { digest as digestOf } from "../module.js";

const DATABASE = "hesc";
const STORE = "keys";
const AES = { name: "AES-GCM", length: 256 };
const WORDS = 64;

const UTF8 = new TextEncoder();

function asked(request) {
  return new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
    request.onblocked = () => failed(new Error("another tab has an older page open"));
  });
}

async function inStore(mode, work) {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await asked(opening);
  try {
    return await asked(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

/** Only one tab at a time does this, where browsers have locks. */
function alone(digest, work) {
  return navigator.locks === undefined ? work() : navigator.locks.request(`hesc ${digest}`, work);
}

/** A passphrase that nobody has to remember: 256 random bits as 64 letters. */
function words() {
  const bytes = crypto.getRandomValues(new Uint8Array(WORDS / 2));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** How a key is locked: for one plan, and beside no public keys but its own. */
async function lock(iv, digest, publicKeys) {
  return { name: AES.name, iv, additionalData: UTF8.encode(digest + (await digestOf(publicKeys))) };
}

/** What stands in the database for a plan; nothing where nothing does. */
export const stored = (digest) => inStore("readonly", (store) => store.get(digest));

/** What is kept, as `LocalClient.open` takes it; fails where it was damaged. */
export async function opened({ wrapping, iv, box, publicKeys }, digest) {
  const bytes = new Uint8Array(await crypto.subtle.decrypt(await lock(iv, digest, publicKeys), wrapping, box));
  const passphrase = new TextDecoder().decode(bytes.subarray(0, WORDS));
  return { sealed: bytes.subarray(WORDS), passphrase, publicKeys };
}

/**
 * Keeps a client's key, unless another tab has kept one meanwhile, which is given back.
 *
 * @param {string} digest
 * @param {import("../local.js").LocalClient} local
 * @param {Uint8Array} publicKeys empty where the plan has none
 */
export async function keep(digest, local, publicKeys) {
  return alone(digest, async () => {
    const other = await stored(digest);
    if (other !== undefined) return opened(other, digest);
    const wrapping = await crypto.subtle.generateKey(AES, false, ["encrypt", "decrypt"]);
    const passphrase = words();
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const bytes = new Uint8Array([...UTF8.encode(passphrase), ...local.seal(passphrase)]);
    const box = await crypto.subtle.encrypt(await lock(iv, digest, publicKeys), wrapping, bytes);
    bytes.fill(0);
    await inStore("readwrite", (store) => store.put({ wrapping, iv, box, publicKeys }, digest));
    return null;
  });
}

/** Forgets the key of a plan. */
export function forget(digest) {
  return alone(digest, () => inStore("readwrite", (store) => store.delete(digest)));
}
