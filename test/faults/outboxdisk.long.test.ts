import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { outbox } from '../../src/outbound/messages/contract.js';
import { webhooks } from '../../src/outbound/webhooks/contract.js';
import { addHook, type Owner, registerOwner } from '../harness/account.js';
import { until, untilMatches } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { openTarget, type Target } from '../harness/target.js';
import { arrived, deliver, linkChats, readMessages, SECRET, setTelegram } from './chats.js';
import { fill, mountTmpfs, whyNoMount } from './mount.js';

export const lab = Lab.script();
const { describe, it } = lab;

const noMount = whyNoMount();
const skipped = noMount === null ? '' : ` (skipped: ${noMount})`;

describe('what arrived while the disk was full', () => {
  it(`is sent, once, and not unknown, as soon as that can be written${skipped}`, {
    skip: noMount !== null,
  }, async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'adjutant-outboxdisk-'));
    const home = join(scratch, 'disk');
    await mkdir(home);
    const unmount = mountTmpfs(home, 24);
    const [chat, endpoint] = [await openTarget(), await openTarget()];
    try {
      await sendOver(home, chat, endpoint);
    } finally {
      chat.close();
      endpoint.close();
      unmount();
      await rm(scratch, { recursive: true });
    }
  });
});

const sendOver = async (home: string, chat: Target, endpoint: Target): Promise<void> => {
  const held: (() => void)[] = [];
  const taken: Target['answer'] = (response) => response.end('fine');
  chat.answer = (response, nth) => held.push(() => arrived(response, nth));
  endpoint.answer = (response, nth) => held.push(() => taken(response, nth));
  const env = { ADJUTANT_EGRESS_ALLOW: [chat.address, endpoint.address].join() };
  const first = await startDaemon({ home, env });
  const owner = await prepare(await registerOwner(first.url), chat, endpoint);
  await first.end('SIGTERM');
  linkChats(home);
  const daemon = await startDaemon({ home, env });
  try {
    const { url } = daemon;
    const messages = async () => (await owner.with({ url }).call(outbox.list, {})).sendings;
    await deliver(url, 'disk', {});
    await Promise.all([chat.got(1), endpoint.got(1)]);
    const empty = await fill(home);
    // Until not even the log of the database has room.
    await untilMatches(() => deliver(url, 'disk', { text: 'x'.repeat(20_000) }), null);
    [chat.answer, endpoint.answer] = [arrived, taken];
    for (const answer of held) answer();
    expect(readMessages(home).counts).to.include({ 'channel sending': 1, 'webhook sending': 1 });
    await empty();
    await until(
      async () => readMessages(home).jobs,
      (jobs) => jobs === 0,
      30_000,
    );
    const ended = await messages();
    const others = ended.filter(({ status, attempts }) => status !== 'sent' || attempts !== 1);
    expect(others).to.equal([]);
    const counts = [chat.received.length, endpoint.received.length];
    expect(counts).to.equal([ended.length / 2, ended.length / 2]);
  } finally {
    await daemon.end('SIGKILL');
  }
};

const prepare = async (owner: Owner, chat: Target, endpoint: Target): Promise<Owner> => {
  await setTelegram(owner, chat);
  const actionConfig = { notifyMessage: 'It came' };
  await addHook(owner, {
    ...{ name: 'disk', path: 'disk', secret: SECRET, action: 'notify', actionConfig },
  });
  await owner.call(webhooks.create, {
    body: { name: 'app', url: endpoint.url, events: ['hook.executed'] },
  });
  return owner;
};
