import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { guessEncoding } from './guesscharset.js';

const HEAD_BYTES = 4096;
const MARKS: [number[], string][] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
];

/**
 * Decodes a page by its byte order mark, content type, `meta` element or XML declaration.
 * Otherwise, or if it is not valid UTF-8 as declared, the charset is guessed.
 */
export const decodeText = (body: Uint8Array, contentType: string): string =>
  decodeOrGuess(body, contentType).text;

interface DecodedText {
  text: string;
  /** Encoding that was guessed although another one is as plausible. */
  uncertainEncoding: string | null;
}

export const decodeOrGuess = (body: Uint8Array, contentType: string): DecodedText => {
  const named =
    findByteOrderMark(body) ?? findDecoder(charsetIn(contentType)) ?? findStatedDecoder(body);
  const isNamed = named !== null && named.encoding !== 'utf-8';
  const text = isNamed ? named.decode(body) : decodeUtf8(body);
  if (text !== null) return { text, uncertainEncoding: null };
  const { decoder, isCertain } = guessEncoding(body);
  return { text: decoder.decode(body), uncertainEncoding: isCertain ? null : decoder.encoding };
};

/** Returns null if the bytes are not UTF-8. A text that was cut, or is damaged, is UTF-8. */
export const decodeUtf8 = (body: Uint8Array): string | null => {
  const text = new TextDecoder().decode(body);
  if (isUtf8(body)) return text;
  const damaged = text.match(/\ufffd/g)?.length ?? 0;
  const others = text.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0;
  return damaged <= others ? text : null;
};

const findByteOrderMark = (body: Uint8Array): TextDecoder | null => {
  const found = MARKS.find(([mark]) => mark.every((byte, at) => body[at] === byte));
  return found ? new TextDecoder(found[1]) : null;
};

const charsetIn = (contentType: string): string | undefined =>
  /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(contentType)?.[1];

/** Finds the encoding that a `meta` element or XML declaration names. */
export const findStatedDecoder = (body: Uint8Array): TextDecoder | null => {
  const head = Buffer.from(body.subarray(0, HEAD_BYTES)).toString('latin1');
  const xml = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})/i.exec(head)?.[1];
  const stated = xml ?? /<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head)?.[1];
  // A head that can be read as ASCII is not UTF-16 (WHATWG HTML, 13.2.3).
  return findDecoder(/^utf-?16/i.test(stated ?? '') ? 'utf-8' : stated);
};

/** Names of other registries, without signs. */
const ALIASES: [RegExp, string][] = [
  [/^(?:unicode)?utf8/, 'utf-8'],
  [/^(?:cp|win|windows|ms|ansi)(125\d|874)$/, 'windows-$1'],
  [/^(?:iso)?8859(\d{1,2})$/, 'iso-8859-$1'],
  [/^latin(\d{1,2})$/, 'latin$1'],
  [/^koi8(r|u)$/, 'koi8-$1'],
  [/^(?:cp|ms|windows)(?:932|31j)$/, 'shift_jis'],
  [/^(?:cp|ms|windows)936$/, 'gbk'],
  [/^(?:cp|ms|windows)949$/, 'euc-kr'],
  [/^(?:cp|ms|windows)950$/, 'big5'],
];

/** Finds an encoding by its name (WHATWG Encoding, 4.2) or a common variant of it. */
export const findDecoder = (name: string | undefined): TextDecoder | null => {
  if (name === undefined) return null;
  const bare = name.toLowerCase().replace(/:.*$|[^a-z\d]/g, '');
  const alias = ALIASES.find(([pattern]) => pattern.test(bare));
  return (
    createDecoder(name.trim()) ?? (alias ? createDecoder(bare.replace(alias[0], alias[1])) : null)
  );
};

const createDecoder = (name: string): TextDecoder | null => {
  try {
    return new TextDecoder(name);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};
