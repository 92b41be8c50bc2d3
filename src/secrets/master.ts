import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { renameDurably, writeWhole } from '../kernel/durable.js';
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
  /** The file that holds the key; null if the key comes from the settings. */
  file: MasterFile | null;
  /** The path of the key file if this start created it, else null. */
  made: string | null;
}

/**
 * Loads the key from the settings, else from `keys/master.key`, which is created (0600) at the
 * first start.
 */
export const loadMasterKey = (home: string, given: string | null): MasterKey => {
  if (given !== null) {
    refuseCutChange(home);
    const keyring = new Keyring([decode(given, 'ADJUTANT_MASTER_KEY')]);
    return { keyring, file: null, made: null };
  }
  const folder = join(home, 'keys');
  const path = keyFileOf(home);
  // A version that wrote the key in place left an empty file where the disk was full.
  const isNew = !existsSync(path) || statSync(path).size === 0;
  if (isNew) {
    refuseLost(home);
    makePrivateFolder(folder);
    writeKey(path, randomBytes(BYTES));
  }
  return { keyring: keyringIn(path), file: fileOf(path), made: isNew ? path : null };
};

/** Reads the key from the settings or its file, and makes none. Throws OpenRefused without one. */
export const readMasterKey = (home: string, given: string | null): Keyring => {
  if (given !== null) return new Keyring([decode(given, 'ADJUTANT_MASTER_KEY')]);
  const path = keyFileOf(home);
  if (existsSync(path)) return keyringIn(path);
  throw new OpenRefused(
    `${path} is not there. Put it back, or its content into ADJUTANT_MASTER_KEY`,
  );
};

const keyFileOf = (home: string): string => join(home, 'keys', 'master.key');

const keyringIn = (path: string): Keyring => {
  const keyring = new Keyring([decode(readFileSync(path, 'utf8'), path)]);
  const coming = `${path}.next`;
  if (existsSync(coming)) addComing(keyring, coming);
  return keyring;
};

/**
 * Refuses to start during an unfinished change of the key. Some values are under the coming key and
 * some under the old one, so neither key opens all of them.
 */
const refuseCutChange = (home: string): void => {
  const coming = join(home, 'keys', 'master.key.next');
  if (!existsSync(coming) || comingIn(coming) === null) return;
  throw new OpenRefused(
    'A change of the master key was cut short, and it takes both keys to end it. Nothing was ' +
      'changed. Start once without ADJUTANT_MASTER_KEY, with keys/master.key and its .next in place',
  );
};

/**
 * Refuses to start if the key file is missing: a new key would open none of the existing values.
 */
const refuseLost = (home: string): void => {
  if (!isDatabase(join(home, 'adjutant.db'))) return;
  throw new OpenRefused(
    'keys/master.key is not there, and the database of this home is sealed with it. Nothing was ' +
      'changed. Put it back, or its content into ADJUTANT_MASTER_KEY',
  );
};

/** True if the file is an SQLite database. If not, the store refuses it with its own message. */
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
/** The first bytes of each database (SQLite, Database File Format, 1.3). */
const SQLITE = Buffer.from('SQLite format 3\0');

const addComing = (keyring: Keyring, path: string): void => {
  const text = comingIn(path);
  if (text !== null) keyring.add(decode(text, path));
};

/**
 * Returns the coming key's text; null if the file is incomplete. An older version may have left
 * such a file; nothing is sealed with that key yet, and the file is written anew.
 */
const comingIn = (path: string): string | null => {
  const text = readFileSync(path, 'utf8');
  return text.endsWith('\n') ? text : null;
};

/**
 * Opens the key file `keys/master.key`, with `master.key.next` beside it during a change of the key.
 */
const fileOf = (path: string) => ({
  /** Writes the coming key, durably. */
  writeComing: (key: Buffer): void => {
    writeKey(`${path}.next`, key);
  },
  /** Replaces the key by the coming one and removes the old key. */
  replace: (): void => {
    renameDurably(`${path}.next`, path);
  },
});

export type MasterFile = ReturnType<typeof fileOf>;

const writeKey = (path: string, key: Buffer): void =>
  writeWhole(path, `${key.toString('base64')}\n`);

/**
 * Throws OpenRefused if the master key is wrong, before anything is changed. The test is a value
 * that was sealed at the first start.
 */
export const proveMasterKey = async (store: Store, keyring: Keyring): Promise<void> => {
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
