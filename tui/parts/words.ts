/** Returns a count with its noun: `1 user`, `3 users`, `1,204 executions`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`;

export const dollars = (usd: number): string => `$${usd.toFixed(2)}`;
