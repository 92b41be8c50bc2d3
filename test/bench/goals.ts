/** A figure of a run with the value that it is to reach. */
export interface Goal {
  name: string;
  measured: number;
  wanted: number;
  /** True if the figure is to be at least as large, false if at most. */
  isLeast: boolean;
}

export const atLeast = (name: string, measured: number, wanted: number): Goal => ({
  name,
  measured,
  wanted,
  isLeast: true,
});

export const atMost = (name: string, measured: number, wanted: number): Goal => ({
  name,
  measured,
  wanted,
  isLeast: false,
});

/** A figure that was not measured misses its goal. */
export const isMet = ({ measured, wanted, isLeast }: Goal): boolean =>
  isLeast ? measured >= wanted : measured <= wanted;

/** The goals as rows of a table, by their names. */
export const rowsOfGoals = (goals: Goal[]): Record<string, Record<string, string>> =>
  Object.fromEntries(
    goals.map((goal) => [
      goal.name,
      {
        measured: short(goal.measured),
        wanted: `${goal.isLeast ? 'at least' : 'at most'} ${short(goal.wanted)}`,
        '': isMet(goal) ? 'met' : 'MISSED',
      },
    ]),
  );

const short = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
