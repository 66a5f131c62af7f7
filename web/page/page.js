/** The page: what is shown when, and what a person does. Key and token are in the worker. */

import { Asking } from "./asking.js";
import { TableError, table, written } from "./csv.js";
import { drawn, drawnTable, listed, said } from "./drawing.js";
import { byId, bytes, element, milliseconds } from "./elements.js";
import { file, site, worker } from "./files.js";
import { MOST_FIELDS, SampleForm } from "./form.js";

/** Errors of `LocalClient.decrypt`. */
const OF_ANSWERS = ["DecryptionError", "WireError", "KeyMismatchError"];
/** Lines of the plan that are about who learns what; the rest is technical. */
const FIRST = ["server", "client", "client is given", "weights", "records", "queries"];
const KEYS = {
  new: "A key was made for this page. It is kept once it has been used.",
  damaged:
    "The key that this browser kept was damaged, and is gone: answers to earlier queries cannot be read. A new one was " +
    "made. It is kept once it has been used.",
  kept: "This browser keeps the key, locked by a key of its own that no script can read. It is used again when the page is loaded.",
  session:
    "This browser keeps no key, as in a private window: it lasts until the page is closed. The next one is another key.",
};

const service = new URL(site.service, document.baseURI).href;
/** Pages of other services may lie at the same origin. */
const TOKEN = `hesc token ${service}`;
/** Models that a token's list shows, at most. */
const MOST_MODELS = 1000;
const DO_NOT_TELL =
  " Nothing was sent because of it. Do not tell whoever runs the service that an answer failed, or how: that can say " +
  "something of your key.";
let asking = null;
let about = null;
let form = null;
let dropped = "";

const show = (id, shown = true) => byId(id).toggleAttribute("hidden", !shown);

/** Says what is going on; what is shown elsewhere too is said to who does not see it alone. */
function status(text, { shown = true } = {}) {
  byId("status").textContent = text;
  byId("status").classList.toggle("unseen", !shown);
}

/** Says an error, and what to do; to the person alone. */
function wrong({ name, message, problem, more = "" }) {
  byId("wrong").replaceChildren(element("p", {}, message[0].toUpperCase() + message.slice(1) + "." + more));
  byId("wrong").dataset.name = name;
  show("wrong");
  status("");
  if (problem === "no-token") ofToken("The service does not take this token.");
  else byId("wrong").scrollIntoView({ block: "nearest" });
}

/** Says beside the token what is wrong with it, until it is another one. */
function ofToken(text) {
  byId("token-wrong").textContent = text;
  byId("token").setAttribute("aria-invalid", "true");
  byId("token").focus();
}

function onToken() {
  byId("token").addEventListener("input", ({ target }) => {
    byId("token-wrong").textContent = "";
    target.removeAttribute("aria-invalid");
  });
  byId("remember").addEventListener("change", ({ target }) => {
    if (!target.checked) inTab((kept) => kept.removeItem(TOKEN));
  });
}

/** Does what takes a while, once at a time, and says what goes wrong. */
async function busy(button, text, work) {
  if (document.body.dataset.busy === "true") {
    status("Wait until this is done.");
    return;
  }
  show("wrong", false);
  button.setAttribute("aria-disabled", "true");
  document.body.dataset.busy = "true";
  status(text);
  try {
    await work();
  } catch (error) {
    wrong(error);
  } finally {
    button.removeAttribute("aria-disabled");
    delete document.body.dataset.busy;
  }
}

function token() {
  const found = byId("token").value.trim();
  if (found === "") {
    ofToken("Paste the token that the service’s owner gave you.");
    return null;
  }
  if (byId("remember").checked) inTab((kept) => kept.setItem(TOKEN, found));
  return found;
}

/** Does what a browser that keeps nothing refuses: then the token is asked for again. */
function inTab(work) {
  try {
    return work(sessionStorage) ?? "";
  } catch {
    return "";
  }
}

function told({ key }) {
  byId("key-state").textContent = KEYS[key];
  byId("key").dataset.state = key;
}

function disclosed({ title, rows }) {
  byId("plan-title").textContent = title;
  const line = ([name, text]) => [element("dt", {}, name), element("dd", {}, text)];
  const all = Object.entries(rows);
  const isFirst = ([name]) => FIRST.includes(name);
  byId("learns").replaceChildren(...all.filter(isFirst).flatMap(line));
  byId("technical").replaceChildren(...all.filter((each) => !isFirst(each)).flatMap(line));
}

function opened(found) {
  about = found;
  disclosed(about.disclosure);
  const fits = about.columns.length <= MOST_FIELDS;
  form = fits ? new SampleForm(byId("fields"), about.columns) : null;
  byId("way-one").disabled = !fits;
  byId(fits ? "way-one" : "way-table").checked = true;
  byId("columns").textContent = about.names.length > 0
    ? about.names.join(", ")
    : `${about.inputs} columns, in the order of the model`;
  const { up, down } = about.one;
  const once = about.keys ? ", and the key’s public part where the service has none" : "";
  byId("size").textContent = `A sample sends ${bytes(up)} and receives ${bytes(down)}${once}.`;
  show("result", false);
  show("public-field", about.keys);
  way();
  for (const id of ["plan", "sample", "key"]) show(id);
  document.body.dataset.ready = "true";
  status("");
}

async function open(given) {
  opened(await asking.ask("open", { service, ...given }));
}

/** Fetches the model of a token, or lets choose one of several. */
async function openByToken() {
  const own = token();
  if (own === null) return status("The token is missing.");
  const chosen = byId("model").value;
  const wanted = /^#([0-9a-f]{64})$/.exec(location.hash)?.[1];
  const models = await asking.ask("models", { service, token: own });
  if (models.length === 0) throw new Error("this token is for no model: ask whoever runs the service");
  const digest = wanted ?? (models.length === 1 ? models[0] : models.find((each) => each === chosen));
  if (digest === undefined) {
    const shown = models.slice(0, MOST_MODELS);
    const options = shown.map((each) => element("option", { value: each }, `${each.slice(0, 16)}…`));
    byId("model").replaceChildren(element("option", { value: "" }, "choose"), ...options);
    show("model-field");
    byId("model").focus();
    const more = models.length > shown.length ? ` The first ${shown.length} of ${models.length} are listed; any opens by # and its digest behind this page’s address.` : "";
    status(`This token is for several models: choose one by the first digits of its digest.${more}`);
    return;
  }
  await open({ token: own, digest });
  byId("sample-title").focus();
}

function way() {
  const one = byId("way-one").checked;
  show("one", one);
  show("table", !one);
}

function rowsWanted() {
  const clip = byId("clip").checked;
  if (byId("way-one").checked) {
    const sample = form.sample(clip);
    return sample === null ? null : { rows: [sample], clip, extra: [] };
  }
  const text = byId("pasted").value.trim() === "" ? dropped : byId("pasted").value;
  return { ...table(text, about), clip };
}

function moved({ up, down, times: { encrypt, wait, decrypt, read } }) {
  return (
    `Sent ${bytes(up)}, received ${bytes(down)}. Encrypted in ${milliseconds(encrypt)}, answered in ` +
    `${milliseconds(wait)}, decrypted in ${milliseconds(decrypt)}, read in ${milliseconds(read)}.`
  );
}

async function predict() {
  show("result", false);
  const wanted = rowsWanted();
  if (wanted === null) return status("Some fields need another value.");
  const { rows, clip, extra } = wanted;
  const own = token();
  if (own === null) return status("The token is missing.");
  const one = byId("way-one").checked;
  let result;
  try {
    result = await asking.ask("ask", { service, token: own, rows, clip });
  } catch (error) {
    if (error.name === "OutOfRangeError" && one && form.refuse(error.message)) return status("A field needs another value.");
    if (OF_ANSWERS.includes(error.name)) error.more = DO_NOT_TELL;
    throw error;
  }
  const { readings, refusal } = result;
  const notes = [moved(result)];
  if (result.clipped > 0) notes.push(`Values brought within their ranges: ${result.clipped}.`);
  if (extra.length > 0) notes.push(`Columns that the model does not know, which were not used: ${extra.join(", ")}.`);
  byId("prediction").replaceChildren(...(one ? drawn(readings[0]) : [drawnTable(readings)]));
  byId("moved").replaceChildren(...notes.map((each) => element("p", { class: "note" }, each)));
  offer(readings, one);
  show("result");
  if (refusal !== null) {
    const more = ` The first ${readings.length} of ${rows.length} rows were answered before, and are below. The same rows again ask by the same queries, which are not counted twice.`;
    return wrong({ ...refusal, more });
  }
  status(one ? said(readings[0]) : `${readings.length} rows are predicted.`, { shown: false });
  byId("result").scrollIntoView({ block: "nearest" });
}

/** A table's predictions as a file, which is made where somebody asks for it. */
function offer(readings, one) {
  show("save", !one);
  show("formulas", !one && about.formula);
  byId("save").onclick = () => give(written(listed(readings)), "predictions.csv", "text/csv");
}

function give(content, name, type = "application/octet-stream") {
  const place = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: place, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(place), 60_000);
}

async function bytesOfFile(id) {
  const [chosen] = byId(id).files;
  return chosen === undefined ? undefined : new Uint8Array(await chosen.arrayBuffer());
}

function passphrase(id) {
  const found = byId(id).value;
  byId(id).value = "";
  if (found !== "") return found;
  byId(id).focus();
  throw new Error("a key’s file is sealed under a passphrase: type one");
}

function onKey() {
  const on = (id, text, work) =>
    byId(id).addEventListener("submit", (event) => {
      event.preventDefault();
      busy(event.submitter ?? byId(id).querySelector("button"), text, work);
    });
  on("key-save", "The key is sealed.", async () => {
    const { sealed, publicKeys } = await asking.ask("seal", passphrase("save-words"));
    give(sealed, "secret.key");
    if (publicKeys !== null) give(publicKeys, "client.keys");
    status("The key was given to the browser to save.");
  });
  on("key-take", "The key is opened.", async () => {
    const sealed = await bytesOfFile("key-file");
    const publicKeys = await bytesOfFile("public-file");
    if (sealed === undefined || (about.keys && publicKeys === undefined))
      throw new Error("choose the file of the key, and of its public keys where the page asks for them");
    await asking.ask("take", { sealed, publicKeys, passphrase: passphrase("take-words") });
    status("The key of the file is used from now on.");
  });
  byId("key-forget").addEventListener("click", ({ target }) =>
    busy(target, "", async () => {
      await asking.ask("forget");
      status("The key is gone, and there is a new one.");
    }),
  );
}

function onTable() {
  const area = byId("drop");
  const take = async (chosen) => {
    if (chosen === undefined) return;
    // Nothing of a former file stays beside the name of one that is refused.
    show("wrong", false);
    dropped = "";
    byId("pasted").value = "";
    byId("dropped").textContent = "";
    if (chosen.size > 1 << 24) throw new TableError("a page takes files of 16 MiB at most: use hesc score");
    try {
      dropped = new TextDecoder("utf-8", { fatal: true }).decode(await chosen.arrayBuffer());
    } catch {
      throw new TableError(`${chosen.name} is no text in UTF-8: save it as “CSV UTF-8”`);
    }
    byId("pasted").value = dropped.length > 100_000 ? "" : dropped;
    byId("dropped").textContent = `${chosen.name}, ${bytes(chosen.size)}`;
  };
  area.addEventListener("dragover", (event) => {
    event.preventDefault();
    area.classList.add("over");
  });
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("over");
    take(event.dataTransfer.files[0]).catch(wrong);
  });
  byId("table-file").addEventListener("change", ({ target }) => take(target.files[0]).catch(wrong));
  byId("pasted").addEventListener("input", () => {
    dropped = "";
    byId("dropped").textContent = "";
  });
}

async function start() {
  const same = new URL(service).origin === location.origin;
  byId("service").textContent = service;
  byId("origin").textContent = location.origin;
  show("same", same);
  if (!isSecureContext || globalThis.crypto?.subtle === undefined)
    throw new Error("browsers encrypt on pages of https:// and of this machine alone: open this page by one of these");
  byId("token").value = inTab((kept) => kept.getItem(TOKEN));
  byId("remember").checked = byId("token").value !== "";
  onToken();
  const [made, compiled, plan] = await Promise.all([
    worker(),
    file("hesc/built/hesc_wasm_bg.wasm"),
    site.plan === null ? null : file("plan.json"),
  ]);
  asking = new Asking(made, told);
  await asking.ask("start", compiled, [compiled.buffer]);
  show("open", plan === null);
  show("access");
  status("");
  for (const id of ["way-one", "way-table"]) byId(id).addEventListener("change", way);
  byId("access").addEventListener("submit", (event) => {
    event.preventDefault();
    if (plan === null) busy(byId("open"), "The model is fetched.", openByToken);
  });
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    busy(byId("predict"), "Encrypted, sent, waiting for the answer.", predict);
  });
  byId("fill").addEventListener("click", () => form.fill());
  onTable();
  onKey();
  if (plan !== null) await open({ bytes: plan, digest: site.plan });
  else if (byId("token").value !== "") await busy(byId("open"), "The model is fetched.", openByToken);
  document.body.dataset.started = "true";
}

start().catch(wrong);
