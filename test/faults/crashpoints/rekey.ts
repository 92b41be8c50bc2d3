import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import Database from 'better-sqlite3';
import { loadMasterKey } from '../../../src/secrets/master.js';
import { SEALED } from '../../../src/secrets/sealedcolumns.js';
import { addHook } from '../../harness/account.js';
import { atCrashPoints, type Family } from './crashpoints.js';

const PASSWORD = 'correct horse battery';

const keyFile = (home: string): string => join(home, 'keys', 'master.key');

/** All sealed values by place. Throws if the keys in the home do not open one. */
const unsealed = (home: string): Map<string, string> => {
  const { keyring } = loadMasterKey(home, null);
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  try {
    const rows = SEALED.flatMap(({ table, key, column, bound, where = '1' }) =>
      db
        .prepare<[], { place: string; sealed: string; bound: string }>(
          `SELECT '${table}.${column} ' || ${key} AS place, ${column} AS sealed, ${bound} AS bound
           FROM ${table} WHERE ${column} IS NOT NULL AND ${where}`,
        )
        .all(),
    );
    return new Map(
      rows.map((row) => [row.place, keyring.unseal(row.bound, row.sealed).toString('base64')]),
    );
  } finally {
    db.close();
  }
};

export const rekeyCrashes: Family = ({ describe, it }, points) => {
  describe('a change of the master key, with kills after its changes', () => {
    it('is finished by the next start once it has begun, and every secret opens', async () => {
      let secrets = new Map<string, string>();
      let credential = '';
      const changes = await atCrashPoints(points, {
        prepare: async ({ owner, home }) => {
          credential = (await owner.vault.create({ body: { name: 'pat', value: 'one' } })).id;
          await owner.vault.rotate({ id: credential, body: { value: 'two' } });
          const action = { action: 'notify' as const, actionConfig: { notifyMessage: 'x' } };
          await addHook(owner, { name: 'in', path: 'in', secret: 'a secret', ...action });
          secrets = unsealed(home);
        },
        round: () => {
          let before = '';
          return {
            run: async ({ owner, home }) => {
              before = readFileSync(keyFile(home), 'utf8');
              await owner.vault.rekey();
            },
            verify: async ({ owner, home }, _, changes) => {
              expect(existsSync(`${keyFile(home)}.next`)).to.be.false();
              expect(unsealed(home)).to.equal(secrets);
              const { value } = await owner.vault.reveal({
                id: credential,
                body: { password: PASSWORD },
              });
              expect(value).to.equal('two');
              expect((await owner.audit.verify()).ok).to.be.true();
              // The change has begun once the new key has its name.
              const isChanged = readFileSync(keyFile(home), 'utf8') !== before;
              expect(isChanged).to.equal(changes.includes('rename'));
            },
          };
        },
      });
      expect(changes.filter((change) => change === 'rename')).to.have.length(2);
      expect(changes.filter((change) => change === 'commit').length).to.be.at.least(5);
      expect(changes).to.include('reply POST /api/admin/vault/rekey');
    });
  });
};
