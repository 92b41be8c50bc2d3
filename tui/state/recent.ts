import { type Client, type Execution, timeDigits } from '../../src/client/index.js';
import { toLoadFailure } from './errors.js';
import {
  EXECUTIONS,
  getStreamRing,
  type StreamAction,
  type StreamEntry,
  type StreamsState,
} from './streams.js';

/**
 * Age of the oldest executions loaded at the start, in milliseconds, so that the overview is not
 * empty.
 */
const BACK_MS = 600_000;
const PAGE = 200;
const MAX_PAGES = 10;

/**
 * Recent executions as stream entries, from the newest one known to have ended. Duplicates from the
 * socket are recognized by id. `null` if the daemon does not reply; the overview shows why.
 */
export const recentExecutions = async (
  client: Client,
  now: number,
  streams: StreamsState,
): Promise<StreamAction | null> => {
  try {
    const after =
      endedId(getStreamRing(streams, EXECUTIONS).entries) ??
      `execution_${timeDigits(now - BACK_MS)}`;
    const entries = (await read(client, after)).map(toStreamEntry);
    return { type: 'stream.added', name: EXECUTIONS, entries };
  } catch (error) {
    toLoadFailure(error);
    return null;
  }
};

const BEFORE_END = ['queued', 'running'];

/** Newest execution before which all have ended. Later ones may have changed. */
const endedId = (known: readonly StreamEntry[]): string | undefined => {
  const ended = new Map<string, boolean>();
  for (const { kind, data } of known) {
    if (typeof data.id === 'string') ended.set(data.id, !BEFORE_END.includes(kind));
  }
  const ids = [...ended.keys()].sort();
  const going = ids.findIndex((id) => !ended.get(id));
  return ids[going < 0 ? ids.length - 1 : going - 1];
};

const read = async (client: Client, since: string): Promise<Execution[]> => {
  const found: Execution[] = [];
  let after = since;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { executions, lastId } = await client.hooks.listen({ query: { after, limit: PAGE } });
    found.push(...executions);
    if (executions.length < PAGE || lastId === null) break;
    after = lastId;
  }
  return found;
};

const toStreamEntry = ({ id, hookId, status, error, agentId, ...run }: Execution): StreamEntry => ({
  number: null,
  at: run.finishedAt ?? run.startedAt ?? run.createdAt,
  kind: status,
  data: { id, hookId, event: run.triggerContext.event ?? run.trigger, agentId, error },
});
