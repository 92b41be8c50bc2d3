/** Marks around reasoning that models and chat templates write. */
const PAIRS: [string, string][] = [
  ...['think', 'thinking', 'thought', 'reasoning', 'seed:think'].map((name): [string, string] => [
    `<${name}>`,
    `</${name}>`,
  ]),
  ['[think]', '[/think]'],
  ['◁think▷', '◁/think▷'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['<|channel>thought\n', '<channel|>'],
  ['<|channel|>analysis<|message|>', '<|channel|>final<|message|>'],
];
const OPENINGS = PAIRS.map(([opening]) => opening);
const CLOSINGS = PAIRS.map(([, closing]) => closing);
const MARKS = [...OPENINGS, ...CLOSINGS];
const MAX_MARK_LENGTH = Math.max(...MARKS.map(({ length }) => length));
const QUOTES = ['"', "'", '“', '”', '‘', '’', '«', '»'];

const buildAlternation = (marks: string[]): RegExp =>
  new RegExp(marks.map((mark) => mark.replace(/[[\]|/]/g, '\\$&')).join('|'), 'gi');
const MARK = buildAlternation(MARKS);
const CLOSING = buildAlternation(CLOSINGS);

const find = (pattern: RegExp, text: string, from: number): Place | null => {
  pattern.lastIndex = Math.max(0, from);
  const match = pattern.exec(text);
  return match && { mark: match[0].toLowerCase(), at: match.index, end: pattern.lastIndex };
};

interface Place {
  mark: string;
  at: number;
  end: number;
}

interface ThoughtFilterOptions {
  /** The chat template has written the opening mark. Text is held back until the closing mark. */
  beginsInThought: boolean;
  onText(piece: string): void;
  /** A closing mark without an opening one shows that all text was reasoning. */
  onRestart(): void;
}

/** `held`: undecided. `start`: before the first word. */
type State = 'held' | 'start' | 'thought' | 'text' | 'perhaps';

/** Maximum indentation before a mark. */
const MAX_INDENT = 100;
/** Further marks are treated as text. */
const MAX_MARKS = 100;

/**
 * Reasoning starts at the beginning of a reply or of a line, or anywhere after reasoning. A mark in
 * code, quotes or a sentence is text. The middleware of the AI SDK does not fit: it accepts a mark
 * anywhere, knows one pair, and loses text that ends with the beginning of a mark.
 */
export const createReasoningFilter = ({
  beginsInThought,
  onText,
  onRestart,
}: ThoughtFilterOptions) => {
  /** Undecided part of the reply. */
  let buffer = '';
  let text = '';
  let state: State = beginsInThought ? 'held' : 'start';
  /** Ends the reasoning. */
  let closing = CLOSING;
  /** Length of the buffer that contains no mark. */
  let searched = 0;
  let hasSeenMark = false;
  /** The model uses the marks, so that a later pair need not begin a line. */
  let hasReasoned = false;
  /** Whether the text after the last opening mark is reasoning even without a closing mark. */
  let isThought = false;
  let marks = 0;
  let isUnopened = false;
  let isUnclosed = false;

  const drop = (length: number): void => {
    buffer = buffer.slice(length);
    searched = 0;
  };
  const pass = (length: number): void => {
    const piece = buffer.slice(0, length);
    drop(length);
    text += piece;
    if (piece !== '') onText(piece);
  };
  const search = (pattern: RegExp): Place | null => {
    const found = find(pattern, buffer, searched - MAX_MARK_LENGTH);
    searched = buffer.length;
    return found;
  };
  const closeUnopened = (length: number): void => {
    if (text !== '') onRestart();
    text = '';
    isUnopened = true;
    hasSeenMark = true;
    hasReasoned = true;
    drop(length);
    state = 'start';
  };

  /** Each consumes a part of the buffer, or returns false if it needs more. */
  const steps: Record<State, (isEnd: boolean) => boolean> = {
    held: (isEnd) => {
      const found = search(CLOSING);
      const isOpened = isPair(openingAt(buffer.trimStart()));
      if (found && !isOpened) {
        closeUnopened(found.end);
        return true;
      }
      if (isOpened || isEnd) state = 'start';
      return isOpened || isEnd;
    },
    start: (isEnd) => {
      const begun = buffer.trimStart();
      const opening = openingAt(begun);
      if (begun === '' || (opening === 'incomplete' && !isEnd)) return false;
      const space = buffer.length - begun.length;
      state = 'text';
      if (!isPair(opening)) {
        // Without reasoning before, or between two words, space is kept.
        if (hasSeenMark && /^\s?$/.test(text.slice(-1))) drop(space);
        return true;
      }
      hasSeenMark = true;
      hasReasoned = true;
      closing = buildAlternation([opening.closing]);
      drop(space + opening.length);
      state = 'thought';
      return true;
    },
    thought: (isEnd) => {
      const found = search(closing);
      if (found) state = 'start';
      isUnclosed = isEnd && !found;
      drop(found?.end ?? (isEnd ? buffer.length : Math.max(0, buffer.length - MAX_MARK_LENGTH)));
      return found !== null;
    },
    perhaps: (isEnd) => {
      const found = search(closing);
      if (found) {
        drop(found.end);
        state = 'start';
        hasReasoned = true;
      } else if (isEnd && isThought) drop(buffer.length);
      else if (isEnd) pass(buffer.length);
      return found !== null;
    },
    text: (isEnd) => {
      const found = marks < MAX_MARKS ? find(MARK, buffer, 0) : null;
      if (!found) {
        pass(isEnd ? buffer.length : buffer.length - openEnd(buffer));
        return false;
      }
      // A closing quote follows the mark.
      if (found.end === buffer.length && !isEnd) return false;
      marks++;
      const before = text + buffer.slice(0, found.at);
      const isText = isInCode(before) || isQuoted(before, buffer.slice(found.end));
      if (CLOSINGS.includes(found.mark) && !hasSeenMark && !isText) {
        closeUnopened(found.end);
        return true;
      }
      const opening = openingAt(found.mark);
      hasSeenMark = true;
      const isAtStart = /(?:^|\n)[ \t]*$/.test(before.slice(-MAX_INDENT));
      if (isText || !isPair(opening) || !(isAtStart || hasReasoned)) {
        pass(found.end);
        return true;
      }
      pass(found.at);
      isThought = isAtStart && hasReasoned;
      closing = buildAlternation([opening.closing]);
      state = 'perhaps';
      return true;
    },
  };
  const read = (isEnd: boolean): void => {
    while (steps[state](isEnd));
  };

  return {
    take: (piece: string): void => {
      buffer += piece;
      read(false);
    },
    /** The server sends reasoning separately, so that the text contains none. */
    reasoningCame: (): void => {
      if (state === 'held') state = 'start';
      read(false);
    },
    /** If the reply was cut, held text may be reasoning. */
    end: (isCut: boolean): void => {
      if (state === 'held' && isCut) drop(buffer.length);
      read(true);
    },
    text: (): string => text,
    /** Whether the reply started inside its reasoning. */
    isUnopened: (): boolean => isUnopened,
    /** Whether the reply ended inside its reasoning. */
    isUnclosed: (): boolean => isUnclosed,
  };
};

/** `incomplete`: the rest of a mark may follow. */
type Opening = { closing: string; length: number } | 'incomplete' | null;

const isPair = (opening: Opening): opening is Exclude<Opening, string | null> =>
  opening !== null && opening !== 'incomplete';

const openingAt = (text: string): Opening => {
  const begin = text.slice(0, MAX_MARK_LENGTH).toLowerCase();
  const pair = PAIRS.find(([opening]) => begin.startsWith(opening));
  if (pair) return { closing: pair[1], length: pair[0].length };
  return OPENINGS.some((opening) => opening.startsWith(begin)) ? 'incomplete' : null;
};

/** Length of the end that may start a mark. */
const openEnd = (text: string): number => {
  const end = text.slice(-MAX_MARK_LENGTH).toLowerCase();
  for (let at = 0; at < end.length; at++) {
    const rest = end.slice(at);
    if (MARKS.some((mark) => mark.startsWith(rest))) return rest.length;
  }
  return 0;
};

const isQuoted = (before: string, after: string): boolean =>
  before !== '' && QUOTES.includes(before.slice(-1)) && QUOTES.includes(after.charAt(0));

/** After an odd number of fences, or of backticks in the line. */
const isInCode = (before: string): boolean => {
  const fences = before.match(/^[ \t]*(?:```|~~~)/gm) ?? [];
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return fences.length % 2 === 1 || line.split('`').length % 2 === 0;
};
