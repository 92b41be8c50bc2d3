import { dirname, join } from 'node:path';
import { isRecord } from '../kernel/jsonvalue.js';
import type { Client, Login } from './index.js';
import { keepFile, placeKey, readJson, sessionFile } from './session.js';

/** Device tokens by user name, for each daemon. The token kept most recently is last. */
type KeptDevices = Record<string, Record<string, string>>;

/**
 * Returns the path of `adjutant/devices.json` beside the session file. Only the user can read it,
 * and a logout keeps it.
 */
const devicesFile = (): string => join(dirname(sessionFile()), 'devices.json');

/**
 * Returns the token by which the daemon at that address recognizes this machine after a login with
 * that name. Without a name, returns the token that was kept most recently.
 */
export const readDeviceToken = (url: string, name?: string): string | undefined => {
  const kept = readAll()[placeKey(url)] ?? {};
  return name === undefined ? Object.values(kept).at(-1) : kept[nameKey(name)];
};

/** Logs in with the token of this machine, and keeps the token that the daemon returns. */
export const logInFromDevice = async (
  client: Client,
  given: { username: string; password: string; totpCode?: string; device?: string },
): Promise<Login> => {
  const deviceToken = readDeviceToken(client.url, given.username);
  const body = deviceToken === undefined ? given : { ...given, deviceToken };
  return keepDevice(client, await client.auth.login({ body }), given.username);
};

/**
 * Keeps the token that came with a login, under the name of the account and under the name that was
 * typed.
 */
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

/**
 * Reads the kept tokens. Ours: a file that cannot be read counts as empty, since the next login
 * writes it anew.
 */
const readAll = (): KeptDevices => {
  const all = readJson(devicesFile());
  return isKept(all) ? all : {};
};

const isKept = (all: unknown): all is KeptDevices =>
  isRecord(all) &&
  Object.values(all).every(
    (names) => isRecord(names) && Object.values(names).every((token) => typeof token === 'string'),
  );
