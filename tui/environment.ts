import { type ThemeName, themeNames } from './theme.js';

/** What the environment says about the terminal. */
export interface DeskEnvironment {
  hasColors: boolean;
  isInTmux: boolean;
  isUtf8: boolean;
  /** By COLORFGBG; null where it says nothing. */
  background: ThemeName | null;
  /** Whether ADJUTANT_BELL says so; `0` says that it is not. */
  isRinging: boolean;
}

export const given = (): DeskEnvironment => {
  const { env } = process;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return {
    hasColors: !env.NO_COLOR && env.TERM !== 'dumb',
    isInTmux: Boolean(env.TMUX),
    isUtf8: /utf-?8/i.test(locale),
    background: backgroundIn(env.COLORFGBG),
    isRinging: Boolean(env.ADJUTANT_BELL) && env.ADJUTANT_BELL !== '0',
  };
};

/**
 * That of a command of the CLI that is to speak to the same daemon as the same user. Without a token
 * the one of the environment goes: it may be for another daemon.
 */
export const environmentFor = (url: string, token: string | undefined): NodeJS.ProcessEnv => ({
  ...process.env,
  ADJUTANT_URL: url,
  ADJUTANT_TOKEN: token,
});

/** React reads it when it is loaded: without it, it is the slow build that keeps what it measures. */
export const forProduction = (): void => {
  process.env.NODE_ENV = 'production';
  // With CI set Ink does not hear of a resize.
  delete process.env.CI;
};

/** The same, run from a desk that is read aloud: it hears of that too. */
export const environmentReadAloud = (
  url: string,
  token: string | undefined,
): NodeJS.ProcessEnv => ({ ...environmentFor(url, token), ADJUTANT_ACCESSIBLE: '1' });

/** The last part of `15;0` is the background: 7 and 9 to 15 are light. */
const backgroundIn = (text: string | undefined): ThemeName | null => {
  const code = Number(/;(\d+)$/.exec(text ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(code)) return null;
  return code === 7 || code > 8 ? 'light' : 'dark';
};

export const isThemeName = (text: string): text is ThemeName =>
  themeNames.some((name) => name === text);
