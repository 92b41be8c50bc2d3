import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { outbox } from '../../src/outbound/messages/contract.js';
import { addHook, type Owner, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { openTarget, type Target } from '../harness/target.js';
import { arrived, deliver, linkChats, SECRET, setTelegram } from './chats.js';
import { cutOff } from './cutoff.js';
import { randomFrom } from './random.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('what a hook says with notifyOwner', () => {
  let home: string;
  let telegram: Target;
  let daemon: Daemon;
  let owner: Owner;

  const start = async (): Promise<void> => {
    const env = { ADJUTANT_EGRESS_ALLOW: telegram.address, ADJUTANT_DRAIN_SECONDS: '1' };
    daemon = await startDaemon({ home, env });
    owner = owner?.with({ url: daemon.url });
  };
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-outbox-'));
    telegram = await openTarget();
    telegram.answer = arrived;
    await start();
    owner = await registerOwner(daemon.url);
    await setTelegram(owner, telegram);
    const actionConfig = { agentPrompt: 'What is this about?', notifyOwner: true };
    await addHook(owner, {
      ...{ name: 'spawn', path: 'spawn', secret: SECRET, action: 'spawn_agent', actionConfig },
    });
    await daemon.end('SIGTERM');
    linkChats(home);
    await start();
  });
  after(async () => {
    await daemon.end('SIGKILL');
    telegram.close();
    await rm(home, { recursive: true });
  });

  const messages = async () => (await owner.call(outbox.list, {})).sendings;

  it('arrives in the owner’s chat once, with the whole of what the agent found', async () => {
    await deliver(daemon.url, 'spawn', { action: 'opened', title: 'Login loops' });
    const [message] = await telegram.got(1);
    const ended = await until(messages, ([message]) => message?.status === 'sent');
    expect(ended.map(({ status, receipt }) => ({ status, receipt }))).to.equal([
      { status: 'sent', receipt: '1' },
    ]);
    expect(JSON.parse(message?.body ?? '')).to.include({ chat_id: '1000' });
    expect(JSON.parse(message?.body ?? '').text).to.include('Login loops');
    expect(telegram.received.length).to.equal(1);
  });

  it('is unknown, told, and not sent twice where the daemon is killed before the answer', async () => {
    telegram.answer = () => undefined;
    const before = telegram.received.length;
    await deliver(daemon.url, 'spawn', { action: 'opened', title: 'Killed' });
    await telegram.got(before + 1);
    await daemon.end('SIGKILL');
    telegram.answer = arrived;
    await start();
    const [message] = await until(messages, ([newest]) => newest?.status === 'unknown');
    expect(message).to.include({ target: 'telegram', attempts: 1, receipt: null });
    const told = async () => (await owner.notifications.list({})).notifications;
    const [newest] = await until(told, ([first]) => first?.kind === 'delivery_unknown');
    expect(newest?.title).to.equal('telegram: delivery status unknown');
    expect(telegram.received.length).to.equal(before + 1);
    expect((await owner.call(outbox.resend, { id: message?.id })).status).to.equal('queued');
    await telegram.got(before + 2);
    await until(messages, ([first]) => first?.status === 'sent');
  });
});

describe('kills while messages leave', () => {
  it('lose none, and send none twice that would be taken for another', async () => {
    const seed = Date.now() % 1_000_000;
    const { counts, acknowledged, repeated, ...wrong } = await cutOff({
      ...{ kills: 15, longestLifeMs: 1200, users: 6, rate: 12, random: randomFrom(seed) },
    });
    expect(wrong, `seed ${seed}`).to.equal({
      ...{ jobs: 0, untold: [], echoes: 0, twice: [], missing: [] },
    });
    const { 'channel sent': sent = 0, 'channel unknown': unknown = 0, ...others } = counts;
    expect(others).to.equal({ 'webhook sent': sent + unknown });
    expect(sent + unknown).to.be.at.least(acknowledged);
    expect(acknowledged).to.be.above(50);
    expect(repeated).to.be.below(50);
  });
});
