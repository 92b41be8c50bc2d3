import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Execution } from '../../src/client/index.js';
import { failed } from '../exit.js';

const FINISHED_WITHIN_MS = 30_000;
const POLL_MS = 20;

/** The execution when it has ended. Failed: it has not within 30 s. */
export const outcomeOf = async (
  client: Client,
  of: { id: string; executionId: string },
): Promise<Execution> => {
  const execution = await until(async () => {
    const found = await client.hooks.execution(of);
    return ['queued', 'running'].includes(found.status) ? null : found;
  });
  if (execution === null) throw failed(`The execution ${of.executionId} is not done after 30 s.`);
  return execution;
};

/** Repeats a look until it finds something; null after 30 s. */
export const until = async <T>(look: () => Promise<T | null>): Promise<T | null> => {
  const end = performance.now() + FINISHED_WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found !== null || performance.now() >= end) return found;
    await pause(POLL_MS);
  }
};
