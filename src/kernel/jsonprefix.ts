import { isExactNumber } from './exactjson.js';

/**
 * The JSON of a value if it has at most `most` characters, otherwise a longer prefix. The time
 * depends on the result, not on the value.
 */
export const jsonPrefix = (value: unknown, most: number): string => {
  const parts: string[] = [];
  let left = most + 1;
  const put = (part: string): boolean => {
    parts.push(part);
    left -= part.length;
    return left > 0;
  };
  const write = (part: unknown): boolean => {
    if (typeof part === 'string') return put(JSON.stringify(part.slice(0, left)));
    if (Array.isArray(part)) return put('[') && writeList(part) && put(']');
    if (isExactNumber(part)) return put(part.value);
    if (typeof part !== 'object' || part === null) return put(JSON.stringify(part) ?? 'null');
    return put('{') && writeMembers(part) && put('}');
  };
  const writeList = (list: unknown[]): boolean =>
    list.every((each, at) => (at === 0 || put(',')) && write(each));
  const writeMembers = (of: object): boolean => {
    let isFirst = true;
    for (const key in of) {
      const own = Object.getOwnPropertyDescriptor(of, key);
      if (!own) continue;
      if (!isFirst && !put(',')) return false;
      isFirst = false;
      if (!write(key) || !put(':') || !write(own.value)) return false;
    }
    return true;
  };
  write(value);
  return parts.join('');
};
