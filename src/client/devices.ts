import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client, Login } from './index.js';
import { keepFile, placeKey, sessionFile } from './session.js';

/** Tokens by name, for each daemon; the one that was kept last stands last. */
type KeptDevices = Record<string, Record<string, string>>;

/** `adjutant/devices.json` beside the logins, readable by its owner alone; a logout leaves it. */
const devicesFile = (): string => join(dirname(sessionFile()), 'devices.json');

/**
 * The token by which the daemon at that address knows this machine again, after a login of that
 * name; without a name the one that was kept last.
 */
export const readDeviceToken = (url: string, name?: string): string | undefined => {
  const kept = readAll()[placeKey(url)] ?? {};
  return name === undefined ? Object.values(kept).at(-1) : kept[nameKey(name)];
};

/** Logs in with the token of this machine, and keeps the one that the daemon gives. */
export const logInKnown = async (
  client: Client,
  given: { username: string; password: string; totpCode?: string; device?: string },
): Promise<Login> => {
  const deviceToken = readDeviceToken(client.url, given.username);
  const body = deviceToken === undefined ? given : { ...given, deviceToken };
  return keepDevice(client, await client.auth.login({ body }), given.username);
};

/** Keeps the token that came with a login, by the name of the account and the one that was typed. */
export const keepDevice = (client: Client, login: Login, typed?: string): Login => {
  const { deviceToken, user } = login;
  const names = typed === undefined ? [user.username] : [typed, user.username];
  if (deviceToken !== undefined) saveDeviceToken(client.url, names, deviceToken);
  return login;
};

const saveDeviceToken = (url: string, names: string[], token: string): void => {
  const all = readAll();
  const kept = { ...all[placeKey(url)] };
  for (const name of names.map(nameKey)) {
    delete kept[name];
    kept[name] = token;
  }
  keepFile(devicesFile(), { ...all, [placeKey(url)]: kept });
};

const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

/** Ours: one that cannot be read holds nothing, since the next login makes it anew. */
const readAll = (): KeptDevices => {
  try {
    const all: unknown = JSON.parse(readFileSync(devicesFile(), 'utf8'));
    if (isKept(all)) return all;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing && !(error instanceof SyntaxError)) throw error;
  }
  return {};
};

const isKept = (all: unknown): all is KeptDevices =>
  isRecord(all) &&
  Object.values(all).every(
    (names) => isRecord(names) && Object.values(names).every((token) => typeof token === 'string'),
  );

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
