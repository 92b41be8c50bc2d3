import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call, type Stage, startStage } from '../agents/stage.js';
import { says } from '../harness/openai.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('sessions', () => {
  let stage: Stage;
  let agents: { id: string; sessionId: string }[];
  before(async () => {
    stage = await startStage();
    agents = [];
    for (const n of [1, 2, 3]) {
      stage.model.script(says({ toolCalls: [call('time_now')] }), says({ text: `Answer ${n}` }));
      const agent = await stage.spawn({ prompt: `Question ${n}\nand more of it` });
      await stage.reaches(agent.id);
      agents.unshift(agent);
    }
  });
  after(() => stage.stop());

  it('lists the newest first, page by page', async () => {
    const ids = agents.map(({ sessionId }) => sessionId);
    const first = await stage.ask('GET', '/api/sessions?limit=2');
    expect(first.body.sessions.map(({ id }: { id: string }) => id)).to.equal(ids.slice(0, 2));
    const second = await stage.ask('GET', `/api/sessions?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body.sessions.map(({ id }: { id: string }) => id)).to.equal(ids.slice(2));
    expect(second.body.nextCursor).to.be.null();
    expect((await stage.ask('GET', '/api/sessions?channel=hook')).body.sessions).to.equal([]);
    expect((await stage.ask('GET', '/api/sessions?channel=api')).body.sessions.length).to.equal(3);
  });

  it('shows one with its agents and the number of its messages', async () => {
    const [agent] = agents;
    const { body } = await stage.ask('GET', `/api/sessions/${agent?.sessionId}`);
    expect(body).to.equal({
      id: agent?.sessionId,
      orgId: null,
      title: 'Question 3',
      channel: 'api',
      agentIds: [agent?.id],
      messageCount: 4,
      createdAt: body.createdAt,
      updatedAt: body.updatedAt,
    });
  });

  it('returns the messages oldest first, page by page, numbered from 1', async () => {
    const path = `/api/sessions/${agents[0]?.sessionId}/messages`;
    const first = await stage.ask('GET', `${path}?limit=3`);
    const second = await stage.ask('GET', `${path}?limit=3&cursor=${first.body.nextCursor}`);
    expect(second.body.nextCursor).to.be.null();
    const all = [...first.body.messages, ...second.body.messages];
    expect(all.map(({ seq, role }) => [seq, role])).to.equal([
      [1, 'user'],
      [2, 'assistant'],
      [3, 'tool'],
      [4, 'assistant'],
    ]);
    expect(all[1].toolCalls).to.equal([{ id: 'call_time_now', name: 'time_now', arguments: {} }]);
    expect(all[3]).to.equal({
      id: all[3].id,
      seq: 4,
      role: 'assistant',
      content: 'Answer 3',
      agentId: agents[0]?.id,
      createdAt: all[3].createdAt,
    });
  });

  it("hides another's behind the answer for none", async () => {
    const { token } = await stage.register('stranger');
    expect((await stage.call('GET', '/api/sessions', { token })).body.sessions).to.equal([]);
    for (const id of [agents[0]?.sessionId, 'session_nowhere']) {
      for (const path of [`/api/sessions/${id}`, `/api/sessions/${id}/messages`]) {
        const { status, body } = await stage.call('GET', path, { token });
        expect([status, body.message]).to.equal([404, 'No session with that id']);
      }
    }
  });

  it('refuses bad queries and those without a token', async () => {
    const path = `/api/sessions/${agents[0]?.sessionId}/messages`;
    for (const query of ['cursor=x', 'cursor=-1', 'limit=0', 'limit=999', 'nope=1']) {
      expect((await stage.ask('GET', `${path}?${query}`)).status).to.equal(400);
    }
    for (const each of ['/api/sessions', path]) {
      expect((await stage.call('GET', each)).status).to.equal(401);
    }
  });
});
