import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { agentPage } from '../../tui/screens/agents/agent.js';
import { createAgentFollower } from '../../tui/state/followedagent.js';
import { reduce, type State, type StateAction } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { agentsLoaded, aMessage, anAgent, known, messagesLoaded, NOW, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const ID = anAgent().id;
const STEP = 5;

const grew = (from: number, text: string, step = STEP): StateAction => ({
  type: 'reply.grew',
  delta: { agentId: ID, step, from, text },
});
const happened = (
  number: number,
  kind: string,
  data: Record<string, unknown>,
  secondsAgo = 8,
): StateAction => ({
  type: 'stream.added',
  name: ID,
  entries: [{ number, at: new Date(NOW - secondsAgo * 1000).toISOString(), kind, data }],
});
const stored = happened(8, 'agent.message', { role: 'assistant', step: STEP, messageId: 'm2' });

const at = (...actions: StateAction[]): State =>
  known([
    ...agentsLoaded([anAgent()]),
    ...messagesLoaded([aMessage({ id: 'm1', role: 'user', content: 'Look' })]),
    { type: 'ui.root', root: 'agents' },
    { type: 'ui.opened', place: { page: 'agent', id: ID } },
    happened(7, 'agent.status', { status: 'running' }),
    ...actions,
  ]);
const transcript = (state: State): string[] => shown(agentPage.view, state, 60, 19).slice(3);

describe('the step of an agent that is under way', () => {
  it('says for how long, and what it waits for', () => {
    expect(transcript(at())).to.equal([
      'user       Look',
      'now        0:08  waiting for the model',
    ]);
    for (const [data, says] of [
      [{ phase: 'call', tool: 'shell_run' }, 'now        1:02  running shell_run'],
      [{ phase: 'result', tool: 'shell_run' }, 'now        1:02  waiting for the model'],
    ] as const) {
      const state = at(happened(8, 'agent.tool_call', data, 62));
      expect(transcript(state).at(-1)).to.equal(says);
    }
    const others = { status: 'running', waitingFor: [{ name: 'reviewer' }] };
    expect(transcript(at(happened(8, 'agent.status', others, 0))).at(-1)).to.equal(
      'now        0:00  waiting for sub-agents',
    );
    const over = at(...agentsLoaded([anAgent({ status: 'completed' })]));
    expect(transcript(over)).to.equal(['user       Look']);
    const lost = at({ type: 'session.linked', link: { is: 'connecting' } });
    expect(transcript(lost)).to.equal(['user       Look']);
  });

  it('shows the words as they come, and the time below them', () => {
    const words = 'Two similar issues were closed by 1.4.2, and I ';
    const state = at(grew(0, words), grew(words.length, 'want to know why.'));
    expect(transcript(state)).to.equal([
      'user       Look',
      'assistant  Two similar issues were closed by 1.4.2, and I',
      '           want to know why.',
      'now        0:08  the model is writing',
    ]);
    const later = reduce(state, { type: 'session.ticked', now: NOW + 1000 });
    expect(transcript(later).at(-1)).to.equal('now        0:09  the model is writing');
  });

  it('keeps the words until the stored message is there, and shows neither twice', () => {
    const over = agentsLoaded([anAgent({ status: 'completed' })]);
    const ended = at(grew(0, 'Two of them.'), stored, ...over);
    expect(transcript(ended)).to.equal(['user       Look', 'assistant  Two of them.']);
    const rows = [
      aMessage({ id: 'm1', role: 'user', content: 'Look' }),
      aMessage({ id: 'm2', content: 'Two of them.' }),
    ];
    const loaded = messagesLoaded(rows).reduce<State>(reduce, ended);
    expect(transcript(loaded)).to.equal(['user       Look', 'assistant  Two of them.']);
  });

  it('drops the words of a reply that never came to be', () => {
    const stopped = at(grew(0, 'Two of'), ...agentsLoaded([anAgent({ status: 'stopped' })]));
    expect(transcript(stopped)).to.equal(['user       Look']);
  });

  it('has no word twice after a lost socket, and says where some are missing', () => {
    const state = at(grew(0, 'Two of '), grew(4, 'of them'), grew(20, 'later.'));
    expect(transcript(state).at(1)).to.equal('assistant  Two of them … later.');
    expect(transcript(at(stored, grew(0, 'Next.', STEP + 1))).at(1)).to.equal('assistant  Next.');
  });

  it('keeps the words of followed agents alone, and of few', () => {
    const store = createStore(reduce, known());
    const client = createClient({
      url: 'http://127.0.0.1:1',
      fetch: async () =>
        new Response('{"events":[],"lastId":0,"oldestId":0,"gap":false}', {
          headers: { 'content-type': 'application/json' },
        }),
    });
    const following = createAgentFollower({ client, store });
    const wrote = (agentId: string) => following.wrote({ agentId, step: 1, from: 0, text: 'x' });
    const end = following.begin('agent_a');
    wrote('agent_a');
    wrote('agent_b');
    store.dispatch({ type: 'session.ticked', now: NOW });
    expect(Object.keys(store.get().replies)).to.equal(['agent_a']);
    end();
    wrote('agent_a');
    for (const id of 'cdefgh') {
      following.begin(`agent_${id}`);
      wrote(`agent_${id}`);
    }
    store.dispatch({ type: 'session.ticked', now: NOW });
    expect(Object.keys(store.get().replies).map((id) => id.at(-1))).to.equal([...'defgh']);
    store.close();
  });
});
