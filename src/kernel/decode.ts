import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { BodyStream } from './bodystream.js';
import { errorCode, HttpFailure } from './failure.js';

export const ENCODINGS = 'br, gzip, deflate';

/** More layers are an attack. */
const MAX_LAYERS = 3;

export interface Body {
  read(): Promise<Uint8Array | null>;
  cancel(): void | Promise<void>;
}

interface Encoded {
  host: string;
  contentEncoding: string;
  maxBytes: number;
}

/**
 * Decodes in zlib's own threads. `read` throws HttpFailure: `unknown_encoding`, `undecodable`,
 * `too_large`, and errors of the body itself.
 */
export const decodedBody = (body: BodyStream, encoded: Encoded): Body => {
  const layers = parseEncodings(encoded.contentEncoding);
  if (layers.length === 0) return body;
  const pieces = decodedPieces(body, layers, encoded);
  return {
    read: async () => {
      const next = await pieces.next();
      return next.done ? null : next.value;
    },
    cancel: async () => {
      body.cancel();
      await pieces.return();
    },
  };
};

const parseEncodings = (contentEncoding: string): string[] =>
  contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse();

type Pieces = AsyncGenerator<Uint8Array, void, undefined>;

async function* decodedPieces(body: BodyStream, layers: string[], encoded: Encoded): Pieces {
  try {
    const first = await body.read();
    if (!first) return;
    refuseUnknown(layers, encoded);
    let pieces = joined(first, piecesOf(body));
    for (const layer of layers) pieces = withoutLayer(pieces, layer, encoded);
    yield* pieces;
  } finally {
    body.cancel();
  }
}

const refuseUnknown = (layers: string[], { host }: Encoded): void => {
  const unknown = layers.find((name) => !DECODERS.has(name));
  if (unknown === undefined && layers.length <= MAX_LAYERS) return;
  const detail = unknown?.replace(/[^\w.-]/g, '').slice(0, 30) ?? `${layers.length} encodings`;
  throw new HttpFailure('unknown_encoding', { host, effectBegan: true, detail });
};

async function* piecesOf(body: BodyStream): Pieces {
  for (let piece = await body.read(); piece; piece = await body.read()) yield piece;
}

async function* joined(first: Uint8Array, rest: Pieces): Pieces {
  yield first;
  yield* rest;
}

async function* withoutLayer(source: Pieces, layer: string, encoded: Encoded): Pieces {
  const { host, maxBytes } = encoded;
  const first = await source.next();
  const create = DECODERS.get(layer);
  if (first.done || !create) return;
  const decoder = create(first.value);
  pipeline(Readable.from(joined(first.value, source)), decoder, () => undefined);
  const output: AsyncIterable<Uint8Array> = decoder;
  let bytes = 0;
  try {
    for await (const piece of output) {
      bytes += piece.length;
      if (bytes > maxBytes) throw new HttpFailure('too_large', { host, effectBegan: true });
      yield piece;
    }
  } catch (error) {
    if (!ofZlib.test(errorCode(error))) throw error;
    throw new HttpFailure('undecodable', { host, effectBegan: true, detail: layer, cause: error });
  }
}

const ofZlib = /^(Z_|ERR_(BROTLI)?_)/;

/**
 * Some servers send bare deflate (RFC 1951) instead of zlib's format (RFC 1950), whose first byte
 * ends in 8.
 */
const inflate = (first: Uint8Array): Transform =>
  ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();

const DECODERS = new Map<string, (first: Uint8Array) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', inflate],
  ['br', () => createBrotliDecompress()],
]);
