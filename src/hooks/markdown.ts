/** CommonMark readers link URLs without escaping. */
const ADDRESS = /(https?:\/\/[^\s<>"'`]+)/;
const MARKS = /[\\`*_[\]<>~|&]/g;

/**
 * Escapes a text so that Markdown shows it literally (CommonMark, section 2.4). URLs stay
 * unchanged.
 */
export const escapeMarkdown = (text: string): string =>
  text
    .split(ADDRESS)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(MARKS, '\\$&')))
    .join('')
    .split('\n')
    .map(escapeStart)
    .join('\n');

const escapeStart = (line: string): string =>
  line
    .replace(/^(?: {4,}|[ ]*\t\s*)/, (blank) => '\u00a0'.repeat(blank.length))
    .replace(/^(\s*)([#+=-])/, '$1\\$2')
    .replace(/^(\s*\d{1,9})([.)])/, '$1\\$2');
