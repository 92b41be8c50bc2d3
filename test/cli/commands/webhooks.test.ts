import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openTarget, type Target } from '../../harness/target.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;

describe('webhooks', () => {
  const world = openForSuite(lab, () => openWorld({ config: { egressAllow: ['127.0.0.1'] } }));
  let target: Target;
  beforeEach(async () => {
    target = await openTarget();
    await world.arrive();
  });
  afterEach(() => target.close());

  const webhooks = (words: string[], stdin?: string) =>
    world.cli(['webhooks', ...words], stdin === undefined ? {} : { stdin });
  const create = (name: string, ...more: string[]) =>
    webhooks(['create', name, target.url, '--events', 'hook.failed,agent.failed', ...more]);

  it('shows a secret that it made once, on stdout alone', async () => {
    const { code, stdout, stderr } = await create('app');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
    expect(stderr).to.contain('Created app.');
    expect(stderr).to.not.contain(stdout.trim());
    const shown = await webhooks(['get', 'app', '--json']);
    expect(JSON.parse(shown.stdout).events).to.equal(['hook.failed', 'agent.failed']);
    expect(shown.stdout).to.not.contain(stdout.trim());
  });

  it('takes a secret from stdin, and shows it nowhere', async () => {
    const words = ['create', 'app', target.url, '--events', '*', '--secret-file', '-'];
    const made = await webhooks(words, `${SECRET}\n`);
    expect([made.code, made.stdout.includes(SECRET), made.stderr.includes(SECRET)]).to.equal([
      ...[0, false, false],
    ]);
    const flag = await create('other', '--secret', SECRET);
    expect(flag.code).to.equal(2);
  });

  it('refuses an output that has no place for the secret', async () => {
    const { code, stderr } = await create('app', '--output', 'id');
    expect([code, stderr.includes('--secret-file')]).to.equal([2, true]);
    expect((await webhooks(['list'])).stdout).to.equal('');
  });

  it('lists, changes, disables, enables and deletes', async () => {
    await create('app');
    expect((await webhooks(['update', 'app', '--events', '*', '--name', 'all'])).code).to.equal(0);
    const state = async () => (await webhooks(['list', '--fields', 'name,state,events'])).stdout;
    expect(await state()).to.equal('all\tenabled\t*\n');
    await webhooks(['disable', 'all']);
    expect(await state()).to.equal('all\tdisabled\t*\n');
    await webhooks(['enable', 'all']);
    expect(await state()).to.equal('all\tenabled\t*\n');
    expect((await webhooks(['rm', 'all'])).stderr).to.contain('--yes');
    expect((await webhooks(['rm', 'all', '--yes'])).code).to.equal(0);
    expect(await state()).to.equal('');
  });

  it('tests an endpoint, and fails where it does not answer well', async () => {
    await create('app');
    const well = await webhooks(['test', 'app', '--json']);
    expect([well.code, JSON.parse(well.stdout).delivered]).to.equal([0, true]);
    target.answer = (response) => response.writeHead(500).end();
    const badly = await world.cli(['webhooks', 'test', 'app'], { terminal: 100 });
    expect([badly.code, badly.stdout + badly.stderr]).to.equal([
      1,
      'Not delivered: 500 from the endpoint.\n',
    ]);
    target.answer = (response) => response.writeHead(503).end('busy\nuntil noon');
    const said = await world.cli(['webhooks', 'test', 'app'], { terminal: 100 });
    expect(said.stderr.endsWith('Response: busy\\nuntil noon\n')).to.be.true();
  });

  it('says in plain words what is missing', async () => {
    await create('app');
    const nothing = await webhooks(['update', 'app']);
    expect([nothing.code, nothing.stderr]).to.equal([
      2,
      'Invalid request: one field is invalid.\n' +
        '  the request  changes nothing: pass at least one change\n' +
        'Help: adjutant webhooks update --help\n',
    ]);
    const nowhere = await webhooks(['resend', 'app', 'nope']);
    expect(nowhere.stderr).to.match(
      /^No delivery has the name or id "nope"\.\nList them: adjutant webhooks deliveries \w{6}\n$/,
    );
  });

  it('takes headers from a file, and refuses a line that is none', async () => {
    await create('app');
    const given = ['update', 'app', '--headers-file', '-'];
    const set = await webhooks([...given, '--json'], 'X-One: a: b\n\nX-Two : c\n');
    expect(JSON.parse(set.stdout).headerNames).to.equal(['x-one', 'x-two']);
    const removed = await webhooks([...given, '--json'], 'X-One\n');
    expect(JSON.parse(removed.stdout).headerNames).to.equal(['x-two']);
    const wrong = await webhooks(given, 'X-One: a\n\nbad line\n');
    expect([wrong.code, wrong.stderr.split('\n')[0]]).to.equal([
      2,
      'Line 3 is not in the form Name: value, such as X-Team: ops',
    ]);
  });

  it('rotates to a secret that alone goes to stdout', async () => {
    await create('app');
    const { code, stdout, stderr } = await webhooks(['rotate-secret', 'app']);
    expect([code, /^whsec_\S{44}\n$/.test(stdout)]).to.equal([0, true]);
    expect(stderr).to.contain('The old secret also signs until');
    const given = await webhooks(['rotate-secret', 'app', '--secret-file', '-'], SECRET);
    expect([given.code, given.stdout]).to.equal([0, '']);
    const ended = await webhooks(['rotate-secret', 'app', '--overlap-minutes', '0']);
    expect(ended.stderr).to.contain('The old secret no longer signs. Change it at the receiver.');
  });

  it('lists what was sent, and sends it again', async () => {
    await webhooks(['create', 'app', target.url, '--events', '*']);
    const made = await world.cli([
      ...['hooks', 'create', '--name', 'in', '--trigger', 'webhook', '--webhook-path', 'in'],
      ...['--action', 'notify', '--notify-message', 'It came', '--json'],
    ]);
    await world.cli(['hooks', 'test', JSON.parse(made.stdout).id]);
    const sent = () => webhooks(['deliveries', 'app', '--fields', 'id,status,event,attempts']);
    const { stdout } = await until(sent, (reply) => reply.stdout.includes('\tsent\t'));
    const [id = ''] = stdout.split('\t');
    const again = await webhooks(['resend', 'app', id.slice(-6)]);
    expect(again.code).to.equal(0);
    expect((await target.got(2)).map(({ headers }) => headers['webhook-id'])[1]).to.equal(
      target.received[0]?.headers['webhook-id'],
    );
    expect((await webhooks(['deliveries', 'app', '--status', 'failed'])).stdout).to.equal('');
    expect((await webhooks(['deliveries', 'app'])).stdout).to.match(/\tfine\n$/);
  });
});
