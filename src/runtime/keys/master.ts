import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvelopeError, seal, unseal } from '../../kernel/envelope.js';
import { OpenRefused } from '../../store/protocol.js';
import type { Store } from '../../store/store.js';

const BYTES = 32;
const CHECK = 'master_key_check';
const BOUND = `facts:${CHECK}`;

export interface MasterKey {
  key: Buffer;
  /** The file that was made by this start, if one was. */
  made: string | null;
}

/** The key from the settings, else from `keys/master.key`, which is made (0600) at the first start. */
export const loadMasterKey = (home: string, given: string | null): MasterKey => {
  if (given !== null) return { key: decode(given, 'ADJUTANT_MASTER_KEY'), made: null };
  const file = join(home, 'keys', 'master.key');
  if (existsSync(file)) return { key: decode(readFileSync(file, 'utf8'), file), made: null };
  mkdirSync(join(home, 'keys'), { recursive: true, mode: 0o700 });
  const key = randomBytes(BYTES);
  writeFileSync(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  return { key, made: file };
};

/** A wrong key is found before anything is touched, by a value sealed at the first start. */
export const proveMasterKey = async (store: Store, key: Buffer): Promise<void> => {
  const kept = await store.db
    .selectFrom('facts')
    .select('value')
    .where('name', '=', CHECK)
    .executeTakeFirst();
  if (!kept) {
    const value = seal(key, BOUND, Buffer.from('adjutant'));
    await store.db.insertInto('facts').values({ name: CHECK, value }).execute();
    return;
  }
  try {
    unseal(key, BOUND, kept.value);
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    throw new OpenRefused(
      'The master key is not the one this database was made with. Nothing was changed. ' +
        'Put the right key into keys/master.key or ADJUTANT_MASTER_KEY',
    );
  }
};

const decode = (text: string, source: string): Buffer => {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? 'hex' : 'base64');
  if (key.length !== BYTES)
    throw new OpenRefused(`${source} must hold ${BYTES} bytes, base64 or hex`);
  return key;
};
