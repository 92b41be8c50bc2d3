import { readdir, readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { systemClock } from '../../src/kernel/clock.js';
import { frozenClock, until } from '../harness/app.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const { now, shift, forward, pending, waiting, starting } = frozenClock(Date.now());
/** Its time stands still, but what waits waits the true time, as the mail server does. */
const CLOCK = { ...systemClock, now, shift, forward, pending, waiting, starting };

const mail = (subject: string): string =>
  [
    'From: bob@example.org',
    `Subject: ${subject}`,
    `Message-ID: <${subject.replace(/\W/g, '.')}@example.org>`,
    '',
    'x',
  ].join('\r\n');

describe(`the watch on mailboxes${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (!missing) stage = await openMailStage({}, CLOCK);
  });
  after(() => stage?.stop());

  const hook = async (accountId: string, by?: string): Promise<string> => {
    const body = {
      name: 'mail',
      trigger: 'email',
      triggerConfig: { accountId },
      action: 'notify',
      actionConfig: { notifyMessage: '{{email.subject}}' },
    };
    return (await stage.call('POST', '/api/hooks', body, by)).body.id;
  };
  /** Adds an account that is watched; resolves when it was looked at once. */
  const watched = async (name: string, by?: string) => {
    const { id } = (await stage.account(name, { watch: true }, by)).body;
    await looked(id, by);
    return id;
  };
  const account = async (id: string, by?: string) =>
    (await stage.call('GET', `/api/email/accounts/${id}`, undefined, by)).body;
  const looked = (id: string, by?: string) =>
    until(
      () => account(id, by),
      ({ lastSyncAt }) => lastSyncAt !== null,
    );
  const subjects = async (id: string, by?: string): Promise<string[]> => {
    const path = `/api/hooks/${id}/executions`;
    const { executions } = (await stage.call('GET', path, undefined, by)).body;
    return executions
      .map((run: { triggerContext: { email: { subject: string } } }) => run.triggerContext.email)
      .map(({ subject }: { subject: string }) => subject)
      .reverse();
  };
  const arrived = (id: string, count: number) =>
    until(
      () => subjects(id),
      (all) => all.length >= count,
      20_000,
    );
  /** The connections to the mail server that are open. */
  const connections = async (): Promise<number> => {
    const port = stage.dovecot.ports.implicit.toString(16).toUpperCase().padStart(4, '0');
    const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n');
    return lines.filter((line) => new RegExp(`:\\S+ \\S+:${port} 01 `).test(line)).length;
  };
  const closed = (count: number) => until(connections, (now) => now === count, 1500);

  it('processes new mail as it arrives, and nothing older', IF_INSTALLED, async () => {
    await stage.dovecot.deliver('watched', mail('Before'));
    const place = join(stage.dovecot.maildir('watched'), 'new');
    const [file = ''] = await readdir(place);
    const aMinuteAgo = Date.now() / 1000 - 60;
    await utimes(join(place, file), aMinuteAgo, aMinuteAgo);
    stage.clock.forward(Date.now() - stage.clock.now());
    const id = (await stage.account('watched')).body.id;
    const hookId = await hook(id);
    await stage.call('PATCH', `/api/email/accounts/${id}`, { watch: true });
    await looked(id);
    await stage.dovecot.deliver('watched', mail('After'));
    await arrived(hookId, 1);
    await stage.dovecot.deliver('watched', mail('Later'));
    expect(await arrived(hookId, 2)).to.equal(['After', 'Later']);
    await stage.call('DELETE', `/api/email/accounts/${id}?force=true`);
    await closed(0);
  });

  it('misses nothing while the server is away', IF_INSTALLED, async () => {
    const id = await watched('away');
    const hookId = await hook(id);
    await stage.dovecot.deliver('away', mail('One'));
    await arrived(hookId, 1);
    await stage.dovecot.restart(async () => {
      await stage.dovecot.deliver('away', mail('Two'));
      await until(
        () => account(id),
        ({ status, error }) => status === 'failing' && error !== null,
        20_000,
      );
      const { findings } = (await stage.call('GET', '/api/admin/doctor')).body;
      const named = findings.filter(({ name }: { name: string }) => name === 'mailboxes');
      expect(named[0].detail).to.match(/^away@example.test fails: /);
    });
    await arrived(hookId, 2);
    await stage.dovecot.deliver('away', mail('Three'));
    expect(await arrived(hookId, 3)).to.equal(['One', 'Two', 'Three']);
    expect(await account(id)).to.include({ status: 'ok', error: null });
    await stage.call('PATCH', `/api/email/accounts/${id}`, { watch: false });
    await closed(0);
  });

  it('goes on after a restart of the daemon', IF_INSTALLED, async () => {
    const id = await watched('again');
    const hookId = await hook(id);
    await stage.dovecot.deliver('again', mail('One'));
    await arrived(hookId, 1);
    await stage.app.restart();
    await stage.dovecot.deliver('again', mail('Two'));
    expect(await arrived(hookId, 2)).to.equal(['One', 'Two']);
    await stage.call('PATCH', `/api/email/accounts/${id}`, { watch: false });
    await closed(0);
  });

  it('ends within a second when its owner is disabled', IF_INSTALLED, async () => {
    const bob = await stage.app.register('bob');
    await watched('disabled', bob.token);
    expect(await connections()).to.equal(1);
    await stage.call('PATCH', `/api/admin/users/${bob.id}`, { disabled: true });
    await closed(0);
  });
});
