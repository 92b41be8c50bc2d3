import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Ours: the most bytes of an answer's stream, and the most characters of one of its lines. */
const MOST_BYTES = 32 * 1024 * 1024;
const LONGEST_LINE = 4 * 1024 * 1024;

/** The error if the stream is longer than an answer can be. */
export class Flood extends Error {
  override name = 'Flood';
}

/** Yields the lines as they arrive, with the last one even if it has no line end. Throws Flood. */
export async function* linesOf(stream: Readable): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8');
  let bytes = 0;
  let rest: string[] = [];
  let length = 0;
  for await (const piece of chunksOf(stream)) {
    bytes += piece.length;
    const [first = '', ...more] = decoder.write(piece).split('\n');
    rest.push(first);
    length += first.length;
    for (const next of more) {
      yield rest.join('');
      rest = [next];
      length = next.length;
    }
    if (bytes > MOST_BYTES || length > LONGEST_LINE) throw new Flood();
  }
  yield rest.join('') + decoder.end();
}

/**
 * Yields the chunks of a stream. A broken pipe counts as the end, since a killed process leaves
 * one.
 */
async function* chunksOf(stream: Readable): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const piece of stream) yield piece;
  } catch (error) {
    const isCut = error instanceof Error && 'code' in error && CUT.has(error.code);
    if (!isCut) throw error;
  }
}

const CUT = new Set<unknown>(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);
