import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { saveSession } from '../../../src/client/session.js';
import { type Listening, listen } from '../../kernel/listen.js';
import { adjutant } from '../harness.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const lines = (text: string) => text.trimEnd().split('\n');

describe('resources of organizations', () => {
  let world: World;
  let org: string;
  before(async () => {
    world = await openWorld();
    await world.app.register('bob');
    const { id } = await world.client.orgs.create({ body: { slug: 'acme', name: 'Acme Ltd' } });
    org = id;
    await world.client.orgs['member-add']({ id, body: { username: 'bob' } });
    await world.client.orgs['admin-update']({ id, body: { approved: true } });
  });
  after(() => world.stop());

  const cli = (...words: string[]) => world.cli(words);
  const shown = (...words: string[]) => world.cli(words, { terminal: 100 });
  const schedule = ['--trigger', 'schedule', '--cron', '0 0 1 1 *', '--action', 'notify'];
  const hook = async (...words: string[]) =>
    (
      await cli(
        ...['hooks', 'create', ...schedule, '--notify-message', 'x', ...words],
        ...['--output', 'id'],
      )
    ).stdout.trim();

  it('are created for, and listed by, the slug or the id of the organization', async () => {
    await cli('tasks', 'create', 'Ours', '--org', 'acme');
    await cli('tasks', 'create', 'Ours too', '--org', org);
    await cli('tasks', 'create', 'Mine');
    const titles = async (...words: string[]) =>
      lines((await cli('tasks', 'list', ...words, '--fields', 'title')).stdout).sort();
    expect(await titles()).to.equal(['Mine', 'Ours', 'Ours too']);
    expect(await titles('--org', 'acme')).to.equal(['Ours', 'Ours too']);
    expect(await titles('--org', org.slice(-6))).to.equal(['Ours', 'Ours too']);
    expect(await titles('--org', 'personal')).to.equal(['Mine']);
  });

  it('are refused for an unknown organization, which names the list', async () => {
    const { code, stderr } = await cli('tasks', 'list', '--org', 'acne');
    expect([code, ...lines(stderr)]).to.equal([
      1,
      'No organization has the name or id "acne". Did you mean: acme',
      'List them: adjutant orgs list',
    ]);
    const help = await cli('tasks', 'list', '--help');
    expect(help.stdout).to.match(/--org <slug> +Slug or ID of one of your organizations,/);
  });

  it('may be levels of tools, which are set and reset', async () => {
    const levels = (...words: string[]) => cli('skills', 'permissions', ...words);
    expect((await levels('set', 'http.request', 'deny', '--org', 'acme')).code).to.equal(0);
    expect((await levels('reset', 'http.request')).code).to.equal(1);
    expect((await levels('reset', 'http.request', '--org', 'acme')).code).to.equal(0);
    expect((await levels('list', '--org', 'acme')).stdout).to.equal('');
  });

  it('may be MCP servers', async () => {
    const add = (name: string) =>
      cli('mcp', 'add', name, 'https://nowhere.invalid/mcp', '--org', 'acme');
    expect((await add('acme-docs')).code).to.equal(0);
    expect((await add('docs')).stderr).to.contain('must begin with the slug of the organization');
    expect((await cli('mcp', 'list', '--org', 'acme')).stdout).to.contain('acme-docs');
    expect((await cli('mcp', 'list', '--org', 'personal')).stdout).to.equal('');
    const { stdout } = await shown('skills', 'list');
    expect(lines(stdout).filter((line) => / acme /.test(line)).length).to.equal(1);
    expect((await cli('mcp', 'delete', 'acme-docs', '--yes')).code).to.equal(0);
  });

  it('show their organization on a terminal, and in a list only if one has any', async () => {
    const list = await shown('tasks', 'list');
    expect(lines(list.stdout)[0]).to.match(/^SHORT +STATUS +ORG /i);
    expect(lines(list.stdout).filter((line) => / acme /.test(line)).length).to.equal(2);
    const own = await shown('tasks', 'list', '--org', 'personal');
    expect(lines(own.stdout)[0]).to.not.match(/\bORG\b/i);
    expect((await shown('tasks', 'get', 'Ours')).stdout).to.match(/^org +acme$/m);
    const piped = await cli('tasks', 'list', '--org', 'acme');
    expect(piped.stdout).to.not.contain('acme');
    const { stdout } = await cli('tasks', 'list', '--fields', 'title,org');
    expect(lines(stdout)).to.include(['Ours\tacme', 'Mine\t']);
    expect(JSON.parse((await cli('tasks', 'get', 'Ours', '--json')).stdout).orgId).to.equal(org);
  });

  it('are found by their names, and by the ends of their ids if two have one name', async () => {
    const ours = await hook('--name', 'nightly', '--org', 'acme');
    expect((await cli('hooks', 'get', 'nightly', '--output', 'id')).stdout).to.equal(`${ours}\n`);
    expect((await shown('hooks', 'get', 'nightly')).stdout).to.match(/^org +acme$/m);
    const mine = await hook('--name', 'nightly');
    const both = await cli('hooks', 'get', 'nightly');
    expect([both.code, ...lines(both.stderr)]).to.equal([
      2,
      '"nightly" is ambiguous: 2 matches. Type more of the id:',
      `  ${mine}  nightly  yours`,
      `  ${ours}  nightly  of acme`,
    ]);
    const one = await cli('hooks', 'get', ours.slice(-6), '--output', 'id');
    expect(one.stdout).to.equal(`${ours}\n`);
    const agents = await cli('agents', 'list', '--hook-id', 'nightly');
    expect(lines(agents.stderr)).to.include(`  ${ours}  nightly  of acme`);
  });

  it('of a file belong to the organization, and one of the same name is left alone', async () => {
    const stage = { key: 'ask', kind: 'approval', config: { message: 'Go on?' } };
    const file = await world.file('notes.json', JSON.stringify({ name: 'Notes', stages: [stage] }));
    const id = async (...words: string[]) =>
      (
        await cli('pipelines', ...words, '-f', file, '--org', 'acme', '--output', 'id')
      ).stdout.trim();
    const ours = await id('templates', 'create');
    expect((await world.client.templates.get({ id: ours })).orgId).to.equal(org);
    expect(await id('apply')).to.equal(ours);
    const mine = await cli('pipelines', 'apply', '-f', file, '--output', 'id');
    expect(mine.stdout.trim()).to.not.equal(ours);
    const params = ['version=2.1', 'changes=Faster', '--org', 'acme', '--json'];
    const begun = await cli('pipelines', 'run', 'preset_release_notes', ...params);
    expect(JSON.parse(begun.stdout).orgId).to.equal(org);
  });

  it('may be models, whose names begin with the slug', async () => {
    const url = ['--provider', 'openai-compatible', '--base-url', 'https://nowhere.invalid/v1'];
    const create = (...words: string[]) =>
      cli('models', 'create', ...words, ...url, '--model-id', 'm', '--org', 'acme');
    const unnamed = await create('large');
    expect(unnamed.code).to.equal(2);
    expect(unnamed.stderr).to.contain('must begin with the slug of the organization and a slash');
    const made = await create('acme/large');
    expect(made.code, made.stderr).to.equal(0);
    expect((await shown('models', 'get', 'acme/large')).stdout).to.match(/^org +acme$/m);
    const listed = await cli('models', 'list', '--org', 'acme', '--fields', 'name,org');
    expect(lines(listed.stdout)).to.equal(['acme/large\tacme', 'digest']);
    const health = await cli('models', 'health', '--org', 'acme', '--fields', 'model,state');
    expect(lines(health.stdout)).to.equal(['acme/large\tunknown', 'digest\tup']);
    expect((await cli('models', 'usage', '--org', 'acme')).code).to.equal(0);
    expect((await cli('models', 'test', 'acme/large')).code).to.equal(1);
    const gone = await cli('models', 'delete', 'acme/large', '--yes');
    expect(gone.code, gone.stderr).to.equal(0);
  });

  it('may be uploaded', async () => {
    const file = await world.file('letter.txt', 'Dear all');
    const sent = await cli('documents', 'upload', file, '--org', 'acme', '--no-wait', '--json');
    expect(JSON.parse(sent.stdout).documents[0].orgId).to.equal(org);
  });

  it('have limits, and members whom they notify', async () => {
    const notified = async () => (await shown('orgs', 'get', 'acme')).stdout;
    expect(await notified()).to.match(/^notify +the owners$/m);
    await cli('orgs', 'update', 'acme', '--notify', 'bob,ada');
    expect(await notified()).to.match(/^notify +bob, ada$/m);
    const stranger = await cli('orgs', 'update', 'acme', '--notify', 'eve');
    expect([stranger.code, lines(stranger.stderr)[0]]).to.equal([
      1,
      'No member has the name or id "eve".',
    ]);
    await cli('orgs', 'update', 'acme', '--notify', '');
    expect(await notified()).to.match(/^notify +the owners$/m);
    const costs = ['--daily-cost-usd', '5', '--monthly-cost-usd', '100'];
    const others = ['--member-daily-cost-usd', '1.5', '--daily-tokens', '2000'];
    await cli('orgs', 'admin', 'update', 'acme', ...costs, ...others);
    const after = await notified();
    expect(after).to.match(/^limits.dailyCostUsd +5$/m);
    expect(after).to.match(/^limits.monthlyCostUsd +100$/m);
    expect(after).to.match(/^limits.memberDailyCostUsd +1.5$/m);
    expect(after).to.match(/^limits.dailyTokens +2000$/m);
    await cli('orgs', 'admin', 'update', 'acme', '--daily-cost-usd', 'null');
    expect(await notified()).to.match(/^limits.dailyCostUsd$/m);
  });
});

describe('the deletion of an organization with resources', () => {
  let world: World;
  let daemon: Listening;
  const id = `org_${'1'.repeat(26)}`;
  before(async () => {
    world = await openWorld({ isLoggedIn: false });
    daemon = await listen((request, response) => {
      const { method, url = '' } = request;
      const body = daemon.got.at(-1)?.body ?? '';
      const reply = method === 'DELETE' ? refusal(JSON.parse(body)) : rows(url);
      const status = method === 'GET' ? 200 : reply === null ? 204 : 400;
      const headers = { 'x-request-id': 'request_1', 'content-type': 'application/json' };
      response.writeHead(status, headers).end(reply === null ? '' : JSON.stringify(reply));
    });
    const session = { token: 'x', username: 'ada', expiresAt: '2126-01-01T00:00:00.000Z' };
    saveSession(daemon.origin, session);
  });
  after(async () => {
    await daemon.close();
    await world.stop();
  });

  const org = { id, slug: 'acme' };
  const rows = (url: string): object => {
    return url.includes(id) ? org : { orgs: [org], nextCursor: null };
  };
  const refusal = ({ resources }: { resources?: string }): object | null =>
    resources === undefined
      ? {
          ...{ statusCode: 400, error: 'Bad Request', message: 'Invalid request' },
          details: [{ path: 'resources', message: 'is required' }],
        }
      : null;
  const deleted = async (words: string[], answers?: string[]) => {
    daemon.got.length = 0;
    const at = ['orgs', 'delete', 'acme', ...words, '--server', daemon.origin];
    const { code, stderr } = await adjutant(at, answers && { terminal: 100, answers });
    const sent = daemon.got.filter(({ method }) => method === 'DELETE');
    return { code, stderr, bodies: sent.map(({ body }) => JSON.parse(body)) };
  };

  it('asks on a terminal what becomes of them', async () => {
    const transferred = await deleted([], ['y', '1']);
    expect(transferred.bodies).to.equal([
      { slug: 'acme' },
      { slug: 'acme', resources: 'transfer' },
    ]);
    expect(transferred.stderr).to.contain('1 transfer to me  2 delete');
    const gone = await deleted(['--yes'], ['2']);
    expect(gone.bodies.at(-1)).to.equal({ slug: 'acme', resources: 'delete' });
    expect([transferred.code, gone.code]).to.equal([0, 0]);
  });

  it('takes the answers as flags, and asks nothing without a terminal', async () => {
    const { bodies } = await deleted(['--resources', 'transfer', '--yes']);
    expect(bodies).to.equal([{ slug: 'acme', resources: 'transfer' }]);
    const unsaid = await deleted(['--yes']);
    expect([unsaid.code, unsaid.bodies.length]).to.equal([2, 1]);
    expect(unsaid.stderr).to.contain('--resources');
  });
});
