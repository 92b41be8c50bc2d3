import { type ThemeName, themeNames } from './theme.js';

/** Returns the settings of the terminal, as the environment gives them. */
export const terminalSettings = () => {
  const { env } = process;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return {
    hasColors: !env.NO_COLOR && env.TERM !== 'dumb',
    isInTmux: Boolean(env.TMUX),
    isUtf8: /utf-?8/i.test(locale),
    /** The theme for the background that COLORFGBG names; null if it names none. */
    background: backgroundIn(env.COLORFGBG),
    /** True if ADJUTANT_BELL is set to anything but `0`. */
    isRinging: Boolean(env.ADJUTANT_BELL) && env.ADJUTANT_BELL !== '0',
  };
};

/**
 * Returns the environment for a command of the CLI that is to use the same daemon as the same user.
 * If there is no token, the token of the environment is removed: it may be for another daemon.
 */
export const environmentFor = (url: string, token: string | undefined): NodeJS.ProcessEnv => ({
  ...process.env,
  ADJUTANT_URL: url,
  ADJUTANT_TOKEN: token,
});

/**
 * Sets NODE_ENV, which React reads when it is loaded. Without it React uses its slow development
 * build, which keeps its measurements.
 */
export const forProduction = (): void => {
  process.env.NODE_ENV = 'production';
  // With CI set, Ink does not react to a resize.
  delete process.env.CI;
};

/**
 * Returns the theme for the background: the last part of `15;0`, of which 7 and 9 to 15 are light.
 */
const backgroundIn = (text: string | undefined): ThemeName | null => {
  const code = Number(/;(\d+)$/.exec(text ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(code)) return null;
  return code === 7 || code > 8 ? 'light' : 'dark';
};

export const isThemeName = (text: string): text is ThemeName =>
  themeNames.some((name) => name === text);
