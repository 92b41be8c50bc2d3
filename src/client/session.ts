import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isRecord } from '../kernel/jsonvalue.js';
import { makePrivateFolder } from '../kernel/private.js';

export interface StoredSession {
  token: string;
  username: string;
  expiresAt: string;
}
type KeptSessions = Record<string, StoredSession>;

/** The session file exists but is invalid. The message names the file. */
export class BadSessionFile extends Error {
  override name = 'BadSessionFile';
}

const DEFAULT_URL = 'http://127.0.0.1:3005';

export const clientEnvironment = (): ClientEnvironment => ({
  url: process.env.ADJUTANT_URL || ownUrl(),
  isUrlGiven: Boolean(process.env.ADJUTANT_URL),
  token: process.env.ADJUTANT_TOKEN || undefined,
  isTokenEmpty: process.env.ADJUTANT_TOKEN === '',
});

export const defaultListenAddress = (): ListenSocket => ({
  host: process.env.ADJUTANT_HOST || '127.0.0.1',
  port: Number(process.env.ADJUTANT_PORT || 3005),
});

interface ListenSocket {
  host: string;
  port: number;
}

export const urlOfListener = ({ host, port }: ListenSocket): string => {
  const reached = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
};

const ownUrl = (): string => {
  const address = defaultListenAddress();
  // The daemon refuses an invalid port; 0 is known only when it listens.
  return address.port > 0 ? urlOfListener(address) : DEFAULT_URL;
};

interface ClientEnvironment {
  url: string;
  isUrlGiven: boolean;
  token: string | undefined;
  isTokenEmpty: boolean;
}

/** ADJUTANT_TOKEN is sent only to the origin of ADJUTANT_URL or the default. */
export const environmentToken = (url: string): string | undefined => {
  const { url: own, token } = clientEnvironment();
  return toOrigin(url) === toOrigin(own) ? token : undefined;
};

const toOrigin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

/** With a screen reader, text is never rewritten. */
export const usesScreenReader = (): boolean => {
  const { ADJUTANT_ACCESSIBLE, ACCESSIBLE, INK_SCREEN_READER, TERM } = process.env;
  return Boolean(ADJUTANT_ACCESSIBLE || ACCESSIBLE || INK_SCREEN_READER) || TERM === 'dumb';
};

/** `adjutant/session.json` in the user's configuration folder (XDG). */
export const sessionFile = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'adjutant', 'session.json');

export const readSession = (url: string): StoredSession | null => readAll()[daemonKey(url)] ?? null;

/** `adjutant` in the user's cache folder (XDG). */
export const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'adjutant');

export const saveSession = (url: string, session: StoredSession): void => {
  writeAll({ ...readAll(), [daemonKey(url)]: session });
};

export const dropSession = (url: string): void => {
  const { [daemonKey(url)]: dropped, ...rest } = readAll();
  if (dropped) writeAll(rest);
};

/** One key per daemon, whatever the spelling of its URL. */
export const daemonKey = (url: string): string => new URL(url).href.replace(/\/+$/, '');

const readAll = (): KeptSessions => {
  const file = sessionFile();
  const all = readJson(file) ?? {};
  if (isKept(all)) return all;
  throw new BadSessionFile(
    `${file} is not a valid session file. Delete the file, then log in again.`,
  );
};

export const readJson = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? false;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

const writeAll = (all: KeptSessions): void => writeJsonFile(sessionFile(), all);

/** Mode 0600. Renamed into place, so a crash leaves the old file or the new one. */
export const writeJsonFile = (file: string, all: object): void => {
  makePrivateFolder(dirname(file));
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
  // The mode above applies to a new file only.
  chmodSync(next, 0o600);
  renameSync(next, file);
};

const isKept = (all: unknown): all is KeptSessions =>
  isRecord(all) && Object.values(all).every((one) => isRecord(one) && 'token' in one);
