/** What is refused, by the names that Python's errors have. Texts name places and remedies, and no value of a sample. */

export class HescError extends Error {
  get name() {
    return this.constructor.name;
  }
}

/** Damaged bytes, another object's, and what does not belong together. */
export class WireError extends HescError {}
/** Another number of cells or rows, and cells of another kind. */
export class ShapeError extends HescError {}
/** Values beyond their ranges, missing ones, and categories that a model does not know. */
export class OutOfRangeError extends HescError {}
/** What was asked for cannot be. */
export class ParameterError extends HescError {}
/** Made under another key. */
export class KeyMismatchError extends HescError {}
/** What no declared features give, and another passphrase. Tell nobody who made the answer. */
export class DecryptionError extends HescError {}

/** What a service refuses, or does not do. */
export class ServiceError extends HescError {
  /**
   * @param {string} said what to do
   * @param {string} problem what the service calls it; empty where it said nothing
   * @param {number} status of HTTP; 0 where no answer came
   */
  constructor(said, problem = "", status = 0) {
    super(said);
    this.problem = problem;
    this.status = status;
    /** Answers that came to queries of the same call, before the one that was refused. */
    this.answered = [];
    /** Whether the same request may do better. */
    this.again = true;
  }
}
