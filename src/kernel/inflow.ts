/** What the connection does for a body. */
interface BodySource {
  /** More may come. */
  resume(): void;
  /** Nothing more is wanted. */
  cancel(): void;
}

/** How much of a body waits for its reader before the connection is paused. */
const MOST_WAITING = 65_536;

/**
 * The body of a reply on its way from the connection to its one reader. A web stream does the same,
 * and costs as much as all the rest of a small request: only who needs one makes one of it.
 */
export class Inflow {
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #end: { error?: Error } | null = null;
  #wake: (() => void) | null = null;

  constructor(readonly source: BodySource) {}

  /** Whether so much waits that no more is to come for now. */
  get isFull(): boolean {
    return this.#bytes >= MOST_WAITING;
  }

  push(piece: Uint8Array): void {
    this.#waiting.push(piece);
    this.#bytes += piece.byteLength;
    this.#wake?.();
  }

  /** After what waits the reader finds its end, or the error. */
  close(error?: Error): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  /** The next piece; null: that was all. */
  async read(): Promise<Uint8Array | null> {
    while (this.#waiting.length === 0) {
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const piece = this.#waiting.shift() ?? null;
    this.#bytes -= piece?.byteLength ?? 0;
    if (!this.isFull) this.source.resume();
    return piece;
  }

  cancel(): void {
    if (this.#end) return;
    this.close();
    this.source.cancel();
  }

  /** As fetch wants it. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream(
      {
        pull: async (sink) => {
          const piece = await this.read();
          if (piece) sink.enqueue(piece);
          else sink.close();
        },
        cancel: () => this.cancel(),
      },
      { highWaterMark: 0 },
    );
  }
}
