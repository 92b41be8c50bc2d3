const MAX_WAITING = 65_536;

/**
 * A web stream would cost as much as the rest of a small request, so `stream` creates one only on
 * demand.
 */
export class BodyStream {
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #end: { error?: Error } | null = null;
  #wake: (() => void) | null = null;

  constructor(readonly source: { resume(): void; cancel(): void }) {}

  get isFull(): boolean {
    return this.#bytes >= MAX_WAITING;
  }

  push(piece: Uint8Array): void {
    this.#waiting.push(piece);
    this.#bytes += piece.byteLength;
    this.#wake?.();
  }

  close(error?: Error): void {
    this.#end ??= { error };
    this.#wake?.();
  }

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
