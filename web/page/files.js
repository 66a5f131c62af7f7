/** Files of the page: each is compared with the digest that stands in the page's document; the worker is made of one. */

/** What `index.html` says: where the service is, and digests of all files. */
export const site = JSON.parse(document.getElementById("site").textContent);

const PLACE = new URL("./", document.baseURI);
const IMPORT = /^((?:import|export)\s(?:[^;"]*\sfrom\s)?)"(\.{1,2}\/[^"]+)"/gm;
const made = new Set();
/** Scripts come from addresses that were made here, and from no others. */
const scripts = globalThis.trustedTypes?.createPolicy("hesc", {
  createScriptURL(url) {
    if (made.has(url)) return url;
    throw new TypeError("no script of this page");
  },
});

/** A file of the page; a browser refuses one that was altered. */
export async function file(name) {
  const integrity = site.files[name];
  if (integrity === undefined) throw new TypeError(`the page has no file ${name}`);
  let answer;
  try {
    answer = await fetch(new URL(name, PLACE), { integrity, referrerPolicy: "no-referrer" });
  } catch {
    throw new Error(`the file ${name} is missing, or is not the file that this page was made with: do not use this page`);
  }
  if (!answer.ok) throw new Error(`the file ${name} is missing: status ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * The worker. A browser checks no digest of a worker's files itself: its modules are fetched here, where it does,
 * and handed over as they are, but for the addresses of imports.
 */
export async function worker() {
  const modules = JSON.parse(new TextDecoder().decode(await file("hesc/worker.json")));
  const places = new Map();
  for (const [name, text] of modules) {
    const own = text.replace(IMPORT, (_, before, path) => {
      const wanted = new URL(path, new URL(name, PLACE)).href.slice(PLACE.href.length);
      return `${before}"${places.get(wanted)}"`;
    });
    places.set(name, URL.createObjectURL(new Blob([own], { type: "text/javascript" })));
  }
  const entry = places.get(modules.at(-1)[0]);
  made.add(entry);
  return new Worker(scripts?.createScriptURL(entry) ?? entry, { type: "module", name: "hesc" });
}
