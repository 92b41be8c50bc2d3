import { isRecord } from '../../src/kernel/jsonvalue.js';

/** An unsent text. Sending the same text again uses the same key, so that it counts once. */
export interface Draft {
  text: string;
  sendKey: string;
}

const PREFIX = 'adjutant.draft.';

export const newDraft = (text = ''): Draft => ({ text, sendKey: crypto.randomUUID() });

/** The draft under that name. Empty if there is none. */
export const readDraft = (name: string): Draft => {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null');
    if (isRecord(kept) && typeof kept.text === 'string' && typeof kept.sendKey === 'string') {
      return { text: kept.text, sendKey: kept.sendKey };
    }
  } catch {
    // Unreadable storage counts as no draft.
  }
  return newDraft();
};

/** Survives a reload of this tab. */
export const keepDraft = (name: string, draft: Draft): void => {
  try {
    if (draft.text === '') sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(draft));
  } catch {
    // Without storage the draft lasts until the reload.
  }
};

/** On logout. */
export const dropDrafts = (): void => {
  try {
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
    }
  } catch {
    // Nothing is stored.
  }
};

/** The conversation started last in this page. Its composer gets the focus. */
let begun: string | null = null;

export const rememberNewConversation = (sessionId: string): void => {
  begun = sessionId;
};

export const isNewConversation = (sessionId: string): boolean => begun === sessionId;
