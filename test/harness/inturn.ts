/**
 * Milliseconds that the work takes for each, the median of seven; the first round is thrown away.
 * They take turns, so that what else the machine does is in all of them.
 */
export const measureInTurn = async <T>(
  all: T[],
  work: (each: T, round: number) => Promise<unknown>,
): Promise<number[]> => {
  const times = all.map((): number[] => []);
  for (let round = 0; round < 8; round++) {
    for (const [at, each] of all.entries()) {
      const since = performance.now();
      await work(each, round);
      if (round > 0) times[at]?.push(performance.now() - since);
    }
  }
  return times.map((each) => each.sort((a, b) => a - b)[3] ?? 0);
};
