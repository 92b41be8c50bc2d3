import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { AgentStatus } from '../../src/store/tables/agents.js';
import { call } from '../agents/stage.js';
import { loginOwner, type Owner, registerOwner } from '../harness/account.js';
import { untilMatches } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { hangs, type Openai, says, startOpenai } from '../harness/openai.js';
import { startCanary } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

describe('an approval and a SIGKILL', () => {
  let home: string;
  let model: Openai;
  let canary: Awaited<ReturnType<typeof startCanary>>;
  let daemon: Daemon;
  let owner: Owner;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    model = await startOpenai();
    canary = await startCanary();
    daemon = await start();
    owner = await registerOwner(daemon.url);
  });
  beforeEach(() => {
    canary.heard.length = 0;
  });
  after(async () => {
    await daemon.end('SIGTERM');
    await model.stop();
    canary.stop();
    await rm(home, { recursive: true });
  });

  const start = () =>
    startDaemon({
      home,
      env: {
        ADJUTANT_MODEL_URL: model.baseUrl,
        ADJUTANT_MODEL_NAME: 'fake',
        ADJUTANT_EGRESS_ALLOW: '127.0.0.1',
        ADJUTANT_JOB_CONCURRENCY: '1',
      },
    });
  const killed = async (): Promise<void> => {
    await daemon.end('SIGKILL');
    daemon = await start();
    owner = await loginOwner(daemon.url);
  };
  const reaches = (id: string, status: AgentStatus) =>
    untilMatches(() => owner.agents.get({ id }), { status });
  const asking = async (): Promise<{ id: string; approvalId: string }> => {
    const post = call('http_request', { method: 'POST', url: canary.url, body: 'once' });
    model.script(says({ toolCalls: [post] }));
    const { id } = await owner.agents.spawn({ body: { prompt: 'Post it' } });
    await reaches(id, 'waiting_approval');
    const { approvals } = await owner.approvals.list({ query: { status: 'pending' } });
    return { id, approvalId: approvals[0]?.id ?? '' };
  };

  it('is still there when the daemon is killed while it waits', async () => {
    const { id, approvalId } = await asking();
    await killed();
    expect((await owner.agents.get({ id })).status).to.equal('waiting_approval');
    model.script(says({ text: 'Sent.' }));
    await owner.approvals.approve({ body: { approvalId, approved: true } });
    expect((await reaches(id, 'completed')).result).to.equal('Sent.');
    expect(canary.heard.map(({ body }) => body)).to.equal(['once']);
  });

  it('is used, once, when the daemon is killed after it was given and before the call', async () => {
    const { id, approvalId } = await asking();
    // The only slot is taken, so that what is approved has to wait.
    model.script(hangs);
    const asked = model.nextAsked();
    const other = await owner.agents.spawn({ body: { prompt: 'Think' } });
    await asked;
    await owner.approvals.approve({ body: { approvalId, approved: true } });
    expect((await owner.agents.get({ id })).status).to.equal('queued');
    expect(canary.heard).to.equal([]);
    model.script(says({ text: 'Sent.' }), says({ text: 'Sent.' }));
    await killed();
    expect((await reaches(id, 'completed')).result).to.equal('Sent.');
    await reaches(other.id, 'completed');
    expect(canary.heard.map(({ body }) => body)).to.equal(['once']);
  });

  it('is not used again when the daemon is killed after the call', async () => {
    const { id, approvalId } = await asking();
    model.script(hangs);
    const asked = model.nextAsked();
    await owner.approvals.approve({ body: { approvalId, approved: true } });
    await asked;
    model.script(says({ text: 'Sent.' }));
    await killed();
    expect((await reaches(id, 'completed')).result).to.equal('Sent.');
    expect(canary.heard.map(({ body }) => body)).to.equal(['once']);
  });

  it('denied, is told to the model after a kill', async () => {
    const { id, approvalId } = await asking();
    model.script(hangs);
    const asked = model.nextAsked();
    const body = { approvalId, approved: false, reason: 'No' };
    await owner.approvals.approve({ body });
    await asked;
    model.script(says({ text: 'I see.' }));
    await killed();
    expect((await reaches(id, 'completed')).result).to.equal('I see.');
    expect(model.asked.at(-1)?.body.messages.at(-1)?.content).to.equal(
      'Denied by the owner: No. It was not run.',
    );
    expect(canary.heard).to.equal([]);
  });
});
