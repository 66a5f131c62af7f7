/** What the package says it has, it has. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import * as found from "../../web/index.js";

const read = (name) => readFile(new URL(`../../web/${name}`, import.meta.url), "utf8");

test("types name what is exported, and what classes have", async () => {
  const types = await read("index.d.ts");
  const named = [...types.matchAll(/^export declare (?:class|function) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(named.sort(), Object.keys(found).sort());
  for (const [, name, body] of types.matchAll(/^export declare class (\w+)[^{]*\{\n(.*?)^\}/gms)) {
    const methods = [...body.matchAll(/^ {2}(static )?(\w+)\(/gm)].filter(([, , method]) => method !== "constructor");
    for (const [, fixed, method] of methods) {
      const owner = fixed ? found[name] : found[name].prototype;
      assert.equal(typeof owner[method], "function", `${name}.${method}`);
    }
  }
});

test("files of the package are those that are listed, and no other is asked for", async () => {
  const { exports, dependencies, engines } = JSON.parse(await read("package.json"));
  assert.equal(dependencies, undefined);
  assert.equal(exports["."].default, "./index.js");
  assert.equal(engines.node, ">=20");
  for (const name of ["index.js", "client.js", "local.js", "exchange.js", "module.js", "tables.js", "errors.js"])
    for (const [, from] of (await read(name)).matchAll(/(?:from |import\()"([^"\n]+)"/g))
      assert.match(from, /^(\.\/|node:fs\/promises$)/);
});
