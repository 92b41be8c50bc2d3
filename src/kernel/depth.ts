/**
 * True if arrays and objects are nested more than `depth` deep. It goes level by level, so it
 * cannot overflow the stack.
 */
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

/**
 * True if the value contains more than `most` values, at any depth. It counts no further than
 * needed.
 */
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
