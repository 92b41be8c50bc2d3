import Bourne from '@hapi/bourne';
import { parseExact, roundedIn } from '../../kernel/exactjson.js';
import { isRecord } from '../../kernel/jsonvalue.js';

/** Maximum characters of invalid arguments that are shown to the model. */
const SHOWN = 300;
/** Maximum digits of a number that are shown to the model. */
const SHOWN_DIGITS = 60;
/** Text that the parser quotes in some messages. */
const QUOTED = /, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s;

/** Parsed arguments of a call. */
export interface ReadArguments {
  input: Record<string, unknown>;
  /** Missing if the arguments are valid. */
  fault?: string;
}

/**
 * Empty text and `null` mean no arguments, and an object may be encoded twice. Keys named
 * `__proto__` are invalid. So are numbers that a double would round, because the owner would
 * approve another number.
 */
export const readArguments = (text: string): ReadArguments => {
  if (text.trim() === '') return { input: {} };
  try {
    const input: unknown = Bourne.parse(text);
    if (input === null) return { input: {} };
    const isEncodedTwice = typeof input === 'string' && /^\s*\{/.test(input);
    const inner: unknown = isEncodedTwice ? Bourne.parse(input) : input;
    if (!isRecord(inner)) return broken('they are not a JSON object', text);
    const rounded = roundedIn(parseExact(isEncodedTwice ? input : text));
    return rounded ? broken(roundedText(rounded.digits), text) : { input: inner };
  } catch (error) {
    const because = error instanceof Error ? error.message.replace(QUOTED, '') : String(error);
    return broken(`they are not valid JSON (${because})`, text);
  }
};

const roundedText = (digits: string): string =>
  `the number ${digits.slice(0, SHOWN_DIGITS)} cannot be represented exactly; write it as a string`;

/** The text comes last, because redaction handles a secret that is cut off at the end. */
const broken = (because: string, text: string): ReadArguments => ({
  input: {},
  fault: `${because}. They begin with: ${text.slice(0, SHOWN)}`,
});
