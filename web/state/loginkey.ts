/**
 * The key of the login, which opens its cookie. Cookies go to every port of a host; this stays with the
 * origin of the page.
 */
const KEY = 'adjutant.login-key';

/** The key where the browser stores nothing: it holds until the page is loaded again. */
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
    // A private window may store nothing.
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

/** Calls back when another tab has dropped the key: its user has logged out there. */
export const onLoginKeyDropped = (act: () => void): void => {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === KEY && newValue === null) act();
  });
};
