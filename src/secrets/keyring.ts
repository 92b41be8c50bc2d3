import { EnvelopeError, rewrap, seal, unseal } from '../kernel/envelope.js';

/**
 * The master keys in use: one, or two during a change of the key. The newest key seals, and each
 * key opens. Every sealed value goes through this class, so that a change of the key covers all
 * values.
 */
export class Keyring {
  constructor(private keys: [Buffer, ...Buffer[]]) {}

  /** The key that seals. */
  get newest(): Buffer {
    return this.keys[0];
  }

  /** All keys, the newest first. */
  get all(): readonly Buffer[] {
    return this.keys;
  }

  get isChanging(): boolean {
    return this.keys.length > 1;
  }

  /** Adds a key, which seals from now on. */
  add(key: Buffer): void {
    this.keys = [key, ...this.keys];
  }

  /** Removes the older keys. Nothing must be sealed with them any more. */
  dropOlder(): void {
    const [newest, ...older] = this.keys;
    for (const key of older) key.fill(0);
    this.keys = [newest];
  }

  seal(bound: string, value: Buffer): string {
    return seal(this.newest, bound, value);
  }

  /** Opens a sealed value. Throws EnvelopeError if none of the keys opens it. */
  unseal(bound: string, sealed: string): Buffer {
    return this.first((key) => unseal(key, bound, sealed));
  }

  /**
   * Returns the value sealed with the newest key; null if it is already. Throws EnvelopeError if no
   * key opens it.
   */
  rewrap(bound: string, sealed: string): string | null {
    return this.first((key) =>
      key === this.newest
        ? unsealed(key, bound, sealed)
        : rewrap({ from: key, to: this.newest }, bound, sealed),
    );
  }

  private first<T>(attempt: (key: Buffer) => T): T {
    for (const key of this.keys) {
      try {
        return attempt(key);
      } catch (error) {
        if (!(error instanceof EnvelopeError)) throw error;
      }
    }
    throw new EnvelopeError();
  }
}

const unsealed = (key: Buffer, bound: string, sealed: string): null => {
  unseal(key, bound, sealed).fill(0);
  return null;
};
