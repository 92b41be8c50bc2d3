import { type Clock, iso } from '../kernel/clock.js';
import { pageLink } from '../kernel/pagepath.js';
import type { Notice, Outbox, QueuedMessage } from '../outbound/module.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { Notify } from '../tools/module.js';

interface NoticesDeps {
  store: Store;
  clock: Clock;
  outbox: Outbox;
}

/** Messages that are sent individually, per root agent. */
const MAX_NOTICES = 20;
/** Further messages whose text is stored. Others are only counted. */
const MAX_KEPT = 100;
const MAX_LINE_LENGTH = 200;

/** Messages beyond the limit are sent when the agent ends. */
export const createNotify =
  (deps: NoticesDeps): Notify =>
  async (userId, { agentId, ...notice }) => {
    const message = { ...notice, kind: 'agent_notice' as const, link: null };
    if (agentId === null) {
      await deps.outbox.send(userId, message);
      return true;
    }
    const posting = deps.outbox.toOwner(userId, message);
    const steps = [countNotice(agentId, MAX_NOTICES), ...posting.statements];
    const isSent = await isCommitted(deps.store.transact(steps));
    if (isSent) posting.published();
    else await storeLine(deps, agentId, notice);
    return isSent;
  };

const countNotice = (agentId: string, most: number | null) => ({
  sql: `UPDATE agents SET notices = notices + 1
    WHERE id = coalesce((SELECT root_id FROM agents WHERE id = @agentId), @agentId)
      AND (@most IS NULL OR notices < @most)`,
  parameters: [{ agentId, most }],
  ...(most !== null && { expect: 1 }),
});

const storeLine = async (
  { store, clock }: NoticesDeps,
  agentId: string,
  { title, body }: { title: string; body: string },
): Promise<void> => {
  const line = `${title}: ${body}`.replace(/\s+/g, ' ').slice(0, MAX_LINE_LENGTH);
  const kept = {
    sql: `INSERT INTO run_notices (agent_id, line, created_at)
      SELECT id, @line, @at FROM agents
        WHERE id = coalesce((SELECT root_id FROM agents WHERE id = @agentId), @agentId)
          AND (SELECT count(*) FROM run_notices AS n WHERE n.agent_id = agents.id) < ${MAX_KEPT}`,
    parameters: [{ agentId, line, at: iso(clock.now()) }],
  };
  await store.transact([countNotice(agentId, null), kept]);
};

/** Combines the remaining messages into one. Sub-agents have none of their own. */
export const remainingNotices = async (
  store: Store,
  outbox: Outbox,
  agent: AgentRow,
): Promise<QueuedMessage[]> => {
  if (agent.parent_id !== null) return [];
  const { count, kept } = await store.look('agentNotices', agent.id);
  if (count === 0) return [];
  const { db } = store;
  const begun = db
    .updateTable('agents')
    .set((of) => ({ notices: of('notices', '-', count) }))
    .where('id', '=', agent.id);
  const last = kept.at(-1)?.id ?? 0;
  const deleted = db
    .deleteFrom('run_notices')
    .where('agent_id', '=', agent.id)
    .where('id', '<=', last);
  const reset = {
    statements: [statement(begun), statement(deleted)],
    published: () => undefined,
  };
  if (count <= MAX_NOTICES) return [reset];
  return [
    reset,
    outbox.toOwner(agent.user_id, buildSummaryNotice(agent, count - MAX_NOTICES, kept)),
  ];
};

const buildSummaryNotice = (agent: AgentRow, rest: number, kept: { line: string }[]): Notice => {
  const omitted = rest - kept.length;
  const body = [...kept.map(({ line }) => line), ...(omitted > 0 ? [`… ${omitted} more`] : [])];
  return {
    kind: 'agent_notice',
    title: `${agent.name}: ${rest} more messages`,
    body: body.join('\n'),
    link: pageLink('agent', agent.id),
    hops: agent.hops,
  };
};
