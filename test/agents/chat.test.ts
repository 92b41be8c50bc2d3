import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { untilMatches } from '../harness/app.js';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { makeToken } from '../harness/token.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

const ask = async (stage: Stage, token: string, frame: object) => {
  const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/ws?token=${token}`);
  try {
    return await new Promise<{ type: string; status?: number; data: Record<string, string> }>(
      (resolve, reject) => {
        socket.on('error', reject);
        socket.on('message', (text) => resolve(JSON.parse(text.toString())));
        socket.on('open', () => socket.send(JSON.stringify({ type: 'message', ...frame })));
      },
    );
  } finally {
    socket.close();
  }
};

describe('chat over the socket', () => {
  const stage = openForSuite(lab, startStage);

  it('begins a session and goes on in it with the same agent', async () => {
    stage.model.script(says({ text: 'Hello.' }), says({ text: 'I said hello.' }));
    const first = await ask(stage, stage.token, { content: 'Hi' });
    const { sessionId, agentId } = first.data;
    expect(first.type).to.equal('message');
    await stage.reaches(String(agentId));
    const second = await ask(stage, stage.token, { content: 'What?', sessionId });
    expect(second.data).to.equal({ sessionId, agentId });
    await untilMatches(() => stage.agent(String(agentId)), { result: 'I said hello.' });
    const session = await stage.ask('GET', `/api/sessions/${sessionId}`);
    expect(session.body).to.include({ channel: 'chat', messageCount: 4, agentIds: [agentId] });
  });

  it('lets a new agent go on where the last one is spent or removed', async () => {
    stage.model.script(says({ text: 'One.' }), says({ text: 'Two.' }), says({ text: 'Three.' }));
    const { id, sessionId } = await stage.spawn({ prompt: 'Count', limits: { maxSteps: 1 } });
    await stage.reaches(id);
    const next = await ask(stage, stage.token, { content: 'On', sessionId });
    expect(next.data.sessionId).to.equal(sessionId);
    expect(next.data.agentId).to.not.equal(id);
    expect((await stage.reaches(String(next.data.agentId))).result).to.equal('Two.');
    for (const gone of [id, next.data.agentId]) await stage.ask('DELETE', `/api/agents/${gone}`);
    const last = await ask(stage, stage.token, { content: 'On', sessionId });
    expect((await stage.reaches(String(last.data.agentId))).result).to.equal('Three.');
    expect(stage.model.asked.at(-1)?.body.messages.length).to.equal(6);
  });

  it("answers 404 for another's session and for none at all", async () => {
    stage.model.script(says({ text: 'Mine.' }));
    const { sessionId } = await stage.spawn({ prompt: 'Mine' });
    const stranger = await stage.register('stranger');
    for (const named of [sessionId, 'session_nowhere']) {
      const refused = await ask(stage, stranger.token, { content: 'Hi', sessionId: named });
      expect(refused).to.include({ type: 'error', status: 404 });
    }
    const spawned = await stage.call('POST', '/api/agents', {
      token: stranger.token,
      body: { prompt: 'Hi', sessionId },
    });
    expect(spawned.status).to.equal(404);
  });

  it('answers an approval where it is an answer, of a token that may approve', async () => {
    const post = call('http_request', { method: 'POST', url: 'http://127.0.0.1:9/' });
    stage.model.script(says({ toolCalls: [post] }), says({ text: 'Not posted.' }));
    const { id, sessionId } = await stage.spawn({ prompt: 'Post' });
    await stage.reaches(id, 'waiting_approval');
    const approvals = async () => (await stage.ask('GET', '/api/chat/approvals')).body.approvals;
    const [{ digest }] = await approvals();
    const content = `deny ${digest.slice(0, 8)}`;
    const { token } = await makeToken(stage, stage.token, { scopes: ['chat:write'] });
    const refused = await ask(stage, token, { content, sessionId });
    expect(refused).to.include({ type: 'error', status: 403 });
    expect((await approvals())[0].status).to.equal('pending');
    const missed = await ask(stage, stage.token, { content: 'deny 0123456789', sessionId });
    expect(missed).to.include({ type: 'error', status: 409 });
    expect((await ask(stage, stage.token, { content, sessionId })).type).to.equal('message');
    expect((await stage.reaches(id)).result).to.equal('Not posted.');
    expect((await approvals())[0]).to.include({ status: 'denied', decidedBy: stage.userId });
    const said = (await stage.messages(String(sessionId))).filter(({ role }) => role === 'user');
    expect(said.length).to.equal(1);
  });
});
