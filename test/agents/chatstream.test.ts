import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FollowingDeps, streamChatEvents } from '../../src/agents/chat/stream.js';
import type { AgentRow } from '../../src/store/tables/agents.js';
import { frozenClock } from '../harness/clock.js';

export const lab = Lab.script();
const { describe, it } = lab;

const AGENT = { id: 'agent_x', user_id: 'user_x', session_id: 'session_x' } as AgentRow;
const event = (id: number, type: string, data: object) => ({ id, type, data, agentId: AGENT.id });

describe('the stream of an answer', () => {
  it('has the last events though they came between two reads', async () => {
    const last = [
      event(1, 'agent.message', { content: 'Two.' }),
      event(2, 'agent.status', { status: 'completed' }),
    ];
    // The agent ends after its events were read for the first time.
    const reads = [[], last];
    const deps = {
      rows: {
        events: async () => ({ events: reads.shift() ?? [], gap: false }),
        byId: async () => ({ ...AGENT, status: 'completed', result: 'Two.', error: null }),
      },
      hub: { whenOver: () => () => undefined, listen: () => () => undefined },
      deltas: { listen: () => () => undefined },
    } as unknown as FollowingDeps;
    const names: unknown[] = [];
    const { signal } = new AbortController();
    for await (const { event: name } of streamChatEvents(deps, AGENT, { after: 0, signal })) {
      names.push(name);
    }
    expect(names).to.equal(['chat', 'agent.message', 'agent.status', 'done']);
  });

  it('has an empty event after fifteen seconds without news', async () => {
    const clock = frozenClock();
    const deps = {
      clock,
      rows: {
        events: async () => ({ events: [], gap: false }),
        byId: async () => ({ ...AGENT, status: 'running' }),
      },
      hub: { whenOver: () => () => undefined, listen: () => () => undefined },
      deltas: { listen: () => () => undefined },
    } as unknown as FollowingDeps;
    const { signal } = new AbortController();
    const stream = streamChatEvents(deps, AGENT, { after: 0, signal });
    await stream.next();
    const next = stream.next();
    await clock.waiting(15_000);
    clock.forward(15_000);
    expect(await next).to.equal({ done: false, value: {} });
    await stream.return();
  });
});
