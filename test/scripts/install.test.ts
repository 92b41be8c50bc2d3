import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Clone, cloneProject } from '../harness/clone.js';
import { projectRoot } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const LOCK_FILE = JSON.stringify({
  packages: { '': {}, 'node_modules/gone': { version: '1.0.0', integrity: 'sha512-x' } },
});
const NPM = `
console.error(process.argv.slice(2, 4).join(' '));
console.error('npm error code ENOTFOUND');
process.exit(1);`;

const json = (file: string) => JSON.parse(readFileSync(join(projectRoot(), file), 'utf8'));

describe('install', () => {
  let clone: Clone;
  before(() => {
    clone = cloneProject({ 'package-lock.json': LOCK_FILE, 'fake/npm-cli.js': NPM });
  });
  after(() => clone.clear());

  it('allows no package an install script', () => {
    const scripted = Object.entries(json('package-lock.json').packages)
      .filter(([, entry]) => (entry as { hasInstallScript?: boolean }).hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    const { allowScripts } = json('package.json');
    expect(scripted).to.equal(Object.keys(allowScripts));
    expect(new Set(Object.values(allowScripts))).to.equal(new Set([false]));
  });

  it('runs npm without install scripts and fails with its error', async () => {
    const npm_execpath = `${clone.folder}/fake/npm-cli.js`;
    expect(await clone.run(['scripts/build.js'], { npm_execpath })).to.equal({
      code: 1,
      stdout: '',
      stderr:
        'adjutant: installing packages\n' +
        'ci --ignore-scripts\n' +
        'npm error code ENOTFOUND\n' +
        'adjutant: npm ci failed with exit code 1\n',
    });
  });
});
