import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import Bourne from '@hapi/bourne';
import type { BodyNames } from './headers.js';

const DEEPEST = 64;

/** The JSON body of a delivery: its text as received, and the names that a sender may sign. */
export interface Payload extends BodyNames {
  text: string;
  /** The parsed JSON, unless a worker thread has read it. */
  value?: unknown;
}

/** Parses a body; returns null if it is not a valid payload. */
export const readPayload = (body: Buffer): Payload | null => {
  if (!isUtf8(body)) return null;
  const text = body.toString('utf8');
  const value: { id?: unknown; type?: unknown } | null = parsePayload(text);
  return value && { text, value, id: textOrNull(value.id), type: textOrNull(value.type) };
};

/**
 * Does the same and adds the digest of the body: SHA-256, hex. For a body of any size, in a worker
 * thread.
 */
export const readLargePayload = (bytes: Uint8Array): (Payload & { digest: string }) | null => {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const payload = readPayload(body);
  if (!payload) return null;
  const { value: _, ...rest } = payload;
  return { ...rest, digest: hash('sha256', body, 'hex') };
};

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/**
 * Parses a JSON object or array. Returns null if the text is neither, or is nested over 64 deep. A
 * `__proto__` key makes it invalid, as for every other endpoint: such a key could change the code
 * that reads the value later.
 */
export const parsePayload = (text: string): object | null => {
  if (depthOf(text) > DEEPEST) return null;
  try {
    const value: unknown = Bourne.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
};

/**
 * Returns the depth of brackets outside of strings, without recursion and before anything is
 * parsed.
 */
const depthOf = (text: string): number => {
  let deepest = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > deepest) deepest = depth;
        if (deepest > DEEPEST) return deepest;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
    }
  }
  return deepest;
};

const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
};

const isEscaped = (text: string, at: number): boolean => {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
};
