import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { agentPage } from '../../tui/screens/agents/agent.js';
import { agentsPage } from '../../tui/screens/agents/agents.js';
import { createAgentFollower } from '../../tui/state/followedagent.js';
import { reduce, type StateAction } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { getStreamRing } from '../../tui/state/streams.js';
import { actRefusal } from '../../tui/state/verbs.js';
import { untilMatches } from '../harness/app.js';
import {
  agentsLoaded,
  aMessage,
  anAgent,
  anApproval,
  approvalsLoaded,
  known,
  messagesLoaded,
  NOW,
  shown,
  treeLoaded,
} from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const ID = anAgent().id;
const atAgents: StateAction[] = [{ type: 'ui.root', root: 'agents' }];
const atAgent: StateAction[] = [
  ...atAgents,
  { type: 'ui.opened', place: { page: 'agent', id: ID } },
];
const entry = (number: number) => ({
  number,
  at: new Date(NOW).toISOString(),
  kind: 'agent.message',
  data: { role: 'assistant', content: `word ${number}` },
});

const never = (): never => {
  throw new Error('It cannot be done');
};

describe('agents', () => {
  it('stand below those that spawned them, with what they do', () => {
    const rows = [
      anAgent({ id: 'agent_2', name: 'reviewer-7', parentId: ID, untrusted: false, steps: 2 }),
      anAgent({ id: 'agent_3', name: 'orphan', parentId: 'agent_gone', result: 'labelled\nbug' }),
      anAgent({ status: 'waiting_approval' }),
    ];
    const state = known([...agentsLoaded(rows), ...approvalsLoaded([anApproval()]), ...atAgents]);
    expect(shown(agentsPage.view, state, 80, 19)).to.equal([
      '  NAME          STATE             TRUST      STEP   COST   AGE  DOING',
      '> orphan        running           untrusted     4  $0.05    3m  labelled',
      '  triage-412    waiting_approval  untrusted     4  $0.05    3m  shell.run',
      '    reviewer-7  running           trusted       2  $0.05    3m',
    ]);
  });

  it('hide what is long over, until it is asked for', () => {
    const over = Array.from({ length: 60 }, (_, at) =>
      anAgent({ id: `agent_${at}`, status: 'completed' }),
    );
    const state = known([...agentsLoaded([anAgent(), ...over]), ...atAgents]);
    expect(agentsPage.items?.(state).length).to.equal(51);
    const all = known([
      ...agentsLoaded([anAgent(), ...over]),
      ...atAgents,
      { type: 'ui.looked', change: { isMore: true } },
    ]);
    expect(agentsPage.items?.(all).length).to.equal(61);
  });

  it('can be done what their state allows', () => {
    const verbs = (status: 'running' | 'paused' | 'completed') =>
      Object.keys(
        agentsPage.acts?.(known([...agentsLoaded([anAgent({ status })]), ...atAgents])) ?? {},
      );
    expect(verbs('running')).to.equal(['message', 'pause', 'stop', 'delete']);
    expect(verbs('paused')).to.equal(['message', 'start', 'stop', 'delete']);
    expect(verbs('completed')).to.equal(['message', 'delete']);
  });
});

describe('an agent', () => {
  const said = [
    aMessage({ id: 'm1', role: 'user', content: Array(9).fill('line').join('\n') }),
    aMessage({ id: 'm2', toolCalls: [{ id: 'c', name: 'web.read', arguments: { q: 'login' } }] }),
    aMessage({ id: 'm3', role: 'tool', content: 'ok' }),
  ];
  const open = (more: StateAction[] = []) =>
    known([
      ...agentsLoaded([anAgent()]),
      ...messagesLoaded(said),
      ...approvalsLoaded([anApproval()]),
      ...atAgent,
      ...more,
    ]);

  it('shows what was said, and the call that waits', () => {
    expect(shown(agentPage.view, open(), 80, 19)).to.equal([
      'triage-412   running   UNTRUSTED                  [Transcript] Events Tree Facts',
      'openai/gpt   step 4/40   12,400 tokens   $0.05 of $0.50',
      '',
      'user       line',
      ...Array(5).fill('           line'),
      '           … 3 more rows: v expands',
      'assistant  I will look whether the issue is known.',
      'call       web.read  {"q":"login"}',
      'tool       ok',
      'approval   shell.run  expires in 08:34',
      '           -- enter opens the approval: decide there --',
    ]);
    expect(agentPage.opens?.(open())).to.equal({
      root: 'approvals',
      places: [],
      selected: 'approval_01',
    });
  });

  it('shows all under it as a tree, which a key opens and acts on', () => {
    const rows = [
      anAgent({ id: 'agent_4', name: 'leaf', parentId: 'agent_2', status: 'completed' }),
      anAgent({ id: 'agent_3', name: 'second', parentId: ID, status: 'paused' }),
      anAgent({ id: 'agent_2', name: 'first', parentId: ID, status: 'completed' }),
      anAgent(),
    ];
    const at = (selected: string | null) =>
      open([...treeLoaded(rows, ID), { type: 'ui.looked', change: { tab: 2, selected } }]);
    expect(shown(agentPage.view, at('agent_3'), 80, 19)).to.equal([
      'triage-412   running   UNTRUSTED                  Transcript Events [Tree] Facts',
      'openai/gpt   step 4/40   12,400 tokens   $0.05 of $0.50',
      '',
      '  NAME          STATE      TRUST       COST   AGE  DOING',
      '  triage-412    running    untrusted  $0.05    3m  shell.run',
      '    first       completed  untrusted  $0.05    3m',
      '      leaf      completed  untrusted  $0.05    3m',
      '>   second      paused     untrusted  $0.05    3m',
    ]);
    expect(shown(agentPage.view, at('agent_3'), 60, 11)[3]).to.equal(
      '  NAME          STATE       COST   AGE  DOING',
    );
    expect(agentPage.opens?.(at('agent_3'))).to.equal({ page: 'agent', id: 'agent_3' });
    expect(agentPage.opens?.(at(null))).to.be.null();
    expect(Object.keys(agentPage.acts?.(at('agent_3')) ?? {})).to.contain('start');
    expect(agentPage.summary?.(at(null))).to.equal('3 sub-agents   2 active   $0.20 in total');
  });

  it('is shown where the list does not reach so far back', () => {
    const old = anAgent({ id: 'agent_old', name: 'old' });
    const place = { page: 'agent' as const, id: 'agent_old' };
    const state = open([...treeLoaded([old], 'agent_old'), { type: 'ui.opened', place }]);
    expect(shown(agentPage.view, state, 80, 19)[0]).to.contain('old   running');
    expect(actRefusal(state, agentPage.acts?.(state).pause ?? never())).to.be.null();
  });

  it('shows the end while it is followed', () => {
    const rows = shown(agentPage.view, open(), 80, 6);
    expect(rows.at(-1)).to.contain('decide there');
    const above = shown(
      agentPage.view,
      open([{ type: 'ui.looked', change: { isFollowing: false } }]),
      80,
      6,
    );
    expect(above[3]).to.equal('user       line');
  });

  it('shows where events are missing', () => {
    const state = open([
      { type: 'ui.looked', change: { tab: 1 } },
      { type: 'stream.added', name: ID, entries: [entry(38)] },
      { type: 'stream.gap', name: ID, from: 39, to: 50 },
      { type: 'stream.added', name: ID, entries: [entry(51)] },
    ]);
    const rows = shown(agentPage.view, state, 80, 19).slice(3);
    expect(rows.map((line) => line.replace(/\d\d:\d\d:\d\d/, 'TIME'))).to.equal([
      '   38 TIME  message   assistant  word 38',
      '  ── 12 events were dropped (39 to 50); see the transcript ──',
      '   51 TIME  message   assistant  word 51',
    ]);
  });
});

describe('following an agent', () => {
  /** A daemon that keeps the events from `oldest` to `newest`. */
  const openStore = (ring: { oldest: number; newest: number }) => {
    const asked: number[] = [];
    const fetch: typeof globalThis.fetch = async (url) => {
      const after = Number(new URL(String(url)).searchParams.get('after'));
      asked.push(after);
      const { oldest, newest } = ring;
      const from = Math.max(after + 1, oldest);
      const events = Array.from({ length: Math.max(0, newest - from + 1) }, (_, at) => ({
        id: from + at,
        type: 'agent.message',
        agentId: ID,
        data: {},
        at: new Date(NOW).toISOString(),
      }));
      const gap = after + 1 < oldest;
      const body = { events, lastId: events.at(-1)?.id ?? after, oldestId: oldest, gap };
      return new Response(JSON.stringify(body), {
        headers: { 'content-type': 'application/json' },
      });
    };
    const store = createStore(reduce, known());
    const client = createClient({ url: 'http://127.0.0.1:1', fetch });
    const numbers = () =>
      getStreamRing(store.get().streams, ID).entries.map(({ number }) => number);
    const sees = (last: number) =>
      untilMatches(async () => getStreamRing(store.get().streams, ID).last, last);
    return { following: createAgentFollower({ client, store }), store, asked, numbers, sees, ring };
  };

  it('reads what is kept, says what is not, and goes on with what is told', async () => {
    const { following, store, numbers, sees, asked } = openStore({ oldest: 5, newest: 7 });
    following.begin(ID);
    await sees(7);
    following.told(ID, entry(8));
    await sees(8);
    expect(numbers()).to.equal([5, 6, 7, 8]);
    expect(getStreamRing(store.get().streams, ID).gaps).to.equal([[1, 4]]);
    expect(asked).to.equal([0]);
  });

  it('reads what the socket left out, and loses nothing that comes meanwhile', async () => {
    const { following, numbers, sees, ring } = openStore({ oldest: 1, newest: 1 });
    following.begin(ID);
    await sees(1);
    ring.newest = 4;
    following.told(ID, entry(4));
    ring.newest = 5;
    following.told(ID, entry(5));
    await sees(5);
    expect(numbers()).to.equal([1, 2, 3, 4, 5]);
  });

  it('hears nothing of an agent that nobody looks at', async () => {
    const { following, numbers, sees } = openStore({ oldest: 1, newest: 2 });
    const stop = following.begin(ID);
    await sees(2);
    stop();
    following.told(ID, entry(3));
    expect(numbers()).to.equal([1, 2]);
  });
});
