import { type ThemeName, themeNames } from './theme.js';

export const terminalSettings = () => {
  const { env } = process;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return {
    hasColors: !env.NO_COLOR && env.TERM !== 'dumb',
    isInTmux: Boolean(env.TMUX),
    isUtf8: /utf-?8/i.test(locale),
    /** `null` if COLORFGBG names no background. */
    background: backgroundIn(env.COLORFGBG),
    /** False if ADJUTANT_BELL is unset or `0`. */
    isRinging: Boolean(env.ADJUTANT_BELL) && env.ADJUTANT_BELL !== '0',
  };
};

/**
 * Environment for a CLI command that uses the same daemon as the same user. Without a token, the
 * token of the environment is removed, because it may belong to another daemon.
 */
export const environmentFor = (url: string, token: string | undefined): NodeJS.ProcessEnv => ({
  ...process.env,
  ADJUTANT_URL: url,
  ADJUTANT_TOKEN: token,
});

/**
 * React reads NODE_ENV when it is loaded. Without it React uses its slow development build, which
 * keeps its measurements.
 */
export const setProductionEnv = (): void => {
  process.env.NODE_ENV = 'production';
  // If CI is set, Ink does not react to a resize.
  delete process.env.CI;
};

/** Reads the last part of a value such as `15;0`. 7 and 9 to 15 are light. */
const backgroundIn = (text: string | undefined): ThemeName | null => {
  const code = Number(/;(\d+)$/.exec(text ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(code)) return null;
  return code === 7 || code > 8 ? 'light' : 'dark';
};

export const isThemeName = (text: string): text is ThemeName =>
  themeNames.some((name) => name === text);
