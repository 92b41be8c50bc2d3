import type { Owner } from '../harness/account.js';

/** Waits for the end of an operation. Throws unless it was completed. */
export const untilCompleted = async (
  { operations }: Pick<Owner, 'operations'>,
  id: string,
): Promise<void> => {
  for (;;) {
    const { kind, status, error } = await operations.get({ id, query: { wait: 20 } });
    if (status === 'completed') return;
    if (status !== 'queued' && status !== 'running') {
      throw new Error(`${kind} ended as ${status}: ${error}`);
    }
  }
};
