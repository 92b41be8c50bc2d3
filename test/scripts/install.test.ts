import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Clone, cloneProject } from '../harness/clone.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const LOCK_FILE = JSON.stringify({
  packages: { '': {}, 'node_modules/gone': { version: '1.0.0', integrity: 'sha512-x' } },
});
const NPM = `console.error('npm error gyp ERR! find Python'); process.exit(1);`;
const HELP = [
  '  Debian, Ubuntu: sudo apt-get install -y python3 make g++',
  '  Fedora, RHEL:   sudo dnf install -y python3 make gcc-c++',
  '  Alpine:         apk add python3 make g++',
  '  Arch:           sudo pacman -S --needed python make gcc',
  '  macOS:          xcode-select --install',
  'Then run this again.',
  '',
];

describe('install', () => {
  let clone: Clone;
  before(() => {
    clone = cloneProject({
      'src/one.ts': 'export const one = 1;\n',
      'package-lock.json': LOCK_FILE,
      'fake/npm-cli.js': NPM,
    });
  });
  after(() => clone.clear());

  /** The lines of an installation on a machine that has these programs, and no others. */
  const failing = async (programs: string[]): Promise<string[]> => {
    const bin = join(clone.folder, `bin-${programs.length}`);
    mkdirSync(bin);
    for (const program of programs) symlinkSync(pathOf('true'), join(bin, program));
    const npm_execpath = join(clone.folder, 'fake/npm-cli.js');
    const ended = await clone.run(['scripts/build.js'], { PATH: bin, npm_execpath });
    expect([ended.code, ended.stdout]).to.equal([1, '']);
    return ended.stderr.split('\n');
  };

  it('that cannot compile SQLite says what is missing, and how to get it', async () => {
    expect(await failing(['make'])).to.equal([
      'adjutant: installing packages (better-sqlite3 may compile, about 70 s)',
      'npm error gyp ERR! find Python',
      'adjutant: npm ci failed with exit code 1',
      'better-sqlite3 is compiled with python3, make and a C++ compiler. Missing here: python3, a C++ compiler.',
      ...HELP,
    ]);
  });

  it('asks for no compiler where all is there', async () => {
    expect((await failing(['python3', 'make', 'clang++'])).slice(2)).to.equal([
      'adjutant: npm ci failed with exit code 1',
      '',
    ]);
  });
});

const pathOf = (program: string): string => {
  const { PATH = '' } = process.env;
  const folders = PATH.split(delimiter);
  return folders.map((folder) => join(folder, program)).find(existsSync) ?? program;
};
