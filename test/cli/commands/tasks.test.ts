import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('adjutant tasks', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(async () => void (await world.arrive()));

  it('lists the tasks that have all of the tags', async () => {
    const note = (title: string, ...tags: string[]) =>
      world.client.tasks.create({ body: { title, tags } });
    await note('One', 'work');
    const both = await note('Both', 'release', 'work');
    await note('Other', 'release');
    const list = async (...words: string[]) =>
      (await world.cli(['tasks', 'list', ...words])).stdout.trimEnd();
    expect(await list('--tags', 'work,release', '--output', 'id')).to.equal(both.id);
    expect(await list('--tags', 'work', '--tags', 'release', '--output', 'id')).to.equal(both.id);
    const reply = JSON.parse(await list('--tags', 'work,release', '--json'));
    expect(reply).to.equal({ tasks: [both], nextCursor: null });
    expect(await list('--tags', 'work', '--fields', 'title')).to.equal('Both\nOne');
    const { stdout } = await world.cli(['tasks', 'list', '--help']);
    expect(stdout).to.match(/--tags <text…> +Tags, all of which the rows must have/);
  });

  it('shows the parts of a task and what must be done first by their titles', async () => {
    const { client } = world;
    const first = await client.tasks.create({ body: { title: 'Ask Grace' } });
    const body = { title: 'Release', blockedBy: [first.id] };
    const { id } = await client.tasks.create({ body });
    const part = await client.tasks.create({ body: { title: 'Write the notes', parentId: id } });
    await client.tasks.complete({ id: part.id, query: {} });
    const { stdout } = await world.cli(['tasks', 'get', 'Release'], { terminal: 80 });
    expect(stdout.split('\n').slice(-5)).to.equal([
      'Subtasks:',
      `  ${part.id.slice(-6)}  done  Write the notes`,
      'Blocked by:',
      `  ${first.id.slice(-6)}  open  Ask Grace`,
      '',
    ]);
    const piped = await world.cli(['tasks', 'get', 'Release']);
    expect(piped.stdout.split('\n').length).to.equal(2);
  });

  it('takes days and zones with blanks around, and names the form of others', async () => {
    const create = (...words: string[]) => world.cli(['tasks', 'create', 'Call', ...words]);
    const made = await create('--due-at', ' 2027-03-01T09:30 ', '--timezone', ' Europe/Berlin ');
    expect([made.code, made.stderr]).to.equal([0, '']);
    await create('--due', ' 2027-03-02 ', '--tags', 'work, home ');
    const { tasks } = await world.client.tasks.list();
    expect(tasks.map(({ due, dueAt, tags }) => [due, dueAt, tags])).to.equal([
      ['2027-03-02', null, ['work', 'home']],
      [null, '2027-03-01T08:30:00.000Z', []],
    ]);
    const { stdout } = await world.cli(['tasks', 'list'], { terminal: 120 });
    expect(stdout).to.contain('Mon 2027-03-01 09:30 +01:00').and.contain(' 2027-03-02 ');
    for (const [flag, word, form] of [
      ['--due', 'tomorrow', 'YYYY-MM-DD, such as 2026-01-31'],
      [
        '--due-at',
        'tomorrow 9:00',
        'YYYY-MM-DDTHH:MM with optional seconds and offset, such as 2026-01-31T09:30 or 2026-01-31T09:30+02:00',
      ],
    ] as const) {
      const { code, stderr } = await create(flag, word);
      expect([code, stderr.split('\n')[1]]).to.equal([2, `  ${flag}  ${form} (got "${word}")`]);
    }
  });
});
