import { oneLine, safe, wrapped, wrapText } from '../text.js';

/** A header: its name and value. One without a value is not shown. */
export type MailFact = [name: string, value: string];

const HEADER_INDENT = 4;
const TEXT_INDENT = 2;
const MIN_WIDTH = 20;

/**
 * An e-mail on a terminal: its headers, an empty line, and its text. Only a header begins in the
 * first column, so that neither the text nor a long value can look like another header.
 */
export const formatMail = (
  { facts, text }: { facts: MailFact[]; text: string },
  width: number,
): { headers: string[]; text: string[] } => ({
  headers: [
    ...facts
      .filter(([, value]) => value !== '')
      .flatMap(([name, value]) =>
        fold(`${name}: ${oneLine(value)}`, width - HEADER_INDENT).map((line, at) =>
          at === 0 ? line : indented(line, HEADER_INDENT),
        ),
      ),
    '',
  ],
  text: safe(text)
    .split('\n')
    .flatMap((line) => fold(line, width - TEXT_INDENT))
    .map((line) => indented(line, TEXT_INDENT)),
});

const indented = (line: string, by: number): string => `${' '.repeat(by)}${line}`.trimEnd();

/**
 * A long word of printable ASCII stays whole, so that an address can be copied. Other characters
 * may look like blanks, so a terminal must not be left to break a line of them.
 */
const fold = (line: string, width: number): string[] => {
  const room = Math.max(width, MIN_WIDTH);
  return wrapText(line, room).flatMap((each) =>
    PRINTABLE_WORD.test(each) ? [each] : wrapped(each, room),
  );
};
const PRINTABLE_WORD = /^ *[!-~]*$/;
