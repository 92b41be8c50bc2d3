import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { seedLostMessage } from '../../harness/messages.js';
import { openForSuite } from '../../harness/suite.js';
import { seedWebhook } from '../../harness/webhook.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

describe('work on all that failed', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(() => world.arrive());

  /** A hook with runs that failed; resolves to its name. */
  const failed = async (count: number): Promise<string> => {
    const { id, name } = await world.client.hooks.create({
      body: {
        ...{ name: 'deploy', trigger: 'webhook', action: 'notify' },
        triggerConfig: { webhookPath: 'deploy', webhookSecret: 'a secret of the deploy' },
        actionConfig: { notifyMessage: 'It came' },
      },
    });
    for (let n = 0; n < count; n++) await world.client.hooks.test({ id, body: { payload: { n } } });
    await until(
      () => world.client.hooks.executions({ id }),
      ({ executions }) => executions.every(({ status }) => status === 'success'),
    );
    const { db } = world.app.app.store;
    const failure = { status: 'error' as const, effect: 'none' as const, error: 'down' };
    await db.updateTable('executions').set(failure).where('hook_id', '=', id).execute();
    return name;
  };
  const replay = (words: string[], more: object = {}) =>
    world.cli(['hooks', 'replay', ...words], more);

  it('lists what it found, and replays it with --yes', async () => {
    await failed(3);
    const listed = await replay(['--failed', '--since', '2h', '--dry-run']);
    expect([listed.code, listed.stderr]).to.equal([0, listed.stderr]);
    expect(listed.stderr).to.match(/^Replay: 3 executions, from .+ to .+\n {2}3 {2}deploy\n$/);
    const { code, stdout, stderr } = await replay(['--failed', '--since', '2h', '--yes', '--json']);
    expect([code, stderr.startsWith('Replay: 3 executions')]).to.equal([0, true]);
    const { result, status } = JSON.parse(stdout);
    expect({ status, result }).to.equal({
      ...{ status: 'completed', result: { replayed: 3, skipped: 0, reasons: {} } },
    });
    const again = await replay(['deploy', '--failed', '--since', '2h', '--yes']);
    expect([again.code, again.stderr]).to.equal([
      0,
      'Nothing to replay.\nSkipped: 3\n  3  already replayed\n',
    ]);
  });

  it('asks on a terminal, and needs --yes elsewhere', async () => {
    await failed(2);
    const piped = await replay(['--failed', '--since', '2h']);
    expect([piped.code, piped.stderr.includes('Add --yes')]).to.equal([2, true]);
    const refused = await replay(['--failed', '--since', '2h'], { terminal: 80, answers: ['n'] });
    expect([refused.code, refused.stderr.includes('Not confirmed. Nothing was done.')]).to.equal([
      1,
      true,
    ]);
    const { code, stderr } = await replay(['--failed', '--since', '2h'], {
      ...{ terminal: 80, answers: ['y'] },
    });
    expect([code, stderr.includes('Done: 2 replayed.')]).to.equal([0, true]);
  });

  it('returns at once with --no-wait', async () => {
    await failed(1);
    const { code, stdout } = await replay([
      ...['--failed', '--since', '2h', '--yes', '--no-wait', '--json'],
    ]);
    expect([code, JSON.parse(stdout).status]).to.equal([0, 'queued']);
  });

  it('refuses half a name, flags that belong to --failed, and what is no time', async () => {
    for (const words of [
      ['deploy'],
      ['deploy', '4ew6rt', '--since', '2h'],
      ['--failed', '--since', 'yesterday'],
      ['--failed'],
    ]) {
      expect((await replay(words)).code, words.join(' ')).to.equal(2);
    }
  });

  it('sends again what webhooks and channels did not get', async () => {
    world.admin();
    const { token, id } = await world.app
      .call('POST', '/api/auth/login', {
        body: { username: 'ada', password: 'correct horse battery' },
      })
      .then(({ body }) => ({ token: body.token, id: body.user.id }));
    await seedWebhook(world.app, token);
    const webhooks = ['webhooks', 'resend', '--failed', '--since', '2h', '--yes'];
    const hooks = await world.cli(webhooks);
    expect([hooks.code, hooks.stderr]).to.equal([
      0,
      'Nothing to resend.\nSkipped: 1\n  1  the webhook is disabled\n',
    ]);
    const { id: channel } = await linkChannel(world.app, id);
    await seedLostMessage(world.app, { userId: id, channel });
    const { code, stdout } = await world.cli(['outbox', 'resend', '--failed', '--yes', '--json']);
    // What a channel is told when it is linked may be among it.
    expect([code, JSON.parse(stdout).result.resent >= 1]).to.equal([0, true]);
  });
});
