import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** A value that is a secret: it is only had by asking, and prints as `[secret]` everywhere else. */
export class Secret {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Hands the value out, and forgets its bytes. */
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
