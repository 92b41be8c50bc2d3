import { doneOf, isOver, type ProgressSample, samplesWith } from '../../cli/operations/bar.js';
import type { Operation } from '../../src/client/index.js';

/** Last progress of each running operation by id, oldest first. */
export type PacesState = Readonly<Record<string, readonly ProgressSample[]>>;

/** An operation as reported by the socket. */
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
