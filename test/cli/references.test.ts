import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { kindOfField } from '../../cli/references.js';
import { until } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { leaves } from './leaves.js';
import { openWorld } from './world.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const all = await leaves();

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

/**
 * Fields that are no ids of Adjutant: the name of a tool's skill, the model of a provider, the name
 * of an identity provider in SAML.
 */
const NAMES = ['toolId', 'modelId', 'entityId'];

describe('a flag whose value is an id', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(async () => void (await world.arrive()));

  const tail = (id: string): string => id.slice(-6);
  const idOf = async (...words: string[]): Promise<string> =>
    (await world.cli([...words, '--output', 'id'])).stdout.trim();
  const said = async (...words: string[]) => {
    const { code, stderr } = await world.cli(words);
    return [code, ...stderr.trimEnd().split('\n')];
  };

  it('is known to name a thing, of every command', () => {
    const unknown = all.flatMap(({ path, command }) =>
      (command.fields?.() ?? [])
        .filter((field) => /Ids?$/.test(field.path))
        .filter((field) => !NAMES.includes(field.path.split('.').at(-1) ?? ''))
        .filter((field) => kindOfField(path.split(' ')[0] ?? '', field.path) === undefined)
        .map((field) => `${path} --${field.name}`),
    );
    expect(unknown).to.equal([]);
  });

  it('takes the end of an id or a name in filters and in changes', async () => {
    const whole = await idOf('tasks', 'create', 'Move the office');
    const part = await idOf('tasks', 'create', 'Pack', '--parent-id', tail(whole));
    for (const named of [whole, tail(whole), tail(whole).toUpperCase(), 'Move the office']) {
      expect(await idOf('tasks', 'list', '--parent-id', named)).to.equal(part);
    }
    const [a, b] = [await idOf('tasks', 'create', 'A'), await idOf('tasks', 'create', 'B')];
    const blocked = await world.cli([
      ...['tasks', 'update', 'Pack', '--blocked-by', `${tail(a)},B`, '--json'],
    ]);
    expect(JSON.parse(blocked.stdout).blockedBy).to.equal([a, b]);
  });

  it('is refused where it names nothing or several things', async () => {
    for (const title of ['Twin', 'Twin', 'Other']) await idOf('tasks', 'create', title);
    expect(await said('tasks', 'list', '--parent-id', 'zzzzzz')).to.equal([
      1,
      'No task has the name or id "zzzzzz".',
      'List them: adjutant tasks list',
    ]);
    const [code, message] = await said('tasks', 'list', '--parent-id', 'Twin');
    expect([code, message]).to.equal([2, '"Twin" is ambiguous: 2 matches. Type more of the id:']);
    for (const [list, flag, noun] of [
      ['agents', 'hook-id', 'hook'],
      ['agents', 'execution-id', 'execution'],
      ['agents', 'session-id', 'session'],
      ['agents', 'root-id', 'agent'],
      ['approvals', 'agent-id', 'agent'],
      ['pipelines', 'template-id', 'template'],
      ['pipelines', 'parent-id', 'run'],
      ['skills permissions', 'skill-id', 'skill'],
    ]) {
      const [code, message] = await said(...`${list}`.split(' '), 'list', `--${flag}`, 'zzzzzz');
      expect([list, code, message]).to.equal([
        ...[list, 1],
        `No ${noun} has the name or id "zzzzzz".`,
      ]);
    }
  });

  it('finds templates that ship, skills by their names, and the thing of an operation', async () => {
    const list = ['pipelines', 'list', '--template-id', 'preset_release_notes'];
    expect(await said(...list)).to.equal([0, '']);
    const permissions = ['skills', 'permissions', 'list', '--skill-id', 'http'];
    expect((await said(...permissions))[0]).to.equal(0);
    const [code, message] = await said('operations', 'list', '--resource', 'document:zzzzzz');
    expect([code, message]).to.equal([1, 'No document has the name or id "zzzzzz".']);
    expect(await said('operations', 'list', '--resource', 'else:zzzzzz')).to.equal([0, '']);
  });

  it('finds runs that stages have begun, as arguments do', async () => {
    const inner = { key: 'ask', kind: 'approval' as const, config: { message: 'Go on?' } };
    const { id: within } = await world.client.templates.create({
      body: { name: 'Inner', stages: [inner] },
    });
    const nested = { key: 'nested', kind: 'pipeline' as const, config: { templateId: within } };
    const { id: templateId } = await world.client.templates.create({
      body: { name: 'Outer', stages: [nested] },
    });
    const { id: parentId } = await world.client.pipelines.start({ body: { templateId } });
    const { pipelines } = await until(
      () => world.client.pipelines.list({ query: { parentId } }),
      (reply) => reply.pipelines[0]?.status === 'waiting',
    );
    const child = pipelines[0]?.id ?? '';
    expect(await idOf('pipelines', 'list', '--parent-id', tail(parentId))).to.equal(child);
    expect(await idOf('pipelines', 'get', tail(child))).to.equal(child);
    expect((await said('pipelines', 'approve', tail(child), 'ask', '--yes'))[0]).to.equal(0);
    const [code, message, hint] = await said('pipelines', 'get', 'zzzzzz');
    expect([code, message]).to.equal([1, 'No run has the name or id "zzzzzz".']);
    expect(hint).to.contain('by its full id');
  });
});

describe('null', () => {
  const world = openForSuite(lab, openWorld);

  const changed = async (...words: string[]) => {
    const { code, stdout, stderr } = await world.cli([...words, '--json']);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  };

  it('takes the value of a field away', async () => {
    const day = ['--due', '2026-02-01', '--notes', 'Soon', '--reminder-minutes', '5'];
    await changed('tasks', 'create', 'Whole');
    await changed('tasks', 'create', 'Call', ...day, '--parent-id', 'Whole');
    const none = ['--due', 'null', '--notes', 'null', '--reminder-minutes', 'null'];
    const task = await changed('tasks', 'update', 'Call', ...none, '--parent-id', 'null');
    expect([task.due, task.notes, task.reminderMinutes, task.parentId]).to.equal([
      ...[null, null, null, null],
    ]);
    await changed('tasks', 'update', 'Call', '--due-at', '2026-02-01T09:30');
    expect((await changed('tasks', 'update', 'Call', '--due-at', 'null')).dueAt).to.be.null();
    const ends = ['--ends-at', '2126-01-01T00:00:00.000Z', '--max-runs', '3'];
    const action = ['--cron', '0 9 * * *', '--action', 'notify', '--notify-message', 'x'];
    await changed('recurring', 'create', 'standup', ...action, ...ends);
    const endless = ['--ends-at', 'null', '--max-runs', 'null'];
    const recurring = await changed('recurring', 'update', 'standup', ...endless);
    expect([recurring.endsAt, recurring.maxRuns]).to.equal([null, null]);
  });

  it('is a text where a text cannot be taken away, and help says where it can', async () => {
    expect((await changed('tasks', 'create', 'null')).title).to.equal('null');
    const { stdout } = await world.cli(['tasks', 'update', '--help']);
    expect(stdout).to.contain('--due <text|null>');
    expect(stdout).to.contain('--title <text>\n');
  });
});
