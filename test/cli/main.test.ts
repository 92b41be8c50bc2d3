import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { formatExamples } from '../../cli/command.js';
import { sections } from '../../cli/entries.js';
import { dashed } from '../../cli/fields.js';
import { reservedNames } from '../../cli/program.js';
import { version } from '../../src/client/version.js';
import { frozenClock } from '../harness/clock.js';
import { openForSuite } from '../harness/suite.js';
import { listen } from '../kernel/listen.js';
import { adjutant } from './harness.js';
import { openWorld } from './world.js';

export const lab = Lab.script();
const { describe, it } = lab;

const lines = (text: string): string[] => text.trimEnd().split('\n');

describe('adjutant', () => {
  const world = openForSuite(lab, openWorld);

  it('breaks what went wrong at a space, and no line that is to be pasted', async () => {
    const { code, stderr } = await adjutant(['help', 'nothing-like-it'], { terminal: 25 });
    expect([code, lines(stderr)]).to.equal([
      2,
      ['Unknown command or topic', '"nothing-like-it".', 'List all: adjutant help'],
    ]);
  });

  it('shows every command and topic, with or without asking for help', async () => {
    const [bare, flag, word] = [
      await adjutant([]),
      await adjutant(['--help']),
      await adjutant(['help']),
    ];
    expect([bare, flag]).to.equal([word, word]);
    expect([word?.code, word?.stderr]).to.equal([0, '']);
    for (const { entries } of sections) {
      for (const { name } of entries) expect(word?.stdout).to.match(new RegExp(`^  ${name} `, 'm'));
    }
  });

  it('ends with the reason in one line where its output cannot be written', {
    skip: !existsSync('/dev/full'),
  }, async () => {
    const full = openSync('/dev/full', 'w');
    const bin = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [bin, '--help'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect([status, stderr]).to.equal([1, 'Cannot write the output: no space left on device\n']);
  });

  it('has a summary, an example of its own and help for every command', async () => {
    for (const entry of sections.flatMap(({ entries }) => entries)) {
      const loaded = await entry.load();
      const commands = 'commands' in loaded ? loaded.commands : [loaded];
      for (const command of commands) {
        const words = entry.name.split(' ');
        const path = 'commands' in loaded ? [...words, command.name] : words;
        const { code, stdout } = await adjutant([...path, '--help']);
        const [sentence] = stdout.split('\n\n');
        expect([path, code, sentence?.replaceAll('\n', ' ')]).to.equal([
          ...[path, 0, `${command.summary}.`],
        ]);
        const names = [
          ...Object.keys(command.flags ?? {}),
          ...(command.fields?.() ?? []).map(({ name }) => name),
        ];
        // The body of a request of one's own is called as that of all others.
        const own = names.filter((name) => command.name !== 'api' || name !== 'data');
        expect(own.filter((name) => reservedNames().includes(dashed(name)))).to.equal([]);
        const name = path.join(' ');
        for (const example of formatExamples(name, command)) expect(example).to.contain(name);
      }
    }
  });

  it('says its version', async () => {
    expect(await adjutant(['--version'])).to.equal({
      code: 0,
      stdout: `${version()}\n`,
      stderr: '',
    });
  });

  it('refuses an unknown command and says what was meant', async () => {
    expect(await adjutant(['hooks', 'lst'])).to.equal({
      code: 2,
      stdout: '',
      stderr: 'Unknown command "hooks lst". Did you mean: adjutant hooks list\n',
    });
    expect((await adjutant(['ask', 'why'])).stderr).to.equal(
      'Unknown command "ask". Did you mean: adjutant knowledge ask\n',
    );
    expect((await adjutant(['xyzzy'])).stderr).to.match(/^Unknown command "xyzzy"\.\nAvailable: /);
  });

  it('refuses an unknown flag, and one without its value', async () => {
    expect(await adjutant(['hooks', 'list', '--limt', '3'])).to.equal({
      code: 2,
      stdout: '',
      stderr:
        "Unknown option '--limt'.\n(Did you mean --limit?)\nHelp: adjutant hooks list --help\n",
    });
    expect((await adjutant(['hooks', 'list', '--limit'])).code).to.equal(2);
    expect((await adjutant(['hooks', 'get'])).stderr).to.equal(
      "Missing required argument 'hook'.\nHelp: adjutant hooks get --help\n",
    );
    const { code, stderr } = await adjutant(['whoami', 'twice']);
    expect([code, lines(stderr)[0]]).to.equal([
      2,
      "Too many arguments for 'whoami'. Expected 0 arguments but got 1: twice.",
    ]);
  });

  it('refuses an output, an address and a time-out that cannot be', async () => {
    const refused = async (...words: string[]) =>
      lines((await world.cli(['whoami', ...words])).stderr)[0];
    expect(await refused('--output', 'yaml')).to.equal(
      '--output must be one of table, tsv, json, id (got "yaml")',
    );
    expect(await refused('--timeout', 'soon')).to.equal(
      '--timeout must be a number of seconds above 0',
    );
    const { code, stderr } = await adjutant(['whoami', '--server', 'localhost:3005']);
    expect([code, stderr]).to.equal([
      2,
      'Invalid daemon address "localhost:3005". Expected an address like http://127.0.0.1:3005\n',
    ]);
  });

  it('takes aliases and common flags in any place', async () => {
    const [plain, turned] = [
      await world.cli(['hooks', 'list', '--json']),
      await adjutant(['--json', '--server', world.app.url, 'hook', 'ls']),
    ];
    expect(plain).to.equal(turned);
    expect(JSON.parse(plain.stdout)).to.equal({ hooks: [], nextCursor: null });
  });

  it('ends with 4 where nobody is logged in', async () => {
    const stranger = await adjutant([
      'hooks',
      'list',
      '--server',
      world.app.url,
      '--server-token',
      'nonsense',
    ]);
    expect(stranger.code).to.equal(4);
    expect(lines(stranger.stderr)).to.equal([
      'Other users can see --server-token in ps. Use --server-token-file instead.',
      '--server-token holds no valid token of this daemon.',
      'Create a token: adjutant auth tokens create',
    ]);
    const { app } = world;
    const elsewhere = app.url.replace('127.0.0.1', 'localhost');
    expect(await adjutant(['hooks', 'list', '--server', elsewhere])).to.equal({
      code: 4,
      stdout: '',
      stderr: 'Not logged in. Run: adjutant login\nFirst use? Run: adjutant quickstart\n',
    });
  });

  it('ends with 1 where the daemon does not answer, and says how to start it', async () => {
    const server = await listen();
    await server.close();
    const url = server.origin;
    expect(await adjutant(['health', '--server', url])).to.equal({
      code: 1,
      stdout: '',
      stderr:
        `Cannot reach Adjutant at ${url}: connection refused.\n` +
        'Start the daemon: adjutant up        Another address: adjutant --server … or ADJUTANT_URL\n',
    });
  });

  it('reads all pages of a list, the largest there are, and waits where the daemon asks for it', async () => {
    const asked: string[] = [];
    const server = await listen((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('content-type', 'application/json');
      response.setHeader('x-request-id', 'request_1');
      if (asked.length === 2) {
        const message = 'At most 2 requests a minute. Try again in 40 s.';
        response.writeHead(429, { 'retry-after': '40' });
        response.end(JSON.stringify({ statusCode: 429, error: 'Too Many Requests', message }));
        return;
      }
      const nextCursor = asked.length < 3 ? 'next' : null;
      response.end(JSON.stringify({ notifications: [], unreadCount: 0, nextCursor }));
    });
    const words = ['notifications', 'list', '--all', '--output', 'id', '--server', server.origin];
    const clock = frozenClock();
    const done = adjutant(words, { clock });
    await clock.waiting(40_000);
    clock.forward(40_000);
    const { code, stderr } = await done;
    await server.close();
    const path = '/api/notifications?limit=200';
    expect(asked).to.equal([path, `${path}&cursor=next`, `${path}&cursor=next`]);
    expect([code, stderr]).to.equal([
      0,
      'At most 2 requests a minute. Try again in 40 s. Waiting for the next page.\n',
    ]);
  });

  it('prints the error body of the API with --json', async () => {
    const id = 'hook_01jcx2kq7m8f3k2a9v5ztw4e6r';
    const { code, stdout, stderr } = await world.cli(['hooks', 'get', id, '--json']);
    const { requestId, ...body } = JSON.parse(stderr);
    expect([code, stdout, body]).to.equal([
      1,
      '',
      { statusCode: 404, error: 'Not Found', message: 'No hook with that id' },
    ]);
    expect(requestId).to.be.a.string();
  });

  it('prints a fault of its own in the same shape with --json', async () => {
    const { code, stderr } = await adjutant(['hooks', 'lst', '--json']);
    expect([code, JSON.parse(stderr)]).to.equal([
      2,
      {
        statusCode: 0,
        error: 'Usage',
        message: 'Unknown command "hooks lst". Did you mean: adjutant hooks list',
      },
    ]);
  });

  it('names the request of what failed, and what to do', async () => {
    const { code, stderr } = await world.cli(['agents', 'get', 'agent_01jcx2kq7m8f3k2a9v5ztw4e6r']);
    expect(code).to.equal(1);
    expect(lines(stderr).slice(0, 2)).to.equal([
      'No agent with that id.',
      'List them: adjutant agents list',
    ]);
    expect(stderr).to.match(/\nRequest request_\w+\n$/);
  });

  it('tells each request with --verbose', async () => {
    const { stderr } = await world.cli(['whoami', '--verbose']);
    expect(stderr).to.match(/^-- GET \S+\/api\/auth\/me 200 in \d+ ms, request request_\w+ --\n$/);
  });
});

describe('adjutant help', () => {
  it('shows a topic, a group and a command', async () => {
    const shown = async (...words: string[]) =>
      lines((await adjutant(['help', ...words])).stdout)[0];
    expect(await shown('webhooks')).to.match(/^A webhook is a POST/);
    expect(await shown('hooks')).to.equal('Manage hooks.');
    expect(await shown('hooks', 'list')).to.equal('List hooks.');
    expect(await shown('whoami')).to.equal('Show the current user and the daemon.');
  });

  it('prints every setting with its default', async () => {
    const { stdout } = await adjutant(['help', 'environment']);
    expect(stdout).to.match(/ADJUTANT_PORT [^[]*\[3005\]/);
    expect(stdout).to.match(/ADJUTANT_MASTER_KEY /);
  });

  it('refuses what is neither and says what was meant', async () => {
    const { code, stderr } = await adjutant(['help', 'webhook']);
    expect([code, lines(stderr)[0]]).to.equal([
      2,
      'Unknown command or topic "webhook". Did you mean: adjutant help webhooks',
    ]);
  });
});
