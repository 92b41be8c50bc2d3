import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from '../kernel/private.js';

/** A login that is kept between commands. */
export interface KeptSession {
  token: string;
  username: string;
  /** ISO 8601. */
  expiresAt: string;
}
type KeptSessions = Record<string, KeptSession>;

/** The session file is there and cannot be read as one; the message names it. */
export class BadSessionFile extends Error {
  override name = 'BadSessionFile';
}

const DEFAULT_URL = 'http://127.0.0.1:3005';

/** What the environment says about where to ask, and as whom. */
export const surroundings = (): ClientEnvironment => ({
  url: process.env.ADJUTANT_URL || DEFAULT_URL,
  isUrlGiven: Boolean(process.env.ADJUTANT_URL),
  token: process.env.ADJUTANT_TOKEN || undefined,
  isTokenEmpty: process.env.ADJUTANT_TOKEN === '',
});

interface ClientEnvironment {
  url: string;
  /** The address is ADJUTANT_URL and not the usual one. */
  isUrlGiven: boolean;
  token: string | undefined;
  /** ADJUTANT_TOKEN is set, to nothing. */
  isTokenEmpty: boolean;
}

/**
 * ADJUTANT_TOKEN, where the address is of the origin of ADJUTANT_URL or of the default. It is sent
 * nowhere else: who names another daemon gives that one's token.
 */
export const environmentToken = (url: string): string | undefined => {
  const { url: own, token } = surroundings();
  return originOf(url) === originOf(own) ? token : undefined;
};

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

/** Whether what is written is read aloud: then nothing that was written is written again. */
export const isReadAloud = (): boolean => {
  const { ADJUTANT_ACCESSIBLE, ACCESSIBLE, INK_SCREEN_READER, TERM } = process.env;
  return Boolean(ADJUTANT_ACCESSIBLE || ACCESSIBLE || INK_SCREEN_READER) || TERM === 'dumb';
};

/** `adjutant/session.json` in the user's config folder (XDG). */
export const sessionFile = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'adjutant', 'session.json');

/** The login kept for that address, null where there is none. */
export const readSession = (url: string): KeptSession | null => readAll()[placeKey(url)] ?? null;

/** `adjutant` in the user's cache folder (XDG): what can be asked again. */
export const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'adjutant');

export const saveSession = (url: string, session: KeptSession): void => {
  writeAll({ ...readAll(), [placeKey(url)]: session });
};

export const dropSession = (url: string): void => {
  const { [placeKey(url)]: dropped, ...rest } = readAll();
  if (dropped) writeAll(rest);
};

/** One for each daemon, however its address is spelt. */
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

/** As JSON, 0600. Renamed into place, so that a crash leaves the old file or the new one. */
export const keepFile = (file: string, all: object): void => {
  makePrivateFolder(dirname(file));
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
  // The mode above holds for a new file alone.
  chmodSync(next, 0o600);
  renameSync(next, file);
};

const isKept = (all: unknown): all is KeptSessions =>
  typeof all === 'object' &&
  all !== null &&
  Object.values(all).every((one: unknown) => typeof one === 'object' && one && 'token' in one);

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
