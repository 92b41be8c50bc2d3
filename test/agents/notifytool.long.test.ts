import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { says } from '../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('what an agent tells its owner', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await startStage();
  });
  afterEach(() => stage.stop());

  const notices = async () =>
    (await stage.ask('GET', '/api/notifications?limit=200')).body.notifications;
  const sends = (from: number, count: number) =>
    says({
      toolCalls: Array.from({ length: count }, (_, at) =>
        call('notify_send', { message: `word ${from + at}` }, `n${from + at}`),
      ),
    });

  it('is told 20 times in a run, and the rest as one when it ends', async () => {
    stage.model.script(sends(0, 32), sends(32, 32), sends(64, 32), sends(96, 32), sends(128, 5));
    stage.model.script(says({ text: 'Told.' }));
    const { id } = await stage.spawn({ prompt: 'Tell', name: 'teller' });
    const { sessionId } = await stage.reaches(id);
    const [rest, ...told] = await notices();
    expect(told.map(({ body }: { body: string }) => body)).to.equal(
      Array.from({ length: 20 }, (_, at) => `word ${19 - at}`),
    );
    const lines = Array.from(
      { length: 100 },
      (_, at) => `A message from Adjutant: word ${20 + at}`,
    );
    expect([rest.title, rest.body, rest.link]).to.equal([
      'teller: 113 more messages',
      [...lines, '… 13 more'].join('\n'),
      `/agents/${id}`,
    ]);
    const results = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
    expect(JSON.parse(results[19]?.content ?? '')).to.equal({ notified: true });
    expect(JSON.parse(results[20]?.content ?? '').notified).to.be.false();
  });

  it('begins anew with the next turn', async () => {
    stage.model.script(
      sends(0, 21),
      says({ text: 'Told.' }),
      sends(21, 2),
      says({ text: 'Again.' }),
    );
    const { id } = await stage.spawn({ prompt: 'Tell' });
    await stage.reaches(id);
    expect((await notices()).length).to.equal(21);
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Again' });
    await stage.reaches(id, 'completed');
    expect((await notices()).length).to.equal(23);
  });

  it('is told of the rest where it is stopped', async () => {
    stage.model.script(sends(0, 22), () => {});
    const asked = stage.model.nextAsked();
    const { id } = await stage.spawn({ prompt: 'Tell', name: 'teller' });
    await asked;
    await stage.model.nextAsked();
    await stage.ask('POST', `/api/agents/${id}/stop`);
    expect((await notices())[0].title).to.equal('teller: 2 more messages');
  });

  it('is one notification for all the approvals of one answer', async () => {
    const post = (n: number) =>
      call('http_request', { method: 'POST', url: `http://127.0.0.1:9/${n}` }, `c${n}`);
    stage.model.script(says({ toolCalls: [post(1), post(2), post(3)] }));
    const { id } = await stage.spawn({ prompt: 'Post', name: 'poster' });
    await stage.reaches(id, 'waiting_approval');
    const { approvals } = (await stage.ask('GET', '/api/chat/approvals')).body;
    expect(approvals.length).to.equal(3);
    const [told, ...more] = await notices();
    expect(more).to.equal([]);
    expect([told.title, told.link]).to.equal([
      'poster (trusted) requests approval: 3 calls',
      `/approvals?agentId=${id}`,
    ]);
    for (const { digest } of approvals) expect(told.body).to.contain(digest.slice(0, 8));
  });
});
