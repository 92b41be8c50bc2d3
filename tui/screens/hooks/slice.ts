import type { Execution, Hook } from '../../../src/client/index.js';
import type { ActVerb } from '../../keys.js';
import type { Goal, Item } from '../../page.js';
import type { Act } from '../../state/act.js';
import { type ListName, rowsOf } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';

/** The data and the acts of the pages of hooks; pure. */

export const hookState = (hook: Hook): string => (hook.enabled ? 'enabled' : 'disabled');

/** Returns the outcome of an execution in one line. */
export const hookGist = ({ error, result, agentId }: Execution): string => {
  if (error) return error;
  if (typeof result === 'string') return result;
  if (typeof result === 'object' && result !== null && 'text' in result) return String(result.text);
  if (result !== null && result !== undefined) return JSON.stringify(result);
  return agentId ? `agent ${agentId.slice(-6)}` : '';
};

export const hookItems = (state: State): Item[] =>
  rowsOf(state.lists.hooks).map((hook) => ({
    id: hook.id,
    name: hook.name,
    words: `${hookState(hook)} ${hook.trigger} ${hook.action} ${hook.stats.lastStatus ?? ''}`,
    facts: {
      state: hookState(hook),
      status: hook.stats.lastStatus ?? 'never',
      trigger: hook.trigger,
      action: hook.action,
    },
  }));

export const executionItems = (state: State): Item[] =>
  rowsOf(state.lists.executions).map((run) => ({
    id: run.id,
    name: run.triggerContext.event ?? run.trigger,
    words: `${run.status} ${hookGist(run).slice(0, 1000)}`,
    facts: { status: run.status },
  }));

/** Returns the hook of the page on top, or, on the page of an execution, the hook below it. */
export const shownHook = (state: State): Hook | null => {
  const { page, id, of } = lookOf(state.ui);
  return state.lists.hooks.byId[(page === 'execution' ? of : id) ?? ''] ?? null;
};

export const shownExecution = (state: State): Execution | null =>
  state.lists.executions.byId[lookOf(state.ui).id ?? ''] ?? null;

/** Returns the acts that are possible on a hook. */
export const hookActs = (hook: Hook): Partial<Record<ActVerb, Act>> => ({
  ...(hook.enabled ? {} : { start: enable(hook) }),
  ...(hook.enabled ? { pause: disable(hook) } : {}),
  test: test(hook),
  delete: remove(hook),
});

const on = (hook: Hook): Pick<Act, 'row' | 'touches'> => ({
  row: { list: 'hooks', id: hook.id },
  touches: ['hooks'],
});

const enable = (hook: Hook): Act => ({
  ...on(hook),
  text: `Enable hook ${hook.name}`,
  line: `adjutant hooks enable ${hook.id}`,
  doing: 'enabling…',
  call: async (client) => {
    await client.hooks.enable({ id: hook.id });
    return `${hook.name} is enabled`;
  },
});

const disable = (hook: Hook): Act => ({
  ...on(hook),
  text: `Disable hook ${hook.name}`,
  line: `adjutant hooks disable ${hook.id}`,
  doing: 'disabling…',
  call: async (client) => {
    await client.hooks.disable({ id: hook.id });
    return `${hook.name} is disabled`;
  },
});

const test = (hook: Hook): Act => ({
  ...on(hook),
  text: `Test hook ${hook.name}`,
  line: `adjutant hooks test ${hook.id}`,
  doing: 'testing…',
  touches: ['hooks', 'executions'],
  ask: { lines: [`Run ${hook.name} now, with {} as its payload? What it does is done.`] },
  call: async (client) => {
    const reply = await client.hooks.test({ id: hook.id, body: { payload: {} } });
    if (!('id' in reply)) return { said: 'Nothing was run', tone: 'warn' };
    if (reply.status === 'skipped') return { said: `Skipped: ${hookGist(reply)}`, tone: 'warn' };
    return `Runs as ${reply.id.slice(-6)}`;
  },
});

const remove = (hook: Hook): Act => ({
  ...on(hook),
  text: `Delete hook ${hook.name}`,
  line: `adjutant hooks delete ${hook.id}`,
  doing: 'deleting…',
  ask: {
    lines: [
      `Delete hook ${hook.name}? Its ${hook.stats.executions} executions go with it.`,
      'Senders are refused at once. There is no undo.',
    ],
    name: hook.name,
  },
  call: async (client) => {
    await client.hooks.delete({ id: hook.id });
    return `${hook.name} is deleted`;
  },
});

/**
 * Returns the command that rotates the secret. Only the CLI shows the new secret: it prints it once
 * and stores it nowhere.
 */
export const rotation = (hook: Hook): string[] => ['hooks', 'rotate-secret', hook.id];

export const replayAct = (run: Execution): Act => ({
  text: `Replay execution ${run.id.slice(-6)}`,
  line: `adjutant hooks replay ${run.hookId} ${run.id}`,
  doing: 'replaying…',
  row: { list: 'executions', id: run.id },
  touches: ['executions'] satisfies ListName[],
  ask: { lines: [`Run ${run.id.slice(-6)} again, with the payload that came then?`] },
  call: async (client) => {
    const input = { id: run.hookId, executionId: run.id, body: {} };
    return `Runs again as ${(await client.hooks.replay(input)).id.slice(-6)}`;
  },
});

/** Returns the place of the agent that an execution started. */
export const agentGoal = (run: Execution | null): Goal | null =>
  run?.agentId
    ? {
        root: 'agents',
        places: [{ page: 'agent', id: run.agentId }],
        selected: run.agentId,
      }
    : null;
