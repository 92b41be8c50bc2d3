import { dirname, join } from 'node:path';
import { isRecord } from '../kernel/jsonvalue.js';
import type { Client, Login } from './index.js';
import { daemonKey, readJson, sessionFile, writeJsonFile } from './session.js';

/** By daemon and user name. The newest token is last. */
type KeptDevices = Record<string, Record<string, string>>;

/** Beside the session file, readable only by the user. Kept at logout. */
const devicesFile = (): string => join(dirname(sessionFile()), 'devices.json');

export const readDeviceToken = (url: string, name?: string): string | undefined => {
  const kept = readAll()[daemonKey(url)] ?? {};
  return name === undefined ? Object.values(kept).at(-1) : kept[nameKey(name)];
};

export const logInFromDevice = async (
  client: Client,
  given: { username: string; password: string; totpCode?: string; device?: string },
): Promise<Login> => {
  const deviceToken = readDeviceToken(client.url, given.username);
  const body = deviceToken === undefined ? given : { ...given, deviceToken };
  return storeDevice(client, await client.auth.login({ body }), given.username);
};

export const storeDevice = (client: Client, login: Login, typed?: string): Login => {
  const { deviceToken, user } = login;
  const names = typed === undefined ? [user.username] : [typed, user.username];
  if (deviceToken !== undefined) saveDeviceToken(client.url, names, deviceToken);
  return login;
};

const saveDeviceToken = (url: string, names: string[], token: string): void => {
  const all = readAll();
  const kept = { ...all[daemonKey(url)] };
  for (const name of names.map(nameKey)) {
    delete kept[name];
    kept[name] = token;
  }
  writeJsonFile(devicesFile(), { ...all, [daemonKey(url)]: kept });
};

const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

/** An unreadable file counts as empty. The next login overwrites it. */
const readAll = (): KeptDevices => {
  const all = readJson(devicesFile());
  return isKept(all) ? all : {};
};

const isKept = (all: unknown): all is KeptDevices =>
  isRecord(all) &&
  Object.values(all).every(
    (names) => isRecord(names) && Object.values(names).every((token) => typeof token === 'string'),
  );
