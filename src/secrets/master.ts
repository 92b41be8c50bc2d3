import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { renameDurably, writeDurably } from '../kernel/durable.js';
import { EnvelopeError } from '../kernel/envelope.js';
import { makePrivateFolder } from '../kernel/private.js';
import { OpenRefused } from '../store/engine/protocol.js';
import { readFact, writeFact } from '../store/facts.js';
import type { Store } from '../store/store.js';
import { Keyring } from './keyring.js';
import { CHECK } from './sealedcolumns.js';

const BYTES = 32;
const BOUND = `facts:${CHECK}`;

export interface MasterKey {
  keyring: Keyring;
  /** Null if the key comes from the settings. */
  file: MasterFile | null;
  /** Path of the key file if this start created it. */
  made: string | null;
}

/** Reads the key from the settings, else from `keys/master.key`, which the first start creates (0600). */
export const loadMasterKey = (home: string, fromSettings: string | null): MasterKey => {
  if (fromSettings !== null) {
    refuseCutChange(home);
    const keyring = new Keyring([decode(fromSettings, 'ADJUTANT_MASTER_KEY')]);
    return { keyring, file: null, made: null };
  }
  const folder = join(home, 'keys');
  const path = getKeyFilePath(home);
  // Older versions could leave an empty file on a full disk.
  const isNew = !existsSync(path) || statSync(path).size === 0;
  if (isNew) {
    refuseLost(home);
    makePrivateFolder(folder);
    writeKey(path, randomBytes(BYTES));
  }
  return { keyring: keyringIn(path), file: openKeyFile(path), made: isNew ? path : null };
};

/** Like loadMasterKey, but creates no key. Throws OpenRefused if there is none. */
export const readMasterKey = (home: string, fromSettings: string | null): Keyring => {
  if (fromSettings !== null) return new Keyring([decode(fromSettings, 'ADJUTANT_MASTER_KEY')]);
  const path = getKeyFilePath(home);
  if (existsSync(path)) return keyringIn(path);
  throw new OpenRefused(
    `${path} is missing. Restore the file, or set ADJUTANT_MASTER_KEY to its content`,
  );
};

const getKeyFilePath = (home: string): string => join(home, 'keys', 'master.key');

const keyringIn = (path: string): Keyring => {
  const keyring = new Keyring([decode(readFileSync(path, 'utf8'), path)]);
  const coming = `${path}.next`;
  if (existsSync(coming)) addComing(keyring, coming);
  return keyring;
};

/** During an unfinished change of the key, neither key opens all values. */
const refuseCutChange = (home: string): void => {
  const coming = join(home, 'keys', 'master.key.next');
  if (!existsSync(coming) || comingIn(coming) === null) return;
  throw new OpenRefused(
    'A change of the master key was interrupted, and both keys are required to finish it. Nothing ' +
      'was changed. Start once without ADJUTANT_MASTER_KEY, with keys/master.key and keys/master.key.next in place',
  );
};

/** A new key would open none of the existing values. */
const refuseLost = (home: string): void => {
  if (!isDatabase(join(home, 'adjutant.db'))) return;
  throw new OpenRefused(
    'keys/master.key is missing, and the database of this home is sealed with it. Nothing was ' +
      'changed. Restore the file, or set ADJUTANT_MASTER_KEY to its content',
  );
};

/** The store refuses another file with its own message. */
const isDatabase = (path: string): boolean => {
  if (!existsSync(path)) return false;
  const head = Buffer.alloc(SQLITE.length);
  const handle = openSync(path, 'r');
  try {
    readSync(handle, head);
  } finally {
    closeSync(handle);
  }
  return head.equals(SQLITE);
};
/** SQLite, Database File Format, 1.3. */
const SQLITE = Buffer.from('SQLite format 3\0');

const addComing = (keyring: Keyring, path: string): void => {
  const text = comingIn(path);
  if (text !== null) keyring.add(decode(text, path));
};

/** Null if the file is incomplete. Older versions could leave one; nothing is sealed with that key yet. */
const comingIn = (path: string): string | null => {
  const text = readFileSync(path, 'utf8');
  return text.endsWith('\n') ? text : null;
};

/** `master.key.next` holds the new key during a change. */
const openKeyFile = (path: string) => ({
  /** Durable when it returns. */
  writeComing: (key: Buffer): void => {
    writeKey(`${path}.next`, key);
  },
  /** Replaces the old key with the new one. */
  replace: (): void => {
    renameDurably(`${path}.next`, path);
  },
});

export type MasterFile = ReturnType<typeof openKeyFile>;

const writeKey = (path: string, key: Buffer): void =>
  writeDurably(path, `${key.toString('base64')}\n`);

/** Tests a value that was sealed at the first start. Throws OpenRefused before anything is changed. */
export const verifyMasterKey = async (store: Store, keyring: Keyring): Promise<void> => {
  const kept = await readFact(store, CHECK);
  if (!kept) {
    await writeFact(store, CHECK, keyring.seal(BOUND, Buffer.from('adjutant'))).execute();
    return;
  }
  try {
    keyring.unseal(BOUND, kept);
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    throw new OpenRefused(
      'The master key does not belong to this database. Nothing was changed. ' +
        'Put the right key into keys/master.key or ADJUTANT_MASTER_KEY',
    );
  }
};

const decode = (text: string, source: string): Buffer => {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? 'hex' : 'base64');
  if (key.length !== BYTES)
    throw new OpenRefused(`${source} must contain ${BYTES} bytes, encoded as base64 or hex`);
  return key;
};
