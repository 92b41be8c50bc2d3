import { LARGE_JSON_BYTES } from './json.js';

/**
 * A text, or the UTF-8 of a large one in memory that all threads share. Such a text is not copied
 * when it is sent to a thread: 4 MiB of new memory block the event loop for up to 18 ms.
 */
export type SharedText = string | Uint8Array;

/** Puts a large text into shared memory. */
export const shareText = (text: string): SharedText => {
  if (text.length <= LARGE_JSON_BYTES) return text;
  const shared = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  shared.write(text);
  return shared;
};

/** Returns the text itself. */
export const unsharedText = (text: SharedText): string =>
  typeof text === 'string'
    ? text
    : Buffer.from(text.buffer, text.byteOffset, text.length).toString();
