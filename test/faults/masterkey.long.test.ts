import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { loginOwner, registerOwner } from '../harness/account.js';
import { startDaemon, startRefused } from '../harness/daemon.js';
import { filesUnder } from './canaries/leaks.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const PASSWORD = 'correct horse battery';
const WRONG = 'The master key does not belong to this database. Nothing was changed. ';
const LOST = 'keys/master.key is missing, and the database of this home is sealed with it. ';
const CUT = 'A change of the master key was interrupted, and both keys are required to finish it. ';

describe('a start with a master key', () => {
  let home: string;
  let right: string;
  let credential: string;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-masterkey-'));
    const daemon = await startDaemon({ home });
    const owner = await registerOwner(daemon.url);
    credential = (await owner.vault.create({ body: { name: 'pat', value: 'the value' } })).id;
    await daemon.end('SIGTERM');
    right = readFileSync(keyFile(), 'utf8');
  });
  after(() => rm(home, { recursive: true }));

  const keyFile = () => join(home, 'keys', 'master.key');
  const other = () => `${randomBytes(32).toString('base64')}\n`;
  /** All that the home holds; of what SQLite keeps beside it only that nothing is in it. */
  const held = async () =>
    (await filesUnder(home))
      .filter(({ where, held }) => !/-(?:shm|wal)$|lock\.db/.test(where) || held.length > 32_768)
      .map(({ where, held }) => `${where} ${held.toString('base64')}`)
      .sort();

  const cases: [string, () => Record<string, string>, string][] = [
    [
      'of another home, in its file',
      () => {
        writeFileSync(keyFile(), other());
        return {};
      },
      WRONG,
    ],
    ['of another home, in the settings', () => ({ ADJUTANT_MASTER_KEY: other().trim() }), WRONG],
    [
      'that is gone',
      () => {
        rmSync(keyFile());
        return {};
      },
      LOST,
    ],
    [
      'of before a change that was cut short, alone',
      () => {
        writeFileSync(`${keyFile()}.next`, other());
        return { ADJUTANT_MASTER_KEY: right.trim() };
      },
      CUT,
    ],
    [
      'that a change was to bring, alone',
      () => {
        const coming = other();
        writeFileSync(`${keyFile()}.next`, coming);
        return { ADJUTANT_MASTER_KEY: coming.trim() };
      },
      CUT,
    ],
    [
      'that is no key',
      () => {
        writeFileSync(keyFile(), 'AAAA\n');
        return {};
      },
      '',
    ],
  ];
  for (const [which, put, sentence] of cases) {
    it(`${which}, is refused in one line, and leaves all as it was`, async () => {
      const env = put();
      const before = await held();
      const { code, stderr } = await startRefused({ home, env });
      expect([code, stderr.trim().split('\n').length]).to.equal([1, 1]);
      expect(stderr).to.startWith(
        sentence || `${keyFile()} must contain 32 bytes, encoded as base64 or hex`,
      );
      for (const key of [right, env.ADJUTANT_MASTER_KEY ?? right]) {
        expect(stderr).to.not.contain(key.trim());
      }
      expect(await held()).to.equal(before);
      writeFileSync(keyFile(), right);
      rmSync(`${keyFile()}.next`, { force: true });
    });
  }

  it('that is right, in its file or the settings, opens what was sealed', async () => {
    for (const isGiven of [false, true]) {
      const env: Record<string, string> = isGiven ? { ADJUTANT_MASTER_KEY: right.trim() } : {};
      if (isGiven) rmSync(keyFile());
      const daemon = await startDaemon({ home, env });
      const owner = await loginOwner(daemon.url);
      const revealed = owner.vault.reveal({ id: credential, body: { password: PASSWORD } });
      expect(await revealed).to.equal({ value: 'the value' });
      expect(existsSync(keyFile())).to.equal(!isGiven);
      await daemon.end('SIGTERM');
    }
  });
});
