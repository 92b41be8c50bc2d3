const BYTES = /^bytes=[\s,]*((?:\d+-\d*|-\d+)(?:\s*,\s*(?:\d+-\d*|-\d+))*)$/i;

export const holdsRanges = (header: string, length: number): boolean => {
  const ranges = BYTES.exec(header)?.[1]?.match(/\d*-\d*/g) ?? [];
  return ranges.length > 0 && ranges.every((each) => begins(each, length));
};

/** `0-` starts in every reply, `5-2` and `-0` in none. */
const begins = (range: string, length: number): boolean => {
  const [from = '', to = ''] = range.split('-');
  if (from === '') return Number(to) > 0;
  return Number(from) <= Math.min(to === '' ? length - 1 : Number(to), length - 1);
};

interface RangeBody {
  source: unknown;
  variety: string;
  headers: Record<string, unknown>;
}

export const computeBodyLength = ({ source, variety, headers }: RangeBody): number => {
  if (variety === 'buffer' && Buffer.isBuffer(source)) return source.length;
  if (variety === 'plain' && source !== null) {
    return Buffer.byteLength(typeof source === 'string' ? source : JSON.stringify(source));
  }
  return Number(headers['content-length'] ?? 0);
};
