import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findCommandEntry } from '../../cli/entries.js';
import { requestFields } from '../../cli/fields.js';
import { reservedNames } from '../../cli/program.js';
import { resources } from '../harness/api.js';
import { openTarget, type Target } from '../harness/target.js';
import { adjutant } from './harness.js';
import { openWorld, type World } from './world.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const RESERVED = [
  ...['server', 'server-token', 'server-token-file'],
  ...['home', 'json', 'output', 'fields', 'quiet', 'yes', 'input', 'timeout', 'verbose'],
  ...['data', 'help'],
];

describe('reserved names', () => {
  it('are the flags of every command', () => {
    expect(reservedNames()).to.equal(RESERVED);
  });

  it('are taken by no field of a contract', () => {
    const clashes = resources.flatMap(({ name, contract }) =>
      Object.entries(contract).flatMap(([key, { body, query }]) =>
        [body, query]
          .flatMap((schema) => (schema ? requestFields(schema) : []))
          .flatMap((field) => [field.name, field.longName])
          .filter((flag) => RESERVED.includes(flag))
          .map((flag) => `${name} ${key}: ${flag}`),
      ),
    );
    expect(clashes).to.equal([]);
  });
});

describe('findCommandEntry', () => {
  it('finds the overview of the daemon', () => {
    expect(findCommandEntry(['overview'])?.name).to.equal('status');
  });
});

describe('what names the daemon, and what names an address in a request', () => {
  let world: World;
  let other: Target;
  before(async () => {
    other = await openTarget();
    world = await openWorld({ config: { egressAllow: [other.address], registration: 'open' } });
  });
  after(async () => {
    await world.stop();
    other.close();
  });
  afterEach(() => {
    delete process.env.ADJUTANT_URL;
    delete process.env.ADJUTANT_TOKEN;
    other.received.length = 0;
  });

  it('takes --url for the field of a webhook, a channel and an MCP server', async () => {
    const to = ['--url', `${other.url}/elsewhere`];
    const address = (...words: string[]) => world.cli([...words, '--json']);
    await world.cli(['webhooks', 'create', 'app', `${other.url}/in`, '--events', '*']);
    const [updated, created, channel, server] = [
      await address('webhooks', 'update', 'app', ...to),
      await address('webhooks', 'create', '--name', 'two', ...to, '--events', '*'),
      await address('channels', 'create', ...to),
      await address('mcp', 'add', '--name', 'far', ...to),
    ].map(({ code, stdout, stderr }) => {
      expect(stderr).to.equal('');
      return { code, reply: JSON.parse(stdout) };
    });
    expect([updated, created].map((each) => [each?.code, each?.reply.url])).to.equal([
      [0, to[1]],
      [0, to[1]],
    ]);
    expect([channel?.code, channel?.reply.channel.address]).to.equal([0, to[1]]);
    expect([server?.code, server?.reply.name]).to.equal([0, 'far']);
    const asked = other.received.map(({ path, headers }) => [path, headers.authorization]);
    expect(asked.filter(([path]) => path !== '/elsewhere')).to.equal([]);
    expect(asked.filter(([, authorization]) => authorization)).to.equal([]);
  });

  it('sends nothing to the address of a webhook, whatever stands beside it', async () => {
    process.env.ADJUTANT_URL = world.app.url;
    const to = ['--url', `${other.url}/moved`];
    await adjutant(['webhooks', 'create', 'own', `${other.url}/in`, '--events', '*']);
    for (const words of [
      ['webhooks', 'update', 'own', ...to],
      [...to, 'webhooks', 'update', 'own'],
      ['hooks', 'list', ...to],
      ['tunnel', 'set', '--provider', 'ngrok', '--token', 'of-ngrok'],
    ]) {
      await adjutant(words);
    }
    expect(other.received).to.equal([]);
    const { webhooks } = await world.client.webhooks.list({ query: {} });
    expect(webhooks.find(({ name }) => name === 'own')?.url).to.equal(to[1]);
  });

  it('refuses a field given both as an argument and as a flag', async () => {
    const words = ['webhooks', 'create', 'app', 'http://127.0.0.1:9/in', '--url', 'http://b.test'];
    expect(await world.cli(words)).to.equal({
      code: 2,
      stdout: '',
      stderr: 'url was passed twice: as an argument and as --url. Pass url once.\n',
    });
  });

  it('names --server where --url is no field, and says how a token is given', async () => {
    const refused = async (...words: string[]) => {
      const { code, stdout, stderr } = await adjutant(words);
      return [code, stdout, stderr];
    };
    expect(await refused('hooks', 'list', '--url', other.url)).to.equal([
      2,
      '',
      "Unknown option '--url'.\nAddress of the daemon: --server <url>\n" +
        'Help: adjutant hooks list --help\n',
    ]);
    const sentence = 'Token for the daemon: --server-token-file <file>';
    for (const flag of ['--token', '--token-file']) {
      expect(await refused('whoami', flag, 'abc')).to.equal([
        2,
        '',
        `Unknown option '${flag}'.\n${sentence}\nHelp: adjutant whoami --help\n`,
      ]);
    }
    const [code, , stderr] = await refused(`--url=${other.url}`, 'webhooks', 'update', 'app');
    expect([code, String(stderr).split('\n')[1]]).to.equal([
      2,
      'Address of the daemon: --server <url>',
    ]);
  });

  it('names the field that was meant, and says that a switch takes no value', async () => {
    const hint = async (...words: string[]) => (await adjutant(words)).stderr.split('\n')[1];
    expect(await hint('research', 'start', 'Why?', '--url', other.url)).to.equal(
      '(Did you mean --urls?)',
    );
    expect(await hint('memories', 'update', '4ew6rt', '--pinned=maybe')).to.equal(
      'The flag takes no value. Use --pinned or --no-pinned',
    );
  });

  it('sends ADJUTANT_TOKEN to another server under no circumstances, and says so', async () => {
    const { token = '' } = await world.app.register('carol');
    process.env.ADJUTANT_TOKEN = token;
    process.env.ADJUTANT_URL = world.app.url;
    expect((await adjutant(['whoami'])).code).to.equal(0);
    await adjutant(['whoami', '--server', other.url]);
    expect(other.received.length).to.be.above(0);
    expect(other.received.filter(({ headers }) => headers.authorization)).to.equal([]);
    const elsewhere = world.app.url.replace('127.0.0.1', 'localhost');
    expect(await adjutant(['hooks', 'list', '--server', elsewhere])).to.equal({
      code: 4,
      stdout: '',
      stderr:
        'Not logged in. Run: adjutant login\n' +
        `ADJUTANT_TOKEN was not sent, because it is for ${world.app.url}.\n` +
        'Pass a token for another server: --server-token-file <file>\n',
    });
    const file = await world.file('token', token);
    const given = ['--server', elsewhere, '--server-token-file', file];
    expect((await adjutant(['hooks', 'list', ...given])).code).to.equal(0);
  });

  it('hides no error behind a token that cannot be read', async () => {
    process.env.ADJUTANT_URL = world.app.url;
    process.env.ADJUTANT_TOKEN = '';
    const { code, stderr } = await adjutant(['down', '--home', '/nowhere/at/all']);
    expect([code, String(stderr).split('\n')[0]]).to.equal([
      1,
      'No background daemon runs on /nowhere/at/all.',
    ]);
  });
});
