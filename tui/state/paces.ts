import { doneOf, isOver, type ProgressSample, samplesWith } from '../../cli/operations/bar.js';
import type { Operation } from '../../src/client/index.js';

/** The last progress of each operation that runs, the oldest first, by its id. */
export type PacesState = Readonly<Record<string, readonly ProgressSample[]>>;

/** An operation as the socket has told of it. */
export interface OperationHeard {
  type: 'operation.heard';
  operation: Operation;
  at: number;
}

export const reducePaces = (state: PacesState, { operation, at }: OperationHeard): PacesState => {
  const { [operation.id]: known = [], ...others } = state;
  if (isOver(operation)) return others;
  return { ...others, [operation.id]: samplesWith(known, { at, done: doneOf(operation) }) };
};
