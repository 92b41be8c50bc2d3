import { setTimeout as wait } from 'node:timers/promises';
import type { ConfinedProcess } from '../confine/confinement.js';
import {
  ModelFailure,
  type ModelFailureKind,
  ModelRefusal,
  type ModelRequest,
} from '../llm/model.js';
import type { PatienceWatch } from '../llm/patience.js';
import type { ReplyTally } from '../llm/tally.js';
import { Flood, linesOf } from './lines.js';
import { undefused } from './prompt.js';
import type { CliTool, QuotaTold, ToolEvent } from './tool.js';

/** The complete answer of a tool. */
export interface ToolAnswer {
  text: string;
  isCut: boolean;
  inputTokens: number | null;
  outputTokens: number | null;
}

export interface ToolListener {
  /** The name of the model in its failures. */
  name: string;
  tool: CliTool;
  held: ConfinedProcess;
  watch: PatienceWatch;
  asked: Pick<ModelRequest, 'onText'>;
  tally: ReplyTally;
  quota(told: QuotaTold): void;
}

/** The most characters of an answer. */
const LONGEST_TEXT = 4 * 1024 * 1024;
/** The time that a tool gets to end by itself after its answer. */
const FAREWELL_MS = 300;

/**
 * Reads a tool's stream to the end of its answer, and waits briefly for the process to end. Throws
 * ModelFailure.
 */
export const listen = async (of: ToolListener): Promise<ToolAnswer> => {
  const said: ToolAnswer = { text: '', isCut: false, inputTokens: null, outputTokens: null };
  try {
    for await (const line of linesOf(of.held.stdout)) {
      for (const heard of of.tool.read(parsed(line))) {
        if (heard.is !== 'end') take(of, said, heard);
        else return await ended(of, said, heard);
      }
    }
  } catch (error) {
    if (error instanceof Flood) throw failed(of, 'invalid_reply', 'said more than an answer holds');
    throw error;
  }
  // The tool's last words stand behind the colon and may quote the prompt, so they are left out.
  const [how] = (await of.held.ended).split(':', 1);
  throw failed(of, 'invalid_reply', `gave no answer: ${how}`);
};

const take = (
  of: ToolListener,
  said: ToolAnswer,
  heard: Exclude<ToolEvent, { is: 'end' }>,
): void => {
  if (heard.is === 'text') addText(of, said, heard.text);
  if (heard.is === 'token') {
    of.watch.heard();
    of.tally.begin();
  }
  if (heard.is === 'quota') of.quota(heard.quota);
  if (heard.is === 'usage') {
    said.inputTokens = sum(said.inputTokens, heard.inputTokens);
    said.outputTokens = sum(said.outputTokens, heard.outputTokens);
    const { inputTokens, outputTokens } = said;
    of.tally.tell({ inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 });
  }
  if (heard.is === 'armed')
    throw failed(of, 'invalid_reply', 'was ended: it had tools of its own, which must be off');
  if (heard.is !== 'failure') return;
  const why = `${of.name} ${REFUSED[heard.kind] ?? 'failed'}${detail(heard.said)}`;
  throw new ModelRefusal(heard.kind, why, {});
};

const REFUSED: Partial<Record<ModelFailureKind, string>> = {
  rate_limited: 'has used up its quota, or was asked too often',
  credentials: 'is not logged in any more, or may not do this',
  unknown_model: 'does not know the model',
  context_length: 'found the prompt too long',
};

const detail = (said: string): string => (said === '' ? '' : ` (${said})`);

const addText = (
  { name, watch, asked, tally }: ToolListener,
  said: ToolAnswer,
  piece: string,
): void => {
  const text = undefused(piece);
  watch.heard();
  tally.begin();
  tally.add(text);
  said.text += text;
  if (said.text.length > LONGEST_TEXT)
    throw new ModelFailure('invalid_reply', `${name} sent an answer that does not end`);
  if (text !== '') asked.onText?.(text);
};

const ended = async (
  of: ToolListener,
  said: ToolAnswer,
  { text, isCut }: Extract<ToolEvent, { is: 'end' }>,
): Promise<ToolAnswer> => {
  if (said.text === '' && text !== null) addText(of, said, text);
  await Promise.race([of.held.ended, wait(FAREWELL_MS)]);
  return { ...said, isCut };
};

const failed = ({ name }: ToolListener, kind: ModelFailureKind, what: string): ModelFailure =>
  new ModelFailure(kind, `${name} ${what}`);

/** Parses a line. A line that is not JSON is a remark of the tool and is ignored. */
const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
};

const sum = (before: number | null, more: number | null): number | null =>
  more === null ? before : (before ?? 0) + more;
