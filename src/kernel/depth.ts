/** Iterative, so that it cannot overflow the stack. */
export const isDeeper = (value: object, depth: number): boolean => {
  let level: object[] = [value];
  for (let deep = 0; level.length > 0; deep++) {
    if (deep >= depth) return true;
    const next: object[] = [];
    for (const each of level) {
      for (const inner of Object.values(each)) {
        if (typeof inner === 'object' && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return false;
};

export const isLarger = (value: unknown, most: number): boolean => {
  const waiting = [value];
  for (let count = 0; waiting.length > 0; count++) {
    if (count + waiting.length > most) return true;
    const next = waiting.pop();
    if (typeof next === 'object' && next !== null) {
      const values = Object.values(next);
      if (count + waiting.length + values.length > most) return true;
      for (const inner of values) waiting.push(inner);
    }
  }
  return false;
};

/** Checked before parsing, because a parser needs a second for a megabyte of open brackets. */
export const isTextDeeper = (text: string, depth: number): boolean => {
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++open > depth) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        open--;
        break;
    }
  }
  return false;
};

export const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
};

const isEscaped = (text: string, at: number): boolean => {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
};
