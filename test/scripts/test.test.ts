import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilMatches } from '../harness/app.js';
import { type Clone, cloneProject } from '../harness/clone.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HEAD = `
import * as Lab from '@hapi/lab';
export const lab = Lab.script();
`;
const FINE = `${HEAD}
lab.test('passes', () => undefined);
lab.test('is told <why> (strace is not installed)', { skip: true }, () => undefined);
lab.test('prints', () => {
  const { PATH, TERM, CI, NODE_OPTIONS, NODE_V8_COVERAGE, ...rest } = process.env;
  console.log('environment', Object.keys(rest).sort().join(' '), rest['NODE_ENV'], rest['TZ']);
});
`;
const BROKEN = `${HEAD}
lab.test('fails', () => { throw new Error('on purpose'); });
`;
const DEAD = `${HEAD}
lab.test('ends the runner', () => process.exit(0));
`;
/** Passes when it runs again. The file of the first time lies in the project, which both share. */
const ODD = `${HEAD}
import { existsSync, writeFileSync } from 'node:fs';
lab.test('is odd', () => {
  const mark = import.meta.filename + '.ran';
  if (existsSync(mark)) return;
  writeFileSync(mark, '');
  throw new Error('not yet');
});
`;
/** Interrupts the runner as soon as both files run, and never ends. */
const ENDLESS = `${HEAD}
import { readdirSync, writeFileSync } from 'node:fs';
lab.test('never ends', () => {
  const folder = import.meta.dirname;
  writeFileSync(folder + '/' + process.pid + '.pid', '');
  const running = readdirSync(folder).filter((name) => name.endsWith('.pid'));
  if (running.length === 2) process.kill(process.ppid, 'SIGTERM');
  return new Promise(() => setInterval(() => undefined, 60_000));
});
`;
const ENVIRONMENT = `HOME LANG NODE_ENV TMPDIR TZ ${[
  'CACHE_HOME',
  'CONFIG_HOME',
  'DATA_HOME',
  'RUNTIME_DIR',
  'STATE_HOME',
]
  .map((name) => `XDG_${name}`)
  .join(' ')} test UTC`;

describe('test', () => {
  let clone: Clone;
  const run = async (args: string[], environment: Record<string, string> = {}) => {
    const set = { CI: '', ADJUTANT_HOME: '/nowhere', ...environment };
    const { code, stdout, stderr } = await clone.run(['scripts/test.js', ...args], set);
    const lines = stdout.trimEnd().split('\n');
    const running = lines.filter((line) => line.startsWith('running '));
    return { code, last: lines.at(-1), lines, running, stderr };
  };
  before(async () => {
    clone = cloneProject({
      'test/fine.test.ts': FINE,
      'test/bad/broken.test.ts': BROKEN,
      'test/dead.test.ts': DEAD,
      'test/odd.test.ts': ODD,
      'test/faults/odd.test.ts': ODD,
      'test/endless/one.long.test.ts': ENDLESS,
      'test/endless/other.long.test.ts': ENDLESS,
      'test/harness.ts': "throw new Error('not a test');\n",
    });
    await clone.run(['scripts/build.js']);
  });
  after(() => clone.clear());

  it('counts what passed and lists what was skipped', async () => {
    const { code, last, lines } = await run(['test/fine.test.ts']);
    expect({ code, last }).to.equal({ code: 0, last: '2 passed, 0 failed, 1 skipped' });
    expect(lines.at(-2)).to.equal('skipped: is told <why> (strace is not installed)');
  });

  it('shows the tests an environment that is the same everywhere', async () => {
    const { lines } = await run(['test/fine.test.ts']);
    expect(lines.some((line) => line.endsWith(`environment ${ENVIRONMENT}`))).to.be.true();
  });

  it('counts what was skipped as failed in CI', async () => {
    const { code, last } = await run(['test/fine.test.ts'], { CI: 'true' });
    expect({ code, last }).to.equal({ code: 1, last: '2 passed, 1 failed' });
  });

  it('fails with a failing test, in folders too', async () => {
    const { code, last } = await run(['test/bad']);
    expect({ code, last }).to.equal({ code: 1, last: '0 passed, 1 failed' });
  });

  it('fails when the runner ends before its report', async () => {
    const { code, lines } = await run(['test/dead.test.ts']);
    expect(code).to.equal(1);
    expect(lines.slice(-2)).to.equal([
      'failed: test/dead.test.ts: the test process ended: 0',
      '0 passed, 1 failed',
    ]);
  });

  it('runs every test, and tests alone, where none is named', async () => {
    const { code, last } = await run(['-g', 'pass|fail|told']);
    expect({ code, last }).to.equal({ code: 1, last: '1 passed, 1 failed, 1 skipped' });
  });

  it('runs the files of a module, by any part of their paths, and says which', async () => {
    const fine = 'running test/fine.test.ts';
    const broken = 'running test/bad/broken.test.ts';
    for (const [words, code, last, running] of [
      [['fine'], 0, '2 passed, 0 failed, 1 skipped', [fine]],
      [['bad'], 1, '0 passed, 1 failed', [broken]],
      [['bad/broken'], 1, '0 passed, 1 failed', [broken]],
      [['broken', 'test/fine.test.ts'], 1, '2 passed, 1 failed, 1 skipped', [broken, fine]],
      [['fine', '-g', 'passes'], 0, '1 passed, 0 failed', [fine]],
    ] as const) {
      expect(await run([...words])).to.include({ code, last, running: [...running] });
    }
  });

  it('runs nothing for a word that no file matches', async () => {
    for (const word of ['fin', 'harness', 'test/none', 'test/ad']) {
      const { code, stderr, lines } = await run(['fine', word]);
      expect({ code, lines }).to.equal({ code: 2, lines: [''] });
      expect(stderr).to.startWith(
        `adjutant: no test file matches "${word}". Pass a file, a folder`,
      );
    }
  });

  it('runs the files of each tier by themselves, and any that is named', async () => {
    const tiers = cloneProject({
      'test/fine.test.ts': FINE,
      'test/much.long.test.ts': FINE,
      'test/quick.speed.test.ts': FINE,
    });
    try {
      const ran = async (...args: string[]) => {
        const { stdout } = await tiers.run(['scripts/test.js', ...args], { CI: '' });
        return [...stdout.matchAll(/^ok test\/(\S+)/gm)].map(([, file]) => file);
      };
      expect(await ran()).to.equal(['fine.test.ts']);
      expect(await ran('--tier', 'long')).to.equal(['much.long.test.ts']);
      expect(await ran('--tier', 'speed')).to.equal(['quick.speed.test.ts']);
      expect(await ran('much')).to.equal(['much.long.test.ts']);
    } finally {
      tiers.clear();
    }
  });

  it('gives a failed file a second try, and names what passed then as unsteady', async () => {
    const { code, lines } = await run(['test/odd.test.ts']);
    expect({ code, lines: lines.slice(-2) }).to.equal({
      code: 0,
      lines: ['unsteady: test/odd.test.ts: is odd: not yet', '1 passed, 0 failed'],
    });
  });

  it('gives no second try to a test of safety', async () => {
    const { code, lines } = await run(['test/faults/odd.test.ts']);
    expect({ code, lines: lines.slice(-2) }).to.equal({
      code: 1,
      lines: ['failed: is odd: not yet', '0 passed, 1 failed'],
    });
  });

  it('ends all of its processes when it is interrupted', async () => {
    const { code } = await run(['--tier', 'long', 'test/endless']);
    const files = await readdir(join(clone.folder, 'dist/test/endless'));
    const ids = files.filter((name) => name.endsWith('.pid')).map((name) => name.split('.')[0]);
    expect({ code, running: ids.length }).to.equal({ code: 1, running: 2 });
    const commandOf = (id = '') => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
    await untilMatches(async () => (await Promise.all(ids.map(commandOf))).join(''), '');
  });

  it('fails when no test is meant', async () => {
    const { code, last } = await run(['-g', 'nothing of that name']);
    expect({ code, last }).to.equal({ code: 1, last: '0 passed, 1 failed' });
  });
});
