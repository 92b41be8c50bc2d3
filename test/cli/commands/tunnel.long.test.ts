import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type FakePrograms,
  makeFakePrograms,
  NAMED,
  QUICK,
} from '../../harness/tunnels/fakeprograms.js';
import { startBreaking } from '../../harness/tunnels/faults.js';
import { freePort } from '../../harness/tunnels/port.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { after, afterEach, before, describe, it } = lab;

const TERMINAL = { terminal: 120 };

describe('tunnel', () => {
  let programs: FakePrograms;
  let world: World;
  before(async () => {
    programs = await makeFakePrograms();
    await programs.add('cloudflared', QUICK);
    world = await openWorld({ config: { cliPath: [programs.folder] } });
  });
  after(async () => {
    await world.stop();
    await programs.remove();
  });
  afterEach(async () => {
    const { provider } = await world.client.tunnel.get();
    if (provider !== null) await world.client.tunnel.forget();
  });

  const tunnel = (words: string[], more = {}) => world.cli(['tunnel', ...words], more);
  /** A proxy without TLS in front of the daemon; resolves to its address. */
  const inFront = async () => {
    const at = await freePort();
    const proxy = await startBreaking({ port: at, to: world.app.url, certificate: null });
    return { ...proxy, url: `http://127.0.0.1:${at}` };
  };

  it('is set up by flags, without a terminal, and checked', async () => {
    const proxy = await inFront();
    const words = ['setup', '--provider', 'proxy', '--public-url', proxy.url];
    const { code, stdout, stderr } = await tunnel(words);
    await proxy.stop();
    expect(stdout.split('\n').map((line) => line.split('\t').slice(0, 2).join(' '))).to.equal([
      ...['name ok', 'certificate warn', 'reaches us ok', 'unsigned ok', 'signed ok', 'exposed ok'],
      '',
    ]);
    expect(stderr).to.contain(`Public address set: ${proxy.url}`);
    expect(code).to.equal(0);
    expect((await tunnel(['address'])).stdout).to.equal(`${proxy.url}\n`);
  });

  it('names the command to set it up, where nothing is', async () => {
    const config = await tunnel(['config', 'caddy']);
    expect([config.code, config.stderr.split('\n').slice(0, 3)]).to.equal([
      1,
      [
        'The public address is not set.',
        'Set it: adjutant tunnel setup --public-url https://hooks.example.org',
        'Or pass it once: --public-url https://hooks.example.org',
      ],
    ]);
    const check = await tunnel(['check']);
    expect([check.code, check.stderr.split('\n').slice(0, 2)]).to.equal([
      1,
      ['No tunnel is set up.', 'Set up a tunnel: adjutant tunnel setup'],
    ]);
  });

  it('ends with 1 and the remedy where a stage fails', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const set = await tunnel(['setup', '--provider', 'proxy', '--public-url', url]);
    expect(set.code).to.equal(1);
    expect(set.stderr).to.contain('adjutant tunnel check');
    const { code, stdout } = await tunnel(['check'], TERMINAL);
    expect(code).to.equal(1);
    expect(stdout).to.match(
      / {2}3 reaches us +FAILED +127\.0\.0\.1 refuses connections on port \d+\n/,
    );
    expect(stdout).to.match(/ {2}4 unsigned +not run\n/);
    expect(stdout).to.match(/\nCause nothing listens on the port/);
    expect(stdout).to.match(/\nFix {3}configure the proxy to forward to 127\.0\.0\.1:\d+/);
  });

  it('needs a provider where nobody can be asked', async () => {
    const { code, stderr } = await tunnel(['setup']);
    expect([code, stderr.includes('--provider')]).to.equal([2, true]);
  });

  it('explains what is missing', async () => {
    const { code, stderr } = await tunnel(['setup', '--provider', 'ngrok']);
    expect(code).to.equal(1);
    expect(stderr)
      .to.contain('ngrok is not installed')
      .and.to.contain('https://ngrok.com/download');
  });

  it('leads through a proxy on a terminal: checks again when it is in place', async () => {
    const proxy = await inFront();
    let left = 2;
    proxy.breakBy({
      answer: (_, response) => left-- > 0 && !!response.writeHead(502).end(),
    });
    const { code, stdout, stderr } = await tunnel(['setup'], {
      ...TERMINAL,
      answers: ['4', proxy.url, '', ''],
    });
    await proxy.stop();
    expect(stderr).to.match(/Installed {2}cloudflared 2026\.3\.1 {3}ngrok no/);
    expect(stderr).to.contain(`{ reverse_proxy ${new URL(world.app.url).host} }`);
    expect(stdout).to.match(/3 reaches us +FAILED.+3 reaches us +ok/s);
    expect(stderr).to.contain('Passkeys now belong to this name');
    expect(code).to.equal(0);
  });

  it('leads to a temporary address, and says that it is one', async () => {
    const { code, stdout, stderr } = await tunnel(['setup'], { ...TERMINAL, answers: ['1', 'q'] });
    expect(stderr).to.match(/Starting {3}cloudflared up in \d+\.\d s, supervised/);
    expect(stdout).to.match(
      /1 name +FAILED +words-of-chance-\d+\.trycloudflare\.com does not resolve/,
    );
    expect(code).to.equal(1);
    const shown = await tunnel(['get'], TERMINAL);
    expect(shown.stdout).to.match(/^cloudflared {3}running/);
    expect(shown.stdout).to.contain('Registered tunnel connection');
    expect((await tunnel(['stop'], TERMINAL)).stderr).to.equal('Tunnel stopped.\n');
  });

  it('takes a token from a file, and no flag', async () => {
    await programs.add('cloudflared', NAMED);
    const url = ['--public-url', 'https://hooks.example.org'];
    const words = ['set', '--provider', 'cloudflared', ...url];
    const set = await tunnel([...words, '--secret-file', '-'], { stdin: 'a-long-token\n' });
    expect(set.code).to.equal(0);
    expect(await world.client.tunnel.get()).to.include({ tokenSet: true, on: false });
    expect((await tunnel([...words, '--secret', 'a-long-token'])).code).to.equal(2);
    await programs.add('cloudflared', QUICK);
  });

  it('prints configurations to stdout as they are', async () => {
    const url = ['--public-url', 'https://hooks.example.org'];
    for (const server of ['caddy', 'nginx']) {
      const { code, stdout } = await tunnel(['config', server, ...url]);
      expect([code, stdout.startsWith('# hooks.example.org: ')]).to.equal([0, true]);
    }
    expect((await tunnel(['config', 'apache', ...url])).code).to.equal(2);
  });

  it('gives hooks their public address', async () => {
    await world.client.tunnel.set({
      body: { provider: 'proxy', publicUrl: 'https://hooks.example.org' },
    });
    await world.cli([
      ...['hooks', 'create', '--name', 'in', '--trigger', 'webhook', '--webhook-path', 'in'],
      ...['--action', 'notify', '--notify-message', 'It came'],
    ]);
    const { stdout } = await world.cli(['hooks', 'settings', 'in']);
    expect(stdout).to.contain('https://hooks.example.org/api/webhooks/in');
  });

  it('is named by the doctor when it is not well', async () => {
    await world.client.tunnel.set({ body: { provider: 'ngrok' } });
    await world.client.tunnel.start();
    const { stdout } = await world.cli(['doctor'], TERMINAL);
    expect(stdout).to.match(/WARN +tunnel: ngrok /);
    expect(stdout).to.contain('Fix: adjutant tunnel check');
  });

  it('says where an address comes from that no command changes', async () => {
    const fixed = await openWorld({ config: { publicUrl: 'https://hooks.example.org' } });
    const { stdout, stderr } = await fixed.cli(['tunnel', 'address']);
    await fixed.stop();
    expect([stdout, stderr]).to.equal([
      'https://hooks.example.org\n',
      'This address is unverified: no request from outside has reached it.\n' +
        'It is set by ADJUTANT_PUBLIC_URL in the environment of the daemon.\n' +
        'Verify it: adjutant tunnel check\n',
    ]);
  });

  it('warns wherever an address goes that nobody has reached', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await tunnel(['set', '--provider', 'proxy', '--public-url', url]);
    await tunnel(['start']);
    const warning = 'This address is unverified: no request from outside has reached it.\n';
    const create = [
      'hooks',
      'create',
      '--name',
      'x',
      '--trigger',
      'webhook',
      '--webhook-path',
      'x',
    ];
    const hook = await world.cli(
      [...create, '--action', 'notify', '--notify-message', 'x', '--secret-file', '-'],
      { stdin: 'a secret of the hook' },
    );
    const [address, settings, invite, status] = [
      await tunnel(['address']),
      await world.cli(['hooks', 'settings', 'x']),
      await world.cli(['invite']),
      await world.cli(['status'], TERMINAL),
    ];
    const all = [hook, address, settings, invite];
    expect(all.map(({ code, stderr }) => [code, stderr.includes(warning)])).to.equal(
      all.map(() => [0, true]),
    );
    expect(address.stdout).to.equal(`${url}\n`);
    expect(address.stderr).to.contain('Remove it: adjutant tunnel forget');
    expect(status.stdout).to.contain(`public ${url} (unverified)`);
  });

  it('shows in what state the address is, and forgets it after a question', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await tunnel(['set', '--provider', 'proxy', '--public-url', url]);
    await tunnel(['start']);
    expect((await tunnel(['get'], TERMINAL)).stdout).to.match(
      /^proxy {3}running.* {3}unverified$/m,
    );
    expect((await tunnel(['check'])).code).to.equal(1);
    expect((await tunnel(['address'])).stderr).to.contain('The last check could not reach');
    expect((await tunnel(['forget'])).code).to.equal(2);
    const { code, stderr } = await tunnel(['forget', '--yes']);
    expect([code, stderr]).to.equal([0, '']);
    expect((await tunnel(['address'])).stderr).to.equal(
      'Not reachable from outside. Set up an address: adjutant tunnel setup\n',
    );
  });

  it('is verified once a check came through', async () => {
    const proxy = await inFront();
    await tunnel(['setup', '--provider', 'proxy', '--public-url', proxy.url]);
    await proxy.stop();
    expect(await tunnel(['address'])).to.equal({ code: 0, stdout: `${proxy.url}\n`, stderr: '' });
    expect((await world.client.tunnel.get()).reach).to.equal('verified');
  });
});

describe('no tunnel', () => {
  it('says that nothing is set up, and what to do', async () => {
    const world = await openWorld();
    const { stdout, stderr } = await world.cli(['tunnel', 'get'], TERMINAL);
    expect(stdout).to.match(/Only this machine can reach/);
    expect(stderr).to.contain('adjutant tunnel setup');
    expect((await world.cli(['tunnel', 'address'])).stderr).to.contain('adjutant tunnel setup');
    await world.stop();
  });
});
