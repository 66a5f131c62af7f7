/** A cell: null, undefined and NaN are missing ones. */
export type Cell = number | string | boolean | null | undefined;
/** A row: cells in the plan's order, or by its names. */
export type Sample = ReadonlyArray<Cell> | Float64Array | Readonly<Record<string, Cell>>;
export type Label = number | bigint | string | boolean;

export declare class HescError extends Error {}
/** Damaged bytes, another object's, and what does not belong together. */
export declare class WireError extends HescError {}
/** Another number of cells or rows, and cells of another kind. */
export declare class ShapeError extends HescError {}
/** Values beyond their ranges, missing ones, and categories that a model does not know. */
export declare class OutOfRangeError extends HescError {}
/** What was asked for cannot be. */
export declare class ParameterError extends HescError {}
/** Made under another key. */
export declare class KeyMismatchError extends HescError {}
/** What no declared features give, and another passphrase. Tell nobody who made the answer. */
export declare class DecryptionError extends HescError {}
/** What a service refuses, or does not do. */
export declare class ServiceError extends HescError {
  /** What the service calls it, such as "budget"; empty where it said nothing. */
  readonly problem: string;
  /** Of HTTP; 0 where no answer came. */
  readonly status: number;
  /** Of `Client.answers`: answers to the queries before the one that was refused, in their order. */
  readonly answered: readonly Uint8Array[];
  /** Whether the same request may do better. */
  readonly again: boolean;
}

export interface Fidelity {
  readonly way: "bins" | "additive";
  readonly rows: number;
  readonly unseen: boolean;
  readonly agreement: number | null;
  readonly explained: number | null;
  readonly apart: number;
}

/** What rounding vectors does to a score of a search. */
export interface ScoreError {
  readonly rms: number;
  readonly bound: number;
  /** More than 1 where roundings depend on each other. */
  readonly dependence: number;
}

/** What client and server of a model agree upon. Public. Fields from `structure` on are those of one protocol. */
export declare class Plan {
  private constructor();
  /** Reads `client/plan.json`, strictly; `digest` is the SHA-256 that it has to have. */
  static read(bytes: Uint8Array, options?: { digest?: string }): Promise<Plan>;
  /** "linear": scores. "trees": trees that are computed as they are. "search": scores with all records. */
  readonly protocol: "linear" | "trees" | "search";
  readonly bytes: Uint8Array;
  readonly digest: string;
  readonly inputs: number;
  /** One for each column, or none. */
  readonly names: readonly string[];
  /** What the cells of each column are; of "any" only whether they are there is looked at. */
  readonly kinds: ReadonlyArray<"number" | "word" | "any">;
  /** What is encrypted of a sample: as many numbers, within these ranges. */
  readonly features: number;
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** Scores of a sample; of a search in which no record votes, of a full index. */
  readonly outputs: number;
  /** None of a regressor. Whole numbers beyond 2^53 are bigints. */
  readonly classes: readonly Label[] | null;
  readonly link: string;
  /** Whether scores give probabilities. */
  readonly probabilities: boolean;
  readonly calibrated: boolean;
  readonly fidelity: Fidelity | null;
  /** The root mean square of a score's error, at most; of trees the largest error; null where nothing errs. */
  readonly error: number | null;
  /** Of scores alone. */
  readonly deploymentError: number | null;
  /** Numbers that a server of hidden weights gives in all; null where weights are not hidden. */
  readonly hidden: number | null;
  /** Samples of a query, at most. */
  readonly rows: number;
  readonly parts: number;
  /** Whether the server is given public keys. */
  readonly needsKeys: boolean;
  readonly ringDegree: number;
  readonly assurance: string;
  /** Bytes of the answer to a query, at most. */
  readonly longest: number;
  /** Of trees: whether the client is told them but for what their leaves say. */
  readonly structure?: "hidden" | "public";
  /** Of trees: how many each score adds up, leaves that the client is told of, and conditions of a leaf, at most. */
  readonly trees?: readonly number[];
  readonly leaves?: readonly number[];
  readonly conditions?: number;
  /** Of trees: scores are multiples of 2^-finer. */
  readonly finer?: number;
  /** Of trees: bytes up and down of a sample that was prepared, which Python's client does. */
  readonly prepared?: readonly number[];
  /** Of trees: columns whose categories are told apart, and those in which cells may be missing. */
  readonly told?: readonly (readonly string[])[];
  /** Of a search. */
  readonly metric?: "inner" | "cosine" | "euclidean" | "hamming";
  /** Of a search: the length of a query, at most. */
  readonly queryNorm?: number;
  /** Of a search: records of a full index. */
  readonly records?: number;
  /** Of a search: how many records vote, and how; null where none does. */
  readonly neighbours?: number | null;
  readonly weights?: "uniform" | "distance" | null;
  readonly scoreError?: ScoreError;
  /** Of a search: bytes at the server, for a full index and for a query. */
  readonly memory?: number;
  readonly constants?: number;
  /** Bytes for so many samples, over as many queries as they take. */
  sizes(samples?: number): { up: number; down: number };
  /** Who holds and learns what. `String(plan)` is the same as text. */
  disclosure(): { title: string; rows: Record<string, string> };
  toString(): string;
}

export interface Query {
  /** For the server. */
  data: Uint8Array;
  /** Values that were brought within their ranges, and samples that had such. */
  clipped: number;
  clippedSamples: number;
}

export interface Result {
  /** Classes; or numbers, rows of them where a sample has several; of a search places of the nearest records. */
  predictions: Array<Label | number[]>;
  scores: number[][];
  probabilities: number[][] | null;
  /** As `Plan.error` says it. */
  error: number | null;
}

/** The nearest records to each query, a row for each, the nearest first. */
export interface Best {
  indices: number[][];
  scores: number[][];
}

/** What the answers of a search say. `scores` are `values`, or where records vote shares of votes. */
export interface SearchResult extends Result {
  /** Scores or distances of all records, a row for each query. */
  values: number[][];
  /** The records that voted, the nearest first; of a search the nearest one. */
  indices: number[][];
  /** Theirs; of cosines that vote one less the cosine. */
  distances: number[][];
  /** So many nearest records, or all where there are fewer. */
  best(count: number): Best;
}

export interface Kept {
  /** What `seal` gave, here or Python's `client.secret.save(path, passphrase=)`. */
  sealed: Uint8Array;
  passphrase: string;
  /** Wanted by plans that hide weights, and by those of trees: see `Plan.needsKeys`. */
  publicKeys?: Uint8Array;
}

/** A plan and a secret key, which stays in the module's memory and leaves it by `seal` alone. */
export declare class LocalClient {
  private constructor();
  static generate(plan: Plan): Promise<LocalClient>;
  static open(plan: Plan, kept: Kept): Promise<LocalClient>;
  readonly plan: Plan;
  /** The key under a passphrase: Argon2id with 64 MiB, a fraction of a second. */
  seal(passphrase: string): Uint8Array;
  publicKeys(): Uint8Array;
  encrypt(samples: readonly Sample[], options?: { clip?: boolean }): Query;
  /** Errors of it go to nobody who made the answer. */
  decrypt(answer: Uint8Array, query: Uint8Array): Result | SearchResult;
  /** Wipes the key. */
  close(): void;
}

export interface Options {
  /** What the service knows the client by. */
  token: string;
  /** The plan's digest, as the model's owner tells it; without it the token's only model, on the service's word. */
  model?: string;
  /** A key that was kept; without it a new one is made. */
  kept?: Kept;
  /** A client that is here already: no plan is fetched and no key made. */
  local?: LocalClient;
  /** Called with the plan in words when it was fetched; by default it goes to `console.error`. */
  show?: ((text: string) => void) | null;
  /** Seconds that a busy or silent service is waited for: 300. */
  patience?: number;
  /** Seconds without a byte after which a request has failed: 60. */
  timeout?: number;
  /** Queries under way at once: 4. */
  atOnce?: number;
  /** Take `http://` to other machines too, where whoever is between reads the token. */
  insecureHttp?: boolean;
}

/** A model of a service. */
export declare class Client {
  constructor(url: string, options: Options);
  local(): Promise<LocalClient>;
  plan(): Promise<Plan>;
  /** Digests of the token's models. */
  models(): Promise<string[]>;
  budgets(): Promise<Record<string, unknown>>;
  /** Queries of `local`, sent as they are. */
  answers(queries: readonly Uint8Array[]): Promise<Uint8Array[]>;
  results(samples: readonly Sample[], options?: { clip?: boolean }): Promise<(Result | SearchResult) & { clipped: number }>;
  predict(samples: readonly Sample[], options?: { clip?: boolean }): Promise<Result["predictions"]>;
  close(): Promise<void>;
}

/** Fetches and starts the compiled part, or starts the bytes given; everything above does it where it is needed. */
export declare function started(module?: Uint8Array): Promise<unknown>;
