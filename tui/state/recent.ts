import { type Client, type Execution, timeDigits } from '../../src/client/index.js';
import { EXECUTIONS } from './live.js';
import type { Entry, StreamAction } from './streams.js';
import { troubleOf } from './trouble.js';

/** What is read back, so that an overview does not begin empty. */
const BACK_MS = 600_000;
const PAGE = 200;
const MOST_PAGES = 5;

/**
 * The executions of the last minutes as entries of their stream; those that the socket has told
 * too are told apart by their ids. Null: the daemon did not say; the overview beside it says why.
 */
export const recentExecutions = async (
  client: Client,
  now: number,
): Promise<StreamAction | null> => {
  try {
    const entries = (await read(client, now)).map(entryOf);
    return { type: 'stream.told', name: EXECUTIONS, entries };
  } catch (error) {
    troubleOf(error);
    return null;
  }
};

const read = async (client: Client, now: number): Promise<Execution[]> => {
  const found: Execution[] = [];
  let after = `execution_${timeDigits(now - BACK_MS)}`;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { executions, lastId } = await client.hooks.listen({ query: { after, limit: PAGE } });
    found.push(...executions);
    if (executions.length < PAGE || lastId === null) break;
    after = lastId;
  }
  return found;
};

const entryOf = ({ id, hookId, status, error, agentId, ...run }: Execution): Entry => ({
  number: null,
  at: run.finishedAt ?? run.startedAt ?? run.createdAt,
  kind: status,
  data: { id, hookId, event: run.triggerContext.event ?? run.trigger, agentId, error },
});
