/** The operations that embed: one at a time for each user, which is told when texts have come. */
export interface EmbedTurns {
  /** Tells the operation of a user that texts have come. Returns false if there is none. */
  tell(userId: string): boolean;
  /** Records the operation that a user has. null: it is about to begin. */
  expect(userId: string, operationId: string | null): void;
  /** Begins the turn of an operation; false if another one of the user has it. */
  enter(userId: string, operationId: string): boolean;
  /** Returns true, once, if texts have come since it was last asked. */
  takeNews(userId: string): boolean;
  /** Ends the turn of an operation, if it has it. */
  leave(userId: string, operationId: string | null): void;
}

export const createEmbedTurns = (): EmbedTurns => {
  const turns = new Map<string, { operationId: string | null; hasNews: boolean }>();
  return {
    tell: (userId) => {
      const turn = turns.get(userId);
      if (turn) turn.hasNews = true;
      return turn !== undefined;
    },
    expect: (userId, operationId) => {
      turns.set(userId, { operationId, hasNews: turns.get(userId)?.hasNews ?? false });
    },
    enter: (userId, operationId) => {
      const turn = turns.get(userId) ?? { operationId, hasNews: false };
      if (turn.operationId !== null && turn.operationId !== operationId) return false;
      turns.set(userId, { operationId, hasNews: turn.hasNews });
      return true;
    },
    takeNews: (userId) => {
      const turn = turns.get(userId);
      const hasNews = turn?.hasNews ?? false;
      if (turn) turn.hasNews = false;
      return hasNews;
    },
    leave: (userId, operationId) => {
      if (turns.get(userId)?.operationId === operationId) turns.delete(userId);
    },
  };
};
