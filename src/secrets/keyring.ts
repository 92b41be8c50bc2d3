import { EnvelopeError, rewrap, seal, unseal } from '../kernel/envelope.js';

/**
 * The master keys that live: one, and two while it is changed. The newest seals, all of them open.
 * Whatever is sealed goes through here, so that a change reaches all of it.
 */
export class Keyring {
  constructor(private keys: [Buffer, ...Buffer[]]) {}

  /** The one that seals. */
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

  /** From now on this one seals. */
  add(key: Buffer): void {
    this.keys = [key, ...this.keys];
  }

  /** Nothing is sealed with the older ones any more. */
  dropOlder(): void {
    const [newest, ...older] = this.keys;
    for (const key of older) key.fill(0);
    this.keys = [newest];
  }

  seal(bound: string, value: Buffer): string {
    return seal(this.newest, bound, value);
  }

  /** Throws EnvelopeError where none of the keys opens it. */
  unseal(bound: string, sealed: string): Buffer {
    return this.first((key) => unseal(key, bound, sealed));
  }

  /** The same value under the newest key; null where it is already. EnvelopeError: none opens it. */
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
