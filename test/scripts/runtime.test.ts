import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Clone, cloneProject, ended } from '../harness/clone.js';
import { projectRoot } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const REFUSAL = 'Adjutant needs Node 22.14 or later. This is Node 20.18.3.';
const INSTALLING = /^adjutant: installing Node \d+\.\d+\.\d+, because this is 20\.18\.3\n/;
/** Makes this Node an old one, for the process that imports it and not for its children. */
const OLD = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.18.3'})`;
/** Stands in for npm: "installs" this Node, as the lock file in its folder says. */
const NPM = `
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
const [, , ci, , folder] = process.argv;
const lock = readFileSync(folder + '/package-lock.json', 'utf8');
const [, path] = Object.keys(JSON.parse(lock).packages);
if (process.env.FAIL) {
  console.error('npm error code ' + process.env.FAIL);
  process.exit(1);
}
mkdirSync(folder + '/' + path + '/bin', { recursive: true });
symlinkSync(process.execPath, folder + '/' + path + '/bin/node');
writeFileSync(folder + '/node_modules/.package-lock.json', lock);
`;
/** Stands in for a program: it prints what Node it runs in, with its arguments. */
const CLI = `
export const main = async ([, , ...args]: string[]): Promise<void> => {
  process.once('SIGTERM', () => process.exit(7));
  if (args[0] === 'serve') setInterval(() => undefined, 1000);
  console.log(process.versions.node, ...args);
};
`;

describe('an older Node', () => {
  let clone: Clone;
  beforeEach(() => {
    clone = cloneProject({
      'cli/main.ts': CLI,
      'src/main.ts': 'export {};',
      'fake/npm-cli.js': NPM,
    });
  });
  afterEach(() => clone.clear());

  const old = (script: string, ...args: string[]) => ['--import', OLD, script, ...args];
  const npm = () => ({ npm_execpath: `${clone.folder}/fake/npm-cli.js` });

  it('is refused by the command in one line', async () => {
    const command = old('bin/adjutant.js', '--version');
    const refused = { code: 1, stdout: '', stderr: `${REFUSAL}\n` };
    expect(await clone.run(command)).to.equal(refused);
    clone.remove('scripts');
    expect(await clone.run(command)).to.equal(refused);
  });

  it('installs the pinned one once, for scripts and for the command', async () => {
    const first = await clone.run(old('scripts/build.js'), npm());
    expect(first.code).to.equal(0);
    expect(first.stderr.replace(INSTALLING, '')).to.equal('adjutant: building\n');
    const node = process.versions.node;
    expect(await clone.run(old('scripts/build.js'), npm())).to.equal({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect(await clone.run(old('bin/adjutant.js', 'ask', 'two words'))).to.equal({
      code: 0,
      stdout: `${node} ask two words\n`,
      stderr: '',
    });
    const lock = JSON.parse(clone.read('.runtime/package-lock.json'));
    const pins = readFileSync(join(projectRoot(), 'scripts/runtime.json'), 'utf8');
    const pin = JSON.parse(pins)[`${process.platform}-${process.arch}`];
    expect(lock.packages[`node_modules/${pin.package}`]).to.equal({
      version: pin.version,
      integrity: pin.integrity,
    });
  });

  it('hands signals on, and ends as its child does', async () => {
    await clone.run(old('scripts/build.js'), npm());
    const child = clone.start(old('bin/adjutant.js', 'serve'));
    const end = ended(child);
    if (child.stdout) await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await end).to.equal({
      code: 7,
      stdout: `${process.versions.node} serve\n`,
      stderr: '',
    });
  });

  it('is named with the cause where npm cannot install another', async () => {
    const { code, stderr } = await clone.run(old('scripts/build.js'), {
      ...npm(),
      FAIL: 'EINTEGRITY',
    });
    expect(code).to.equal(1);
    expect(stderr.replace(INSTALLING, '')).to.match(
      /^Adjutant needs Node 22\.14 or later. This is Node 20\.18\.3\. npm could not install node[\w-]*@[\d.]+ \(EINTEGRITY\)\.\n$/,
    );
  });

  it('is named where there is none for the platform', async () => {
    clone.write({ 'scripts/runtime.json': '{}' });
    expect(await clone.run(old('scripts/build.js'), npm())).to.equal({
      code: 1,
      stdout: '',
      stderr: `${REFUSAL} Install a newer version from https://nodejs.org.\n`,
    });
  });

  it('is older than what the package asks for', () => {
    const { engines } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
    expect(engines).to.equal({ node: '>=22.14' });
  });
});
