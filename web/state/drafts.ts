import { isRecord } from '../../src/kernel/jsonvalue.js';

/** A text that is not sent yet. Each sending of the same text has the same key, so that it counts once. */
export interface Draft {
  text: string;
  sendKey: string;
}

const PREFIX = 'adjutant.draft.';

/** Returns a draft with a key of its own. */
export const newDraft = (text = ''): Draft => ({ text, sendKey: crypto.randomUUID() });

/** Returns the draft that was kept under that name; an empty one if there is none. */
export const readDraft = (name: string): Draft => {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null');
    if (isRecord(kept) && typeof kept.text === 'string' && typeof kept.sendKey === 'string') {
      return { text: kept.text, sendKey: kept.sendKey };
    }
  } catch {
    // What cannot be read is no draft.
  }
  return newDraft();
};

/** Keeps the draft in this tab, so that it survives a reload. */
export const keepDraft = (name: string, draft: Draft): void => {
  try {
    if (draft.text === '') sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(draft));
  } catch {
    // A browser that keeps nothing has it until the reload.
  }
};

/** Removes every draft of this tab: the user has logged out. */
export const dropDrafts = (): void => {
  try {
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
    }
  } catch {
    // Nothing is kept there.
  }
};

/** The conversation that was begun last in this page: its composer has the focus when it opens. */
let begun: string | null = null;

export const rememberBegun = (sessionId: string): void => {
  begun = sessionId;
};

export const wasJustBegun = (sessionId: string): boolean => begun === sessionId;
