import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from '../kernel/private.js';

/** A login that is kept between two commands. */
export interface KeptSession {
  token: string;
  username: string;
  /** The expiry in ISO 8601. */
  expiresAt: string;
}
type KeptSessions = Record<string, KeptSession>;

/** The error if the session file exists and does not hold logins. The message names the file. */
export class BadSessionFile extends Error {
  override name = 'BadSessionFile';
}

const DEFAULT_URL = 'http://127.0.0.1:3005';

/** Returns the daemon's address and the token from the environment. */
export const surroundings = (): ClientEnvironment => ({
  url: process.env.ADJUTANT_URL || DEFAULT_URL,
  isUrlGiven: Boolean(process.env.ADJUTANT_URL),
  token: process.env.ADJUTANT_TOKEN || undefined,
  isTokenEmpty: process.env.ADJUTANT_TOKEN === '',
});

interface ClientEnvironment {
  url: string;
  /** True if the address is from ADJUTANT_URL and is not the default. */
  isUrlGiven: boolean;
  token: string | undefined;
  /** True if ADJUTANT_TOKEN is set to an empty string. */
  isTokenEmpty: boolean;
}

/**
 * Returns ADJUTANT_TOKEN if the address has the origin of ADJUTANT_URL or of the default. It is
 * sent nowhere else: for another daemon the user must give a token of that daemon.
 */
export const environmentToken = (url: string): string | undefined => {
  const { url: own, token } = surroundings();
  return originOf(url) === originOf(own) ? token : undefined;
};

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

/** True if a screen reader reads the output. Text that was written is then never written again. */
export const isReadAloud = (): boolean => {
  const { ADJUTANT_ACCESSIBLE, ACCESSIBLE, INK_SCREEN_READER, TERM } = process.env;
  return Boolean(ADJUTANT_ACCESSIBLE || ACCESSIBLE || INK_SCREEN_READER) || TERM === 'dumb';
};

/** Returns the path of `adjutant/session.json` in the user's configuration folder (XDG). */
export const sessionFile = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'adjutant', 'session.json');

/** Returns the login kept for that address; null if there is none. */
export const readSession = (url: string): KeptSession | null => readAll()[placeKey(url)] ?? null;

/** Returns `adjutant` in the user's cache folder (XDG), for data that can be fetched again. */
export const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'adjutant');

export const saveSession = (url: string, session: KeptSession): void => {
  writeAll({ ...readAll(), [placeKey(url)]: session });
};

export const dropSession = (url: string): void => {
  const { [placeKey(url)]: dropped, ...rest } = readAll();
  if (dropped) writeAll(rest);
};

/** Returns one key for each daemon, whatever the spelling of its address. */
export const placeKey = (url: string): string => new URL(url).href.replace(/\/+$/, '');

const readAll = (): KeptSessions => {
  const file = sessionFile();
  try {
    const all: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isKept(all)) return all;
  } catch (error) {
    if (isMissing(error)) return {};
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new BadSessionFile(`${file} does not hold logins. Remove it, then log in again.`);
};

const writeAll = (all: KeptSessions): void => keepFile(sessionFile(), all);

/**
 * Writes a file as JSON with mode 0600. It is renamed into place, so a crash leaves the old file or
 * the new one.
 */
export const keepFile = (file: string, all: object): void => {
  makePrivateFolder(dirname(file));
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
  // The mode above applies to a new file only.
  chmodSync(next, 0o600);
  renameSync(next, file);
};

const isKept = (all: unknown): all is KeptSessions =>
  typeof all === 'object' &&
  all !== null &&
  Object.values(all).every((one: unknown) => typeof one === 'object' && one && 'token' in one);

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
