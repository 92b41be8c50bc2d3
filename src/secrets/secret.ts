import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** Only `take` gives access to the value. It prints as `[secret]`. */
export class Secret {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Erases the value afterwards. */
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
