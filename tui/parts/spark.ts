const BARS = '▁▂▃▄▅▆▇█';

/**
 * Counts as bars, upper row first. Every count shows at least the lowest bar; the highest reaches
 * the top.
 */
export const sparkline = (counts: readonly number[], rows: 1 | 2): string[] => {
  const peak = Math.max(1, ...counts);
  const steps = BARS.length * rows;
  const levels = counts.map((count) => Math.max(1, Math.ceil((count / peak) * steps)));
  return Array.from({ length: rows }, (_, at) => {
    const below = (rows - 1 - at) * BARS.length;
    return levels.map((level) => pickBar(level - below)).join('');
  });
};

const pickBar = (level: number): string =>
  level <= 0 ? ' ' : (BARS[Math.min(level, BARS.length) - 1] ?? ' ');
