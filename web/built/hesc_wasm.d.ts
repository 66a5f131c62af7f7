/* tslint:disable */
/* eslint-disable */

/**
 * A secret key of a plan's set, and the public one that was made with it.
 */
export class Key {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Scores of the answer to a query, row after row; of a search the scores of all records.
     *
     * # Errors
     * `WireError`: damaged bytes, another plan's, the answer to another query. `KeyMismatchError`: another key's.
     * `DecryptionError`: what no declared features give; tell nobody who made the answer.
     */
    decrypt(plan: Plan, answer: Uint8Array | number[], query: Uint8Array | number[]): Scores;
    /**
     * Transforms and encrypts rows.
     *
     * `numbers` has a row of all columns for each; words come column by column, `text` with all of them in UTF-8 and
     * `lengths` with the bytes of each, or -1 where a cell is missing.
     *
     * # Errors
     * `OutOfRangeError`: values beyond their ranges unless they are clipped, missing ones, unknown categories.
     * `ShapeError`: other numbers of cells, too many rows.
     */
    encrypt(plan: Plan, rows: number, numbers: Float64Array | number[], text: Uint8Array | number[], lengths: Int32Array | number[], clip: boolean): Query;
    /**
     * A new key.
     *
     * # Errors
     * `HescError`: the system gives no randomness.
     */
    static generate(plan: Plan): Key;
    /**
     * A key that was sealed, here or by Python, and the public one kept beside it, or nothing.
     *
     * # Errors
     * `DecryptionError`: another passphrase. `WireError`, `KeyMismatchError`: other bytes, and the key of another set.
     */
    static open(plan: Plan, sealed: Uint8Array | number[], passphrase: string, _public: Uint8Array | number[]): Key;
    /**
     * What a server of hidden weights is given.
     */
    public(): Uint8Array;
    /**
     * The key under a passphrase, as a file of Python's `SecretKey.save` has it.
     *
     * # Errors
     * `DecryptionError`: an empty passphrase. `HescError`: the system gives no randomness.
     */
    seal(plan: Plan, passphrase: string): Uint8Array;
}

/**
 * The nearest records of queries.
 */
export class Nearest {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Their scores or distances.
     */
    distances(): Float64Array;
    /**
     * Places of the records, the nearest first, a row for each query.
     */
    indices(): Uint32Array;
    /**
     * Places of the classes with most votes.
     */
    places(): Uint32Array;
    /**
     * Scores of classes where records vote.
     */
    scores(): Float64Array;
}

/**
 * What client and server of a model agree upon: public.
 */
export class Plan {
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Places of so many nearest records, the nearest first, a row for each row of a search's values.
     */
    best(values: Float64Array | number[], records: number, count: number): Uint32Array;
    /**
     * The nearest records, and what they vote, of the values of a search.
     *
     * # Errors
     * `ParameterError`: the plan of no search.
     */
    nearest(values: Float64Array | number[], records: number): Nearest;
    /**
     * From the bytes of `client/plan.json`.
     *
     * # Errors
     * `WireError`: damaged bytes, or another object's.
     */
    constructor(document: Uint8Array | number[]);
    /**
     * A regressor's numbers for scores.
     */
    numbers(scores: Float64Array | number[]): Float64Array;
    /**
     * Places of classes, one for each row of scores; nothing where a model has no classes.
     *
     * # Errors
     * None of a plan that was read.
     */
    places(scores: Float64Array | number[]): Uint32Array;
    /**
     * Probabilities of all classes, a row for each row of scores.
     *
     * # Errors
     * `ParameterError`: scores that give none.
     */
    probabilities(scores: Float64Array | number[]): Float64Array;
    /**
     * What it says.
     */
    said(): object;
    /**
     * Bytes of the messages of so many samples, up and down: none for more samples than a query has.
     */
    sizes(samples: number): Float64Array;
}

/**
 * An encrypted table.
 */
export class Query {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Samples that had such values.
     */
    readonly clippedSamples: number;
    /**
     * Values that were brought within their ranges.
     */
    readonly clipped: number;
    /**
     * For the server.
     */
    readonly data: Uint8Array;
}

/**
 * What an answer says, row after row.
 */
export class Scores {
    private constructor();
    free(): void;
    [Symbol.dispose](): void;
    /**
     * Row after row.
     */
    readonly numbers: Float64Array;
    /**
     * Numbers in a row.
     */
    readonly width: number;
}

/**
 * Features of rows after a plan's steps, for tests of them: nothing is encrypted.
 *
 * # Errors
 * `WireError`: steps that are none. Those of [`Key::encrypt`].
 */
export function transformed(steps: Uint8Array | number[], inputs: number, rows: number, numbers: Float64Array | number[], text: Uint8Array | number[], lengths: Int32Array | number[]): Float64Array;

export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export interface InitOutput {
    readonly memory: WebAssembly.Memory;
    readonly __wbg_key_free: (a: number, b: number) => void;
    readonly __wbg_nearest_free: (a: number, b: number) => void;
    readonly __wbg_plan_free: (a: number, b: number) => void;
    readonly __wbg_query_free: (a: number, b: number) => void;
    readonly __wbg_scores_free: (a: number, b: number) => void;
    readonly key_decrypt: (a: number, b: number, c: number, d: number, e: number, f: number) => [number, number, number];
    readonly key_encrypt: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number) => [number, number, number];
    readonly key_generate: (a: number) => [number, number, number];
    readonly key_open: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number, number];
    readonly key_public: (a: number) => [number, number];
    readonly key_seal: (a: number, b: number, c: number, d: number) => [number, number, number, number];
    readonly nearest_distances: (a: number) => [number, number];
    readonly nearest_indices: (a: number) => [number, number];
    readonly nearest_places: (a: number) => [number, number];
    readonly nearest_scores: (a: number) => [number, number];
    readonly plan_best: (a: number, b: number, c: number, d: number, e: number) => [number, number];
    readonly plan_nearest: (a: number, b: number, c: number, d: number) => [number, number, number];
    readonly plan_new: (a: number, b: number) => [number, number, number];
    readonly plan_numbers: (a: number, b: number, c: number) => [number, number];
    readonly plan_places: (a: number, b: number, c: number) => [number, number, number, number];
    readonly plan_probabilities: (a: number, b: number, c: number) => [number, number, number, number];
    readonly plan_said: (a: number) => any;
    readonly plan_sizes: (a: number, b: number) => [number, number];
    readonly query_clipped: (a: number) => number;
    readonly query_clippedSamples: (a: number) => number;
    readonly query_data: (a: number) => [number, number];
    readonly scores_numbers: (a: number) => [number, number];
    readonly scores_width: (a: number) => number;
    readonly transformed: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number, j: number) => [number, number, number, number];
    readonly __wbindgen_malloc: (a: number, b: number) => number;
    readonly __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
    readonly __wbindgen_free: (a: number, b: number, c: number) => void;
    readonly __wbindgen_exn_store: (a: number) => void;
    readonly __externref_table_alloc: () => number;
    readonly __wbindgen_externrefs: WebAssembly.Table;
    readonly __externref_table_dealloc: (a: number) => void;
    readonly __wbindgen_start: () => void;
}

export type SyncInitInput = BufferSource | WebAssembly.Module;

/**
 * Instantiates the given `module`, which can either be bytes or
 * a precompiled `WebAssembly.Module`.
 *
 * @param {{ module: SyncInitInput }} module - Passing `SyncInitInput` directly is deprecated.
 *
 * @returns {InitOutput}
 */
export function initSync(module: { module: SyncInitInput } | SyncInitInput): InitOutput;

/**
 * If `module_or_path` is {RequestInfo} or {URL}, makes a request and
 * for everything else, calls `WebAssembly.instantiate` directly.
 *
 * @param {{ module_or_path: InitInput | Promise<InitInput> }} module_or_path - Passing `InitInput` directly is deprecated.
 *
 * @returns {Promise<InitOutput>}
 */
export default function __wbg_init (module_or_path?: { module_or_path: InitInput | Promise<InitInput> } | InitInput | Promise<InitInput>): Promise<InitOutput>;
