import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ConfinedRun } from '../../../src/providers/confine/confinement.js';
import { argvFault, checkRun } from '../../../src/providers/confine/request.js';
import { type Ground, ground } from './ground.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('argvFault', () => {
  it('lets arguments of every kind through', () => {
    expect(argvFault(['ls', '', '--', '-rf', 'ü\n'])).to.be.null();
    expect(argvFault(Array(64).fill('x'))).to.be.null();
    expect(argvFault(['x'.repeat(32_767)])).to.be.null();
  });

  it('names what is wrong', () => {
    const faults = [[], Array(65).fill('x'), ['', 'x'], ['ls', 'a\0b'], ['ü'.repeat(16_384)]];
    expect(faults.map(argvFault)).to.equal([
      'must contain 1 to 64 strings',
      'must contain 1 to 64 strings',
      'must begin with the name of a program',
      'must not contain a NUL character',
      'must not exceed 32 KiB in total',
    ]);
  });
});

describe('checkRun', () => {
  let on: Ground;
  beforeEach(async () => {
    on = await ground();
  });
  afterEach(() => on.clear());

  it('returns the run with its folder resolved', async () => {
    const link = join(on.folder, '..', 'link');
    await symlink(on.folder, link);
    const run = on.run(['ls'], { folder: link });
    expect(await checkRun(run, ['/usr'])).to.equal({ ...run, folder: on.folder });
  });

  it('refuses what cannot be run, naming it', async () => {
    const link = join(on.folder, 'usr');
    await symlink('/usr/bin', link);
    const bad: [Partial<ConfinedRun>, string][] = [
      [{ argv: [] }, 'argv must contain 1 to 64 strings'],
      [{ timeoutMs: 900_001 }, 'timeoutMs must be 1 to 900000'],
      [{ timeoutMs: Number.NaN }, 'timeoutMs must be 1 to 900000'],
      [
        { env: { 'A=B': 'x' } },
        'env names must contain only letters, digits and _, and not begin with a digit (got "A=B")',
      ],
      [{ env: { A: 'x\0y' } }, 'env.A must not contain a NUL character'],
      [{ folder: 'agents' }, 'The folder agents must be an absolute path'],
      [
        { folder: '/no/such' },
        'The folder /no/such cannot be used: ENOENT. Check that the folder exists and can be read',
      ],
      [{ folder: link }, openFolder('/usr/bin')],
      [{ folder: '/usr' }, openFolder('/usr')],
      [{ folder: '/' }, openFolder('/')],
    ];
    for (const [part, sentence] of bad) {
      await expect(checkRun(on.run(['ls'], part), ['/usr'])).to.reject(sentence);
    }
  });
});

const openFolder = (folder: string): string =>
  `Every command can read the folder ${folder}. Move the data folder elsewhere`;
