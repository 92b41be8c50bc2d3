import Bourne from '@hapi/bourne';
import { parseExact, roundedIn } from '../../kernel/exactjson.js';
import { isRecord } from '../../kernel/jsonvalue.js';

/** The most characters of broken arguments that are shown to the model again. */
const SHOWN = 300;
/** The most digits of a number that are shown to the model again. */
const SHOWN_DIGITS = 60;
/** The piece of the text that the parser quotes in some of its messages. */
const QUOTED = /, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s;

/** The arguments of a call as they could be read. */
export interface ReadArguments {
  input: Record<string, unknown>;
  /** Reason why they could not be read, and how they begin; missing if they could. */
  fault?: string;
}

/**
 * Parses the arguments that a model wrote. No text or `null` stands for no arguments, and an object
 * may be encoded twice. Arguments with a `__proto__` key are as broken as those that are not JSON.
 * So are those with a number that a double rounds, since the owner would approve another number.
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
    return rounded ? broken(unkept(rounded.digits), text) : { input: inner };
  } catch (error) {
    const because = error instanceof Error ? error.message.replace(QUOTED, '') : String(error);
    return broken(`they are not valid JSON (${because})`, text);
  }
};

const unkept = (digits: string): string =>
  `the number ${digits.slice(0, SHOWN_DIGITS)} cannot be represented exactly; write it as a string`;

/** The text comes last: redaction knows that a secret may be cut off at the end of a text. */
const broken = (because: string, text: string): ReadArguments => ({
  input: {},
  fault: `${because}. They begin with: ${text.slice(0, SHOWN)}`,
});
