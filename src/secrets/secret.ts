import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** A secret value. Only `take` gives access to it; everywhere else it prints as `[secret]`. */
export class Secret {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Passes the value to `use`, and then erases its bytes. */
  take<T>(use: (bytes: Buffer) => T): T {
    try {
      return use(this.#bytes);
    } finally {
      this.#bytes.fill(0);
    }
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}
