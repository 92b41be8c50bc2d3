/** An address, which CommonMark readers take as it stands. */
const ADDRESS = /(https?:\/\/[^\s<>"'`]+)/;
/** The characters that begin emphasis, code, links, tables, HTML or an entity within a line. */
const MARKS = /[\\`*_[\]<>~|&]/g;

/**
 * Returns a text as Markdown that shows it as it is (CommonMark, section 2.4): nothing in it becomes
 * emphasis, a heading, a list, a quote, a table or a link. Addresses stay as they are.
 */
export const escapeMarkdown = (text: string): string =>
  text
    .split(ADDRESS)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(MARKS, '\\$&')))
    .join('')
    .split('\n')
    .map(escapeStart)
    .join('\n');

/** Escapes what begins a heading, a list, a rule or indented code at the start of a line. */
const escapeStart = (line: string): string =>
  line
    .replace(/^(?: {4,}|[ ]*\t\s*)/, (blank) => '\u00a0'.repeat(blank.length))
    .replace(/^(\s*)([#+=-])/, '$1\\$2')
    .replace(/^(\s*\d{1,9})([.)])/, '$1\\$2');
