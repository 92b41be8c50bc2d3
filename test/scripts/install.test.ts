import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Clone, cloneProject } from '../harness/clone.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const LOCK_FILE = JSON.stringify({
  packages: { '': {}, 'node_modules/gone': { version: '1.0.0', integrity: 'sha512-x' } },
});
const NPM = `console.error('npm error code ENOTFOUND'); process.exit(1);`;

describe('install', () => {
  let clone: Clone;
  before(() => {
    clone = cloneProject({ 'package-lock.json': LOCK_FILE, 'fake/npm-cli.js': NPM });
  });
  after(() => clone.clear());

  it('fails with the error of npm', async () => {
    const npm_execpath = `${clone.folder}/fake/npm-cli.js`;
    expect(await clone.run(['scripts/build.js'], { npm_execpath })).to.equal({
      code: 1,
      stdout: '',
      stderr:
        'adjutant: installing packages\n' +
        'npm error code ENOTFOUND\n' +
        'adjutant: npm ci failed with exit code 1\n',
    });
  });
});
