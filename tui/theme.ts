/** The meaning of a piece of text. The text itself always says it too: colour only adds to it. */
export type Tone = 'ok' | 'warn' | 'danger' | 'info' | 'untrusted' | 'muted' | 'strong' | 'focus';

export const themeNames = ['dark', 'light', 'contrast', 'mono'] as const;
export type ThemeName = (typeof themeNames)[number];

/** The look of each tone on this terminal. */
export interface Theme {
  /** Returns the text between the codes that begin and end the style. */
  style(tone: Tone, text: string): string;
  /** True if glyphs outside ASCII are replaced: some terminals draw them two columns wide. */
  isAscii: boolean;
}

/**
 * SGR codes: only the 16 named colours, and never a background, because a background does not suit
 * light themes.
 */
const BASE: Record<Tone, number[]> = {
  ok: [32],
  warn: [33],
  danger: [31, 1],
  info: [36],
  untrusted: [35, 4],
  muted: [2],
  strong: [1],
  focus: [7],
};
const LIGHT: Partial<Record<Tone, number[]>> = { warn: [35], info: [34] };
const CONTRAST: Partial<Record<Tone, number[]>> = { muted: [], info: [1] };
const MONO: Record<Tone, number[]> = {
  ok: [],
  warn: [1],
  danger: [1],
  info: [],
  untrusted: [4],
  muted: [],
  strong: [1],
  focus: [7],
};

export const themeOf = (name: ThemeName, isAscii = false): Theme => {
  const codes = codesOf(name);
  return {
    isAscii,
    style: (tone, text) => {
      const given = codes[tone];
      return given.length === 0 ? text : `\u001b[${given.join(';')}m${text}\u001b[0m`;
    },
  };
};

const codesOf = (name: ThemeName): Record<Tone, number[]> => {
  if (name === 'mono') return MONO;
  if (name === 'light') return { ...BASE, ...LIGHT };
  return name === 'contrast' ? { ...BASE, ...CONTRAST } : BASE;
};

const STATES: Record<string, Tone> = {
  error: 'danger',
  failed: 'danger',
  fatal: 'danger',
  down: 'danger',
  interrupted: 'danger',
  denied: 'danger',
  lost: 'danger',
  warn: 'warn',
  cooling: 'warn',
  stopped: 'warn',
  paused: 'warn',
  restarting: 'warn',
  disabled: 'warn',
  waiting_approval: 'warn',
  pending: 'warn',
  expired: 'warn',
  unverified: 'warn',
  untrusted: 'untrusted',
  running: 'info',
  starting: 'info',
  queued: 'info',
  new: 'info',
  success: 'ok',
  completed: 'ok',
  approved: 'ok',
  enabled: 'ok',
  ok: 'ok',
  up: 'ok',
  live: 'ok',
  verified: 'ok',
};

/** Returns the tone of a state, by its first word: `ERROR 2m` is a danger. */
export const toneOf = (state: string): Tone | undefined =>
  STATES[(/^\w+/.exec(state)?.[0] ?? '').toLowerCase()];

/** Returns light or dark from a reply to OSC 11 (`rgb:ffff/ffff/ffff`); null for any other text. */
export const backgroundOf = (reply: string): ThemeName | null => {
  const [, r, g, b] = /\]11;rgba?:([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)/i.exec(reply) ?? [];
  if (r === undefined || g === undefined || b === undefined) return null;
  const part = (hex: string) => Number.parseInt(hex, 16) / (16 ** hex.length - 1);
  return 0.3 * part(r) + 0.59 * part(g) + 0.11 * part(b) > 0.5 ? 'light' : 'dark';
};
