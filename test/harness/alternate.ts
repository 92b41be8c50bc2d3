/**
 * Fastest of seven times of each work, in milliseconds, without the first round. The works
 * alternate, so that other load affects all of them.
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
  // Other load only adds to a time.
  return times.map((each) => Math.min(...each));
};
