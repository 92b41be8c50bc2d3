/** Returns a name for this browser, under which its login is listed: `Android browser`. */
export const deviceName = (): string => {
  const system = /Windows|Mac OS X|Android|iPhone|iPad|CrOS|Linux/.exec(navigator.userAgent)?.[0];
  return system ? `${system.replace(' OS X', '')} browser` : 'A browser';
};

/** Key of the device tokens in the browser, which the page for passkeys has as well. */
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
 * Keeps the device token under the names of its account, by which the daemon knows this device
 * again. It logs nobody in.
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
    // A browser that keeps nothing is a new device each time.
  }
};

/** Returns the device token of that name, or the newest one without a name, for a login. */
export const knownDevice = (name?: string): { deviceToken?: string } => {
  const kept = devices();
  const deviceToken = name === undefined ? Object.values(kept).at(-1) : kept[nameKey(name)];
  return deviceToken ? { deviceToken } : {};
};
