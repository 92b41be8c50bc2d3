import type { Readable } from 'node:stream';
import { NamedError } from './failure.js';
import { LARGE_JSON_BYTES } from './json.js';

export class BodyTooLong extends NamedError {}

export class BodyMemoryFull extends NamedError {}

export class BodyInterrupted extends NamedError {}

export type Bodies = ReturnType<typeof createBodies>;

/**
 * Memory for bodies of unverified requests. Counts received bytes, not announced ones: otherwise a
 * client that announces much and sends little would block all others at no cost.
 */
export const createBodies = (capacity: number) => {
  let held = 0;

  const read = (stream: Readable, most: number, share: { bytes: number }): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      let refusal: Error | null = null;
      const take = (chunk: Buffer): void => {
        if (refusal) return;
        grow(share, chunk.length);
        chunks.push(chunk);
        if (share.bytes > most) refusal = new BodyTooLong();
        else if (held > capacity) refusal = new BodyMemoryFull();
        if (!refusal) return;
        chunks = [];
        grow(share, -share.bytes);
      };
      const cutOff = (): void => reject(refusal ?? new BodyInterrupted());
      stream.on('data', take);
      stream.on('end', () => {
        stream.off('close', cutOff);
        if (refusal) reject(refusal);
        else resolve(joined(chunks, share.bytes));
      });
      stream.on('error', cutOff);
      stream.on('close', cutOff);
    });

  const grow = (share: { bytes: number }, bytes: number): void => {
    share.bytes += bytes;
    held += bytes;
  };

  return {
    held: () => held,
    /**
     * Throws BodyTooLong or BodyMemoryFull only after the rest was read and dropped, so that the client
     * receives the reply.
     */
    hold: async <T>(
      stream: Readable,
      most: number,
      work: (body: Buffer) => Promise<T>,
    ): Promise<T> => {
      const share = { bytes: 0 };
      try {
        return await work(await read(stream, most, share));
      } finally {
        grow(share, -share.bytes);
      }
    },
  };
};

/**
 * Shared memory is not copied for worker threads: 4 MiB of new memory block the event loop for up
 * to 18 ms.
 */
const joined = (chunks: Buffer[], length: number): Buffer => {
  const [first] = chunks;
  if (first && chunks.length === 1) return first;
  if (length <= LARGE_JSON_BYTES) return Buffer.concat(chunks, length);
  const body = Buffer.from(new SharedArrayBuffer(length));
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(body, at);
  return body;
};
