import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { type Reply, says } from '../harness/openai.js';
import type { ModelOutput } from '../harness/wire.js';
import { mind, type Read } from './mind.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const POST = { method: 'POST', url: 'http://127.0.0.1:9/' };

describe('a message to an agent that waits', () => {
  let stage: Stage;
  let think: (read: Read) => ModelOutput | Reply = () => ({ text: 'Done.' });
  beforeEach(async () => {
    stage = await startStage();
    stage.model.script(...mind((read) => think(read)));
  });
  afterEach(() => stage.stop());

  const approvals = async () => (await stage.ask('GET', '/api/chat/approvals')).body.approvals;
  /** An agent that waits for the owner's word on two calls. */
  const waiting = async () => {
    think = ({ results }) =>
      results.length > 0
        ? { text: results.join('\n') }
        : {
            toolCalls: [
              call('http_request', POST, 'c1'),
              call('http_request', { ...POST, body: 'x' }, 'c2'),
            ],
          };
    const { id } = await stage.spawn({ prompt: 'Post' });
    await stage.reaches(id, 'waiting_approval');
    return id;
  };
  const say = (id: string, content: string) =>
    stage.ask('POST', `/api/agents/${id}/message`, { content });

  it('denies what it waits for, and is read at once', async () => {
    const id = await waiting();
    expect((await say(id, 'Never mind')).status).to.equal(202);
    const agent = await stage.reaches(id);
    expect(agent.result?.split('\n')).to.equal([
      'Not approved: the owner sent a message first. It was not run.',
      'Not approved: the owner sent a message first. It was not run.',
    ]);
    const states = (await approvals()).map((one: Record<string, unknown>) => [
      one.status,
      one.decisionReason,
      one.decidedBy,
    ]);
    const denied = ['denied', 'the owner sent a message first', null];
    expect(states).to.equal([denied, denied]);
    const told = (await stage.events(id)).filter(({ data }) => data.status === 'denied');
    expect(told.map(({ data }) => data.callId)).to.equal(['c1', 'c2']);
  });

  it('denies it while the agent is paused, which stays so', async () => {
    const id = await waiting();
    await stage.ask('POST', `/api/agents/${id}/pause`);
    await say(id, 'Never mind');
    expect((await stage.agent(id)).status).to.equal('paused');
    expect((await approvals()).map(({ status }: { status: string }) => status)).to.equal([
      'denied',
      'denied',
    ]);
  });

  it('is an answer where it is one, by every way in', async () => {
    const id = await waiting();
    const [second, first] = await approvals();
    const { sessionId } = await stage.agent(id);
    const missed = await say(id, 'approve 0123456789');
    expect([missed.status, missed.body.code]).to.equal([409, 'nothing_waits']);
    expect((await say(id, `deny ${first.digest.slice(0, 8)}`)).status).to.equal(202);
    expect((await stage.agent(id)).status).to.equal('waiting_approval');
    const message = `Deny ${second.digest.slice(0, 8).toUpperCase()} `;
    await stage.ask('POST', '/api/chat', { message, sessionId });
    expect((await stage.reaches(id)).status).to.equal('completed');
    const decided = (await approvals()).map(({ decidedBy }: { decidedBy: string }) => decidedBy);
    expect(decided).to.equal([stage.userId, stage.userId]);
    const { body } = await stage.ask('GET', '/api/admin/audit?action=approvals.approve');
    const targets = body.entries.map(({ target }: { target: string }) => target);
    expect(targets).to.equal([second.id, first.id]);
    const said = (await stage.messages(sessionId)).filter(({ role }) => role === 'user');
    expect(said.length).to.equal(1);
  });

  it('decides nothing if more follows an approval than a scope', async () => {
    const id = await waiting();
    const [{ digest }] = await approvals();
    const { status, body } = await say(id, `approve ${digest.slice(0, 8)} for ever`);
    expect([status, body.code]).to.equal([409, 'scope_not_offered']);
    expect((await approvals())[0].status).to.equal('pending');
  });

  it('is no answer of a token that may not approve', async () => {
    const id = await waiting();
    const [{ digest }] = await approvals();
    const made = await stage.ask('POST', '/api/auth/tokens', {
      ...{ name: 'speaker', scopes: ['agents:write', 'chat:write'] },
    });
    const content = `approve ${digest.slice(0, 8)}`;
    const { token } = made.body;
    const path = `/api/agents/${id}/message`;
    expect((await stage.call('POST', path, { token, body: { content } })).status).to.equal(403);
    expect((await approvals())[0].status).to.equal('pending');
  });

  it('is read by one that waits for its sub-agents, whose results come later', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    think = ({ task, results, said }) => {
      if (task === 'sub') {
        return (...of) => void released.then(() => says({ text: 'I did it' })(...of));
      }
      if (results.length === 0) return { toolCalls: [call('agents_delegate', { prompt: 'sub' })] };
      return { text: `${results[0]}|${said.at(-1)}` };
    };
    const { id, sessionId } = await stage.spawn({ prompt: 'Root' });
    const subs = async () => (await stage.ask('GET', `/api/agents?rootId=${id}`)).body.agents;
    const isSub = (agent: { id: string; status: string }) => agent.id !== id;
    const [sub] = (await until(subs, (all) => all.some(isSub))).filter(isSub);
    await stage.reaches(sub.id, 'running');
    await say(id, 'Never mind');
    const told = `${sub.name} (${sub.id}) is still at work. Its result will come as a message.`;
    expect((await stage.reaches(id)).result).to.equal(`${told}|Never mind`);
    expect((await stage.agent(sub.id)).status).to.equal('running');
    release();
    await stage.reaches(sub.id);
    const late = `Late result of a sub-agent:\n\nReply of ${sub.name} (${sub.id}):\n\nI did it`;
    await until(
      () => stage.agent(id),
      ({ result }) => result === `${told}|${late}`,
    );
    const rows = (await stage.messages(sessionId)).filter(({ content }) => content === late);
    expect(rows.map(({ role, agentId }) => [role, agentId])).to.equal([['user', sub.id]]);
  });
});
