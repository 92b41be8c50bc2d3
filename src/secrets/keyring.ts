import { EnvelopeError, rewrap, seal, unseal } from '../kernel/envelope.js';

/**
 * The master key, or two during a change of it. The newest key seals, and every key opens. Every sealed
 * value goes through this class, so that a change of the key covers all values.
 */
export class Keyring {
  constructor(private keys: [Buffer, ...Buffer[]]) {}

  get newest(): Buffer {
    return this.keys[0];
  }

  /** The newest first. */
  get all(): readonly Buffer[] {
    return this.keys;
  }

  get isChanging(): boolean {
    return this.keys.length > 1;
  }

  /** The added key seals from now on. */
  add(key: Buffer): void {
    this.keys = [key, ...this.keys];
  }

  /** Call it only when nothing is sealed with the older keys. */
  dropOlder(): void {
    const [newest, ...older] = this.keys;
    for (const key of older) key.fill(0);
    this.keys = [newest];
  }

  seal(bound: string, value: Buffer): string {
    return seal(this.newest, bound, value);
  }

  /** Throws EnvelopeError if no key opens the value. */
  unseal(bound: string, sealed: string): Buffer {
    return this.first((key) => unseal(key, bound, sealed));
  }

  /** Null if the newest key already seals the value. Throws EnvelopeError if no key opens it. */
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
