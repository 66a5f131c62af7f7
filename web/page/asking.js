/** The worker as the page sees it: calls with an answer each, and what it tells unasked. */

/** An error of the worker, with the name that the package gives it. */
export class Refused extends Error {
  constructor({ name, message, problem, status }) {
    super(message);
    this.name = name;
    this.problem = problem;
    this.status = status;
  }
}

/** Calls of a worker. */
export class Asking {
  #worker;
  #open = new Map();
  #count = 0;

  /**
   * @param {Worker} worker
   * @param {(news: object) => void} told what it tells unasked
   */
  constructor(worker, told) {
    this.#worker = worker;
    worker.onmessage = ({ data }) => {
      if (data.id === undefined) {
        told(data);
        return;
      }
      const { done, failed } = this.#open.get(data.id);
      this.#open.delete(data.id);
      if (data.error === undefined) done(data.found);
      else failed(new Refused(data.error));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const ended = new Refused({ name: "HescError", message: "the page's worker ended; load the page again" });
      for (const { failed } of this.#open.values()) failed(ended);
      this.#open.clear();
    };
  }

  /** What a call gives. */
  ask(call, given, moved = []) {
    const id = this.#count++;
    return new Promise((done, failed) => {
      this.#open.set(id, { done, failed });
      this.#worker.postMessage({ id, call, given }, moved);
    });
  }
}
