import type { ToolName } from '../../../src/providers/clitools/tool.js';
import * as claude from './claude.js';
import * as codex from './codex.js';
import type { Act } from './fake.js';
import * as gemini from './gemini.js';
import * as opencode from './opencode.js';

/** How each tool says the same, as its own version was seen to do it. */
interface Speech {
  /** What comes before the answer. */
  begins: unknown[];
  /** A piece of the answer, or all of it where the tool knows no pieces. */
  says(text: string): unknown;
  /** The end of an answer that took 11 tokens in and 5 out. */
  ends(text: string): unknown[];
  /** What it says where its provider refused, before it ends with 1. */
  refuses: Record<'quota' | 'login', unknown[]>;
  /** It uses a tool of its own. */
  acts: unknown;
}

export const speech: Record<ToolName, Speech> = { claude, codex, gemini, opencode };

const printed = (events: unknown[]): Act[] => events.map((print) => ({ print }));

export const answers = (name: ToolName, ...pieces: string[]): Act[] => {
  const { begins, says, ends } = speech[name];
  return printed([...begins, ...pieces.map(says), ...ends(pieces.join(''))]);
};

export const refuses = (name: ToolName, why: 'quota' | 'login'): Act[] => [
  ...printed([...speech[name].begins, ...speech[name].refuses[why]]),
  { exit: 1 },
];

/** It says a word and no more. */
export const stalls = (name: ToolName, text: string): Act[] => [
  ...printed([...speech[name].begins, speech[name].says(text)]),
  { do: 'hang' },
];

export const begins = (name: ToolName): Act[] => printed(speech[name].begins);
