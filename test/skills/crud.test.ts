import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Listed {
  id: string;
  status: string;
  reason: string | null;
  source: string;
}

describe('skills', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.test.stop());

  const folder = async (name: string, text: string | null): Promise<string> => {
    const path = join(stage.test.home, 'skills', name);
    await mkdir(path, { recursive: true });
    if (text !== null) await writeFile(join(path, 'SKILL.md'), text);
    return path;
  };
  const skillText = (name: string, body = 'Do it so.') =>
    `---\nname: ${name}\ndescription: For ${name}\n---\n${body}`;
  const list = async (query = ''): Promise<Listed[]> =>
    (await stage.ask('GET', `/api/skills${query}`)).body.skills;
  const told = (all: Listed[]) => all.map(({ id, status, reason }) => [id, status, reason]);

  it('are the groups that are built in, with their levels', async () => {
    const { body } = await stage.ask('GET', '/api/skills/time');
    expect(body).to.include({ id: 'time', source: 'builtin', status: 'ready', reason: null });
    const [{ inputSchema, ...tool }] = body.tools;
    expect(inputSchema.type).to.equal('object');
    expect(tool).to.equal({
      name: 'now',
      description: tool.description,
      permission: 'allow',
      sideEffects: false,
      outside: false,
      reason: null,
    });
    const plain = await stage.plain('GET', '/api/skills/shell');
    expect(plain.body.tools[0].permission).to.equal('deny');
    expect((await stage.ask('GET', '/api/skills/nothing')).status).to.equal(404);
  });

  it('are paged and filtered', async () => {
    const first = await stage.ask('GET', '/api/skills?limit=2&source=builtin');
    const rest = await stage.ask(
      'GET',
      `/api/skills?source=builtin&cursor=${first.body.nextCursor}`,
    );
    const ids = [...first.body.skills, ...rest.body.skills].map(({ id }: Listed) => id);
    expect(ids).to.equal((await list('?source=builtin')).map(({ id }) => id));
    expect([first.body.skills.length, rest.body.nextCursor]).to.equal([2, null]);
    const tools = await stage.ask('GET', '/api/skills/tools/all?limit=1');
    const next = await stage.ask('GET', `/api/skills/tools/all?cursor=${tools.body.nextCursor}`);
    expect(next.body.tools.length > 5).to.be.true();
    expect((await stage.ask('GET', '/api/skills?status=odd')).status).to.equal(400);
  });

  it('are the folders of the home, found without a restart, the bad ones with a reason', async () => {
    await folder('pdf', skillText('pdf'));
    await folder('unnamed', '---\ndescription: x\n---\n');
    await folder('other', skillText('another'));
    await folder('empty', null);
    await folder('http', skillText('http'));
    await folder('Bad Name', skillText('Bad Name'));
    await folder('large', `${skillText('large')}${'x'.repeat(300_000)}`);
    await symlink('/etc', join(stage.test.home, 'skills', 'out'));
    const linked = await folder('linked', null);
    await symlink('/etc/passwd', join(linked, 'SKILL.md'));
    expect(told(await list('?source=folder'))).to.equal([
      [
        'Bad Name@folder',
        'invalid',
        'The name in SKILL.md must be 1 to 64 characters: a–z and 0–9, with single hyphens between them',
      ],
      ['empty@folder', 'invalid', 'empty/SKILL.md does not exist'],
      ['http@folder', 'invalid', 'The name http is already used by a group of tools'],
      ['large@folder', 'invalid', 'large/SKILL.md has more than 262144 bytes'],
      ['linked@folder', 'invalid', 'linked/SKILL.md is a symbolic link'],
      [
        'other@folder',
        'invalid',
        'The skill is named another. The folder must have the same name.',
      ],
      ['out@folder', 'invalid', 'out/SKILL.md has a parent that is not a folder'],
      ['pdf', 'ready', null],
      [
        'unnamed@folder',
        'invalid',
        'The front matter of SKILL.md has no name. Add a line such as name: my-skill',
      ],
    ]);
    await rm(join(stage.test.home, 'skills'), { recursive: true });
    expect(await list('?source=folder')).to.equal([]);
  });

  it('are read by agents a step at a time', async () => {
    const path = await folder('deploy', skillText('deploy', '# Deploy\nRead `steps.md`.'));
    await mkdir(join(path, 'more'));
    await writeFile(join(path, 'more', 'steps.md'), 'First this.');
    await symlink('/etc/passwd', join(path, 'passwd'));
    await list();
    const { body } = await stage.ask('GET', '/api/skills/skills');
    const read = body.tools.find(({ name }: { name: string }) => name === 'read');
    expect(read.description).to.match(/Skills:\n- deploy: For deploy$/);
    expect((await stage.run('skills', 'list')).body.result).to.equal({
      skills: [{ name: 'deploy', description: 'For deploy' }],
    });
    expect((await stage.run('skills', 'read', { skill: 'deploy' })).body.result).to.equal({
      instructions: '# Deploy\nRead `steps.md`.',
      files: ['more/steps.md'],
    });
    const file = { skill: 'deploy', path: 'more/steps.md' };
    expect((await stage.run('skills', 'read', file)).body.result).to.equal({ text: 'First this.' });
    for (const path of ['../deploy/SKILL.md', 'passwd', '/etc/passwd', 'nothing', 'more']) {
      const { status, body } = await stage.run('skills', 'read', { skill: 'deploy', path });
      expect([status, body.details[0].path]).to.equal([400, 'arguments.path']);
    }
    const { body: unknown } = await stage.run('skills', 'read', { skill: '../keys' });
    expect(unknown.details[0].path).to.equal('arguments.skill');
  });
});

describe('POST /api/skills/{skillId}/tools/{toolName}/execute', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.test.stop());

  it('runs a tool', async () => {
    const { body } = await stage.run('time', 'now', { timezone: 'Asia/Tokyo' });
    expect(body.result.timezone).to.equal('Asia/Tokyo');
    expect((await stage.ask('POST', '/api/skills/time/tools/now/execute', {})).status).to.equal(
      200,
    );
  });

  it('names wrong arguments, and tools that there are not', async () => {
    const wrong = await stage.run('time', 'now', { timezone: 'Nowhere', more: 1 });
    expect(wrong.body.details.map(({ path }: { path: string }) => path)).to.equal([
      'arguments.timezone',
      'arguments.more',
    ]);
    expect((await stage.run('time', 'then')).status).to.equal(404);
    expect((await stage.run('__proto__', 'constructor')).status).to.equal(404);
  });

  it('asks, and denies', async () => {
    const call = { method: 'GET', url: 'http://127.0.0.1:1/' };
    const set = (level: string) =>
      stage.ask('PUT', '/api/skills/permissions', { skillId: 'http', action: 'request', level });
    await set('ask');
    const asked = await stage.run('http', 'request', call);
    expect([asked.status, asked.body.approval.action]).to.equal([202, 'request']);
    await set('deny');
    const denied = await stage.run('http', 'request', call);
    expect([denied.status, denied.body.code]).to.equal([403, 'tool_denied']);
    await set('allow');
    expect((await stage.run('http', 'request', call)).status).to.equal(400);
    const shell = await stage.plain('POST', '/api/skills/shell/tools/run/execute', {
      arguments: { argv: ['id'] },
    });
    expect([shell.status, shell.body.code]).to.equal([403, 'tool_denied']);
  });

  it('keeps the files of users apart', async () => {
    await stage.run('files', 'write', { path: 'mine.txt', content: 'mine' });
    const read = { arguments: { path: 'mine.txt' } };
    const theirs = await stage.plain('POST', '/api/skills/files/tools/read/execute', read);
    expect(theirs.status).to.equal(400);
    expect((await stage.run('files', 'read', { path: 'mine.txt' })).body.result.text).to.equal(
      'mine',
    );
  });
});
