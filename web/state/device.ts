/** Name of this browser in the list of logins: `Android browser`. */
export const deviceName = (): string => {
  const system = /Windows|Mac OS X|Android|iPhone|iPad|CrOS|Linux/.exec(navigator.userAgent)?.[0];
  return system ? `${system.replace(' OS X', '')} browser` : 'A browser';
};

/** Storage key of the device tokens, shared with the passkey page. */
const KEY = 'adjutant.devices';

const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

const devices = (): Record<string, string> => {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') ?? {};
  } catch {
    return {};
  }
};

/**
 * Keeps the device token under the names of its account, so that the daemon recognizes this device.
 * It does not log in anybody.
 */
export const keepDeviceToken = (names: string[], deviceToken: string): void => {
  const kept = devices();
  for (const name of names.map(nameKey)) {
    delete kept[name];
    kept[name] = deviceToken;
  }
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that stores nothing is a new device each time.
  }
};

/** Device token of that name, or the newest one without a name. */
export const knownDevice = (name?: string): { deviceToken?: string } => {
  const kept = devices();
  const deviceToken = name === undefined ? Object.values(kept).at(-1) : kept[nameKey(name)];
  return deviceToken ? { deviceToken } : {};
};
