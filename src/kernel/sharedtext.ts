import { LARGE_JSON_BYTES } from './json.js';

/**
 * A large text is UTF-8 in shared memory, which is not copied to threads: 4 MiB of new memory block
 * the event loop for up to 18 ms.
 */
export type SharedText = string | Uint8Array;

export const shareText = (text: string): SharedText => {
  if (text.length <= LARGE_JSON_BYTES) return text;
  const shared = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  shared.write(text);
  return shared;
};

export const unsharedText = (text: SharedText): string =>
  typeof text === 'string'
    ? text
    : Buffer.from(text.buffer, text.byteOffset, text.length).toString();
