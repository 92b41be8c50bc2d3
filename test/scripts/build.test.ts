import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Clone, cloneProject } from '../harness/clone.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const BUILD = ['scripts/build.js'];
const BUILDING = 'adjutant: building\n';
const WAITING = 'adjutant: waiting for another installation or build\n';

describe('build', () => {
  let clone: Clone;
  before(async () => {
    clone = cloneProject({
      'src/one.ts': 'export const one: number = 1;\n',
      'src/pages/page.html': '<p>',
      'test/spec/spec.md': '# Spec\n',
    });
    await clone.run(BUILD);
  });
  after(() => clone.clear());

  it('compiles TypeScript and copies the rest', () => {
    expect(clone.read('dist/src/one.js')).to.startWith('export const one = 1;');
    expect(clone.read('dist/src/pages/page.html')).to.equal('<p>');
    expect(clone.read('dist/test/spec/spec.md')).to.equal('# Spec\n');
  });

  it('does nothing while nothing changes', async () => {
    expect(await clone.run(BUILD)).to.equal({ code: 0, stdout: '', stderr: '' });
  });

  it('builds once for two that come at once', async () => {
    clone.write({ 'src/three.ts': 'export const three = 3;\n' });
    const runs = await Promise.all([clone.run(BUILD), clone.run(BUILD)]);
    expect(runs.map(({ code }) => code)).to.equal([0, 0]);
    expect(runs.map(({ stderr }) => stderr).sort()).to.equal([BUILDING, WAITING]);
    expect(clone.has('dist/src/three.js')).to.be.true();
  });

  it('removes what no source stands behind any more', async () => {
    clone.write({ 'src/old/two.ts': 'export const two = 2;\n', 'src/old/two.css': 'p {}' });
    await clone.run(BUILD);
    expect(clone.has('dist/src/old/two.js')).to.be.true();
    clone.remove('src/old');
    expect((await clone.run(BUILD)).code).to.equal(0);
    expect(clone.has('dist/src/old')).to.be.false();
    expect(clone.has('dist/src/one.js.map')).to.be.true();
  });

  it('fails on a wrong type, and again until it is mended', async () => {
    clone.write({ 'src/wrong.ts': 'export const one: number = "1";\n' });
    for (const { code, stderr } of [await clone.run(BUILD), await clone.run(BUILD)]) {
      expect(code).to.equal(1);
      expect(stderr).to.contain('src/wrong.ts(1,14): error TS2322');
      expect(stderr).to.endWith('adjutant: the build failed\n');
    }
    clone.remove('src/wrong.ts');
    expect((await clone.run(BUILD)).code).to.equal(0);
  });

  it('takes over the lock of one that was killed', async () => {
    const lock = join(clone.folder, 'dist/.lock');
    mkdirSync(lock);
    utimesSync(lock, 0, 0);
    expect(await clone.run(BUILD)).to.equal({ code: 0, stdout: '', stderr: WAITING });
    expect(clone.has('dist/.lock')).to.be.false();
  });
});
