import { TextDecoder } from 'node:util';
import { detect } from 'chardet';

const HEAD_BYTES = 4096;
const SAMPLE_BYTES = 128 * 1024;
const MARKS: [number[], string][] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
];

/**
 * Decodes a page by its byte order mark, content type, `meta` element or XML declaration.
 * Otherwise, or if it is not valid UTF-8 as declared, the charset is guessed.
 */
export const decodeText = (body: Uint8Array, contentType: string): string => {
  const named =
    findByteOrderMark(body) ?? decoderFor(charsetIn(contentType)) ?? decoderFor(statedIn(body));
  if (named && named.encoding !== 'utf-8') return named.decode(body);
  return asUtf8(body) ?? guessed(body).decode(body);
};

const asUtf8 = (body: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
};

const findByteOrderMark = (body: Uint8Array): TextDecoder | null => {
  const found = MARKS.find(([mark]) => mark.every((byte, at) => body[at] === byte));
  return found ? new TextDecoder(found[1]) : null;
};

const charsetIn = (contentType: string): string | undefined =>
  /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(contentType)?.[1];

const statedIn = (body: Uint8Array): string | undefined => {
  const head = Buffer.from(body.subarray(0, HEAD_BYTES)).toString('latin1');
  const xml = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})/i.exec(head)?.[1];
  const stated = xml ?? /<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head)?.[1];
  // A head that can be read as ASCII is not UTF-16 (WHATWG HTML, 13.2.3).
  return /^utf-?16/i.test(stated ?? '') ? 'utf-8' : stated;
};

const guessed = (body: Uint8Array): TextDecoder =>
  decoderFor(detect(body.subarray(0, SAMPLE_BYTES)) ?? undefined, /^utf-8$/) ??
  new TextDecoder('windows-1252');

const decoderFor = (name: string | undefined, unwanted?: RegExp): TextDecoder | null => {
  if (name === undefined) return null;
  try {
    const decoder = new TextDecoder(name);
    return unwanted?.test(decoder.encoding) ? null : decoder;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};
