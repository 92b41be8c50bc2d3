export const nearest = (word: string, words: string[]): string | undefined => {
  const [best] = byDistance(word, words);
  return best && best.distance <= Math.max(1, Math.floor(word.length / 2))
    ? best.candidate
    : undefined;
};

export const closestWords = (word: string, words: string[], count: number): string[] =>
  byDistance(word, words)
    .slice(0, count)
    .map(({ candidate }) => candidate);

const byDistance = (word: string, words: string[]) =>
  words
    .map((candidate) => ({ candidate, distance: distance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance);

const distance = (a: string, b: string): number => {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const steps = [
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
        at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ...(isSwapped ? [at(i - 2, j - 2) + 1] : []),
      ];
      rows[i]?.push(Math.min(...steps));
    }
  }
  return at(a.length, b.length);
};
