/** The number of bytes that may wait for the reader before the connection is paused. */
const MAX_WAITING = 65_536;

/**
 * The body of a reply, from the connection to its one reader. A web stream would do the same, but
 * costs as much as all the rest of a small request, so `stream` makes one only on demand.
 */
export class Inflow {
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #end: { error?: Error } | null = null;
  #wake: (() => void) | null = null;

  /** `source` is the connection: `resume` lets more data come, `cancel` says that none is wanted. */
  constructor(readonly source: { resume(): void; cancel(): void }) {}

  /** True if so much data waits that the connection is to pause. */
  get isFull(): boolean {
    return this.#bytes >= MAX_WAITING;
  }

  push(piece: Uint8Array): void {
    this.#waiting.push(piece);
    this.#bytes += piece.byteLength;
    this.#wake?.();
  }

  /** Ends the body. The reader gets the waiting pieces first, then the end or the error. */
  close(error?: Error): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  /** Returns the next piece, or null at the end. */
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

  /** Returns the body as the web stream that fetch needs. */
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
