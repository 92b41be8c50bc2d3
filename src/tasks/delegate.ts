import Boom from '@hapi/boom';
import {
  type Agents,
  agentFaults,
  findNamedExpert,
  JOB,
  spawnRecord,
  UNFINISHED,
} from '../agents/module.js';
import { type Expert, type Experts, modelAndPersona } from '../experts/module.js';
import { addJob, type Queue } from '../jobs/module.js';
import type { Clock } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { throwIfFaults } from '../kernel/route.js';
import { hasScope, missingScope } from '../kernel/scope.js';
import type { Hub } from '../realtime/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { isCommitted, type Store } from '../store/store.js';
import { updateIf } from '../store/updateif.js';
import type { TaskView } from './contract.js';
import { findTask, publishTasks } from './deps.js';
import { isToDo } from './dues.js';
import type { TasksStore } from './queries.js';
import type { ListedTask } from './selections.js';
import { viewTask } from './view.js';

export interface DelegatingDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  tasks: TasksStore;
  agents: Pick<Agents, 'rows' | 'models'>;
  experts: Pick<Experts, 'find'>;
  queue: Pick<Queue, 'added'>;
}

interface DelegationInput {
  expertId?: string | undefined;
  model?: string | undefined;
}

const SPAWNING = 'agents:write';

/**
 * Spawns an agent for a task. An untrusted task makes the agent untrusted. Throws 409
 * `task_delegated` or `task_finished`.
 */
export const delegateTask = async (
  deps: DelegatingDeps,
  by: Pick<Caller, 'userId' | 'tokenId' | 'scopes' | 'member'>,
  id: string,
  { expertId, model }: DelegationInput,
): Promise<TaskView> => {
  const { userId } = by;
  if (by.tokenId !== null && !hasScope(by.scopes, SPAWNING)) {
    throw Boom.forbidden(missingScope(SPAWNING), { code: 'scope_missing' });
  }
  const expert = await findNamedExpert(deps.experts, userId, expertId);
  throwIfFaults(
    agentFaults(deps.agents.models, userId, { ...(model !== undefined && { model }), expert }),
  );
  await updateIf({
    clock: deps.clock,
    read: () => findTask(deps, userId, id),
    write: async (row, version) => {
      await refuseTaken(deps, row);
      return (
        (await spawn(deps, row, {
          ...{ version, expert: expert ?? null, model },
          memberId: by.member?.userId,
        })) || null
      );
    },
  });
  deps.queue.added(userId);
  await publishTasks(deps, userId, [id]);
  return viewTask(await findTask(deps, userId, id));
};

const refuseTaken = async ({ agents }: DelegatingDeps, row: ListedTask): Promise<void> => {
  if (!isToDo(row.status)) {
    throw Boom.conflict(`The task is ${row.status}. Reopen the task first`, {
      code: 'task_finished',
    });
  }
  const agent = row.agent_id === null ? null : await agents.rows.owned(row.user_id, row.agent_id);
  if (!agent || !UNFINISHED.includes(agent.status)) return;
  throw Boom.conflict(
    `The agent ${agent.name} (${agent.id}) is working on the task. Stop that agent first`,
    {
      code: 'task_delegated',
    },
  );
};

/** Returns false if the task has changed since it was read. */
const spawn = (
  { agents, ...deps }: DelegatingDeps,
  row: ListedTask,
  {
    version,
    expert,
    model,
    memberId,
  }: {
    version: string;
    expert: Expert | null;
    model?: string | undefined;
    memberId?: string | undefined;
  },
): Promise<boolean> => {
  const { user_id: userId } = row;
  const { id, record } = spawnRecord(deps, {
    userId,
    memberId,
    prompt: promptFor(row),
    name: `task-${row.id.slice(-6)}`,
    ...modelAndPersona(agents.models, {
      userId,
      ...(model !== undefined && { model }),
      expert: expert ?? undefined,
    }),
    channel: 'api',
    untrusted: row.untrusted === 1,
    lane: userId,
  });
  record.add(
    addJob({ kind: JOB, ref: id, lane: userId, runAt: record.at }),
    assignment(row, { agentId: id, version }),
  );
  return isCommitted(record.commit());
};

const assignment = (
  { id, user_id, updated_at, status }: ListedTask,
  { agentId, version }: { agentId: string; version: string },
): TransactionStep => ({
  sql: `UPDATE tasks SET agent_id = ?, status = 'in_progress', updated_at = ?
    WHERE user_id = ? AND id = ? AND updated_at = ? AND status = ?`,
  parameters: [agentId, version, user_id, id, updated_at, status],
  expect: 1,
});

const promptFor = ({ id, title, notes, untrusted }: ListedTask): string => {
  const heading = untrusted === 1 ? 'Task with untrusted text' : 'Task';
  const text = notes === null ? title : `${title}\n\n${notes}`;
  return `Work on the task ${id} of your owner. Complete it with the tool tasks.complete only when it is done.\n\n--- ${heading} ---\n${text}`;
};
