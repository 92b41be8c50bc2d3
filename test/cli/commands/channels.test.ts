import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { linkChannel } from '../../harness/channel.js';
import { inside } from '../../harness/inside.js';
import { openForSuite } from '../../harness/suite.js';
import { openTarget } from '../../harness/target.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const EVE = { kind: 'telegram' as const, id: '42', name: 'Eve\u001b[2J' };

describe('channels', () => {
  const world = openForSuite(lab, () => openWorld({ config: { egressAllow: ['127.0.0.1'] } }));
  beforeEach(() => world.arrive());
  // Who writes in a channel is linked to one user at a time.
  afterEach(async () => {
    const { channels } = await world.client.channels.list();
    for (const { id } of channels) await world.client.channels.delete({ id });
  });

  const links = () => inside(world.app.app).links;
  const rows = async () =>
    (await world.cli(['channels', 'list', '--fields', 'kind,name,address'])).stdout;

  it('are linked once it was shown who that is, and confirmed', async () => {
    const { code } = await links().makeCode(EVE);
    const no = await world.cli(['channels', 'link', code], { terminal: 80, answers: ['n'] });
    expect(no.code).to.equal(1);
    expect(no.stderr).to.startWith(
      'The code was created by Eve[2J (42) on telegram.\n' +
        'Messages from there will count as yours.\n',
    );
    expect(no.stderr).to.contain('Link this channel to your account? [y/N] ');
    expect(await rows()).to.equal('');
    const unsure = await world.cli(['channels', 'link', code]);
    expect(unsure.stderr).to.match(/--yes/);
    const yes = await world.cli(['channels', 'link', code], { terminal: 80, answers: ['y'] });
    expect([yes.code, yes.stderr.endsWith('Linked Eve[2J on telegram.\n')]).to.equal([0, true]);
    expect(await rows()).to.equal('telegram\tEve[2J\t42\n');
  });

  it('are linked by a code that is said in the channel', async () => {
    const { stdout, stderr } = await world.cli(['channels', 'link']);
    expect(stdout).to.match(/^[A-Z2-9]{6}\n$/);
    expect(stderr).to.endWith(`\n/link ${stdout}`);
    await links().redeemFrom(EVE, stdout.trim());
    expect(await rows()).to.equal('telegram\tEve[2J\t42\n');
  });

  it('are linked by the alias beside the login too', async () => {
    const { code } = await links().makeCode(EVE);
    const { code: exit } = await world.cli(['auth', 'link', code, '--yes']);
    expect([exit, await rows()]).to.equal([0, 'telegram\tEve[2J\t42\n']);
  });

  it('are not linked by a wrong code', async () => {
    const { code, stderr } = await world.cli(['channels', 'link', 'AAAAAA', '--yes']);
    expect([code, stderr]).to.equal([
      1,
      'The code is invalid, expired or already used.\nRequest another code. In a chat: /link. For e-mail and ntfy: adjutant channels add <kind> <address>\n',
    ]);
  });

  it('are unlinked by name, once that is confirmed', async () => {
    const me = await world.client.auth.me();
    await linkChannel(world.app, me.id);
    const unsure = await world.cli(['channels', 'rm', 'Ada Lovelace']);
    expect([unsure.code, unsure.stderr]).to.match(/--yes/);
    const { code } = await world.cli(['channels', 'rm', 'Ada Lovelace', '--yes']);
    const left = await world.cli(['channels', 'ls'], { terminal: 80 });
    expect([code, left.stdout, left.stderr]).to.equal([
      0,
      '',
      'No channels. Link one: adjutant channels link\n',
    ]);
  });

  it('are an address of one’s own, once the code that was sent there is said', async () => {
    const target = await openTarget();
    const made = await world.cli(['channels', 'create', target.url, '--name', 'pager']);
    expect(made.code).to.equal(0);
    expect(made.stdout).to.match(/^whsec_[A-Za-z0-9+/]+=*\n$/);
    expect(made.stderr).to.contain('adjutant channels verify');
    const early = await world.cli(['channels', 'test', 'pager']);
    expect(early.code).to.equal(1);
    const [sent] = await target.got(1);
    const wrong = await world.cli(['channels', 'verify', 'pager', 'AAAAAA']);
    expect([wrong.code, wrong.stderr.split('\n')[1]]).to.equal([
      1,
      'The code is in the message that was sent there.',
    ]);
    const { code } = JSON.parse(sent?.body ?? '').data;
    expect((await world.cli(['channels', 'verify', 'pager', code])).code).to.equal(0);
    const tested = await world.cli(['channels', 'test', 'pager'], { terminal: 80 });
    expect([tested.code, tested.stderr]).to.equal([0, 'The message was delivered.\n']);
    target.answer = (response) => response.writeHead(410).end();
    const failed = await world.cli(['channels', 'test', 'pager', '--fields', 'status']);
    expect([failed.code, failed.stdout]).to.equal([1, 'failed\n']);
    target.close();
  });
});
