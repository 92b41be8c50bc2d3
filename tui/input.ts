import { type Cancel, systemClock } from '../src/kernel/clock.js';

export type InputEvent =
  /**
   * `isBurst`: the key came together with others, so it was typed before the user could read the
   * screen.
   */
  | { type: 'key'; key: string; isBurst: boolean }
  | { type: 'paste'; text: string }
  | { type: 'focus'; isFocused: boolean }
  | { type: 'reply'; text: string };

const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/** Maximum length of a paste, in UTF-16 units. The rest is cut. */
const MAX_PASTE_LENGTH = 262_144;

const FINAL: Record<string, string> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'shift-tab',
};
const TILDE: Record<string, string> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
};
const CONTROL: Record<string, string> = {
  '\r': 'enter',
  '\n': 'ctrl-j',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
};

/** CSI sequence at the start of the text. Ignored unless it is a known key. */
const CSI = /^\u001b\[([0-?]*)[ -/]*([@-~])/;
const SS3 = /^\u001bO([ -~])/;
/** OSC, DCS, APC, PM or SOS sequence, with its terminator. */
const STRING = /^\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)/;
const PARTIAL = /^\u001b(?:\[[0-?]*[ -/]*|O|[\]P_^X][^\u0007\u001b]*\u001b?)?$/;

/**
 * Decodes terminal bytes into events. A sequence may arrive in several pieces. There is no timer:
 * the caller calls `flush`.
 */
export const createDecoder = () => {
  let rest = '';
  let pasted: string | null = null;

  const paste = (): InputEvent[] => {
    const end = rest.indexOf(PASTE_END);
    const kept = end < 0 ? Math.max(0, rest.length - PASTE_END.length) : end;
    pasted = ((pasted ?? '') + rest.slice(0, kept)).slice(0, MAX_PASTE_LENGTH);
    rest = rest.slice(end < 0 ? kept : end + PASTE_END.length);
    if (end < 0) return [];
    const text = pasted;
    pasted = null;
    return [{ type: 'paste', text }];
  };

  const next = (): InputEvent[] | null => {
    if (pasted !== null) {
      const events = paste();
      return pasted === null ? events : null;
    }
    if (rest === '' || PARTIAL.test(rest)) return null;
    if (rest.startsWith(PASTE_START)) {
      rest = rest.slice(PASTE_START.length);
      pasted = '';
      return [];
    }
    const { length, events } = parseFirstInput(rest);
    rest = rest.slice(length);
    return events;
  };

  const drain = (): InputEvent[] => {
    const events: InputEvent[] = [];
    for (let found = next(); found; found = next()) events.push(...found);
    const isBurst = events.filter(({ type }) => type === 'key').length > 1;
    return isBurst ? events.map(hurried) : events;
  };

  return {
    push: (text: string): InputEvent[] => {
      rest += text;
      return drain();
    },
    /** Ends an incomplete sequence. A lone escape is the escape key. */
    flush: (): InputEvent[] => {
      if (pasted !== null || rest === '') return [];
      const isEscape = rest === '\u001b';
      rest = '';
      return isEscape ? [createKeyEvent('esc')] : [];
    },
    isWaiting: (): boolean => pasted === null && rest !== '',
  };
};

const createKeyEvent = (key: string): InputEvent => ({ type: 'key', key, isBurst: false });
const hurried = (event: InputEvent): InputEvent =>
  event.type === 'key' ? { ...event, isBurst: true } : event;

const parseFirstInput = (text: string): { length: number; events: InputEvent[] } => {
  const string = STRING.exec(text);
  if (string) return { length: string[0].length, events: [{ type: 'reply', text: string[0] }] };
  // An X10 mouse report contains three bytes that look like keys.
  if (text.startsWith('\u001b[M')) return { length: 6, events: [] };
  const csi = CSI.exec(text);
  if (csi) return { length: csi[0].length, events: csiEvents(csi[1] ?? '', csi[2] ?? '') };
  const ss3 = SS3.exec(text);
  if (ss3) return { length: ss3[0].length, events: namedKey(FINAL[ss3[1] ?? '']) };
  if (text.startsWith('\u001b\u001b')) return { length: 1, events: [createKeyEvent('esc')] };
  // Alt with a key. No screen uses it, and its second half must not count as a key.
  if (text.startsWith('\u001b')) return { length: 1 + getCharacterAt(text, 1).length, events: [] };
  const char = getCharacterAt(text, 0);
  return { length: char.length, events: namedKey(charKey(char)) };
};

const getCharacterAt = (text: string, at: number): string =>
  String.fromCodePoint(text.codePointAt(at) ?? 0);

const namedKey = (key: string | undefined): InputEvent[] =>
  key === undefined ? [] : [createKeyEvent(key)];

const csiEvents = (parameters: string, final: string): InputEvent[] => {
  if (parameters === '' && (final === 'I' || final === 'O')) {
    return [{ type: 'focus', isFocused: final === 'I' }];
  }
  if (final === '~') return namedKey(TILDE[parameters]);
  // With other parameters it is a reply, a mouse report, or a key with a modifier.
  return parameters === '' || parameters === '1' ? namedKey(FINAL[final]) : [];
};

const charKey = (char: string): string | undefined => {
  const known = CONTROL[char];
  if (known) return known;
  if (char === ' ') return 'space';
  const code = char.charCodeAt(0);
  if (code > 0 && code < 27) return `ctrl-${String.fromCharCode(code + 96)}`;
  return code < 32 || (code >= 0x80 && code < 0xa0) ? undefined : char;
};

const COMPLETE_MS = 50;

/** Reads the keys of a terminal. A sequence that stays incomplete for 50 ms is dropped. */
export const readKeys = (
  stdin: NodeJS.ReadableStream,
  tell: (event: InputEvent) => void,
): { stop(): void } => {
  const decoder = createDecoder();
  let cancel: Cancel | undefined;
  const read = (chunk: Buffer | string): void => {
    cancel?.();
    for (const event of decoder.push(chunk.toString())) tell(event);
    if (!decoder.isWaiting()) return;
    cancel = systemClock.after(COMPLETE_MS, () => decoder.flush().forEach(tell));
  };
  stdin.setEncoding('utf8');
  stdin.on('data', read);
  stdin.resume();
  return {
    stop: () => {
      cancel?.();
      stdin.off('data', read);
      stdin.pause();
    },
  };
};
