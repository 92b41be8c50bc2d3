/**
 * Milliseconds that the work takes for each, the fastest time of seven; the first round is thrown away.
 * They take turns, so that what else the machine does is in all of them.
 */
export const measureInTurn = async <T>(
  all: T[],
  work: (each: T, round: number) => Promise<unknown>,
  rounds = 8,
): Promise<number[]> => {
  const times = all.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, each] of all.entries()) {
      const since = performance.now();
      await work(each, round);
      if (round > 0) times[at]?.push(performance.now() - since);
    }
  }
  // Other work on the machine only adds to a time.
  return times.map((each) => Math.min(...each));
};
