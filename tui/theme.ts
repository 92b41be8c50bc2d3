/** Meaning of a text. The text itself always says it too: colour only adds to it. */
export type Tone =
  | 'ok'
  | 'warn'
  | 'danger'
  | 'info'
  | 'untrusted'
  | 'muted'
  | 'strong'
  | 'match'
  | 'focus';

export const themeNames = ['dark', 'light', 'contrast', 'mono'] as const;
export type ThemeName = (typeof themeNames)[number];

export interface Theme {
  style(tone: Tone, text: string): string;
  /** Whether non-ASCII glyphs are replaced: some terminals draw them two columns wide. */
  isAscii: boolean;
}

type Codes = Partial<Record<Tone, number[]>>;

/** SGR codes. Only the 16 named colours and no background, to suit light themes. */
const DARK: Codes = {
  ok: [32],
  warn: [33],
  danger: [31, 1],
  info: [36],
  untrusted: [35, 4],
  muted: [2],
  strong: [1],
  match: [1, 4],
  focus: [7],
};
const THEMES: Record<ThemeName, Codes> = {
  dark: DARK,
  light: { ...DARK, warn: [35], info: [34] },
  contrast: { ...DARK, muted: [], info: [1] },
  mono: { warn: [1], danger: [1], untrusted: [4], strong: [1], match: [1, 4], focus: [7] },
};

export const createTheme = (name: ThemeName, isAscii = false): Theme => ({
  isAscii,
  style: (tone, text) => {
    const codes = THEMES[name][tone] ?? [];
    return codes.length === 0 ? text : `\u001b[${codes.join(';')}m${text}\u001b[0m`;
  },
});

const STATES: readonly (readonly [Tone, RegExp])[] = [
  ['danger', /^(error|failed|fatal|down|interrupted|denied|lost|failing|refused|bounced)$/i],
  ['warn', /^(warn|cooling|stopped|cancelled|paused|restarting|disabled|expired|unverified)$/i],
  ['warn', /^(waiting|waiting_approval|waiting_input|pending|degraded|needs_login|unknown)$/i],
  ['untrusted', /^untrusted$/i],
  ['info', /^(running|starting|queued|sending|new|installing|verifying|measuring)$/i],
  ['ok', /^(success|sent|completed|approved|enabled|ok|up|live|verified|available)$/i],
];

/** Tone of a state by its first word: `ERROR 2m` is `danger`. */
export const findStateTone = (state: string): Tone | undefined => {
  const word = /^\w+/.exec(state)?.[0] ?? '';
  return STATES.find(([, states]) => states.test(word))?.[0];
};

/** Reads a reply to OSC 11 (`rgb:ffff/ffff/ffff`). `null` for any other text. */
export const parseBackgroundReply = (reply: string): ThemeName | null => {
  const [, r, g, b] = /\]11;rgba?:([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)/i.exec(reply) ?? [];
  if (r === undefined || g === undefined || b === undefined) return null;
  const part = (hex: string) => Number.parseInt(hex, 16) / (16 ** hex.length - 1);
  return 0.3 * part(r) + 0.59 * part(g) + 0.11 * part(b) > 0.5 ? 'light' : 'dark';
};
