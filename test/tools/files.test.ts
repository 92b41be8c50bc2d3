import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { filesTools } from '../../src/tools/files.js';
import { contextOf, failureOf } from './context.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('files', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    await mkdir(join(folder, 'notes'));
    await writeFile(join(folder, 'notes', 'one.txt'), 'first\nSecond line\nthird\n');
    await writeFile(join(folder, 'notes', 'bytes'), Buffer.from([0xff, 0x00]));
    await symlink('/etc/passwd', join(folder, 'passwd'));
  });
  after(() => rm(folder, { recursive: true }));

  const run = async (name: string, args: Record<string, unknown>, more = {}) => {
    const tool = filesTools().tools.find((one) => one.name === name);
    return Object(await tool?.run(args, contextOf({ openFolder: async () => folder, ...more })));
  };

  it('reads a text, or some of its lines', async () => {
    const path = 'notes/one.txt';
    expect(await run('read', { path })).to.equal({
      text: 'first\nSecond line\nthird\n',
      fromLine: 1,
      totalLines: 4,
    });
    expect(await run('read', { path, fromLine: 2, lines: 1 })).to.equal({
      text: 'Second line',
      fromLine: 2,
      totalLines: 4,
    });
  });

  it('reads a long text in parts, between characters, and says how much is missing', async () => {
    const path = 'long.txt';
    const content = `first\nx${'🤑'.repeat(150_000)}`;
    await run('write', { path, content });
    const long = await run('read', { path, fromLine: 2 });
    const missing = { missingChars: 37_858, nextOffset: 262_143 };
    expect(long.truncated).to.equal(missing);
    const rest = await run('read', { path, fromLine: 2, offset: missing.nextOffset });
    expect(rest).to.equal({ text: '🤑'.repeat(18_929), fromLine: 2, totalLines: 2 });
    expect(`first\n${long.text}${rest.text}`).to.equal(content);
    const narrow = await run('read', { path }, { longestResult: 1_000 });
    expect(JSON.stringify(narrow).length).to.be.at.most(1_000);
    await rm(join(folder, path));
  });

  it('writes, lists and searches', async () => {
    expect(await run('write', { path: 'new/two.txt', content: 'über\nsecond' })).to.equal({
      path: 'new/two.txt',
      size: 12,
    });
    const { entries, truncated } = await run('list', { levels: 2 });
    expect(entries.map(({ path, kind, size }: typeof entries) => [path, kind, size])).to.equal([
      ['new', 'folder', 0],
      ['new/two.txt', 'file', 12],
      ['notes', 'folder', 0],
      ['notes/bytes', 'file', 2],
      ['notes/one.txt', 'file', 24],
      ['passwd', 'other', 0],
    ]);
    expect(truncated).to.be.false();
    expect(await run('search', { text: 'SECOND', ignoreCase: true })).to.equal({
      matches: [
        { path: 'new/two.txt', line: 2, text: 'second' },
        { path: 'notes/one.txt', line: 2, text: 'Second line' },
      ],
      truncated: false,
    });
    expect((await run('search', { text: 'root', path: '' })).matches).to.equal([]);
    expect((await run('search', { text: 'second', path: 'notes' })).matches).to.equal([]);
  });

  it('stops searching when it is told to', async () => {
    const over = new AbortController();
    over.abort(new Error('enough'));
    await expect(run('search', { text: 'x' }, { signal: over.signal })).to.reject('enough');
  });

  it('refuses what is not in its folder, and what is no text, by the name of the argument', async () => {
    const cases: [string, Record<string, unknown>, string][] = [
      ['read', { path: '../x' }, '../x must not contain ".."'],
      ['read', { path: '/etc/passwd' }, '/etc/passwd must be relative to the folder'],
      ['read', { path: 'passwd' }, 'passwd is a symbolic link'],
      ['read', { path: 'notes/bytes' }, 'notes/bytes is not UTF-8 text'],
      ['write', { path: 'passwd', content: '' }, 'passwd is not a regular file'],
      ['list', { path: '..' }, '.. must not contain ".."'],
      ['search', { text: 'x', path: 'nowhere' }, 'nowhere does not exist'],
    ];
    for (const [name, args, sentence] of cases) {
      const message = `cannot be used: ${sentence}`;
      expect(await failureOf(run(name, args))).to.equal({
        name: 'ToolRefused',
        message: `files.${name}: path ${message}`,
        details: [{ path: 'path', message }],
      });
    }
  });

  it('has no effects outside, and brings in nothing from there', () => {
    for (const tool of filesTools().tools) {
      const { sideEffects, sendsOut, outside, needs } = tool;
      expect([sideEffects, sendsOut, outside, needs]).to.equal([false, false, false, null]);
    }
  });
});
