import {
  appendSample,
  isOver,
  type ProgressSample,
  progressDone,
} from '../../cli/operations/bar.js';
import type { Operation } from '../../src/client/index.js';

/** Last progress of each running operation by id, oldest first. */
export type ProgressState = Readonly<Record<string, readonly ProgressSample[]>>;

/** An operation as reported by the socket. */
export interface ProgressEvent {
  type: 'operation.heard';
  operation: Operation;
  at: number;
}

export const reduceProgress = (
  state: ProgressState,
  { operation, at }: ProgressEvent,
): ProgressState => {
  const { [operation.id]: known = [], ...others } = state;
  if (isOver(operation)) return others;
  return { ...others, [operation.id]: appendSample(known, { at, done: progressDone(operation) }) };
};
