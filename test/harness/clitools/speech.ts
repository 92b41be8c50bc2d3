import type { ToolName } from '../../../src/providers/clitools/tool.js';
import * as claude from './claude.js';
import * as codex from './codex.js';
import type { Act } from './fake.js';
import * as gemini from './gemini.js';
import * as opencode from './opencode.js';

/** How each tool says the same, as observed with its real version. */
interface Speech {
  /** Events before the answer. */
  begins: unknown[];
  /** Part of the answer, or all of it if the tool does not stream. */
  says(text: string): unknown;
  /** End of an answer with 11 input and 5 output tokens. */
  ends(text: string): unknown[];
  /** Output after a refusal of the provider, before exit code 1. */
  refuses: Record<'quota' | 'login', unknown[]>;
  /** Use of the tool's own tools. */
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

/** Prints one word and then nothing. */
export const stalls = (name: ToolName, text: string): Act[] => [
  ...printed([...speech[name].begins, speech[name].says(text)]),
  { do: 'hang' },
];

export const begins = (name: ToolName): Act[] => printed(speech[name].begins);
