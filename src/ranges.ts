import Boom from '@hapi/boom';
import type { Request } from '@hapi/hapi';

/** One range or several, in bytes (RFC 9110, 14.1.2). */
const BYTES = /^bytes=[\s,]*((?:\d+-\d*|-\d+)(?:\s*,\s*(?:\d+-\d*|-\d+))*)$/i;

/**
 * The 416 of a reply that does not hold what `Range` asks for, or null. hapi finds the same while it
 * sends, when no error gets the one error body any more.
 */
export const rangeRefusal = (request: Request): Boom.Boom | null => {
  const { range } = request.headers;
  if (typeof range !== 'string' || request.method !== 'get') return null;
  const length = lengthOf(request);
  if (length === 0 || holds(range, length)) return null;
  const refusal = Boom.rangeNotSatisfiable(`The reply holds ${length} bytes, and not that range`);
  refusal.output.headers['content-range'] = `bytes */${length}`;
  return refusal;
};

const holds = (range: string, length: number): boolean => {
  const ranges = BYTES.exec(range)?.[1]?.match(/\d*-\d*/g) ?? [];
  return ranges.length > 0 && ranges.every((each) => begins(each, length));
};

/** `0-` begins in every reply, `5-2` and `-0` in none. */
const begins = (range: string, length: number): boolean => {
  const [from = '', to = ''] = range.split('-');
  if (from === '') return Number(to) > 0;
  return Number(from) <= Math.min(to === '' ? length - 1 : Number(to), length - 1);
};

/** Bytes of the body; 0 where there is none, or it is not known before it was sent. */
const lengthOf = ({ response }: Request): number => {
  if ('isBoom' in response || response.statusCode !== 200) return 0;
  const { source, variety, headers } = response;
  if (variety === 'buffer' && Buffer.isBuffer(source)) return source.length;
  if (variety === 'plain' && source !== null) {
    return Buffer.byteLength(typeof source === 'string' ? source : JSON.stringify(source));
  }
  return Number(headers['content-length'] ?? 0);
};
