import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FollowingDeps, streamChatEvents } from '../../../src/agents/chat/stream.js';
import type { AgentEvent } from '../../../src/agents/contract.js';
import { createDeltas } from '../../../src/agents/textdeltas.js';
import type { AgentRow } from '../../../src/store/tables/agents.js';
import { frozenClock } from '../../harness/clock.js';

export const lab = Lab.script();
const { describe, it } = lab;

const AGENT = { id: 'a', user_id: 'u', session_id: 's', status: 'running' } as AgentRow;

const eventOf = (id: number, type: string, data: object) => ({ id, type, data }) as AgentEvent;

/** Agents whose events are read slowly: `meanwhile` happens between the question and the page. */
const slowRows = (pages: AgentEvent[][], meanwhile: () => void) =>
  ({
    byId: async () => AGENT,
    readerNote: async () => null,
    events: async () => {
      meanwhile();
      return { gap: false, oldestId: null, events: pages.shift() ?? [] };
    },
  }) as unknown as FollowingDeps['rows'];

const silentHub = {
  listen: () => () => {},
  whenOver: () => () => {},
} as unknown as FollowingDeps['hub'];

describe('the stream of a chat', () => {
  it('has the text from before its reader came, once more for a resumed reader', async () => {
    const clock = frozenClock();
    const ended = eventOf(2, 'agent.status', { status: 'completed' });
    for (const isResumed of [false, true]) {
      const deltas = createDeltas(clock);
      const reply = deltas.begin({ id: 'a', user_id: 'u' }, 1);
      reply.take('Early ');
      const rows = slowRows([[eventOf(1, 'agent.message', { step: 1 }), ended]], () => {
        reply.take('and late.');
        reply.end();
      });
      const deps = { rows, clock, hub: silentHub, deltas };
      const told: unknown[] = [];
      const { signal } = new AbortController();
      const events = streamChatEvents(deps, AGENT, { after: 0, isResumed, signal });
      for await (const { event, data } of events) if (event === 'delta') told.push(data);
      const text = 'Early and late.';
      expect(told).to.equal([isResumed ? { text, restart: true } : { text }]);
    }
  });

  it('has the text of each reply before its message, however slowly events are read', async () => {
    const clock = frozenClock();
    const deltas = createDeltas(clock);
    const write = (step: number, text: string) => {
      const reply = deltas.begin({ id: 'a', user_id: 'u' }, step);
      reply.take(text.slice(0, 4));
      reply.take(text.slice(4));
      reply.end();
    };
    const events = [
      eventOf(1, 'agent.message', { step: 1 }),
      eventOf(2, 'agent.message', { step: 2 }),
      eventOf(3, 'agent.status', { status: 'completed' }),
    ];
    const rows = slowRows([events], () => {
      write(1, 'Looking it up.');
      write(2, 'It is late.');
    });
    const deps = { rows, clock, hub: silentHub, deltas };
    const told: unknown[] = [];
    const { signal } = new AbortController();
    for await (const { event, data } of streamChatEvents(deps, AGENT, { after: 0, signal })) {
      told.push(event === 'delta' ? data : event);
    }
    expect(told).to.equal([
      'chat',
      { text: 'Looking it up.' },
      'agent.message',
      { text: 'It is late.' },
      'agent.message',
      'agent.status',
      'done',
    ]);
  });
});
