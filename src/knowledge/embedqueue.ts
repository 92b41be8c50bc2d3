/** Allows one embedding operation per user, which is notified of new texts. */
export interface EmbedQueue {
  /** Returns false if the user has no operation. */
  tell(userId: string): boolean;
  /** `null` means that an operation is about to start. */
  expect(userId: string, operationId: string | null): void;
  enter(userId: string, operationId: string): boolean;
  /** Returns true once if new texts arrived since the last call. */
  takeNews(userId: string): boolean;
  leave(userId: string, operationId: string | null): void;
}

export const createEmbedQueue = (): EmbedQueue => {
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
