/**
 * Key that opens the login cookie. Cookies go to every port of a host; this key stays with the
 * origin of the page.
 */
const KEY = 'adjutant.login-key';

/** The key if the browser stores nothing. It lasts until the page is reloaded. */
let unstored: string | null = null;

export const loginKey = (): string | null => {
  try {
    return localStorage.getItem(KEY) ?? unstored;
  } catch {
    return unstored;
  }
};

export const keepLoginKey = (key: string): void => {
  unstored = key;
  try {
    localStorage.setItem(KEY, key);
  } catch {
    // A private window may not allow storage.
  }
};

export const dropLoginKey = (): void => {
  unstored = null;
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing is stored.
  }
};

/** Calls back when another tab has dropped the key by a logout. */
export const onLoginKeyDropped = (act: () => void): void => {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === KEY && newValue === null) act();
  });
};
