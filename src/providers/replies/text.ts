import type { MessageLimits } from '../chat/markdown/fit.js';
import { splitIntoMessages } from '../chat/markdown/fit.js';
import { createTextLine, type TextLine } from '../chat/markdown/lines.js';
import { messageLines } from '../chat/markdown/message.js';
import { forgeRules } from '../chat/markdown/rules.js';
import { markdownLimits, writeMarkdown } from '../chat/markdown/write.js';
import { REPLY_MARK } from './platform.js';

/** Room for the sentence after a cut text, with a link. */
const CUT_ROOM = 1_000;
/** In characters. The rest is in the transcript of the run. */
const MAX_LENGTH = 100_000;

/** The beginning of the text that fits into one message, and `ifCut` if it is not the whole. */
export const fitLines = (markdown: string, ifCut: string, limits: MessageLimits): TextLine[] => {
  const text = markdown.replaceAll(REPLY_MARK, '').slice(0, MAX_LENGTH);
  const lines = messageLines({ title: null, text, isMarkdown: true });
  const room = { ...limits, most: limits.most - CUT_ROOM };
  const [first = [], ...rest] = splitIntoMessages(lines, room);
  const isCut = rest.length > 0 || markdown.length > MAX_LENGTH;
  if (!isCut) return first;
  return [...first, createTextLine([]), ...messageLines({ title: null, text: ifCut })];
};

/**
 * A line like `/close` is a command for GitLab and for bots, also within code. A path with more
 * than one part is none.
 */
const COMMAND = /^([ \t>]*)\/(?=[a-z][\w-]*(?:\s|$))/gim;

/** Each would run or draw something instead of showing code. */
const ACTIVE = /^(?:mermaid|plantuml|suggestion|math|geojson|topojson|stl|kroki|graphviz)/i;
/** Also those from character references, which are decoded after the text is read. */
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/g;

export const forgeText = (markdown: string, ifCut: string, most: number): string => {
  const lines = fitLines(markdown, ifCut, markdownLimits(forgeRules, most)).map((line) =>
    ACTIVE.test(line.language) ? { ...line, language: '' } : line,
  );
  const written = writeMarkdown(lines, forgeRules).replace(OVERRIDES, '');
  return written.replace(COMMAND, '$1\u200b/') + REPLY_MARK;
};
