import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilMatches } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('experts', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(() => world.arrive());

  const experts = (...words: string[]) => world.cli(['experts', ...words]);
  const create = (name: string, ...words: string[]) =>
    experts(
      ...['create', name, '--description', 'Books invoices', '--instructions', 'Check twice.'],
      ...words,
    );

  it('lists those that ship, and says how to make one', async () => {
    const { stdout, stderr } = await world.cli(['experts', 'list'], { terminal: 100 });
    expect(stdout.split('\n')[0]).to.match(/^NAME +SOURCE +DESCRIPTION/);
    expect(stdout).to.contain('engineer    system  Reads, writes, reviews');
    expect(stderr).to.equal('Create your own: adjutant experts create\n');
  });

  it('creates, shows, changes and deletes one by its name', async () => {
    const made = await create('bookkeeper', '--keywords', 'invoice', '--keywords', 'receipt');
    expect(made.code).to.equal(0);
    const listed = await experts('list', '--source', 'custom', '--fields', 'name,description');
    expect(listed.stdout).to.equal('bookkeeper\tBooks invoices\n');
    const changed = await experts('update', 'bookkeeper', '--topic', 'money', '--json');
    expect(JSON.parse(changed.stdout)).to.include({
      topic: 'money',
      keywords: ['invoice', 'receipt'],
    });
    expect((await experts('get', 'bookkeeper', '--fields', 'topic')).stdout).to.equal('money\n');
    expect((await experts('rm', 'bookkeeper')).code).to.equal(2);
    expect((await experts('rm', 'bookkeeper', '--yes')).code).to.equal(0);
    expect((await experts('list', '--source', 'custom')).stdout).to.equal('');
  });

  it('says what is refused', async () => {
    await create('bookkeeper');
    const taken = await create('bookkeeper');
    expect([taken.code, taken.stderr.split('\n')[0]]).to.equal([
      1,
      'An expert named bookkeeper already exists. Choose another name.',
    ]);
    const shipped = await experts('delete', 'triage', '--yes');
    expect([shipped.code, shipped.stderr]).to.match(/is built in and cannot be changed/);
    expect((await experts('get', 'plumber')).code).to.equal(1);
  });

  it('gives an agent its part, and shows the whole run of an orchestrated one', async () => {
    const spawned = await world.cli([
      ...['agents', 'spawn', 'Deploy the release', '--name', 'root', '--orchestrated'],
      ...['--output', 'id'],
    ]);
    const id = spawned.stdout.trim();
    await untilMatches(() => world.client.agents.get({ id }), { status: 'completed' });
    const { stdout } = await world.cli(['agents', 'tree', 'root'], { terminal: 100 });
    const [head = '', root = '', sub] = stdout.split('\n');
    expect(head).to.startWith('NAME');
    expect(root).to.startWith('root ');
    expect(sub).to.match(/^└ operations-\w{6} +completed/);
    const [, child] = (await world.client.agents.list({ query: { rootId: id } })).agents;
    const rows = await world.cli([
      'agents',
      'tree',
      String(child?.name),
      '--fields',
      'name,parent',
    ]);
    expect(rows.stdout).to.match(/^root\t\noperations-\w{6}\tagent_\w+\n$/);
    const part = await world.cli([
      ...['agents', 'spawn', 'Hello', '--expert-id', 'writer', '--json'],
    ]);
    expect(JSON.parse(part.stdout).role).to.equal('writer');
  });
});
