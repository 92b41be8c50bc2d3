import { type OfficeContentNode, OfficeParser } from 'officeparser';
import { checkArchive } from './archive.js';
import { ExtractFailed, type Extraction } from './job.js';

/** The beginning of a compound file (MS-CFB 2.2): an office file that is encrypted, or an old one. */
const COMPOUND = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** Extracts the text of an office file. Each slide and each sheet is a page. */
export const extractOffice = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  if (bytes.subarray(0, 8).equals(COMPOUND)) {
    throw new ExtractFailed('password_needed', 'The file opens with a password only');
  }
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') {
    await checkArchive(bytes, extraction.job.limits.unpackedBytes);
  }
  const { content, toText } = await OfficeParser.parseOffice(withoutFallbacks(bytes), {
    outputErrorToConsole: false,
    newlineDelimiter: '\n',
  });
  const parts = content.filter(({ type }) => type === 'slide' || type === 'sheet');
  if (parts.length === 0) {
    extraction.total(1);
    if (!extraction.skip()) extraction.add(toText());
    return;
  }
  extraction.total(parts.length);
  for (const part of parts) {
    if (extraction.skip()) continue;
    if (!extraction.add(linesOf(part).join('\n'))) break;
  }
};

/**
 * Returns an RTF file without the characters that stand for those of Unicode in old readers (RTF
 * 1.9.1, `\\u` and `\\uc`), which officeparser adds to the text. Other files are returned as they are.
 */
const withoutFallbacks = (bytes: Buffer): Buffer => {
  if (bytes.subarray(0, 5).toString('latin1') !== '{\\rtf') return bytes;
  const text = bytes.toString('latin1');
  return Buffer.from(text.replace(/(\\u-?\d+) ?(?:\\'[0-9a-f]{2}|\?)/gi, '$1 '), 'latin1');
};

/** Returns the lines of a part: those of its paragraphs, and one of each row of a table. */
const linesOf = (node: OfficeContentNode): string[] => {
  if (node.type === 'row') {
    return [(node.children ?? []).map((cell) => linesOf(cell).join(' ')).join('\t')];
  }
  if (node.children === undefined || node.children.every(({ type }) => type === 'text')) {
    return [node.text ?? ''];
  }
  return node.children.flatMap(linesOf);
};
