import { createPartDecoder } from '../../../src/providers/mail/structure.js';

/** Decodes a text that arrives in pieces of that size. */
export const decoded = (encoding: string, size: number, of: string): string => {
  const decode = createPartDecoder(encoding);
  const pieces = Array.from({ length: Math.ceil(of.length / size) }, (_, at) =>
    decode(Buffer.from(of.slice(at * size, (at + 1) * size))),
  );
  return Buffer.concat([...pieces, decode(null)]).toString();
};
